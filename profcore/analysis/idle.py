"""Why was the GPU idle during a step?

Every instant of a step's stretch on the GPU is put under one heading, the first that holds:

1. kernel: a kernel or a fill runs;
2. copy: only copies run;
3. queued: a launch call has returned and its work has not started (launch gap);
4. waiting: the CPU is inside a call that waits for the GPU;
5. host: none of these: the CPU has not launched the next work yet.

The stretch of a step runs from the end of the previous step's last work to the end of its own, so
the first step has none: a kernel lost at the edge of a recording would read as idle time there.
Source: host wait, kernel wait and other of HolisticTraceAnalysis' idle-time breakdown, with the
host's waiting told apart. Devices and streams are laid on one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.analysis import columns, intervals, queue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Times = NDArray[np.int64]

COLUMNS: Final[dict[str, str]] = {
    "step": "position in the steps table",
    "start_ns": "end of the last work of the step before",
    "window_ns": "from there to the end of the step's own last work; sum of the columns below",
    "kernel_ns": "time in which a kernel or a fill ran",
    "copy_ns": "time in which only copies ran",
    "queued_ns": "idle with launched work waiting to start",
    "waiting_ns": "idle while the CPU waited for the GPU",
    "host_ns": "idle because the CPU had not launched anything yet",
}

WAITING_CALLS: Final = frozenset(
    {
        "cudaDeviceSynchronize",
        "cudaStreamSynchronize",
        "cudaEventSynchronize",
        "cudaMemcpy",
        "hipDeviceSynchronize",
        "hipStreamSynchronize",
        "hipEventSynchronize",
        "hipMemcpy",
        "hipMemcpyWithStream",
    }
)
"""Calls that return only when the GPU has caught up."""


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per step with GPU work but the first, in order of start."""
    steps = analysis.steps
    end = steps["gpu_end_ns"].to_numpy()
    worked = np.flatnonzero(end >= 0)
    # A step that ends before an earlier one (several streams) has a stretch of no length.
    reach = np.maximum.accumulate(end[worked])
    from_ns, to_ns = reach[:-1], reach[1:]
    covered = np.zeros(len(to_ns), np.int64)
    starts, ends = np.empty(0, np.int64), np.empty(0, np.int64)
    parts = {}
    for heading, (start_ns, end_ns) in headings(analysis).items():
        # What an earlier heading has taken is not counted again: only the growth of the union is.
        starts, ends = intervals.union(
            np.concatenate((starts, start_ns)), np.concatenate((ends, end_ns))
        )
        so_far = intervals.covered_ns(starts, ends, from_ns=from_ns, to_ns=to_ns)
        parts[heading] = so_far - covered
        covered = so_far
    return pd.DataFrame(
        {
            "step": worked[1:],
            "start_ns": from_ns,
            "window_ns": to_ns - from_ns,
            **parts,
            "host_ns": to_ns - from_ns - covered,
        }
    )


def headings(analysis: Analysis) -> dict[str, tuple[Times, Times]]:
    """Return the intervals under each heading, in the order in which they hold."""
    trace = analysis.trace
    launches = analysis.launches
    called = (launches["start_ns"] + launches["duration_ns"]).to_numpy()
    call, started, _ = queue.waiting_calls(analysis)
    late = started > called[call]
    names = [index for index, name in enumerate(trace.names) if name in WAITING_CALLS]
    return {
        "kernel_ns": _spans(analysis, trace.is_kind("kernel", "memset")),
        "copy_ns": _spans(analysis, trace.is_kind("memcpy")),
        "queued_ns": (called[call][late], started[late]),
        "waiting_ns": _spans(analysis, trace.is_kind("runtime") & columns.is_named(trace, names)),
    }


def _spans(analysis: Analysis, mask: NDArray[np.bool_]) -> tuple[Times, Times]:
    start = analysis.trace.start_ns[mask]
    return start, start + analysis.trace.duration_ns[mask]
