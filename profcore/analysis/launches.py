"""Which calls started GPU work, and how long did the work wait?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, steps

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis

COLUMNS: Final[dict[str, str]] = {
    "row": "position of the call in the trace",
    "name": "the call, as the file spells it",
    "start_ns": "start of the call",
    "duration_ns": "duration of the call",
    "correlation": "the number it shares with its GPU work; -1 when the file gives none",
    "lane": "index of its thread in `trace.lanes`",
    "step": "position in the steps table of the step in which it was made; -1 for none",
    "activities": "kernels, copies and fills it started",
    "is_graph": "whether it launches a CUDA or HIP graph: one call, many kernels",
    "is_kernel_launch": "whether it counts as a launch; False for calls that copy or fill",
    "delay_ns": "start of its first work minus its own start; -1 when `activities` is 0, "
    "below 0 when the clocks disagree",
}


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per call that launches a kernel or graph, or owns GPU work; by start."""
    trace, found = analysis.trace, analysis.matching
    row = found.call_row
    start = trace.start_ns[row]
    owned = np.flatnonzero(found.call >= 0)
    owner = found.call[owned]
    begun = np.full(len(row), np.iinfo(np.int64).max)
    np.minimum.at(begun, owner, trace.start_ns[found.activity_row[owned]])
    owned_count = np.bincount(owner, minlength=len(row))
    lane = trace.lane[row].astype(np.int64)
    return pd.DataFrame(
        {
            "row": row,
            "name": columns.names_of(trace, row),
            "start_ns": start,
            "duration_ns": trace.duration_ns[row],
            "correlation": trace.correlation[row],
            "lane": lane,
            "step": steps.of_calls(analysis, analysis.markers),
            "activities": owned_count,
            "is_graph": found.is_graph,
            "is_kernel_launch": found.is_kernel_launch,
            "delay_ns": np.where(owned_count > 0, begun - start, -1),
        }
    )
