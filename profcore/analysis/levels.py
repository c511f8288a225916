"""On which level of its lane does each row stand, so that no two bars cover each other?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import intervals, stacks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def nested_levels(start_ns: Ints, end_ns: Ints, lane: Ints) -> Ints:
    """Return how many rows of the same lane are open round each row: 0 for an outermost one.

    Rows of one level of one lane never overlap, even where a child outlasts its parent: what begins
    while a row is open has that row or one inside it as its parent, and so stands lower.

    Args:
        start_ns: (m,) ordered by lane, then start, then longer first.
        end_ns: (m,) each at or after its start.
        lane: (m,) equal lanes are neighbours.
    """
    parent = stacks.parents(start_ns, end_ns, lane)
    level = np.zeros(len(parent), np.int64)
    rows, above = np.arange(len(parent)), parent
    for _ in range(stacks.ROUNDS_MAX):
        inside = above >= 0
        rows, above = rows[inside], above[inside]
        if not len(rows):
            return level
        level[rows] += 1
        above = parent[above]
    return _walked(parent)


def _walked(parent: Ints) -> Ints:
    """Count the levels row by row: a parent stands before its children."""
    level: list[int] = []
    for above in parent.tolist():
        level.append(level[above] + 1 if above >= 0 else 0)
    return np.array(level, np.int64)


def free_levels(start_ns: Ints, end_ns: Ints, lane: Ints) -> Ints:
    """Return for each row the first level of its lane that is free when it begins.

    Rows of one lane that do not overlap all stand on level 0; one that begins before another has
    ended gets a level of its own.

    Args:
        start_ns: (m,) ordered by lane, then start.
        end_ns: (m,) each at or after its start.
        lane: (m,) equal lanes are neighbours.
    """
    level = np.zeros(len(start_ns), np.int64)
    for first, last in _crowded(start_ns, end_ns, lane):
        free_from: list[int] = []
        for row in range(first, last):
            start = int(start_ns[row])
            at = next((n for n, free in enumerate(free_from) if free <= start), len(free_from))
            free_from[at : at + 1] = [int(end_ns[row])]
            level[row] = at
    return level


def _crowded(start_ns: Ints, end_ns: Ints, lane: Ints) -> list[tuple[int, int]]:
    """Return the runs of rows [first, last) that touch each other in one lane, two rows or more."""
    if not len(start_ns):
        return []
    reach = intervals.running_max(end_ns, lane)
    is_first = np.ones(len(start_ns), bool)
    is_first[1:] = (lane[1:] != lane[:-1]) | (start_ns[1:] >= reach[:-1])
    edges = np.append(np.flatnonzero(is_first), len(start_ns))
    return [
        (first, last)
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        if last - first > 1
    ]
