"""What did the GPU do, who asked for it, and how long did it wait?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, matching, steps
from profcore.trace.model import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Ints = NDArray[np.int64]

MISSING_DELAY: Final = np.iinfo(np.int64).min
"""In `delay_ns`: there is no single launch call that is not a graph's."""

COLUMNS: Final[dict[str, str]] = {
    "row": "position in the trace",
    "kind": "kernel, memcpy or memset",
    "name": "full name",
    "start_ns": "when it started on the device",
    "duration_ns": "how long it ran",
    "device": "number of the device; -1 when the file does not say",
    "stream": "number of the stream; -1 when the file does not say",
    "correlation": "the number it shares with its launch call; -1 when the file gives none",
    "launch_row": "row of the call that launched it; -1 none in the file, -2 several",
    "operator_row": "row of the innermost operator around the launch, else of the innermost "
    "annotation; -1 for none",
    "step": "position in the steps table of the step in which it was launched; -1 for none",
    "delay_ns": "its start minus the start of its launch call; below 0 when the clocks disagree; "
    "MISSING_DELAY for graphs and where no single call is known",
    "is_graph": "whether a graph launch started it",
}


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per kernel, copy or fill, in order of start."""
    trace, found = analysis.trace, analysis.matching
    row, call = found.activity_row, found.call
    start = trace.start_ns[row]
    is_graph = columns.taken(found.is_graph, call, missing=False)
    is_launch = columns.taken(found.is_kernel_launch, call, missing=False)
    is_kernel = trace.is_kind("kernel")[row]
    # A kernel under a call that is no launch by name (ROCm copies) has no launch delay.
    is_timed = (call >= 0) & ~is_graph & (is_launch | ~is_kernel)
    called = columns.taken(trace.start_ns[found.call_row], call, missing=0)
    launch_row = columns.taken(found.call_row, call, missing=matching.NO_LAUNCH)
    launch_row[call == matching.SEVERAL_LAUNCHES] = matching.SEVERAL_LAUNCHES
    return pd.DataFrame(
        {
            "row": row,
            "kind": columns.text(np.array(KINDS, dtype=object)[trace.kind[row]]),
            "name": columns.names_of(trace, row),
            "start_ns": start,
            "duration_ns": trace.duration_ns[row],
            "device": trace.device[row],
            "stream": trace.stream[row],
            "correlation": trace.correlation[row],
            "launch_row": launch_row,
            "operator_row": operator_rows(analysis),
            "step": steps.of_activities(analysis, analysis.launches["step"].to_numpy()),
            "delay_ns": np.where(is_timed, start - called, MISSING_DELAY),
            "is_graph": is_graph,
        }
    )


def operator_rows(analysis: Analysis) -> Ints:
    """Return per activity the row of the operator that asked for it, or -1.

    The innermost operator around the launch call, as torch links them; the innermost annotation
    where no operator is around it. Of several launch calls the first counts. Where the file has no
    launch call, the operator with the same External id.
    """
    trace, found, nesting = analysis.trace, analysis.matching, analysis.nesting
    operator = nesting.nearest(trace.is_kind("operator"))
    of_call = np.where(operator >= 0, operator, nesting.operator)[found.call_row]
    of_activity = columns.taken(of_call, found.first_call, missing=-1)
    lost = np.flatnonzero(found.first_call < 0)
    of_activity[lost] = _by_external_id(analysis.trace, found.activity_row[lost])
    return of_activity


def _by_external_id(trace: Trace, row: Ints) -> Ints:
    """Return the one operator row with the same External id; -1 for none or several."""
    wanted = trace.external_id[row]
    owner = np.full(len(row), -1, np.int64)
    if not (wanted > 0).any():
        return owner
    operator = np.flatnonzero(trace.is_kind("operator") & (trace.external_id > 0))
    number = trace.external_id[operator]
    order = np.argsort(number, kind="stable")
    left = np.searchsorted(number[order], wanted, side="left")
    copies = np.searchsorted(number[order], wanted, side="right") - left
    single = (copies == 1) & (wanted > 0)
    owner[single] = operator[order[left[single]]]
    return owner
