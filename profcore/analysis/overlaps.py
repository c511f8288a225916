"""Which GPU work cannot have lasted as long as its row says?

Work on one stream runs one piece after the other. A row that ends after the next one of its stream
has started is too long, or the work overlaps by design (dependent launches, by some microseconds).
A row that runs over the whole of a later one is *overlong*: its duration is wrong, and ranked by
it the kernel would come first for time that others took. Source: TraceLens reports 669 and 972.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.trace.model import MISSING
from profcore.units import NS_PER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

OVERLAP_MIN_NS: Final = 5 * NS_PER_US
"""Dependent launches overlap by design by less; the same value as in rule Q4."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlaps:
    """Rows that run into the next start on their stream; (k,) each, by stream and start.

    Exact copies of a row, work of graphs (whose branches share a stream number) and work without a
    stream number are not looked at.
    """

    activity: Ints
    """Position in the activities table."""
    over_ns: Ints
    """From the start of the next one to the end of this one: what its duration has too much."""
    later: Ints
    """How many later pieces of work of the stream start before it ends."""
    later_ns: Ints
    """Their summed durations: the time that it would hide."""
    is_overlong: NDArray[np.bool_]
    """Whether it runs over the whole of the next one, by OVERLAP_MIN_NS or more."""


def find(analysis: Analysis) -> Overlaps:
    """Return the overlaps on each stream."""
    at = _one_after_the_other(analysis)
    table = analysis.activities
    group = _groups(table["device"].to_numpy()[at], table["stream"].to_numpy()[at])
    start = table["start_ns"].to_numpy()[at]
    duration = table["duration_ns"].to_numpy()[at]
    order = np.lexsort((-duration, start, group))
    at, group, start, duration = at[order], group[order], start[order], duration[order]
    end = start + duration
    later = _starts_before(group, start, end) - np.arange(1, len(at) + 1)
    before = np.concatenate(([0], np.cumsum(duration)))
    hit = np.flatnonzero(later > 0)
    over = end[hit] - start[hit + 1]
    return Overlaps(
        activity=at[hit],
        over_ns=over,
        later=later[hit],
        later_ns=before[hit + 1 + later[hit]] - before[hit + 1],
        is_overlong=(end[hit] >= end[hit + 1]) & (over >= OVERLAP_MIN_NS),
    )


def overlong_rows(analysis: Analysis) -> Ints:
    """Return the rows of overlong work in the trace."""
    found = analysis.overlaps
    row: Ints = analysis.activities["row"].to_numpy()[found.activity[found.is_overlong]]
    return row


def _one_after_the_other(analysis: Analysis) -> Ints:
    """Return the positions of the activities that cannot overlap on their stream."""
    table, trace = analysis.activities, analysis.trace
    known = (table["stream"].to_numpy() != MISSING) & ~table["is_graph"].to_numpy()
    at = np.flatnonzero(known)
    row = table["row"].to_numpy()[at]
    keys = (trace.name, trace.correlation, trace.stream, trace.device)
    columns = [key[row] for key in (*keys, trace.duration_ns, trace.start_ns)]
    order = np.lexsort(columns)
    is_copy = np.zeros(len(at), bool)
    if len(at):
        same = [column[order][1:] == column[order][:-1] for column in columns]
        is_copy[order[1:]] = np.logical_and.reduce(same)
    return at[~is_copy]


def _groups(device: Ints, stream: Ints) -> Ints:
    """Return a number per stream of a device."""
    if not len(device):
        return np.empty(0, np.int64)
    _, group = np.unique(np.stack((device, stream)), axis=1, return_inverse=True)
    return group.reshape(-1).astype(np.int64)


def _starts_before(group: Ints, start: Ints, end: Ints) -> Ints:
    """Return for each row the position of the first row of its group, or after, from its end on.

    All of them (n,), in order of group and start.
    """
    count = len(start)
    is_start = np.repeat((False, True), count)
    # At equal times the question comes first: what starts at an end does not overlap.
    order = np.lexsort((is_start, np.concatenate((end, start)), np.tile(group, 2)))
    passed = np.cumsum(is_start[order])
    answer = np.empty(2 * count, np.int64)
    answer[order] = passed
    return answer[:count]
