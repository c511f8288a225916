"""How near does the work come to what the device can do?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import TEXT_COLOR, Figure, Picture, tooltip
from profcore.charts.rate_unit import rate_unit
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
from profcore.rules.beyond import beyond_arithmetic, beyond_memory
from profcore.units import bytes_rate_text, flops_rate_text, percent_text

if TYPE_CHECKING:
    from profcore.comparison.roofline import Roof

QUESTION: Final = "How near does the work come to what the device can do?"


def throughput_figure(points: pd.DataFrame, roof: Roof | None, *, is_matmul: bool) -> Figure:
    """Draw the achieved rate of the unprofiled step over what grows, with the device's ceiling.

    Args:
        points: The table of `profcore.comparison.points`.
        roof: None: no ceiling is known.
        is_matmul: Draw FLOP/s, else bytes/s.
    """
    column = "flops_per_s" if is_matmul else "bytes_per_s"
    unit = rate_unit(points[column], "FLOP/s" if is_matmul else "B/s")
    rate_text = flops_rate_text if is_matmul else bytes_rate_text
    ceiling = None if roof is None else roof.flops_per_s if is_matmul else roof.bytes_per_s
    rows = row_names(points)
    shares = ["-" if ceiling is None else percent_text(value / ceiling) for value in points[column]]
    data = pd.DataFrame(
        {
            "row": points["row"],
            "x": points["x"],
            "x_text": [f"{x:,}" for x in points["x"]],
            "rate": points[column] / unit.per_s,
            "text": [rate_text(value) for value in points[column]],
            "share": shares,
        }
    )
    words, x = words_of(points), x_axis(points)
    y = alt.Y(
        "rate:Q",
        title=f"Achieved ({unit.name})",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(tickCount=5, format=",~g"),
    )
    base: alt.Chart = alt.Chart(data, height=HEIGHT_PX + LEGEND_LINE_PX)
    lines = base.mark_line().encode(x=x, y=y, color=row_color(rows))
    marks = base.mark_point(filled=True, size=POINT_PX).encode(
        x=x,
        y=y,
        color=alt.Color("row:N", sort=rows, scale=row_scale(rows), legend=None),
        tooltip=tooltip(
            ("x_text", words.name),
            ("text", "Achieved"),
            ("share", "Of the ceiling"),
            ("row", "Row"),
        ),
    )
    layers: list[Picture] = [lines, marks]
    if ceiling is not None:
        layers.insert(0, _ceiling(ceiling / unit.per_s, rate_text(ceiling)))
    return Figure(
        question=QUESTION,
        chart=alt.layer(*layers),
        takeaway=_takeaway(points, column, ceiling, is_matmul=is_matmul),
        sheet=pd.DataFrame(
            {
                "Row": points["row"],
                words.name: points["x"],
                f"Achieved ({unit.name})": points[column] / unit.per_s,
                "Of the ceiling": shares,
            }
        ),
        note="Work of a step by its formula over the step time without the profiler. "
        + (
            f"Dashed: the ceiling, {rate_text(ceiling)}. {roof.source_text}"
            if roof is not None and ceiling is not None
            else "No ceiling of this device is known."
        ),
    )


def _ceiling(rate: float, text: str) -> Picture:
    data = pd.DataFrame({"rate": [rate], "text": [text]})
    rule: Picture = alt.Chart(data).mark_rule(strokeDash=[6, 4], strokeWidth=2, color=TEXT_COLOR)
    return rule.encode(y="rate:Q", tooltip=tooltip(("text", "Ceiling")))


def _takeaway(points: pd.DataFrame, column: str, ceiling: float | None, *, is_matmul: bool) -> str:
    if points.empty:
        return "No point has been timed yet."
    best = points.iloc[int(points[column].to_numpy().argmax())]
    rate = flops_rate_text(best[column]) if is_matmul else bytes_rate_text(best[column])
    text = f"At most {rate}, at {words_of(points).name.lower()} {best['x']:,} ({best['row']})"
    if ceiling is not None:
        fraction = best[column] / ceiling
        text += f": {percent_text(fraction)} of the ceiling"
        text += beyond_arithmetic(fraction) if is_matmul else beyond_memory(fraction)
    return f"{text}."
