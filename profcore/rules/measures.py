"""What a prediction can speak about: one number of one run, or None when the run lacks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from profcore.rules.device_copying import copies_before_gemm, hidden_copies
from profcore.rules.gpu_work import matrix_products
from profcore.rules.graphs import input_copies
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.rules.quantities import Quantities

MeasureName = Literal[
    "busy", "step", "cpu", "gpu", "matrix", "first_step", "copies_before_gemm", "hidden_copies",
    "input_copies", "graph_launches", "outside_operators",
]  # fmt: skip
MEASURE_NAMES: Final[tuple[MeasureName, ...]] = get_args(MeasureName)

_STEPS_MIN: Final = 3
"""One first step and at least two others to hold it against."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One number of a run."""

    label: str
    """For people, in lower case: "share of the step in which the GPU is busy"."""
    of: Callable[[Quantities], float | None]
    """Nanoseconds, a fraction, a ratio or a count; None: this run does not hold it."""
    text: Callable[[float], str]
    """The number with its unit."""
    missing: str
    """Why a run may lack it: a sentence."""
    needs_gpu: bool = True


def _count_text(count: float) -> str:
    return f"{count:g}"


def _busy(quantities: Quantities) -> float | None:
    return quantities.busy_unprofiled_fraction


def _step(quantities: Quantities) -> float | None:
    return None if quantities.timings is None else quantities.timings.step_ns_median


def _cpu(quantities: Quantities) -> float | None:
    return None if quantities.timings is None else quantities.timings.cpu_ns_median


def _matrix(quantities: Quantities) -> float | None:
    mask = matrix_products(quantities)
    if not len(quantities.gpu_steps) or not mask.any():
        return None
    return quantities.per_step_ns(mask)


def _first_step(quantities: Quantities) -> float | None:
    cpu_ns = quantities.worked_ns
    if len(cpu_ns) < _STEPS_MIN:
        return None
    typical_ns = float(np.median(cpu_ns[1:]))
    return float(cpu_ns[0]) / typical_ns if typical_ns > 0 else None


def _copies_before_gemm(quantities: Quantities) -> float | None:
    if not len(quantities.gpu_steps):
        return None
    mask = np.zeros(len(quantities.activities), np.bool_)
    mask[[copy for copy, _ in copies_before_gemm(quantities)]] = True
    return quantities.per_step_ns(mask)


def _hidden_copies(quantities: Quantities) -> float | None:
    if not len(quantities.gpu_steps) or not quantities.has_operators:
        return None
    return quantities.per_step_ns(hidden_copies(quantities))


def _input_copies(quantities: Quantities) -> float | None:
    if not len(quantities.gpu_steps) or not quantities.has_operators:
        return None
    return quantities.per_step_ns(input_copies(quantities))


def _graph_launches(quantities: Quantities) -> float | None:
    if not len(quantities.gpu_steps):
        return None
    return len(quantities.in_steps(quantities.graph_launches)) / len(quantities.steps)


def _outside_operators(quantities: Quantities) -> float | None:
    return quantities.unrecorded_fraction if quantities.has_operators else None


_NO_TIMES: Final = "A run lacks the step time without the profiler."
_NO_GPU_STEPS: Final = "A run has no recorded step with GPU work."

MEASURES: Final[dict[MeasureName, Measure]] = {
    "busy": Measure(
        label="share of the step in which the GPU is busy",
        of=_busy,
        text=percent_text,
        missing="A run lacks GPU work, or the step time without the profiler.",
    ),
    "step": Measure(
        label="step time without the profiler",
        of=_step,
        text=time_text,
        missing=_NO_TIMES,
        needs_gpu=False,
    ),
    "cpu": Measure(
        label="CPU time to issue a step, without the profiler",
        of=_cpu,
        text=time_text,
        missing=_NO_TIMES,
        needs_gpu=False,
    ),
    "gpu": Measure(
        label="GPU work per step",
        of=lambda quantities: quantities.gpu_ns,
        text=time_text,
        missing=_NO_GPU_STEPS,
    ),
    "matrix": Measure(
        label="time of the matrix kernels per step",
        of=_matrix,
        text=time_text,
        missing="A run has no kernel that is known by its name to multiply matrices.",
    ),
    "first_step": Measure(
        label="first recorded step over the median of the others (CPU side, without waiting)",
        of=_first_step,
        text=ratio_text,
        missing=f"A run has fewer than {_STEPS_MIN} recorded steps.",
        needs_gpu=False,
    ),
    "copies_before_gemm": Measure(
        label="copies right before matrix products, per step",
        of=_copies_before_gemm,
        text=time_text,
        missing=_NO_GPU_STEPS,
    ),
    "hidden_copies": Measure(
        label="copies inside the GPU that nobody wrote, per step",
        of=_hidden_copies,
        text=time_text,
        missing=_NO_GPU_STEPS,
    ),
    "input_copies": Measure(
        label="copies of inputs into the CUDA graph, per step",
        of=_input_copies,
        text=time_text,
        missing=_NO_GPU_STEPS,
    ),
    "graph_launches": Measure(
        label="CUDA graph launches per step",
        of=_graph_launches,
        text=_count_text,
        missing=_NO_GPU_STEPS,
    ),
    "outside_operators": Measure(
        label="share of the recorded step outside any operator (Python and dispatch)",
        of=_outside_operators,
        text=percent_text,
        missing="A run has no recorded step with operators.",
        needs_gpu=False,
    ),
}
