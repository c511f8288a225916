"""Trust in the GPU side: was it recorded, is it whole, can its durations be true?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import lost
from profcore.analysis.trust_model import Outcome, cannot_tell, counted, fine, listed, look
from profcore.trace.model import MISSING
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

LOST_FRACTION: Final = 0.01
"""Launches without GPU work, of all; the same value as in rule Q2. H200: 0 of 1,040."""
LEAK_FRACTION: Final = 0.05
"""GPU time without a launch, of the rest; the same value as in rule Q3."""
OVERLAP_FRACTION: Final = 0.01
"""Time of long overlaps, of all GPU time; the same value as in rule Q4."""

NO_GPU: Final = "The file names no GPU and has no GPU rows: it is a CPU run."
RECORD_BOTH: Final = (
    "torch.profiler.profile(\n    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]\n)"
)


def expected(analysis: Analysis) -> bool:
    """Whether a GPU was asked for, is listed in the file, or was sent work. Source: rule Q1."""
    if analysis.environment is not None:
        return analysis.environment.device.startswith("cuda")
    return bool(analysis.trace.devices) or len(analysis.launches) > 0


def recorded(analysis: Analysis) -> Outcome:
    """A GPU that worked has rows in the file; without them it was not idle."""
    activities, trace = analysis.activities, analysis.trace
    if len(activities):
        devices = len(np.unique(activities["device"]))
        kernels = int((activities["kind"] == "kernel").sum())
        others = counted(len(activities) - kernels, "copy or fill", "copies and fills")
        return fine(f"{counted(kernels, 'kernel')} and {others} on {counted(devices, 'device')}.")
    if other := int(trace.is_kind("accelerator").sum()):
        return cannot_tell(
            f"{counted(other, 'row')} of an accelerator that is no CUDA, ROCm or XPU device: shown "
            "as device activity of its own kind, not counted as kernels."
        )
    if not expected(analysis):
        return cannot_tell(NO_GPU)
    return look(
        "GPU activity was not recorded, although the file lists a GPU or calls that start work on "
        "one. That does not mean an idle GPU. Usual causes: another profiler held the GPU, missing "
        "rights in a container, a build of torch without CUPTI, or CUDA was not among the "
        "activities. python -m profcore doctor says which.",
        RECORD_BOTH,
    )


def of_gpu(check: Callable[[Analysis], Outcome]) -> Callable[[Analysis], Outcome]:
    """Return a check that cannot tell anything without GPU rows."""

    def checked(analysis: Analysis) -> Outcome:
        if len(analysis.activities):
            return check(analysis)
        return cannot_tell("GPU activity was not recorded." if expected(analysis) else NO_GPU)

    return checked


@of_gpu
def launches(analysis: Analysis) -> Outcome:
    """Kernel launches of each step against the GPU work they left."""
    found = lost.launches(analysis)
    total, missing = int(found.counted.sum()), int(found.without_work.sum())
    if not total:
        why = (
            "No launch call lies in a marked step."
            if analysis.launches["is_kernel_launch"].any()
            else "The file has GPU work but no launch calls: the CPU side was not recorded."
        )
        return cannot_tell(why, "" if len(analysis.launches) else RECORD_BOTH)
    step = analysis.launches["step"].to_numpy()
    kept = np.unique(step[found.counted & ~found.without_work])
    empty = np.setdiff1d(np.unique(step[found.counted]), kept)
    text = f"{total - missing:,} of {counted(total, 'kernel launch', 'kernel launches')} in the "
    text += "steps left GPU work in the file."
    if len(empty):
        numbers = analysis.steps["number"].to_numpy()[empty].tolist()
        word = "Step" if len(empty) == 1 else "Steps"
        text += f" {word} {listed(numbers)} lost all of it: averages over all steps are too low."
    return look(text) if len(empty) or missing >= LOST_FRACTION * total else fine(text)


@of_gpu
def edges(analysis: Analysis) -> Outcome:
    """GPU work whose launch came before the recording, launches whose work came after it."""
    table = analysis.activities
    if not (table["launch_row"] >= 0).any():
        return cannot_tell("No GPU work can be traced back to a launch call in this file.")
    duration = table["duration_ns"].to_numpy()
    leaked = table["launch_row"].to_numpy() == MISSING
    late = int(lost.launches(analysis).at_end.sum())
    after = (
        f" {counted(late, 'launch', 'launches')} at the end left no work: the recording ended "
        "before it ran."
        if late
        else ""
    )
    if not leaked.any():
        return (look if late else fine)(f"All GPU work has its launch call in the file.{after}")
    leaked_ns, rest_ns = int(duration[leaked].sum()), int(duration[~leaked].sum())
    share = leaked_ns / rest_ns if rest_ns else 1.0
    text = (
        f"{counted(int(leaked.sum()), 'piece of GPU work has', 'pieces of GPU work have')} no "
        f"launch call in the file ({time_text(leaked_ns)}, {percent_text(share)} of the rest): "
        f"started before the recording or by calls that were not recorded. Figures per step leave "
        f"such work out.{after}"
    )
    return look(text) if late or share >= LEAK_FRACTION else fine(text)


@of_gpu
def overlapping(analysis: Analysis) -> Outcome:
    """Rows that run into the next one on their stream."""
    found = analysis.overlaps
    if not (analysis.activities["stream"] != MISSING).any():
        return cannot_tell("The file does not say on which stream its GPU work ran.")
    if not len(found.activity):
        return fine("No row runs into the next one on its stream.")
    total_ns = max(analysis.totals.gpu_work_sum_ns, 1)
    long_ns = int(found.over_ns[_long(found.over_ns)].sum())
    text = (
        f"{counted(len(found.activity), 'row runs', 'rows run')} into the next one on the same "
        f"stream, by {time_text(int(found.over_ns.max()))} at most"
    )
    if long_ns < OVERLAP_FRACTION * total_ns:
        return fine(f"{text}: short overlaps happen by design.")
    return look(
        f"{text}: {time_text(long_ns)} together, {percent_text(long_ns / total_ns)} of all."
    )


def _long(over_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
    from profcore.analysis.overlaps import OVERLAP_MIN_NS

    return over_ns >= OVERLAP_MIN_NS


@of_gpu
def overlong(analysis: Analysis) -> Outcome:
    """Rows that run over the whole of later ones: their durations cannot be true."""
    found = analysis.overlaps
    bad = found.is_overlong
    if not bad.any():
        return fine("No row runs over the whole of the next one on its stream.")
    total_ns = max(analysis.totals.gpu_work_sum_ns, 1)
    over_ns = int(found.over_ns[bad].sum())
    return look(
        f"{counted(int(bad.sum()), 'row runs', 'rows run')} over "
        f"{counted(int(found.later[bad].sum()), 'later row')} on the same stream, which cannot be: "
        f"{time_text(over_ns)} of their time is not theirs ({percent_text(over_ns / total_ns)} of "
        f"the sum of all GPU work), and {time_text(int(found.later_ns[bad].sum()))} of other work "
        "would be hidden below it. The table of kernels marks them; busy times count it once."
    )
