"""What every chart has in common: its parts, its colours, its units, its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import altair as alt

from profcore.units import NS_PER_MS, NS_PER_S, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

CPU: Final = "CPU work"
GPU: Final = "GPU work"
DRIVER: Final = "CPU call to the GPU driver"
PROFILER: Final = "The profiler's own work"
UNPROFILED: Final = "Step time without the profiler"

SERIES: Final = (CPU, GPU, DRIVER, PROFILER, UNPROFILED)
"""Colours are given by place in the theme's palette of five, so a meaning keeps its colour in
every chart, in light and in dark."""

ROW_PX: Final = 26
"""Height of one row of a bar chart."""
LABEL_CHARS: Final = 24
"""Characters of a name that fit beside a bar on a phone; the whole name is in the tooltip."""
LABEL_PX: Final = 170
TEXT_COLOR: Final = "currentColor"
"""The page's own text colour: Vega's default, black, cannot be read in a dark theme."""
VALUE_ROOM: Final = 1.35
"""The axis ends this much after the longest bar, so that the number at its end fits."""


Picture: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A chart, the words that belong to it, and the table that says the same."""

    question: str
    """Heading above the chart: what it answers."""
    chart: Picture
    takeaway: str
    """For people who do not see the chart: what it shows, in plain text."""
    sheet: pd.DataFrame
    """The numbers as they are read: the unit stands in the column name, names are whole."""
    rows: tuple[int, ...] = ()
    """Of each line of the sheet the row of the trace that shows how it comes about; empty: none."""
    row_words: str = "How {} comes about"
    """What such a row is called, with the first cell of its line."""
    note: str = ""
    """What is not drawn, or how to read it."""
    first: Picture | None = None
    """A part with a scale of its own, drawn before the chart."""
    first_takeaway: str = ""
    table: str = ""
    """The table of the analysis that it draws, as the verdict's arithmetic names it."""
    outlined: tuple[str, ...] = ()
    """What is highlighted, in words; empty: nothing, and all bars look as ever."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A unit of time for an axis or a column."""

    name: str
    ns: int
    """Nanoseconds in one of it."""


def unit_for(largest_ns: float) -> Unit:
    """Return the unit in which the largest value of an axis is short to read."""
    if largest_ns < NS_PER_MS:
        return Unit(name="µs", ns=NS_PER_US)
    if largest_ns < NS_PER_S:
        return Unit(name="ms", ns=NS_PER_MS)
    return Unit(name="s", ns=NS_PER_S)


def shorten(name: str, chars: int = LABEL_CHARS) -> str:
    """Cut a name in the middle: both ends of a kernel's name carry meaning."""
    flat = " ".join(name.split())
    if len(flat) <= chars:
        return flat
    head = (chars - 1) * 2 // 3
    return f"{flat[:head]}…{flat[head + 1 - chars :]}"


def labels(names: Iterable[str]) -> list[str]:
    """Return a short label per name, all different, so that no two bars fall together."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        short = shorten(name)
        seen[short] = seen.get(short, 0) + 1
        result.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return result


def color(field_name: str, legend: Sequence[str]) -> alt.Color:
    """Return the colour encoding of a series column; the legend lists the given series."""
    return alt.Color(
        f"{field_name}:N",
        scale=alt.Scale(domain=list(SERIES)),
        legend=alt.Legend(
            title=None,
            values=list(legend),
            orient="top",
            direction="vertical",
            labelLimit=300,
            rowPadding=4,
            symbolType="square",
        )
        if legend
        else None,
    )


def label_axis(field_name: str, order: Sequence[str]) -> alt.Y:
    """Return the axis of names at the left of horizontal bars, in the given order."""
    return alt.Y(
        f"{field_name}:N",
        sort=list(order),
        title=None,
        axis=alt.Axis(labelLimit=LABEL_PX, ticks=False, domain=False),
    )


def value_axis(field_name: str, *, title: str, largest: float) -> alt.X:
    """Return the axis of bar lengths, from zero, with room for a number behind each bar."""
    return alt.X(
        f"{field_name}:Q",
        title=title,
        scale=alt.Scale(domain=[0, largest * VALUE_ROOM or 1]),
        axis=alt.Axis(tickCount=5),
    )


def tooltip(*columns: tuple[str, str]) -> list[Any]:
    """Return tooltips from (column, heading) pairs; the columns hold text made for reading."""
    return [alt.Tooltip(f"{column}:N", title=heading) for column, heading in columns]
