"""What can be trusted in this trace? Named checks, each with an outcome and its numbers.

The order is the order of display: what the file is, what was recorded, what the times are worth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore.analysis import trust_capture, trust_file, trust_gpu, trust_times
from profcore.analysis.trust_model import Check, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.analysis.analysis import Analysis

__all__ = ["CHECKS", "Check", "Outcome", "checks"]

CHECKS: Final[tuple[tuple[str, str, Callable[[Analysis], Outcome]], ...]] = (
    ("rows_set_aside", "Rows that could not be read", trust_file.set_aside),
    ("repaired", "Places mended while reading", trust_file.repaired),
    ("untimed", "Elements that are no timed rows", trust_file.untimed),
    ("duplicates", "Rows that are there twice", trust_file.duplicates),
    ("gpu_recorded", "GPU activity", trust_gpu.recorded),
    ("launches_and_kernels", "Launches against kernels, step by step", trust_gpu.launches),
    ("window_edges", "Work at the edges of the recording", trust_gpu.edges),
    ("steps", "Step markers", trust_capture.marked_steps),
    ("overlaps", "Overlaps on one stream", trust_gpu.overlapping),
    ("overlong", "Durations that run over their successors", trust_gpu.overlong),
    ("clock_skew", "Clocks of CPU and GPU", trust_times.clock_skew),
    ("resolution", "Resolution of the times", trust_times.resolution),
    ("profiler_overhead", "The profiler's own work inside the steps", trust_times.overhead),
    ("compilation", "Compilation inside the steps", trust_times.compilation),
    ("capture_options", "Options of the recording", trust_capture.options),
)
"""(id, title, function). Ids are stable: part of the JSON answer."""


def checks(analysis: Analysis) -> tuple[Check, ...]:
    """Return every check, in order; none is left out."""
    return tuple(_check(name, title, look, analysis) for name, title, look in CHECKS)


def _check(name: str, title: str, look: Callable[[Analysis], Outcome], analysis: Analysis) -> Check:
    found = look(analysis)
    return Check(
        id=name, title=title, outcome=found.outcome, text=found.text, snippet=found.snippet
    )
