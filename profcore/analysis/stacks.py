"""Who lies in whom: the parent of every interval of a lane, found with array operations.

The parent of a row is the innermost row still open at its start: the last one before it, in order
of start, whose end lies after that start. A stack gives the same answer with a loop over rows; here
every row holds a candidate and all rows that are not settled jump together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

ROUNDS_MAX: Final = 128
"""Array rounds before the few rows left are walked one by one: a round costs the same for one row
as for a thousand, and a hostile file can nest a million deep."""


def parents(start_ns: Ints, end_ns: Ints, lane: Ints) -> Ints:
    """Return the position of each row's parent, -1 for none.

    Args:
        start_ns: (m,) ordered by lane, then start, then longer first.
        end_ns: (m,) each at or after its start; an empty row is nobody's parent.
        lane: (m,) equal lanes are neighbours.

    Why jumping is right: every row between a candidate and its row has ended by the row's start.
    So if the candidate has ended too, all rows down to the candidate's own candidate have.
    """
    count = len(start_ns)
    candidate = np.arange(-1, count - 1)
    candidate[1:][lane[1:] != lane[:-1]] = -1
    open_rows = np.flatnonzero(candidate >= 0)
    open_rows = open_rows[end_ns[candidate[open_rows]] <= start_ns[open_rows]]
    for _ in range(ROUNDS_MAX):
        if not len(open_rows):
            return candidate
        jumped = candidate[candidate[open_rows]]
        candidate[open_rows] = jumped
        open_rows = open_rows[(jumped >= 0) & (end_ns[jumped] <= start_ns[open_rows])]
    return _walked(candidate, open_rows, start_ns=start_ns, end_ns=end_ns)


def _walked(candidate: Ints, open_rows: Ints, *, start_ns: Ints, end_ns: Ints) -> Ints:
    """Settle the rows left over as a stack does: each row that has ended is passed only once."""
    found, ends = candidate.tolist(), end_ns.tolist()
    for row, start in zip(open_rows.tolist(), start_ns[open_rows].tolist(), strict=True):
        at = row - 1
        while at >= 0 and ends[at] <= start:
            at = found[at]
        found[row] = at
    return np.array(found, np.int64)


def climb(at: Ints, parent: Ints, *, end_ns: Ints, until_ns: Ints) -> Ints:
    """Return the innermost row from each `at` upwards that lasts until a given time; -1 for none.

    Args:
        at: (k,) where to begin; -1 stays -1.
        parent: (m,) of `parents`.
        end_ns: (m,) ends of the rows.
        until_ns: (k,) how long the wanted rows last at least. Looked for ROUNDS_MAX levels up.
    """
    at = at.copy()
    short = np.flatnonzero(at >= 0)
    short = short[end_ns[at[short]] < until_ns[short]]
    for _ in range(ROUNDS_MAX):
        if not len(short):
            return at
        at[short] = parent[at[short]]
        short = short[at[short] >= 0]
        short = short[end_ns[at[short]] < until_ns[short]]
    at[short] = -1
    return at


def nearest(wanted: NDArray[np.bool_], parent: Ints) -> Ints:
    """Return for each row the innermost wanted row around it, itself included; -1 for none."""
    count = len(parent)
    found = np.where(wanted, np.arange(count), parent)
    open_rows = np.flatnonzero(~wanted & (parent >= 0))
    open_rows = open_rows[~wanted[found[open_rows]]]
    while len(open_rows):
        jumped = found[found[open_rows]]
        found[open_rows] = jumped
        open_rows = open_rows[jumped >= 0]
        open_rows = open_rows[~wanted[found[open_rows]]]
    return found


def self_ns(start_ns: Ints, end_ns: Ints, parent: Ints, *, lane: Ints) -> Ints:
    """Return each row's own time: when it is the row of its lane that began last.

    Never negative, and the rows of a lane add up to the length of their union. Where rows nest
    cleanly this is the duration minus the direct children. A row that outlasts its parent keeps
    the rest for itself, and no row further up counts that rest again.
    """
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    if np.any(end_ns[child] > end_ns[above]):
        return _self_by_stretch(start_ns, end_ns, lane)
    own = end_ns - start_ns
    np.subtract.at(own, above, end_ns[child] - start_ns[child])
    return own


def _self_by_stretch(start_ns: Ints, end_ns: Ints, lane: Ints) -> Ints:
    """Give every stretch between two neighbouring starts or ends to the row that began last.

    The ends join the rows as rows of no length: their parent is whose stretch begins there.
    """
    count = len(start_ns)
    at_ns = np.concatenate((start_ns, end_ns))
    until_ns = np.concatenate((end_ns, end_ns))
    of_lane = np.concatenate((lane, lane))
    order = np.lexsort((np.arange(2 * count) >= count, at_ns, of_lane))
    at_ns, until_ns, of_lane = at_ns[order], until_ns[order], of_lane[order]
    owner = np.where(until_ns > at_ns, np.arange(2 * count), parents(at_ns, until_ns, of_lane))
    length_ns = np.zeros(2 * count, np.int64)
    length_ns[:-1] = np.where(of_lane[1:] == of_lane[:-1], at_ns[1:] - at_ns[:-1], 0)
    owned = owner >= 0
    own = np.zeros(count, np.int64)
    np.add.at(own, order[owner[owned]], length_ns[owned])
    return own


def add_up(value: Ints, parent: Ints) -> Ints:
    """Return each row's value plus those of all rows below it: (m,).

    A parent stands before its children.
    """
    total = value.copy()
    sources = np.flatnonzero(value)
    at, amount = parent[sources], value[sources]
    for _ in range(ROUNDS_MAX):
        inside = at >= 0
        if not inside.any():
            return total
        at, back = np.unique(at[inside], return_inverse=True)
        merged = np.zeros(len(at), np.int64)
        np.add.at(merged, back, amount[inside])
        total[at] += merged
        at, amount = parent[at], merged
    return _added_up(total, parent, at=at, amount=amount)


def _added_up(total: Ints, parent: Ints, *, at: Ints, amount: Ints) -> Ints:
    """Carry what is left upwards row by row, the last row first."""
    carried: dict[int, int] = {}
    for row, part in zip(at.tolist(), amount.tolist(), strict=True):
        if row >= 0:
            carried[row] = carried.get(row, 0) + part
    above = parent.tolist()
    for row in range(max(carried, default=-1), -1, -1):
        if part := carried.pop(row, 0):
            total[row] += part
            if above[row] >= 0:
                carried[above[row]] = carried.get(above[row], 0) + part
    return total
