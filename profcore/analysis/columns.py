"""Small array helpers that every table uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profcore.trace import Trace

    Ints = NDArray[np.int64]

T = TypeVar("T", bound=np.generic)


def text(values: Iterable[str]) -> pd.Series[str]:
    """Return a column of text that shares its strings.

    pandas would copy them into its own type of text; kernel names of 2,000 characters on a million
    rows are then gigabytes.
    """
    return pd.Series(list(values), dtype=object)


def names_of(trace: Trace, row: Ints) -> pd.Series[str]:
    """Return the full names of rows as a column; equal names are one object."""
    names = np.array(trace.names, dtype=object)
    return pd.Series(names[trace.name[row]] if len(names) else [], dtype=object)


def is_named(trace: Trace, names: Iterable[int]) -> NDArray[np.bool_]:
    """Return an (n,) mask of the rows whose name is one of these positions in `trace.names`."""
    wanted = np.zeros(len(trace.names), bool)
    wanted[list(names)] = True
    return wanted[trace.name]


def taken(values: NDArray[T], at: Ints, *, missing: T | int | bool) -> NDArray[T]:
    """Return values[at], and `missing` where `at` is negative."""
    result = np.full(len(at), missing, values.dtype)
    known = at >= 0
    result[known] = values[at[known]]
    return result


def shares(value: Ints) -> NDArray[np.float64]:
    """Return each value over their sum; all 0 when the sum is 0."""
    total = int(value.sum())
    if not total:
        return np.zeros(len(value))
    return value / total


def middle_rows(row: Ints, duration_ns: Ints, group: Ints, *, groups: int) -> Ints:
    """Return of each group the row of median duration, of two the shorter: (groups,) int64.

    Args:
        row: Positions in the trace, (k,).
        duration_ns: Of these rows, (k,).
        group: Of these rows, (k,); no group is empty.
        groups: How many there are.
    """
    order = np.lexsort((duration_ns, group))
    calls = np.bincount(group, minlength=groups)
    first = np.cumsum(calls) - calls
    middle: Ints = row[order][first + (calls - 1) // 2]
    return middle


def sums(value: Ints, group: Ints, *, groups: int) -> Ints:
    """Return the exact sum of values per group: (groups,) int64."""
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, value)
    return total
