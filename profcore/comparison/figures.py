"""The few numbers of one side that the sentence and its arithmetic need."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore import workloads
from profcore.analysis.run_noise import GPU_PACE_FRACTION
from profcore.rules.headline import headline

if TYPE_CHECKING:
    from profcore.comparison.runs import Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Per step. None: this side does not hold it."""

    step_ns: float | None
    """Median of the runs' unprofiled medians."""
    step_p25_ns: float | None
    """Middle half of the first run's repeats."""
    step_p75_ns: float | None
    cpu_ns: float | None
    """CPU time until the calls return, without the profiler; median of the runs."""
    gpu_busy_ns: float | None
    busy_fraction: float | None
    """Of the unprofiled step time, at most 1."""
    launches: float | None
    kernels: float | None
    step_flops: int | None
    """Arithmetic of one step by the workload's formula; None for an opened trace."""
    achieved_per_s: float | None
    """FLOP/s, or bytes/s where the step is not about arithmetic, of unprofiled step time."""
    is_flops: bool
    first_call_ns: int | None
    runs: int
    """Runs with an unprofiled time."""

    @property
    def gpu_sets_pace(self) -> bool:
        """Whether the CPU has issued a step long before the step is done."""
        if self.gpu_busy_ns is None or self.step_ns is None or self.cpu_ns is None:
            return False
        return self.cpu_ns <= GPU_PACE_FRACTION * self.step_ns


def figures(run: Run) -> Figures:
    """Collect them from a run."""
    numbers, timings = headline(run.analysis), run.timings
    knobs = run.analysis.experiment
    has_gpu = run.analysis.totals.gpu_recorded
    unprofiled = numbers.busy_is_unprofiled
    return Figures(
        step_ns=statistics.median(one.step_ns_median for one in timings) if timings else None,
        step_p25_ns=timings[0].step_ns_p25 if timings else None,
        step_p75_ns=timings[0].step_ns_p75 if timings else None,
        cpu_ns=statistics.median(one.cpu_ns_median for one in timings) if timings else None,
        gpu_busy_ns=numbers.gpu_busy_ns if has_gpu else None,
        busy_fraction=numbers.busy_fraction if has_gpu and unprofiled else None,
        launches=numbers.launches,
        kernels=numbers.kernels,
        step_flops=workloads.find(knobs.workload).step_flops(knobs) if knobs else None,
        achieved_per_s=numbers.rate.per_s if numbers.rate else None,
        is_flops=numbers.rate.is_flops if numbers.rate else True,
        first_call_ns=timings[0].first_call_ns if timings else None,
        runs=len(timings),
    )
