"""What was copied or filled on the GPU, and which way did it go?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns
from profcore.trace.model import GPU_WORK, KINDS, MISSING

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis

COLUMNS: Final[dict[str, str]] = {
    "name": "full name as in the file",
    "kind": "memcpy or memset",
    "direction": "HtoD, DtoH, DtoD, PtoP, HtoH or unknown; empty for memset",
    "calls": "how often",
    "sum_ns": "sum of durations",
    "size_bytes": "bytes of all calls; -1 when no row says",
    "share_fraction": "share of the sum over all GPU work (kernels, copies and fills)",
    "median_row": "position in the trace of its call of median duration",
}

_DIRECTION = re.compile(r"(?<![A-Za-z])([HDPA])to([HDPA])(?![A-Za-z])")
_WORDED = re.compile(r"(Host|Device|Peer)_?[Tt]o_?(Host|Device|Peer)")
_XPU = re.compile(r"(?<![A-Za-z])([HMDS])2([HMDS])(?![A-Za-z])")
_SIDE = {"M": "D", "S": "D"}


def direction(name: str) -> str:
    """Return which way a copy goes, read from its name: "Memcpy HtoD (Pinned -> Device)" is HtoD.

    XPU writes M2D and D2M for host memory (M) and device, ROCm also HostToDevice.
    """
    if match := _DIRECTION.search(name):
        return match[0]
    if match := _WORDED.search(name):
        return f"{match[1][0]}to{match[2][0]}"
    if match := _XPU.search(name):
        return "to".join("H" if side == "M" else _SIDE.get(side, side) for side in match.groups())
    return "unknown"


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per name of a copy or fill, largest sum first, then by name."""
    trace = analysis.trace
    row = np.flatnonzero(trace.is_kind("memcpy", "memset"))
    all_work_ns = int(trace.duration_ns[trace.is_kind(*GPU_WORK)].sum())
    key, group = np.unique(
        trace.name[row].astype(np.int64) * len(KINDS) + trace.kind[row], return_inverse=True
    )
    count = len(key)
    kind = [KINDS[code] for code in (key % len(KINDS)).tolist()]
    full = [trace.names[index] for index in (key // len(KINDS)).tolist()]
    size = trace.size_bytes[row]
    known = size != MISSING
    total = columns.sums(trace.duration_ns[row], group, groups=count)
    sized = columns.sums(size[known], group[known], groups=count)
    any_known = np.bincount(group[known], minlength=count) > 0
    frame = pd.DataFrame(
        {
            "name": columns.text(full),
            "kind": columns.text(kind),
            "direction": columns.text(
                direction(name) if one == "memcpy" else ""
                for name, one in zip(full, kind, strict=True)
            ),
            "calls": np.bincount(group, minlength=count),
            "sum_ns": total,
            "size_bytes": np.where(any_known, sized, MISSING),
            "share_fraction": total / all_work_ns if all_work_ns else np.zeros(count),
            "median_row": columns.middle_rows(row, trace.duration_ns[row], group, groups=count),
        }
    )
    return frame.sort_values(
        ["sum_ns", "name"], ascending=[False, True], ignore_index=True, kind="stable"
    )
