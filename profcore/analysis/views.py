"""Which stretches of a recording are worth a picture: a step with all of its work, or everything.

The GPU runs behind the CPU: the picture of a step goes on until the GPU has done what the step
launched, which may be long after the step's own bar has ended. The picture of the first step
begins with the recording, and that of the last one ends with it: there stand what the profiler
does before, and the wait for the GPU after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.trace.model import CPU_SIDE, GPU_WORK

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis

View = tuple[int, int]
"""From, to, in ns: the end is not part of it."""


def whole_view(analysis: Analysis) -> View:
    """Return the stretch from the first to the last row; (0, 1) when there is none."""
    trace = analysis.trace
    shown = ~trace.is_kind("other")  # a row of the exporter spans more than was recorded
    if not shown.any():
        shown = np.ones(len(trace), bool)
    if not len(trace):
        return 0, 1
    start = trace.start_ns[shown]
    end = int((start + trace.duration_ns[shown]).max())
    return int(start.min()), max(end, int(start.min()) + 1)


def step_view(analysis: Analysis, position: int) -> View:
    """Return the stretch of one step, by its position in `analysis.window_steps`."""
    steps = analysis.window_steps
    step = steps.iloc[position]
    first_ns, last_ns = _recorded(analysis)
    start_ns = first_ns if position == 0 else int(step["start_ns"])
    end_ns = max(int(step["start_ns"] + step["cpu_ns"]), int(step["gpu_end_ns"]))
    if position == len(steps) - 1:
        end_ns = max(end_ns, last_ns)
    return min(start_ns, int(step["start_ns"])), max(end_ns, start_ns + 1)


def step_of_row(analysis: Analysis, row: int) -> int | None:
    """Return the position of the step that a row belongs to; None for none.

    GPU work belongs to the step that launched it; other rows to the step during which they begin,
    and what begins after the last step to the last one, whose picture shows it.
    """
    if not 0 <= row < len(analysis.trace):
        return None
    steps, start_ns = analysis.window_steps, int(analysis.trace.start_ns[row])
    place = np.searchsorted(analysis.matching.activity_row, row)
    activities = analysis.activities
    if place < len(activities) and activities["row"].iloc[place] == row:
        launch = int(activities["launch_row"].iloc[place])
        start_ns = int(analysis.trace.start_ns[launch]) if launch >= 0 else start_ns
    if not len(steps):
        return None
    position = int(np.searchsorted(steps["start_ns"].to_numpy(), start_ns, side="right")) - 1
    return max(position, 0)


def _recorded(analysis: Analysis) -> View:
    """Return first start and last end of what the program and the profiler did."""
    trace = analysis.trace
    shown = trace.is_kind(*CPU_SIDE, *GPU_WORK)
    start = trace.start_ns[shown]
    return int(start.min()), int((start + trace.duration_ns[shown]).max())
