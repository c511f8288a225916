"""What holds each point back, arithmetic or memory, and how far below the roof is it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import TEXT_COLOR, Figure, Picture, tooltip
from profcore.charts.rate_unit import RateUnit, rate_unit
from profcore.charts.size_axis import HEIGHT_PX, LEGEND_LINE_PX, POINT_PX, row_color, words_of
from profcore.rules.beyond import beyond_arithmetic, beyond_memory
from profcore.units import bytes_rate_text, flops_rate_text, percent_text

if TYPE_CHECKING:
    from profcore.comparison.roofline import Roof

QUESTION: Final = "What is the roof above each point, arithmetic or memory, and how near is it?"
_ROOM: Final = 2.0
"""The roof is drawn this much, by ratio, beyond the points and its ridge."""


def roofline_figure(table: pd.DataFrame, roof: Roof | None) -> Figure:
    """Draw achieved FLOP/s over intensity under the roof, both axes logarithmic.

    Args:
        table: `profcore.comparison.roofline.roofline_table`.
        roof: None draws the points alone.
    """
    words, unit = words_of(table), rate_unit(table["flops_per_s"], "FLOP/s")
    rows = [str(name) for name in table["row"].unique()]
    shares = [
        "-" if share != share else percent_text(share)  # noqa: PLR0124 - NaN
        for share in table["roof_fraction"]
    ]
    data = pd.DataFrame(
        {
            "row": table["row"],
            "intensity": table["intensity"],
            "rate": table["flops_per_s"] / unit.per_s,
            "x_text": [f"{x:,}" for x in table["x"]],
            "flop_per_byte": [f"{value:,.1f} FLOP per byte" for value in table["intensity"]],
            "text": [flops_rate_text(value) for value in table["flops_per_s"]],
            "share": shares,
            "limit": table["limit"].replace("", "-"),
        }
    )
    base: alt.Chart = alt.Chart(data, height=HEIGHT_PX + LEGEND_LINE_PX)
    marks = base.mark_point(filled=True, size=POINT_PX).encode(
        x=_axis("intensity", "Intensity (FLOP per byte)"),
        y=alt.Y(
            "rate:Q",
            title=f"Achieved ({unit.name})",
            scale=alt.Scale(type="log", nice=False, padding=10),
            axis=alt.Axis(tickCount=5, format=",~g"),
        ),
        color=row_color(rows),
        tooltip=tooltip(
            ("x_text", words.name),
            ("flop_per_byte", "Intensity"),
            ("text", "Achieved"),
            ("share", "Of the roof"),
            ("limit", "Roof there"),
            ("row", "Row"),
        ),
    )
    chart: Picture = marks
    if roof is not None and len(table):
        chart = alt.layer(_roof(table, roof, unit), marks)
    return Figure(
        question=QUESTION,
        chart=chart,
        takeaway=_takeaway(table, roof),
        sheet=pd.DataFrame(
            {
                "Row": table["row"],
                words.name: table["x"],
                "FLOP per byte": table["intensity"],
                f"Achieved ({unit.name})": table["flops_per_s"] / unit.per_s,
                "Of the roof": shares,
                "Roof": table["limit"],
            }
        ),
        note=_note(roof),
    )


def _axis(field_name: str, title: str) -> alt.X:
    return alt.X(
        f"{field_name}:Q",
        title=title,
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(tickCount=5, format="~g"),
    )


def _roof(table: pd.DataFrame, roof: Roof, unit: RateUnit) -> Picture:
    low = min(float(table["intensity"].min()), roof.ridge) / _ROOM
    high = max(float(table["intensity"].max()), roof.ridge) * _ROOM
    corners = [low, roof.ridge, high]
    data = pd.DataFrame(
        {"intensity": corners, "rate": [roof.at(intensity) / unit.per_s for intensity in corners]}
    )
    line: Picture = alt.Chart(data).mark_line(strokeDash=[6, 4], strokeWidth=2, color=TEXT_COLOR)
    return line.encode(x="intensity:Q", y="rate:Q")


def _takeaway(table: pd.DataFrame, roof: Roof | None) -> str:
    if table.empty:
        return "No point has been timed yet."
    if roof is None:
        return "No ceiling of this device is known, so only the points are drawn."
    best = table.iloc[int(table["roof_fraction"].to_numpy().argmax())]
    beyond = beyond_memory if best["limit"] == "memory" else beyond_arithmetic
    arithmetic = int((table["limit"] == "arithmetic").sum())
    return (
        f"The roof is memory up to {roof.ridge:,.0f} FLOP per byte and arithmetic beyond; "
        f"{arithmetic} of {len(table)} points lie under the arithmetic part. The nearest, "
        f"{words_of(table).name.lower()} {best['x']:,} ({best['row']}), reaches "
        f"{percent_text(best['roof_fraction'])} of it"
        f"{beyond(best['roof_fraction'])}."
    )


def _note(roof: Roof | None) -> str:
    text = (
        "Both axes are logarithmic. FLOP and bytes are those of the workload's formulas, the time "
        "is that of the step without the profiler: a point far below the roof mostly waits for the "
        "CPU."
    )
    if roof is None:
        return text
    return (
        f"{text} Roof: {flops_rate_text(roof.flops_per_s)} in {roof.format} and "
        f"{bytes_rate_text(roof.bytes_per_s)}. {roof.source_text}"
    )
