"""Many bars become few: what is narrower than a column of the picture is drawn as one block.

A picture can show no more than its columns of pixels, and a browser grows slow above a few
thousand bars. Nothing is dropped: each block knows how many rows it stands for and their sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.timeline import Timeline

    Ints = NDArray[np.int64]

MARKS_MAX: Final = 5_000
"""Bars per picture; more make a zoom step noticeably slow in a browser."""
WIDTH_COLUMNS: Final = 1_000
"""Columns of a common screen; halved until the bars are few enough."""


def blocks(line: Timeline, *, marks_max: int = MARKS_MAX) -> pd.DataFrame:
    """Return the marks of a timeline, merged into at most `marks_max` where there are more.

    Returns:
        Columns `timeline.MARKS`; `rows`, `sum_ns` and `self_ns` add up to the same per lane.
        Bars as wide as a column stay as they are; of narrower ones that begin in the same column,
        lane and level one block remains, from the first start to the last end.
    """
    marks = line.marks
    count = WIDTH_COLUMNS
    while len(marks) > marks_max and count:
        marks = _merged(line, columns_count=count)
        count //= 2
    return marks


def _merged(line: Timeline, *, columns_count: int) -> pd.DataFrame:
    marks = line.marks
    width_ns = max((line.end_ns - line.start_ns) / columns_count, 1.0)
    start, end = marks["start_ns"].to_numpy(), marks["end_ns"].to_numpy()
    narrow = end - start < width_ns
    column = ((start - line.start_ns) / width_ns).astype(np.int64)
    place = (marks["lane"].to_numpy(), marks["level"].to_numpy(), column, narrow)
    # The marks are in order of lane, level and start: what belongs together stands together,
    # unless a wide bar lies between.
    is_first = np.ones(len(marks), bool)
    same = [each[1:] == each[:-1] for each in place]
    is_first[1:] = ~(np.logical_and.reduce(same) & narrow[1:])
    group = np.cumsum(is_first) - 1
    first = np.flatnonzero(is_first)
    groups = len(first)
    longest = _longest(marks["sum_ns"].to_numpy(), group, first)
    rows = columns.sums(marks["rows"].to_numpy(), group, groups=groups)
    last = np.append(first[1:], len(marks)) - 1
    return pd.DataFrame(
        {
            "row": np.where(rows > 1, -1, marks["row"].to_numpy()[first]),
            "lane": marks["lane"].to_numpy()[first],
            "level": marks["level"].to_numpy()[first],
            "kind": columns.text(marks["kind"].to_numpy()[longest]),
            "name": columns.text(marks["name"].to_numpy()[longest]),
            "start_ns": start[first],
            "end_ns": end[last],
            "sum_ns": columns.sums(marks["sum_ns"].to_numpy(), group, groups=groups),
            "self_ns": columns.sums(marks["self_ns"].to_numpy(), group, groups=groups),
            "rows": rows,
        }
    )


def _longest(value: Ints, group: Ints, first: Ints) -> Ints:
    """Return the position of the largest value of each group, the first of equal ones."""
    longest: Ints = np.lexsort((np.arange(len(value)), -value, group))[first]
    return longest
