"""A trace in four numbers, for files without a step time measured apart from the profiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore.analysis import trust_gpu

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis


@dataclass(frozen=True, kw_only=True, slots=True)
class Glance:
    """What stands above the charts; None where the file does not say."""

    steps: int
    """How many are marked and not empty."""
    step_cpu_ns: float | None
    """Median length of the step rows on the CPU side, while profiled."""
    gpu_recorded: bool
    gpu_expected: bool
    """Without GPU rows: whether a GPU was there, so that it was not idle but not recorded."""
    busy_fraction: float | None
    """Union of all GPU work over the time from its first start to its last end."""
    gpu_busy_ns: int
    gpu_span_ns: int | None
    launches: int
    launches_per_step: float | None
    """Median of the steps."""
    kernels: int
    kernel_sum_ns: int


def of(analysis: Analysis) -> Glance:
    """Return the numbers of a trace."""
    totals, steps = analysis.totals, analysis.steps
    span_ns = totals.gpu_span_ns
    return Glance(
        steps=len(steps),
        step_cpu_ns=float(steps["cpu_ns"].median()) if len(steps) else None,
        gpu_recorded=totals.gpu_recorded,
        gpu_expected=trust_gpu.expected(analysis),
        busy_fraction=totals.gpu_busy_ns / span_ns if span_ns else None,
        gpu_busy_ns=totals.gpu_busy_ns,
        gpu_span_ns=span_ns,
        launches=totals.launches,
        launches_per_step=float(steps["launches"].median()) if len(steps) else None,
        kernels=totals.kernels,
        kernel_sum_ns=totals.gpu_kernel_sum_ns,
    )
