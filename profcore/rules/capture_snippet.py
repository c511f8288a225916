"""How to record what a trace lacks: a piece of Python to paste into one's own program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore.rules.constants import STEPS_FOR_SPREAD

if TYPE_CHECKING:
    from profcore.analysis import Analysis

# Both sides and marked steps are always asked for: without them most rules cannot be checked.
_SNIPPET: Final = """from torch.profiler import ProfilerActivity, profile, schedule

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=1, warmup=1, active={steps}),
{options}    on_trace_ready=lambda done: done.export_chrome_trace("trace.json.gz"),
) as profiler:
    for batch in batches:
        train(batch)  # one step of your program
        profiler.step()"""


def capture_snippet(analysis: Analysis) -> str:
    """Return code that records both sides, whole steps, and what was not switched on here."""
    lines = ""
    if "record_shapes" not in analysis.trace.options:
        lines += "    record_shapes=True,  # slows the CPU side\n"
    if "profile_memory" not in analysis.trace.options and not len(analysis.memory):
        lines += "    profile_memory=True,  # slows the CPU side\n"
    return _SNIPPET.format(steps=STEPS_FOR_SPREAD, options=lines)
