"""Which thread every CPU-side row belongs to.

The file says it for all rows but one kind: profiler overhead is written to a lane of its own
(pid -1, tid 0), although it is time of the thread that made the call around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import columns, stacks
from profcore.trace.model import CPU_SIDE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.trace import Trace

    Ints = NDArray[np.int64]

UNLISTED: Final = frozenset(
    {
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
    }
)
"""Rows that torch leaves out of its table (`_filter_name` in torch/autograd/profiler_util.py)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CpuRows:
    """The CPU-side rows of a trace, thread by thread."""

    row: Ints
    """(m,) positions in the trace; ordered by lane, then start, then longer first."""
    lane: Ints
    """(m,) lane of the thread; differs from the file for overhead rows that lie in a call."""


def by_lane(lane: Ints) -> Ints:
    """Return the stable order by lane; 16-bit keys make NumPy use its linear-time sort."""
    small = lane.astype(np.uint16) if len(lane) and lane.max() <= np.iinfo(np.uint16).max else lane
    return np.argsort(small, kind="stable")


def is_listed(trace: Trace) -> NDArray[np.bool_]:
    """Return an (n,) mask of the CPU-side rows that have a place in torch's table."""
    mask = trace.is_kind(*CPU_SIDE)
    unlisted = [index for index, name in enumerate(trace.names) if name in UNLISTED]
    if unlisted:
        mask &= ~columns.is_named(trace, unlisted)
    return mask


def cpu_rows(trace: Trace) -> CpuRows:
    """Return the CPU-side rows with overhead rows moved into the thread that paid for them.

    An overhead row goes to the thread of the row around it that began last, as torch has it; one
    that no row encloses stays in its own lane.
    """
    row = np.flatnonzero(is_listed(trace))
    lane = trace.lane[row].astype(np.int64)
    overhead = trace.is_kind("overhead")[row]
    if overhead.any():
        around = _rows_around(trace, among=row[~overhead], wanted=row[overhead])
        lane[overhead] = np.where(around >= 0, trace.lane[around], lane[overhead])
    order = by_lane(lane)
    return CpuRows(row=row[order], lane=lane[order])


def _rows_around(trace: Trace, *, among: Ints, wanted: Ints) -> Ints:
    """Return per wanted row the last to begin of the rows that enclose it; -1 for none.

    All threads are laid on one line, on which a row that began before a candidate and has not
    ended is its parent: going up finds the rows of every thread that are still open.
    """
    start = trace.start_ns
    end = start + trace.duration_ns
    parent = stacks.parents(start[among], end[among], np.zeros(len(among), np.int64))
    begun = np.searchsorted(start[among], start[wanted], side="right") - 1
    found = stacks.climb(begun, parent, end_ns=end[among], until_ns=end[wanted])
    return columns.taken(among, found, missing=-1)
