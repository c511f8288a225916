"""Trust in how the trace was recorded: steps and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.trust_model import Outcome, cannot_tell, counted, fine, listed, look

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis

OPTIONS: Final[dict[str, str]] = {
    "record_shapes": "input shapes",
    "with_stack": "Python stacks",
    "profile_memory": "memory",
    "with_flops": "FLOPs",
}
"""Options of torch.profiler and what they add to a file."""

MARK_STEPS: Final = """with torch.profiler.profile(
    schedule=torch.profiler.schedule(wait=1, warmup=1, active=5)
) as profiler:
    for batch in batches:
        train(batch)
        profiler.step()"""

_GAP_LIMIT: Final = 1_000
"""Larger holes in the numbers are several recordings of one schedule, not lost steps."""


def marked_steps(analysis: Analysis) -> Outcome:
    """ProfilerStep#N rows: there, in one row of numbers, with work in them."""
    steps, windows = analysis.steps, analysis.windows
    if not len(steps):
        instead = {
            "annotation": "An annotation that repeats is read as steps where that is possible.",
            "recording": "The whole recording is taken as one.",
            "steps": "",
        }[windows.source]
        return cannot_tell(f"No steps are marked. {instead} Nothing is said per step.", MARK_STEPS)
    parts = [f"{counted(len(steps), 'step')} marked."]
    numbers = np.unique(steps["number"])
    missing = np.setdiff1d(np.arange(numbers[0], numbers[0] + _span(numbers)), numbers)
    if len(missing):
        parts.append(
            f"{counted(len(missing), 'number is', 'numbers are')} missing between them "
            f"({listed(missing.tolist())}): not recorded, or dropped."
        )
    if dropped := len(analysis.empty_steps):
        parts.append(
            f"{counted(dropped, 'empty step')} at the end left out of every typical figure."
        )
    idle = steps["number"][steps["activities"] == 0].tolist()
    hollow = bool(idle) and len(idle) < len(steps)
    if hollow:
        parts.append(f"{counted(len(idle), 'step has', 'steps have')} no GPU work: {listed(idle)}.")
    text = " ".join(parts)
    return look(text) if len(missing) or hollow else fine(text)


def _span(numbers: np.ndarray) -> int:
    span = int(numbers[-1] - numbers[0]) + 1
    return span if span <= _GAP_LIMIT + len(numbers) else 0


def options(analysis: Analysis) -> Outcome:
    """What the profiler was asked to record; what it was not, nobody can tell from the file."""
    on = analysis.trace.options
    missing = [option for option in OPTIONS if option not in on]
    if "profile_memory" in missing and len(analysis.trace.memory.start_ns):
        missing.remove("profile_memory")
    if not missing:
        return fine("Input shapes, Python stacks, memory and FLOPs were recorded.")
    words = ", ".join(OPTIONS[option] for option in missing)
    given = ",\n".join(f"    {option}=True" for option in missing)
    return cannot_tell(
        f"Not recorded: {words}. Each costs time while recording: use them to find a cause, not to "
        "measure.",
        f"torch.profiler.profile(\n{given},\n)",
    )
