"""Bars of a few times per row, each with the middle half of its repeats drawn over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from profcore.charts.figure import color, label_axis, tooltip, value_axis

if TYPE_CHECKING:
    import pandas as pd

    from profcore.charts.figure import Picture, Unit


def spread_bars(
    data: pd.DataFrame,
    *,
    row: str,
    series: list[str],
    height_px: int,
    largest_ns: float,
    unit: Unit,
    tips: tuple[tuple[str, str], ...],
) -> Picture:
    """Return the bars and their spreads.

    Args:
        data: (bars,) in the order to be drawn: `row`, "series", and in `unit` "duration", "low",
            "high" (the quartiles; missing where there are none).
        row: Column that names the row of a bar.
        series: The times, in the order in which they are drawn and listed.
        height_px: Of the whole chart.
        largest_ns: The longest bar, for the axis.
        unit: Of the axis.
        tips: Columns of the tooltip and their names.
    """
    y = label_axis(row, list(dict.fromkeys(data[row])))
    offset = alt.YOffset("series:N", sort=series)
    base: alt.Chart = alt.Chart(data, height=height_px)
    bars = base.mark_bar().encode(
        x=value_axis(
            "duration", title=f"Time per step ({unit.name})", largest=largest_ns / unit.ns
        ),
        y=y,
        yOffset=offset,
        color=color("series", series),
        tooltip=tooltip(*tips),
    )
    spreads = base.mark_rule(strokeWidth=3, color="gray").encode(
        x="low:Q", x2="high:Q", y=y, yOffset=offset, tooltip=tooltip(*tips)
    )
    layers: list[Picture] = [bars, spreads]
    return alt.layer(*layers)
