"""Intervals of time: how much of the clock they cover.

*Sum* adds durations, *busy* is the length of the union: two kernels that run at the same time
count once in busy and twice in the sum. All times are int64 nanoseconds; an interval is
[start, end), so one that begins where another ends does not overlap it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Times = NDArray[np.int64]


def _check(start_ns: Times, end_ns: Times) -> None:
    if len(start_ns) != len(end_ns):
        msg = f"There are {len(start_ns)} starts and {len(end_ns)} ends; give as many of both."
        raise ValueError(msg)
    if np.any(end_ns < start_ns):
        msg = "An interval ends before it starts."
        raise ValueError(msg)


def union(start_ns: Times, end_ns: Times) -> tuple[Times, Times]:
    """Return starts and ends of the union: in order, apart from each other, none empty.

    Args:
        start_ns: (n,) in any order.
        end_ns: (n,) each at or after its start.

    Raises:
        ValueError: an interval ends before it starts.
    """
    _check(start_ns, end_ns)
    filled = end_ns > start_ns
    order = np.argsort(start_ns[filled], kind="stable")
    start, end = start_ns[filled][order], end_ns[filled][order]
    if not len(start):
        return start, end
    reach = np.maximum.accumulate(end)
    is_first = np.ones(len(start), bool)
    is_first[1:] = start[1:] > reach[:-1]
    first = np.flatnonzero(is_first)
    return start[first], reach[np.append(first[1:], len(start)) - 1]


def busy_ns(start_ns: Times, end_ns: Times) -> int:
    """Return the length of the union of intervals.

    Args:
        start_ns: (n,) in any order.
        end_ns: (n,) each at or after its start.

    Returns:
        0 for n = 0; at most the sum of the durations and at most last end minus first start.

    Raises:
        ValueError: an interval ends before it starts.
    """
    start, end = union(start_ns, end_ns)
    return int((end - start).sum())


def busy_by_group_ns(start_ns: Times, end_ns: Times, group: Times, *, groups: int) -> Times:
    """Return the length of the union within each group: (groups,).

    Args:
        start_ns: (n,) in any order.
        end_ns: (n,) each at or after its start.
        group: (n,) 0 to groups - 1.
        groups: how many there are.

    Raises:
        ValueError: an interval ends before it starts.
    """
    _check(start_ns, end_ns)
    busy = np.zeros(groups, np.int64)
    if not len(start_ns):
        return busy
    order = np.lexsort((start_ns, group))
    start, end, owner = start_ns[order], end_ns[order], group[order]
    reach = running_max(end, owner)
    # Each interval adds what lies past everything that began before it in its group.
    before = np.empty_like(reach)
    before[0] = start[0]
    before[1:] = np.where(owner[1:] == owner[:-1], reach[:-1], start[1:])
    np.add.at(busy, owner, np.maximum(end - np.maximum(start, before), 0))
    return busy


def running_max(value: Times, group: Times) -> Times:
    """Return the largest value so far within each group; equal groups must be neighbours.

    Works on ranks instead of values shifted apart, so that no sum can overflow.
    """
    count = len(value)
    order = np.argsort(value, kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    is_first = np.ones(count, bool)
    is_first[1:] = group[1:] != group[:-1]
    base = (np.cumsum(is_first) - 1) * count
    largest: Times = value[order][np.maximum.accumulate(rank + base) - base]
    return largest


def clip(start_ns: Times, end_ns: Times, *, from_ns: int, to_ns: int) -> tuple[Times, Times]:
    """Return the parts inside [from_ns, to_ns); what lies outside becomes empty at an edge."""
    return np.clip(start_ns, from_ns, to_ns), np.clip(end_ns, from_ns, to_ns)


def complement(start_ns: Times, end_ns: Times, *, from_ns: int, to_ns: int) -> tuple[Times, Times]:
    """Return the gaps: the parts of [from_ns, to_ns) that no interval covers, in order."""
    start, end = union(*clip(start_ns, end_ns, from_ns=from_ns, to_ns=to_ns))
    gap_start = np.concatenate(([from_ns], end)).astype(np.int64)
    gap_end = np.concatenate((start, [to_ns])).astype(np.int64)
    filled = gap_end > gap_start
    return gap_start[filled], gap_end[filled]


def covered_ns(start_ns: Times, end_ns: Times, *, from_ns: Times, to_ns: Times) -> Times:
    """Return for each of (k,) windows how much of it the intervals cover.

    Args:
        start_ns: (n,) of a `union`: in order and apart from each other.
        end_ns: (n,) likewise.
        from_ns: (k,) starts of the windows, in any order.
        to_ns: (k,) their ends, each at or after its start.
    """
    before = np.concatenate(([0], np.cumsum(end_ns - start_ns)))

    def until(time_ns: Times) -> Times:
        passed = np.searchsorted(start_ns, time_ns)
        if not len(start_ns):
            return np.zeros(len(time_ns), np.int64)
        # The last one that began may reach past the time asked for.
        over = np.maximum(end_ns[passed - 1] - time_ns, 0)
        return np.where(passed > 0, before[passed] - over, 0)

    return until(to_ns) - until(from_ns)
