"""When was the GPU idle, and why? Every gap of a window with a name of its own.

A gap is a stretch in which no kernel, copy or fill runs on any device or stream. It is named for
what fills most of it; where several things hold at once, the first of these counts:

1. profiler: the profiler does work of its own on the CPU (overhead rows, such as a buffer request);
2. launch: a launch call has returned and its work has not started yet (launch gap);
3. waiting: the CPU is inside a call that waits for the GPU (synchronise);
4. host: none of these: the CPU has not launched the next work yet (host-bound).

The gap before the first GPU work of a recording is called `start`: it is the offset between the
lanes of the CPU and the GPU, not a fault of the program. After the last GPU work there is no gap.

Source: the headings of `idle`, whose table sums the same stretches step by step; the profiler's own
work is told apart here because it stands in the picture as a bar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np
import pandas as pd

from profcore.analysis import columns, idle, intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

Cause = Literal["profiler", "launch", "waiting", "host", "start"]
CAUSES: Final[tuple[Cause, ...]] = get_args(Cause)

COLUMNS: Final[dict[str, str]] = {
    "start_ns": "when the GPU fell idle, or the start of the window",
    "duration_ns": "until the next GPU work, or the end of the window",
    "cause": "profiler, launch, waiting, host or start",
    "profiler_ns": "part in which the profiler worked for itself",
    "launch_ns": "part in which launched work had not started",
    "waiting_ns": "part in which the CPU waited for the GPU",
    "host_ns": "the rest: the CPU had not launched anything",
}


def gaps(analysis: Analysis, *, start_ns: int, end_ns: int) -> pd.DataFrame:
    """Return one row per gap inside [start_ns, end_ns), in order; see COLUMNS.

    The last four columns of a row add up to its duration, and all durations and the busy time of
    the window add up to the window, up to the last GPU work of the recording.
    """
    trace = analysis.trace
    work = analysis.matching.activity_row
    begun = trace.start_ns[work]
    ended = begun + trace.duration_ns[work]
    last_ns = min(end_ns, int(ended.max())) if len(work) else start_ns
    starts, ends = intervals.complement(
        begun, ended, from_ns=start_ns, to_ns=max(last_ns, start_ns)
    )
    parts = _parts(analysis, starts, ends)
    names = np.array(("profiler", "launch", "waiting", "host"), dtype=object)
    filled = np.stack([parts[f"{name}_ns"] for name in names])
    cause = names[filled.argmax(axis=0)] if len(starts) else names[:0]
    if len(starts) and len(work):
        cause[ends <= int(begun.min())] = "start"
    return pd.DataFrame(
        {
            "start_ns": starts,
            "duration_ns": ends - starts,
            "cause": columns.text(cause),
            **parts,
        }
    )


def _parts(analysis: Analysis, starts: Ints, ends: Ints) -> dict[str, Ints]:
    """Return how much of each gap falls under each heading."""
    covered = np.zeros(len(starts), np.int64)
    union_start, union_end = np.empty(0, np.int64), np.empty(0, np.int64)
    parts: dict[str, Ints] = {}
    for heading, (start, end) in _headings(analysis).items():
        # What an earlier heading has taken is not counted again: only the growth of the union is.
        union_start, union_end = intervals.union(
            np.concatenate((union_start, start)), np.concatenate((union_end, end))
        )
        so_far = intervals.covered_ns(union_start, union_end, from_ns=starts, to_ns=ends)
        parts[heading] = so_far - covered
        covered = so_far
    return {**parts, "host_ns": ends - starts - covered}


def _headings(analysis: Analysis) -> dict[str, tuple[Ints, Ints]]:
    trace, known = analysis.trace, idle.headings(analysis)
    overhead = trace.is_kind("overhead")
    start = trace.start_ns[overhead]
    return {
        "profiler_ns": (start, start + trace.duration_ns[overhead]),
        "launch_ns": known["queued_ns"],
        "waiting_ns": known["waiting_ns"],
    }
