"""Where does the CPU time go, name by name, and the GPU time that it asked for?

The rows are those of torch's own table (`key_averages`): runtime calls and profiler overhead are
rows of their own and are taken off the operator around them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, stacks
from profcore.analysis.lanes import is_listed
from profcore.trace.model import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Ints = NDArray[np.int64]

COLUMNS: Final[dict[str, str]] = {
    "name": "as in the file; all ProfilerStep#N are one row, ProfilerStep*",
    "kind": "operator, annotation, runtime or overhead",
    "calls": "how often; an operator that does nothing but call itself counts once, as in torch",
    "self_cpu_ns": "time in which it was the innermost row of its thread",
    "total_cpu_ns": "sum of durations; a call inside a call of the same name counts again",
    "self_gpu_ns": "sum of durations of the GPU work that it asked for itself",
    "total_gpu_ns": "the same with everything below it",
    "self_cpu_fraction": "share of the column self_cpu_ns",
    "self_gpu_fraction": "share of the column self_gpu_ns",
    "median_row": "position in the trace of its call of median duration",
}

STEP_NAME: Final = "ProfilerStep*"


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per name and kind, longest self CPU time first, then by name."""
    trace, nesting = analysis.trace, analysis.nesting
    group = _Groups(trace)
    merged = repeats(trace, nesting.parent, group.label)
    listed = np.flatnonzero(is_listed(trace))
    kept = listed[~merged[listed]]
    survivor = np.where(merged, nesting.parent, np.arange(len(trace)))
    while merged[survivor[listed]].any():
        survivor[listed] = survivor[survivor[listed]]
    activities = analysis.activities
    asked = activities["operator_row"].to_numpy()
    known = asked >= 0
    gpu = np.zeros(len(trace), np.int64)
    np.add.at(gpu, asked[known], activities["duration_ns"].to_numpy()[known])
    # The parent chain may pass through merged rows: their share goes on to the one that stays.
    with_children = stacks.add_up(gpu, nesting.parent)
    own_cpu = columns.sums(nesting.self_ns[listed], survivor[listed], groups=len(trace))
    own_gpu = columns.sums(gpu[listed], survivor[listed], groups=len(trace))
    return _sorted(
        group.summed(
            kept,
            own_cpu=own_cpu,
            total_cpu=trace.duration_ns,
            own_gpu=own_gpu,
            total_gpu=with_children,
        )
    )


def repeats(trace: Trace, parent: Ints, label: Ints) -> NDArray[np.bool_]:
    """Return an (n,) mask of rows that only repeat their parent: same name, no sibling.

    torch merges such pairs (`_remove_dup_nodes`). An exact copy of a row, which some writers
    leave, is no call inside a call and stays.
    """
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    siblings = np.bincount(above, minlength=len(parent))[above]
    is_copy = (trace.start_ns[child] == trace.start_ns[above]) & (
        trace.duration_ns[child] == trace.duration_ns[above]
    )
    merged = np.zeros(len(parent), bool)
    merged[child] = (siblings == 1) & (label[child] == label[above]) & ~is_copy
    return merged


class _Groups:
    """Rows of a trace grouped by name and kind, the steps as one."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        names = list(trace.names)
        step = [i for i, name in enumerate(names) if name.startswith("ProfilerStep#")]
        self.names = np.array([*names, STEP_NAME], dtype=object)
        renamed = np.arange(len(names) + 1)
        renamed[step] = len(names)
        self.label: Ints = renamed[trace.name]
        """(n,) index into `names`."""
        kind = trace.kind.astype(np.int64)
        kind[self.label == len(names)] = KINDS.index("annotation")
        self.kind = kind

    def summed(
        self, row: Ints, *, own_cpu: Ints, total_cpu: Ints, own_gpu: Ints, total_gpu: Ints
    ) -> pd.DataFrame:
        """Add up per-row figures, (n,) each, over the rows that are listed."""
        key, group = np.unique(self.label[row] * len(KINDS) + self.kind[row], return_inverse=True)
        figures = {
            "self_cpu_ns": own_cpu,
            "total_cpu_ns": total_cpu,
            "self_gpu_ns": own_gpu,
            "total_gpu_ns": total_gpu,
        }
        kinds = np.array(KINDS, dtype=object)
        return pd.DataFrame(
            {
                "name": columns.text(self.names[key // len(KINDS)]),
                "kind": columns.text(kinds[key % len(KINDS)]),
                "calls": np.bincount(group, minlength=len(key)),
                **{
                    column: columns.sums(figure[row], group, groups=len(key))
                    for column, figure in figures.items()
                },
                "median_row": columns.middle_rows(row, total_cpu[row], group, groups=len(key)),
            }
        )


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    frame["self_cpu_fraction"] = columns.shares(frame["self_cpu_ns"].to_numpy())
    frame["self_gpu_fraction"] = columns.shares(frame["self_gpu_ns"].to_numpy())
    return frame[list(COLUMNS)].sort_values(
        ["self_cpu_ns", "name"], ascending=[False, True], ignore_index=True, kind="stable"
    )
