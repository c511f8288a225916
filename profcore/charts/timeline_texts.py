"""What is written and boxed on the timeline: names, gaps, numbers of landmarks, titles of lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from profcore.charts.timeline_layout import BAR_PX, Layout
from profcore.charts.timeline_style import (
    GAP_STYLE,
    INK,
    MANY_GAPS_STYLE,
    NAME_STYLE,
    TIP,
    Scale,
    px,
    words,
)
from profcore.charts.timeline_words import CAUSES, CAUSES_SHORT, GAPS_MAX, numeral
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.analysis.timeline import Timeline
    from profcore.charts.figure import Picture
    from profcore.rules.landmarks import Landmark

NAMES_MAX: Final = 150
"""Bars that may carry their name; texts cost more to draw than bars."""
NAME_MIN_PX: Final = 30
"""Narrower bars have no room for a name."""
GAPS_EDGED_MAX: Final = 100
"""Gaps with a dashed edge; the edges of more run into each other."""


def name_layer(bars: pd.DataFrame) -> alt.Chart:
    """Write the name into the longest bars, as far as it fits at the zoom of the moment."""
    longest = bars.nlargest(NAMES_MAX, "sum_ns")[["from", "to", "top", "name"]]
    width = "(scale('x', datum.to) - max(scale('x', datum.from), 0))"
    layer: alt.Chart = alt.Chart(longest.assign(top=longest["top"] + BAR_PX / 2)).mark_text(
        # The bar below says the same and more.
        aria=False,
        clip=True,
        color=INK,
        style=NAME_STYLE,
        x={"expr": "max(scale('x', datum.from), 0) + 4"},
        limit={"expr": f"max({width} - 6, 1)"},
        text={"expr": f"{width} > {NAME_MIN_PX} ? datum.name : ''"},
        tooltip=None,
    )
    return layer.encode(y=alt.Y(**px("top")))


def gap_layer(
    gaps: pd.DataFrame, places: Layout, scale: Scale, *, on_canvas: bool
) -> Picture | None:
    """Draw a box with its cause per gap of the GPU; None without a GPU."""
    if places.idle_px is None:
        return None
    start, length = gaps["start_ns"].to_numpy(), gaps["duration_ns"].to_numpy()
    table = pd.DataFrame(
        {
            "from": scale.number(start),
            "to": scale.number(start + length),
            "top": places.idle_px,
            "bottom": places.idle_px + BAR_PX,
            "name": [CAUSES_SHORT[cause] for cause in gaps["cause"]],
            "tip": [
                f"{CAUSES[cause]}: {time_text(ns)}, from {time_text(at - scale.from_ns)}"
                for cause, ns, at in zip(gaps["cause"], length, start, strict=True)
            ],
            "sum_ns": length,
        }
    ).nlargest(GAPS_MAX, "sum_ns")
    edge: dict[str, Any] = {"stroke": INK} if len(table) <= GAPS_EDGED_MAX else {}
    boxes: alt.Chart = alt.Chart(table.drop(columns="name")).mark_rect(
        clip=True,
        fill=INK,
        style=GAP_STYLE if edge else MANY_GAPS_STYLE,
        tooltip=TIP,
        **edge,
        **words(on_canvas=on_canvas),
    )
    boxes = boxes.encode(x=scale.x, x2="to:Q", y=alt.Y(**px("top")), y2="bottom:Q")
    return alt.layer(boxes, name_layer(table))


def number_layer(
    landmarks: Sequence[Landmark], line: Timeline, places: Layout, scale: Scale
) -> alt.Chart | None:
    """Write the numbers of the landmarks beside their bars; None when there are none."""
    if not landmarks:
        return None
    top_px = places.bar_px(line.marks["lane"].to_numpy(), line.marks["level"].to_numpy())
    place = dict(zip(line.marks["row"].tolist(), top_px.tolist(), strict=True))
    records = []
    for number, mark in enumerate(landmarks, start=1):
        top = place.get(mark.row, places.idle_px or 0)
        start_ns = max(mark.start_ns, line.start_ns)
        records.append(
            {
                "from": float(scale.number(np.array([start_ns]))[0]),
                "top": top,
                "number": numeral(number),
                "tip": mark.text,
            }
        )
    layer: alt.Chart = alt.Chart(pd.DataFrame(records)).mark_text(
        clip=True,
        align="right",
        baseline="middle",
        dx=-1,
        dy=BAR_PX / 2,
        fontSize=16,
        color=INK,
        tooltip=TIP,
        description=TIP,
    )
    return layer.encode(x=scale.x, y=alt.Y(**px("top")), text="number:N")


def title_layer(places: Layout) -> alt.Chart:
    """Write the line above each lane."""
    layer: alt.Chart = alt.Chart(places.titles).mark_text(
        align="left",
        baseline="top",
        dy=5,
        x=2,
        fontSize=12,
        color=INK,
        tooltip=None,
        description={"expr": "datum.text"},
    )
    return layer.encode(y=alt.Y(**px("px")), text="text:N")
