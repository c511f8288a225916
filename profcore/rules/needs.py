"""What a rule needs, each as "why it is missing here, and how to record it", or None.

A rule that cannot be checked never counts as clear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.rules import rows as find
from profcore.rules.constants import STEPS_FOR_MEDIAN, STEPS_FOR_SPREAD
from profcore.rules.gpu_work import device_copies
from profcore.rules.rows import column

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.rules.quantities import Quantities

    Need = Callable[[Quantities], str | None]

NO_EVENTS = "The trace has no timed events."
NOT_RECORDED = (
    "GPU activity was not recorded (see Q1), so nothing can be said about GPU time. "
    "Run the doctor command to see what is missing."
)
NO_GPU = "This is a CPU run: there is no GPU work to look at. Run it on a GPU or open a sample."
OTHER_ACCELERATOR = (
    "The device rows of this trace belong to an accelerator that profcore does not read."
)


def all_of(*needs: Need) -> Need:
    """Return a need that gives the first reason of several."""

    def first_reason(quantities: Quantities) -> str | None:
        for need in needs:
            if reason := need(quantities):
                return reason
        return None

    return first_reason


def events(quantities: Quantities) -> str | None:
    """Any timed row at all."""
    return None if len(quantities.trace) else NO_EVENTS


def gpu(quantities: Quantities) -> str | None:
    """GPU work in the file."""
    if reason := events(quantities):
        return reason
    if quantities.has_gpu_work:
        return None
    if quantities.has_other_accelerator:
        return OTHER_ACCELERATOR
    return NOT_RECORDED if quantities.gpu_was_expected else NO_GPU


def kernels(quantities: Quantities) -> str | None:
    """At least one kernel."""
    if reason := gpu(quantities):
        return reason
    if len(quantities.analysis.kernels):
        return None
    return "The trace has copies or fills but no kernel."


def operators(quantities: Quantities) -> str | None:
    """Operator rows of the CPU side."""
    if reason := events(quantities):
        return reason
    if quantities.has_operators:
        return None
    return (
        "The trace has no operators. Record with activities=[ProfilerActivity.CPU, "
        "ProfilerActivity.CUDA]."
    )


def copies(quantities: Quantities) -> str | None:
    """At least one copy."""
    if reason := gpu(quantities):
        return reason
    if quantities.activity_kind("memcpy").any() or device_copies(quantities).any():
        return None
    return "The trace has no copies."


def steps(quantities: Quantities) -> str | None:
    """At least one ProfilerStep#N."""
    if reason := events(quantities):
        return reason
    if len(quantities.steps):
        return None
    return (
        "The trace has no ProfilerStep rows, so nothing can be said per step. Record with "
        "schedule=torch.profiler.schedule(wait=1, warmup=1, active=5) and call "
        "profiler.step() after each step."
    )


def _steps_of(count: int, why: str) -> Need:
    def enough(quantities: Quantities) -> str | None:
        if reason := steps(quantities):
            return reason
        found = len(quantities.steps)
        if found >= count:
            return None
        was = "1 step was" if found == 1 else f"{found} steps were"
        return f"Only {was} recorded and {why} needs {count}. Record more steps."

    return enough


steps_for_median = _steps_of(STEPS_FOR_MEDIAN, "a comparison of steps")
steps_for_spread = _steps_of(STEPS_FOR_SPREAD, "a spread")


def gpu_steps(quantities: Quantities) -> str | None:
    """At least one step with GPU work."""
    if reason := gpu(quantities) or steps(quantities):
        return reason
    if len(quantities.gpu_steps):
        return None
    return "No recorded step has GPU work of its own."


def gpu_steps_for_median(quantities: Quantities) -> str | None:
    """Enough steps with GPU work for a period."""
    if reason := gpu_steps(quantities):
        return reason
    found = len(quantities.gpu_steps)
    if found >= STEPS_FOR_MEDIAN:
        return None
    return (
        f"Only {find.count_text(found, 'step')} with GPU work can be used and this needs "
        f"{STEPS_FOR_MEDIAN}. Record more steps."
    )


def timings(quantities: Quantities) -> str | None:
    """The unprofiled step time."""
    if reason := events(quantities):
        return reason
    if quantities.timings is not None:
        return None
    return (
        "The step was not timed without the profiler. A run made by profcore is; an opened "
        "trace cannot carry that time."
    )


def own_run(quantities: Quantities) -> str | None:
    """The experiment behind the trace."""
    if reason := events(quantities):
        return reason
    if quantities.experiment is not None:
        return None
    return "It is not known which sizes and number formats this trace was recorded with."


def limit(quantities: Quantities) -> str | None:
    """Whether the CPU or the GPU bounds the run."""
    if reason := gpu(quantities):
        return reason
    if quantities.limit not in {None, "undecided"}:
        return None
    return (
        "It is not decided whether the CPU or the GPU is the limit (see B2). Time one step "
        "without the profiler."
    )


def compile_rows(quantities: Quantities) -> str | None:
    """Rows that torch.compile leaves in a trace."""
    if reason := events(quantities):
        return reason
    if len(quantities.compile_rows):
        return None
    if quantities.experiment is not None and quantities.experiment.compile == "eager":
        return "This run was eager. Choose a compile mode to see what torch.compile adds."
    return "The trace has no rows of torch.compile: the program was eager, or torch is too old."


def graph_launches(quantities: Quantities) -> str | None:
    """A CUDA graph replay."""
    if reason := gpu(quantities):
        return reason
    if len(quantities.graph_launches):
        return None
    return "No CUDA graph was launched. Compile mode reduce-overhead uses them."


def details(quantities: Quantities) -> str | None:
    """Grid, block and register facts of kernels."""
    if reason := kernels(quantities):
        return reason
    if len(quantities.trace.kernel_details.row):
        return None
    return "The trace does not say with which grid and block its kernels ran."


def device_properties(quantities: Quantities) -> str | None:
    """The device's own figures, from the file."""
    if reason := gpu(quantities):
        return reason
    if quantities.compute_capability is not None:
        return None
    return "The trace does not name the compute capability of its device."


def occupancy_queries(quantities: Quantities) -> str | None:
    """Any occupancy query: warm steps on recent GPUs have none."""
    if reason := all_of(gpu, operators)(quantities):
        return reason
    if len(quantities.occupancy_queries):
        return None
    return (
        "The trace has no occupancy query. Libraries ask on first use; warm steps on Hopper "
        "GPUs ask nothing. A cold start (warm-up 0) can show the queries."
    )


def unassigned_possible(quantities: Quantities) -> str | None:
    """GPU work and the calls that launch it."""
    if reason := gpu(quantities):
        return reason
    if len(quantities.launches) or bool((column(quantities.activities, "launch_row") >= 0).any()):
        return None
    return "The trace has no launch calls at all, so GPU work cannot be traced back to steps."


def launch_calls(quantities: Quantities) -> str | None:
    """At least one kernel launch call."""
    if reason := gpu(quantities):
        return reason
    if bool(quantities.launches["is_kernel_launch"].any()):
        return None
    return "The trace has GPU work but no launch calls: its CPU side was not recorded."


def busy(quantities: Quantities) -> str | None:
    """How busy the GPU is, unprofiled or profiled."""
    if reason := gpu_steps(quantities):
        return reason
    if quantities.busy_fraction is not None:
        return None
    return "Too few steps with GPU work to say how busy the GPU is. Record more steps."
