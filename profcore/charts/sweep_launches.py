"""Does the number of launches change as the work grows?"""

from __future__ import annotations

from typing import Any, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import Figure, tooltip
from profcore.charts.size_axis import (
    HEIGHT_PX,
    LEGEND_LINE_PX,
    POINT_PX,
    row_color,
    row_names,
    row_scale,
    words_of,
    x_axis,
)

QUESTION: Final = "How many launches does a step need as it grows?"


def sweep_launches_figure(points: pd.DataFrame) -> Figure:
    """Draw launches per step over what grows; points without a trace are left out.

    Args:
        points: The table of `profcore.comparison.points`.
    """
    drawn = points[points["launches"].notna()]
    rows = row_names(drawn)
    data = pd.DataFrame(
        {
            "row": drawn["row"],
            "x": drawn["x"],
            "x_text": [f"{x:,}" for x in drawn["x"]],
            "launches": drawn["launches"],
            "text": [f"{count:g}" for count in drawn["launches"]],
            "kernels": [f"{count:g}" for count in drawn["kernels"]],
        }
    )
    words, x = words_of(drawn), x_axis(drawn)
    y = alt.Y(
        "launches:Q",
        title="Launches per step",
        scale=alt.Scale(domainMin=0),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    base: alt.Chart = alt.Chart(data, height=HEIGHT_PX * 2 // 3 + LEGEND_LINE_PX)
    lines = base.mark_line().encode(x=x, y=y, color=row_color(rows))
    marks = base.mark_point(filled=True, size=POINT_PX).encode(
        x=x,
        y=y,
        color=alt.Color("row:N", sort=rows, scale=row_scale(rows), legend=None),
        tooltip=tooltip(
            ("x_text", words.name), ("text", "Launches"), ("kernels", "Kernels"), ("row", "Row")
        ),
    )
    return Figure(
        question=QUESTION,
        chart=alt.layer(lines, marks),
        takeaway=_takeaway(drawn),
        sheet=pd.DataFrame(
            {
                "Row": drawn["row"],
                words.name: drawn["x"],
                "Launches": _whole(drawn["launches"]),
                "Kernels": _whole(drawn["kernels"]),
            }
        ),
        note="Calls that start GPU work: one per kernel, or one for a whole CUDA graph. More work "
        "in each launch is what moves a program from waiting for the CPU to using the GPU.",
    )


def _whole(counts: pd.Series[float]) -> pd.Series[Any]:
    """Return whole numbers where none has decimals; a median of steps may end in a half."""
    return counts.astype("int64") if (counts % 1 == 0).all() else counts


def _takeaway(drawn: pd.DataFrame) -> str:
    parts = []
    for name, row in drawn.groupby("row", sort=False):
        low, high = row["launches"].min(), row["launches"].max()
        many = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        parts.append(f"{name}: {many} launches per step.")
    return " ".join(parts)
