"""The bars of the timeline: one per row of the trace, or per block of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd

from profcore.analysis import idle
from profcore.charts.figure import CPU, DRIVER, GPU, PROFILER
from profcore.charts.timeline_layout import BAR_PX, Layout
from profcore.charts.timeline_style import BAR_STYLE, FAINT_STYLE, TIP, Scale, outline, px, words
from profcore.charts.timeline_words import label, tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.analysis.timeline import Timeline

SELECTION: Final = "mark"
"""Name of the selection parameter; its field is `row`, the position in the trace."""
ZOOM: Final = "zoom"
MARKED: Final = "marked"
"""Name of the dataset with the outlined rows."""
CANVAS_OVER: Final = 400
"""Pictures of more bars are drawn on a canvas: a zoom step takes half the time or less than with an
element per bar. Elements are worth their time where there are few: screen readers find them."""
EDGED_MAX: Final = 2_000
"""Bars that get an edge of their own: in a denser picture there is no room for them."""

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
_LABELS: Final = ["annotation", "gpu_annotation", "gpu_sync"]

_SELECT: Final = alt.selection_point(name=SELECTION, fields=["row"], toggle=False, empty=False)


def bar_table(marks: pd.DataFrame, places: Layout, scale: Scale) -> pd.DataFrame:
    """Return one row per bar: where it stands, its meaning, its words.

    Columns: row; from and to in units of the axis; top and bottom in pixels; series; faint, true of
    labels and waits; tip; name; sum_ns.
    """
    top = places.bar_px(marks["lane"].to_numpy(), marks["level"].to_numpy())
    kind, name = marks["kind"].to_numpy(), marks["name"].to_numpy()
    return pd.DataFrame(
        {
            "row": marks["row"].to_numpy(),
            "from": scale.number(marks["start_ns"].to_numpy()),
            "to": scale.number(marks["end_ns"].to_numpy()),
            "top": top,
            "bottom": top + BAR_PX,
            "series": [_SERIES_OF_KIND[one] for one in kind],
            "faint": np.isin(kind, _LABELS) | np.isin(name, list(idle.WAITING_CALLS)),
            "tip": [tip(mark, from_ns=scale.from_ns) for mark in marks.to_dict("records")],
            "name": [label(*each) for each in zip(kind, name, strict=True)],
            "sum_ns": marks["sum_ns"].to_numpy(),
        }
    )


def bar_layers(bars: pd.DataFrame, scale: Scale, *, on_canvas: bool) -> list[alt.Chart]:
    """Return the bars, the faint ones, and the outline of the one that was clicked.

    The outline is drawn in the browser, without new data.
    """
    # One set of rows for all three; such a filter runs once, not at every zoom step.
    drawn = alt.Chart(bars.drop(columns=["name", "sum_ns"]))
    zoom = alt.selection_interval(name=ZOOM, bind="scales", encodings=["x"])
    faint_count = int(bars["faint"].sum())
    look = _Look(scale, bars, on_canvas=on_canvas)
    full = look.of(drawn.transform_filter("!datum.faint"), BAR_STYLE, len(bars) - faint_count)
    faint = look.of(drawn.transform_filter("datum.faint"), FAINT_STYLE, faint_count)
    # A click on any mark with a `row` counts, whichever layer has the selection; but every mark of
    # that layer gets a channel more.
    return [full, faint.add_params(_SELECT, zoom), outline(drawn.transform_filter(_SELECT), scale)]


class _Look:
    """What the bars of all styles have in common."""

    def __init__(self, scale: Scale, bars: pd.DataFrame, *, on_canvas: bool) -> None:
        present = [name for name in SERIES if name in set(bars["series"])]
        legend = alt.Legend(
            title=None, values=present, orient="top", columns=2, labelLimit=220, symbolType="square"
        )
        self._color: dict[str, Any] = {"scale": alt.Scale(domain=list(SERIES)), "legend": legend}
        self._scale = scale
        self._words = words(on_canvas=on_canvas)

    def of(self, layer: alt.Chart, style: str, count: int) -> alt.Chart:
        """Draw the `count` bars of a layer in a style."""
        layer = layer.mark_rect(clip=True, style=style, tooltip=TIP, **self._words)
        layer = layer.encode(
            x=self._scale.x,
            x2="to:Q",
            y=alt.Y(**px("top")),
            y2="bottom:Q",
            fill=alt.Fill("series:N", **self._color),
        )
        if count <= EDGED_MAX:
            layer = layer.encode(stroke=alt.Stroke("series:N", **self._color))
        return layer


def marked_rows(
    line: Timeline, places: Layout, scale: Scale, rows: Sequence[int]
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


def marked_layer(scale: Scale) -> alt.Chart:
    """Return the outlines of the dataset MARKED."""
    return outline(alt.Chart(alt.NamedData(MARKED)), scale)
