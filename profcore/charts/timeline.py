"""What happened when, on which thread and which stream?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from profcore.analysis import idle
from profcore.charts.figure import (
    CPU,
    DRIVER,
    GPU,
    PROFILER,
    TEXT_COLOR,
    Figure,
    Picture,
    Unit,
    unit_for,
)
from profcore.charts.timeline_layout import BAR_PX, FIXED_HEIGHT, Layout, layout
from profcore.charts.timeline_words import (
    CAUSES,
    CAUSES_SHORT,
    GAPS_MAX,
    label,
    note,
    numeral,
    sheet,
    takeaway,
    tip,
)
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profcore.analysis.timeline import Timeline
    from profcore.rules.landmarks import Landmark

QUESTION: Final = "What happened when?"
SELECTION: Final = "mark"
"""Name of the selection parameter; its field is `row`, the position in the trace."""
ZOOM: Final = "zoom"
EDGED_MAX: Final = 2_000
"""Bars that get an edge of their own. With 5,000 the edges are a fifth of what a zoom step costs,
and bars that dense have no room for them."""
MARKED: Final = "marked"
"""Name of the dataset with the outlined rows."""

COPY: Final = "GPU copy or fill"
SERIES: Final = (CPU, GPU, DRIVER, PROFILER, COPY)
"""By place in the theme's palette, as in every chart; the fifth place is a line elsewhere."""
_SERIES_OF_KIND: Final = {
    "operator": CPU,
    "annotation": CPU,
    "python": CPU,
    "runtime": DRIVER,
    "overhead": PROFILER,
    "kernel": GPU,
    "memcpy": COPY,
    "memset": COPY,
    "gpu_annotation": GPU,
    "gpu_sync": GPU,
    "accelerator": GPU,
}
LEFT_FRACTION, RIGHT_FRACTION = 0.05, 0.01
"""Empty room: at the left for the number beside a bar that begins at the edge, on a phone too."""
NAMES_MAX: Final = 150
"""Bars that may carry their name; texts cost more to draw than bars."""
NAME_MIN_PX: Final = 30
"""Narrower bars have no room for a name."""
FAINT: Final = 0.12
"""Fill of labels and waits: an outline, because nothing is computed in them."""
FULL: Final = 0.5


def timeline_figure(
    line: Timeline,
    marks: pd.DataFrame,
    gaps: pd.DataFrame,
    *,
    landmarks: Sequence[Landmark] = (),
    outlined: Sequence[int] = (),
) -> Figure:
    """Draw the bars of a window, each lane below its name.

    Args:
        line: A timeline; its lanes, and the places of rows that are to be outlined.
        marks: Its marks, or the blocks of them.
        gaps: The table of `profcore.analysis.gaps` for the same window; empty without a GPU.
        landmarks: What to number.
        outlined: Rows of the trace with an outline round them. A bar that is clicked gets one in
            the browser; other ones mean new data, and new data take the zoom back.

    The chart has a selection named SELECTION with the field `row`; -1 is a block of several rows.
    Zoom and pan happen in the browser.
    """
    places = layout(line, gaps)
    unit = unit_for(line.end_ns - line.start_ns)
    scale = _Scale(line, unit)
    bars = _bars(marks, places, scale)
    layers = [
        _gap_layer(gaps, places, scale),
        _bar_layer(bars, scale),
        _chosen_layer(bars, scale),
        _name_layer(bars),
        _marked_layer(scale),
        _number_layer(landmarks, line, places, scale),
        _title_layer(places),
    ]
    picture = alt.layer(*[layer for layer in layers if layer is not None])
    picture.height = places.height_px
    picture.autosize = FIXED_HEIGHT
    picture.datasets = {MARKED: _marked(line, places, scale, outlined)}
    return Figure(
        question=QUESTION,
        chart=picture,
        takeaway=takeaway(line, gaps),
        sheet=sheet(marks, line, unit),
        note=note(line, marks, gaps),
    )


_SELECT: Final = alt.selection_point(name=SELECTION, fields=["row"], toggle=False, empty=False)
OUTLINE_PX: Final = 2.5


class _Scale:
    """From nanoseconds of the trace to numbers of the axis."""

    def __init__(self, line: Timeline, unit: Unit) -> None:
        self.from_ns = line.start_ns
        self._unit = unit
        length = (line.end_ns - line.start_ns) / unit.ns
        self.x = alt.X(
            "from:Q",
            title=f"Time since the left edge ({unit.name})",
            scale=alt.Scale(domain=[-LEFT_FRACTION * length, (1 + RIGHT_FRACTION) * length]),
            axis=alt.Axis(tickCount=5, grid=True),
        )

    def number(self, time_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        return (time_ns - self.from_ns) / self._unit.ns


def _px(field: str) -> dict[str, Any]:
    """Pixels need no scale."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def _bars(marks: pd.DataFrame, places: Layout, scale: _Scale) -> pd.DataFrame:
    top = places.bar_px(marks["lane"].to_numpy(), marks["level"].to_numpy())
    kind, name = marks["kind"].to_numpy(), marks["name"].to_numpy()
    faint = np.isin(kind, ["annotation", "gpu_annotation", "gpu_sync"])
    faint |= np.isin(name, list(idle.WAITING_CALLS))
    return pd.DataFrame(
        {
            "row": marks["row"].to_numpy(),
            "from": scale.number(marks["start_ns"].to_numpy()),
            "to": scale.number(marks["end_ns"].to_numpy()),
            "top": top,
            "bottom": top + BAR_PX,
            "series": [_SERIES_OF_KIND[one] for one in kind],
            "fill": np.where(faint, FAINT, FULL),
            "tip": [tip(mark, from_ns=scale.from_ns) for mark in marks.to_dict("records")],
            "name": [label(*each) for each in zip(kind, name, strict=True)],
            "sum_ns": marks["sum_ns"].to_numpy(),
        }
    )


def _bar_layer(bars: pd.DataFrame, scale: _Scale) -> alt.Chart:
    zoom = alt.selection_interval(name=ZOOM, bind="scales", encodings=["x"])
    present = [name for name in SERIES if name in set(bars["series"])]
    color = alt.Scale(domain=list(SERIES))
    legend = alt.Legend(
        title=None, values=present, orient="top", columns=2, labelLimit=220, symbolType="square"
    )
    layer: alt.Chart = alt.Chart(bars.drop(columns=["name", "sum_ns"])).mark_rect(
        clip=True, strokeWidth=0.8, cursor="pointer"
    )
    layer = layer.encode(
        x=scale.x,
        x2="to",
        y=alt.Y(**_px("top")),
        y2="bottom",
        fill=alt.Fill("series:N", scale=color, legend=legend),
        fillOpacity=alt.FillOpacity("fill:Q", scale=None),
        tooltip=alt.Tooltip("tip:N"),
    )
    if len(bars) <= EDGED_MAX:
        layer = layer.encode(stroke=alt.Stroke("series:N", scale=color, legend=legend))
    return layer.add_params(_SELECT, zoom)


def _chosen_layer(bars: pd.DataFrame, scale: _Scale) -> alt.Chart:
    """Outline the bar that was clicked: in the browser, without new data."""
    layer: alt.Chart = alt.Chart(bars.drop(columns=["name", "sum_ns"])).transform_filter(_SELECT)
    return _outline(layer, scale)


def _outline(layer: alt.Chart, scale: _Scale) -> alt.Chart:
    layer = layer.mark_rect(
        aria=False,
        clip=True,
        filled=False,
        stroke=TEXT_COLOR,
        strokeWidth=OUTLINE_PX,
        tooltip=None,
    )
    return layer.encode(x=scale.x, x2="to:Q", y=alt.Y(**_px("top")), y2="bottom:Q")


def _name_layer(bars: pd.DataFrame) -> alt.Chart:
    """Write the name into the longest bars, as far as it fits at the zoom of the moment."""
    longest = bars.nlargest(NAMES_MAX, "sum_ns")[["from", "to", "top", "name"]]
    width = "(scale('x', datum.to) - max(scale('x', datum.from), 0))"
    layer: alt.Chart = alt.Chart(longest.assign(top=longest["top"] + BAR_PX / 2)).mark_text(
        align="left",
        baseline="middle",
        clip=True,
        color=TEXT_COLOR,
        fontSize=11,
        x={"expr": "max(scale('x', datum.from), 0) + 4"},
        limit={"expr": f"max({width} - 6, 1)"},
        text={"expr": f"{width} > {NAME_MIN_PX} ? datum.name : ''"},
        tooltip=None,
    )
    return layer.encode(y=alt.Y(**_px("top")))


def _gap_layer(gaps: pd.DataFrame, places: Layout, scale: _Scale) -> Picture | None:
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
    boxes: alt.Chart = alt.Chart(table.drop(columns="name")).mark_rect(
        clip=True, fill=TEXT_COLOR, fillOpacity=0.08, stroke=TEXT_COLOR, strokeDash=[3, 2],
        strokeWidth=0.8,
    )  # fmt: skip
    boxes = boxes.encode(
        x=scale.x, x2="to", y=alt.Y(**_px("top")), y2="bottom", tooltip=alt.Tooltip("tip:N")
    )
    return alt.layer(boxes, _name_layer(table))


def _marked(
    line: Timeline, places: Layout, scale: _Scale, rows: Sequence[int]
) -> list[dict[str, Any]]:
    """Return one record per outlined row; a row outside the picture stays out of view."""
    found = line.marks[line.marks["row"].isin(list(rows))]
    top = places.bar_px(found["lane"].to_numpy(), found["level"].to_numpy())
    records = [
        {"from": start, "to": end, "top": px, "bottom": px + BAR_PX}
        for start, end, px in zip(
            scale.number(found["start_ns"].to_numpy()).tolist(),
            scale.number(found["end_ns"].to_numpy()).tolist(),
            top.tolist(),
            strict=True,
        )
    ]
    # An empty dataset would lose its columns on the way to the browser.
    return records or [{"from": -1.0, "to": -1.0, "top": -9, "bottom": -9}]


def _marked_layer(scale: _Scale) -> alt.Chart:
    return _outline(alt.Chart(alt.NamedData(MARKED)), scale)


def _number_layer(
    landmarks: Sequence[Landmark], line: Timeline, places: Layout, scale: _Scale
) -> alt.Chart | None:
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
        color=TEXT_COLOR,
    )
    return layer.encode(
        x=scale.x, y=alt.Y(**_px("top")), text="number:N", tooltip=alt.Tooltip("tip:N")
    )


def _title_layer(places: Layout) -> alt.Chart:
    layer: alt.Chart = alt.Chart(places.titles).mark_text(
        align="left", baseline="top", dy=5, x=2, fontSize=12, color=TEXT_COLOR, tooltip=None
    )
    return layer.encode(y=alt.Y(**_px("px")), text="text:N")
