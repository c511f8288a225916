"""What did each profiled step take, and what did the GPU do for it?

A step is a row named ProfilerStep#N on the CPU side. GPU work belongs to the step in which it was
*launched*, on whatever thread: its own timestamp says nothing, because the GPU runs behind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, intervals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Ints = NDArray[np.int64]

COLUMNS: Final[dict[str, str]] = {
    "number": "the N of ProfilerStep#N",
    "row": "position of the ProfilerStep#N row in the trace",
    "start_ns": "start of that row",
    "cpu_ns": "duration of that row: the CPU issuing the step, not the step's real time",
    "gpu_busy_ns": "length of the union of the GPU work launched in the step, all devices",
    "gpu_sum_ns": "sum of the durations of that work",
    "gpu_start_ns": "when the first of it started; -1 without any",
    "gpu_end_ns": "when the last of it ended; -1 without any",
    "kernels": "kernels launched in the step",
    "activities": "kernels, copies and fills launched in the step",
    "launches": "calls in the step that launch a kernel or a graph",
    "is_first": "whether it is the first recorded step, which is slower even after warm-up",
}

MARKER: Final = re.compile(r"ProfilerStep#(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Markers:
    """The step rows in order of start, (k,) each; exact copies are left out."""

    row: Ints
    number: Ints
    start_ns: Ints
    end_ns: Ints
    process: Ints
    """Which process each row belongs to, as a number."""
    filled: int
    """How many of them to keep: what follows are empty steps at the end."""
    doubled: int
    """How many exact copies of step rows were left out."""


def numbers(trace: Trace) -> dict[int, int]:
    """Return the step number of each name that marks a step, by position in `trace.names`."""
    found = {}
    for index, name in enumerate(trace.names):
        if name.startswith("ProfilerStep#") and (match := MARKER.fullmatch(name)):
            found[index] = int(match[1])
    return found


def processes(trace: Trace) -> Ints:
    """Return a number per lane: equal for lanes of one process."""
    known: dict[int | str, int] = {}
    return np.array(
        [known.setdefault(lane.pid, len(known)) for lane in trace.lanes], np.int64
    ).reshape(-1)


def markers(trace: Trace) -> Markers:
    """Return the steps of a trace; copies on the GPU side are not steps."""
    by_name = numbers(trace)
    row = np.flatnonzero(trace.is_kind("annotation", "operator") & columns.is_named(trace, by_name))
    number = np.array([by_name[name] for name in trace.name[row].tolist()], np.int64)
    process = processes(trace)[trace.lane[row]]
    start = trace.start_ns[row]
    end = start + trace.duration_ns[row]
    _, kept = np.unique(np.stack([process, number, start, end]), axis=1, return_index=True)
    kept.sort()
    return Markers(
        row=row[kept],
        number=number[kept],
        start_ns=start[kept],
        end_ns=end[kept],
        process=process[kept],
        filled=_filled(trace, by_name, start_ns=start[kept], end_ns=end[kept]),
        doubled=len(row) - len(kept),
    )


def _filled(trace: Trace, marker_names: Iterable[int], *, start_ns: Ints, end_ns: Ints) -> int:
    """Return how many steps there are up to the last with a CPU-side row in it; all, if none has.

    A schedule that stops in the middle of a cycle writes one more step row with nothing in it.
    """
    if not len(start_ns):
        return 0
    work = trace.is_kind("operator", "annotation", "runtime") & ~columns.is_named(
        trace, marker_names
    )
    begun = trace.start_ns[work]
    inside = np.searchsorted(begun, end_ns) > np.searchsorted(begun, start_ns)
    return int(np.flatnonzero(inside)[-1]) + 1 if inside.any() else len(start_ns)


def step_of(marks: Markers, start_ns: Ints, process: Ints) -> Ints:
    """Return the position of the step in which each time lies, -1 for none.

    Empty steps at the end own nothing.

    Args:
        marks: the steps.
        start_ns: (m,) starts of launch calls, on any thread.
        process: (m,) their processes; with steps in several processes each looks at its own.
    """
    owner = marks.process[: marks.filled]
    begun, ended = marks.start_ns[: marks.filled], marks.end_ns[: marks.filled]
    if len(owner) == 0:
        return np.full(len(start_ns), -1, np.int64)
    if (owner == owner[0]).all():
        last = np.searchsorted(begun, start_ns, side="right") - 1
    else:
        # Steps and calls in one order, steps first at equal times: the last step so far is wanted.
        position = np.concatenate((np.arange(len(owner)), np.full(len(start_ns), -1)))
        whose = np.concatenate((owner, process))
        order = np.lexsort((position < 0, np.concatenate((begun, start_ns)), whose))
        last = np.empty(len(order), np.int64)
        last[order] = intervals.running_max(position[order], whose[order])
        last = last[len(owner) :]
    inside = (last >= 0) & (start_ns < ended[last])
    return np.where(inside, last, -1)


def of_calls(analysis: Analysis, marks: Markers) -> Ints:
    """Return per call of `analysis.matching` the position of its step, -1 for none."""
    trace, row = analysis.trace, analysis.matching.call_row
    return step_of(marks, trace.start_ns[row], processes(trace)[trace.lane[row]])


def of_activities(analysis: Analysis, of_call: Ints) -> Ints:
    """Return per activity its step; with several launch calls the one in which all of them lie."""
    found = analysis.matching
    first = columns.taken(of_call, found.first_call, missing=-1)
    last = columns.taken(of_call, found.last_call, missing=-1)
    return np.where(first == last, first, -1)


def table(analysis: Analysis, marks: Markers) -> pd.DataFrame:
    """Return one row per step in order of start, empty ones at the end too (`Markers.filled`)."""
    trace, found = analysis.trace, analysis.matching
    count = len(marks.row)
    of_call = of_calls(analysis, marks)
    of_activity = of_activities(analysis, of_call)
    mine = np.flatnonzero(of_activity >= 0)
    step, row = of_activity[mine], found.activity_row[mine]
    start, end = trace.start_ns[row], trace.start_ns[row] + trace.duration_ns[row]
    gpu_start = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(gpu_start, step, start)
    gpu_end = np.full(count, -1, np.int64)
    np.maximum.at(gpu_end, step, end)
    launched = of_call[found.is_kernel_launch & (of_call >= 0)]
    return pd.DataFrame(
        {
            "number": marks.number,
            "row": marks.row,
            "start_ns": marks.start_ns,
            "cpu_ns": marks.end_ns - marks.start_ns,
            "gpu_busy_ns": intervals.busy_by_group_ns(start, end, step, groups=count),
            "gpu_sum_ns": columns.sums(end - start, step, groups=count),
            "gpu_start_ns": np.where(gpu_end >= 0, gpu_start, -1),
            "gpu_end_ns": gpu_end,
            "kernels": np.bincount(step[trace.is_kind("kernel")[row]], minlength=count),
            "activities": np.bincount(step, minlength=count),
            "launches": np.bincount(launched, minlength=count),
            "is_first": np.arange(count) == 0,
        }
    )
