"""What the charts of a sweep have in common: sizes on a logarithmic axis, one line per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import TEXT_COLOR
from profcore.comparison.crossover import size_text
from profcore.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.charts.figure import Picture
    from profcore.comparison.crossover import Crossover

HEIGHT_PX: Final = 300
LEGEND_LINE_PX: Final = 24
"""Added to the height for each line of a legend, which would else take it from the drawing."""
POINT_PX: Final = 60
"""Area of a point's mark."""
SIZE_TITLE: Final = "Size (rows and columns of each matrix)"


def size_axis(sizes: Sequence[int], field_name: str = "size") -> alt.X:
    """Return the axis of sizes: equal steps for equal ratios, a tick at every measured size."""
    return alt.X(
        f"{field_name}:Q",
        title=SIZE_TITLE,
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(
            values=sorted(set(sizes)), format="~d", labelOverlap="greedy", labelAngle=0, grid=False
        ),
    )


def row_color(rows: Sequence[str]) -> alt.Color:
    """Return the colour of each row, in the theme's own order; a single row needs no legend."""
    return alt.Color(
        "row:N",
        sort=list(rows),
        legend=alt.Legend(title=None, orient="top", labelLimit=300) if len(rows) > 1 else None,
    )


def crossing_rules(crossings: Sequence[Crossover]) -> Picture | None:
    """Return a dashed line down at every crossing that was found, with its size beside it."""
    found = [one for one in crossings if one.size is not None]
    if not found:
        return None
    data = pd.DataFrame(
        {
            "size": [one.size for one in found],
            "row": [one.row for one in found],
            "label": [f"{percent_text(one.threshold)} busy" for one in found],
            "text": [size_text(one.size or 0.0) for one in found],
        }
    )
    rule: alt.Chart = alt.Chart(data).mark_rule(
        strokeDash=[3, 3], strokeWidth=1.5, opacity=0.7, color=TEXT_COLOR
    )
    return rule.encode(
        x=alt.X("size:Q"),
        tooltip=[
            alt.Tooltip("label:N", title="From here on at least"),
            alt.Tooltip("text:N", title="Size, about"),
            alt.Tooltip("row:N", title="Row"),
        ],
    )


def row_names(points: pd.DataFrame) -> list[str]:
    """Return the rows of a sweep in their order."""
    return [str(name) for name in points["row"].unique()]
