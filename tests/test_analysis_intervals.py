"""Union, sum and gaps of intervals: worked out by hand, and as algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.analysis import intervals

if TYPE_CHECKING:
    from random import Random

Spans = list[tuple[int, int]]

times = st.integers(min_value=0, max_value=60)
pairs = st.lists(st.tuples(times, st.integers(min_value=0, max_value=20)), max_size=30)


def arrays(spans: Spans) -> tuple[np.ndarray, np.ndarray]:
    start = np.array([one for one, _ in spans], np.int64)
    return start, start + np.array([length for _, length in spans], np.int64)


def covered(spans: Spans) -> set[int]:
    """Every unit of time inside some interval, counted one by one."""
    return {unit for start, length in spans for unit in range(start, start + length)}


def test_busy_ns_counts_an_overlap_once() -> None:
    # [0, 10) and [5, 15) cover 15; [20, 30) adds 10; the empty one adds nothing.
    start, end = np.array([0, 5, 20, 50]), np.array([10, 15, 30, 50])
    assert intervals.busy_ns(start, end) == 25


def test_busy_ns_of_nothing_is_zero() -> None:
    nothing = np.empty(0, np.int64)
    assert intervals.busy_ns(nothing, nothing) == 0
    assert intervals.busy_by_group_ns(nothing, nothing, nothing, groups=2).tolist() == [0, 0]


def test_union_joins_what_touches() -> None:
    start, end = intervals.union(np.array([0, 10, 30]), np.array([10, 20, 40]))
    assert (start.tolist(), end.tolist()) == ([0, 30], [20, 40])


def test_an_interval_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="ends before it starts"):
        intervals.busy_ns(np.array([5]), np.array([4]))
    with pytest.raises(ValueError, match="1 starts and 2 ends"):
        intervals.busy_ns(np.array([5]), np.array([6, 7]))


def test_complement_gives_the_gaps_of_a_window() -> None:
    # Busy [0, 10) and [20, 30): in [5, 40) the gaps are [10, 20) and [30, 40).
    start, end = intervals.complement(np.array([0, 20]), np.array([10, 30]), from_ns=5, to_ns=40)
    assert (start.tolist(), end.tolist()) == ([10, 30], [20, 40])


def test_groups_far_apart_in_time_do_not_overflow() -> None:
    far = np.iinfo(np.int64).max - 10
    start = np.array([0, far, 5, far + 2])
    busy = intervals.busy_by_group_ns(start, start + 4, np.array([0, 0, 1, 1]), groups=2)
    assert busy.tolist() == [8, 8]


@given(pairs)
def test_busy_is_what_counting_units_gives(spans: Spans) -> None:
    start, end = arrays(spans)
    busy = intervals.busy_ns(start, end)
    assert busy == len(covered(spans))
    assert busy <= (end - start).sum()
    assert busy <= (end.max() - start.min() if spans else 0)


@given(pairs, st.integers(min_value=-1000, max_value=1000), st.randoms(use_true_random=False))
def test_neither_the_clock_nor_the_order_changes_busy(
    spans: Spans, shift: int, random: Random
) -> None:
    start, end = arrays(spans)
    shuffled = spans.copy()
    random.shuffle(shuffled)
    other_start, other_end = arrays(shuffled)
    busy = intervals.busy_ns(start, end)
    assert busy == intervals.busy_ns(other_start + shift, other_end + shift)


@given(pairs, times, times)
def test_union_and_gaps_fill_the_window(spans: Spans, one: int, other: int) -> None:
    from_ns, to_ns = min(one, other), max(one, other)
    start, end = arrays(spans)
    inside = intervals.busy_ns(*intervals.clip(start, end, from_ns=from_ns, to_ns=to_ns))
    gap_start, gap_end = intervals.complement(start, end, from_ns=from_ns, to_ns=to_ns)
    assert inside + (gap_end - gap_start).sum() == to_ns - from_ns


@given(st.lists(st.tuples(times, st.integers(0, 20), st.integers(0, 3)), max_size=30))
def test_busy_by_group_is_busy_of_each_group(rows: list[tuple[int, int, int]]) -> None:
    start, end = arrays([(one, length) for one, length, _ in rows])
    group = np.array([owner for *_, owner in rows], np.int64)
    busy = intervals.busy_by_group_ns(start, end, group, groups=4)
    for owner in range(4):
        mine = group == owner
        assert busy[owner] == intervals.busy_ns(start[mine], end[mine])


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 3)), max_size=30))
def test_running_max_starts_anew_in_each_group(rows: Spans) -> None:
    rows.sort(key=lambda row: row[1])
    value = np.array([one for one, _ in rows], np.int64)
    group = np.array([owner for _, owner in rows], np.int64)
    largest = intervals.running_max(value, group)
    for at, owner in enumerate(group):
        assert largest[at] == value[: at + 1][group[: at + 1] == owner].max()
