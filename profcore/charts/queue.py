"""How much launched work waits for the GPU?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import numpy as np
import pandas as pd

from profcore.charts.figure import DRIVER, Figure, Picture, color, unit_for
from profcore.charts.thinning import POINTS_MAX, thinned
from profcore.trace.model import MISSING
from profcore.units import percent_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

QUESTION: Final = "How much launched work waits for the GPU?"
STREAMS_MAX: Final = 50
HEIGHT_PX: Final = 220


def queue_figure(queue: pd.DataFrame) -> Figure:
    """Draw how many launch calls wait at each time, all streams together.

    Args:
        queue: The table of `profcore.analysis.queue`, at least one row.
    """
    time_ns, depth = together(queue)
    streams = _streams(queue)
    return Figure(
        question=QUESTION,
        chart=_line(*thinned(time_ns, depth)),
        takeaway=_takeaway(time_ns, depth),
        sheet=streams.head(STREAMS_MAX),
        note=_note(len(time_ns), len(streams)),
    )


def together(queue: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return times and the summed length of all queues from each of them on."""
    depth = queue["depth"].to_numpy()
    change = np.diff(depth, prepend=0)
    where = queue[["device", "stream"]].to_numpy()
    begins = np.append(True, (where[1:] != where[:-1]).any(axis=1))
    change[begins] = depth[begins]  # each queue begins empty
    time_ns = queue["time_ns"].to_numpy()
    order = np.argsort(time_ns, kind="stable")
    time_ns, depth = time_ns[order], np.cumsum(change[order])
    is_last = np.append(time_ns[1:] != time_ns[:-1], True)
    return time_ns[is_last], depth[is_last]


def _line(time_ns: Ints, depth: Ints) -> Picture:
    unit = unit_for(float(time_ns[-1]))
    data = pd.DataFrame(
        {"time": time_ns / unit.ns, "waiting": depth, "series": DRIVER, "calls": depth}
    )
    line: alt.Chart = alt.Chart(data, height=HEIGHT_PX).mark_line(interpolate="step-after")
    return line.encode(
        x=alt.X("time:Q", title=f"Time since the recording began ({unit.name})"),
        y=alt.Y("waiting:Q", title="Launch calls that wait", axis=alt.Axis(tickMinStep=1)),
        color=color("series", []),
        tooltip=[
            alt.Tooltip("time:Q", title=f"From ({unit.name})", format=",.2f"),
            alt.Tooltip("calls:Q", title="Calls that wait"),
        ],
    )


def _mean_and_empty(time_ns: Ints, depth: Ints) -> tuple[float, float]:
    """Return the mean length over time, and the share of the time in which nothing waited."""
    length = np.diff(time_ns)
    span = max(int(length.sum()), 1)
    mean = float((depth[:-1].astype(np.float64) * length).sum()) / span
    return mean, int(length[depth[:-1] == 0].sum()) / span


def _takeaway(time_ns: Ints, depth: Ints) -> str:
    mean, empty = _mean_and_empty(time_ns, depth)
    return (
        f"At most {int(depth.max()):,} launch calls wait at once, {mean:,.1f} on average over "
        f"time; {percent_text(empty)} of the time none does."
    )


def _note(points: int, streams: int) -> str:
    text = (
        "A call waits from its own start until its first work starts; a graph counts once. A queue "
        "that is long keeps the GPU fed; one that is empty most of the time means that the GPU "
        "waits for the CPU."
    )
    if points > POINTS_MAX:
        text += (
            f" Of {points:,} changes {POINTS_MAX:,} are drawn: the longest queue of each stretch."
        )
    if streams > STREAMS_MAX:
        text += f" The {STREAMS_MAX} busiest of {streams:,} streams are listed."
    return text


def _streams(queue: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (device, stream), one in queue.groupby(["device", "stream"], sort=False):
        depth = one["depth"].to_numpy()
        mean, empty = _mean_and_empty(one["time_ns"].to_numpy(), depth)
        rows.append(
            {
                "Device": _number(device),
                "Stream": _number(stream),
                "Longest queue": int(depth.max()),
                "Mean length": mean,
                "Empty (%)": empty * 100,
                "Changes": len(one),
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values("Changes", ascending=False, kind="stable", ignore_index=True)


def _number(value: object) -> str:
    return "not said" if value == MISSING else str(value)
