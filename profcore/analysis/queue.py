"""How much launched work was waiting for the GPU, over time?

A call waits from its own start until its first work starts on the device. Source: queue length
as HolisticTraceAnalysis counts it (up at the launch call, down at the start of the work), with a
graph launch as one item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

COLUMNS: Final[dict[str, str]] = {
    "device": "number of the device; -1 when the file does not say",
    "stream": "number of the stream; -1 when the file does not say",
    "time_ns": "when the length changes",
    "depth": "calls that wait from then on until the next row of the same stream",
}


def waiting_calls(analysis: Analysis) -> tuple[Ints, Ints, Ints]:
    """Return the calls whose work started no earlier than they did, and that work.

    Returns:
        Positions in the launches table, when the first work of each started, and the position of
        that work in the activities table. Calls without work, and those whose work seems to start
        before them (the clocks disagree), are left out.
    """
    found, trace = analysis.matching, analysis.trace
    owned = np.flatnonzero(found.call >= 0)
    # Activities are in order of start: the first of each call is the one that started first.
    call, first = np.unique(found.call[owned], return_index=True)
    work = owned[first]
    started = trace.start_ns[found.activity_row[work]]
    real = started >= trace.start_ns[found.call_row[call]]
    return call[real], started[real], work[real]


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per change, by device, stream and time; changes at one time are one row."""
    trace = analysis.trace
    call, started, work = waiting_calls(analysis)
    row = analysis.matching.activity_row[work]
    called = trace.start_ns[analysis.matching.call_row[call]]
    device, stream = np.tile(trace.device[row], 2), np.tile(trace.stream[row], 2)
    time = np.concatenate((called, started))
    change = np.repeat((1, -1), len(call))
    order = np.lexsort((time, stream, device))
    device, stream, time = device[order], stream[order], time[order]
    # Every call goes up and down once on its stream, so the sum is 0 again where the next begins.
    depth = np.cumsum(change[order])
    is_last = np.ones(len(time), bool)
    is_last[:-1] = (
        (time[1:] != time[:-1]) | (stream[1:] != stream[:-1]) | (device[1:] != device[:-1])
    )
    return pd.DataFrame(
        {
            "device": device[is_last],
            "stream": stream[is_last],
            "time_ns": time[is_last],
            "depth": depth[is_last],
        }
    )
