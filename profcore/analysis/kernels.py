"""Which kernels take the GPU's time?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, names, overlaps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

COLUMNS: Final[dict[str, str]] = {
    "name": "full name as in the file",
    "short_name": "without template arguments, parameters and namespaces",
    "family": "one of names.FAMILIES",
    "calls": "how often it ran",
    "sum_ns": "sum of durations, overlaps counted twice",
    "mean_ns": "sum over calls (float)",
    "median_ns": "median duration (float)",
    "min_ns": "shortest call",
    "max_ns": "longest call",
    "share_fraction": "share of the sum over all kernels",
    "overlong_calls": "calls whose duration cannot be true: see `overlaps`; the sum has them in it",
    "median_row": "position in the trace of its call of median duration",
}


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per kernel name, largest sum first, then by name. Copies are not kernels."""
    trace = analysis.trace
    row = np.flatnonzero(trace.is_kind("kernel"))
    key, group = np.unique(trace.name[row], return_inverse=True)
    duration = trace.duration_ns[row]
    order = np.lexsort((duration, group))
    ordered = duration[order]
    calls = np.bincount(group, minlength=len(key))
    first = np.cumsum(calls) - calls
    total = columns.sums(duration, group, groups=len(key))
    full = [trace.names[index] for index in key.tolist()]
    low, high = ordered[first + (calls - 1) // 2], ordered[first + calls // 2]
    frame = pd.DataFrame(
        {
            "name": columns.text(full),
            "short_name": columns.text(names.short_name(name) for name in full),
            "family": columns.text(names.family(name) for name in full),
            "calls": calls,
            "sum_ns": total,
            "mean_ns": total / calls,
            "median_ns": (low + high) / 2,
            "min_ns": ordered[first],
            "max_ns": ordered[first + calls - 1],
            "share_fraction": columns.shares(total),
            "overlong_calls": np.bincount(
                np.searchsorted(key, trace.name[_overlong(analysis)]), minlength=len(key)
            ),
            "median_row": row[order][first + (calls - 1) // 2],
        }
    )
    return frame.sort_values(
        ["sum_ns", "name"], ascending=[False, True], ignore_index=True, kind="stable"
    )


def _overlong(analysis: Analysis) -> NDArray[np.int64]:
    """Return the rows of overlong kernels; copies and fills have a table of their own."""
    row = overlaps.overlong_rows(analysis)
    return row[analysis.trace.is_kind("kernel")[row]]
