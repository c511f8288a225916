"""What the layers of the timeline share: the axis of time, places in pixels, looks of marks.

A zoom step evaluates every channel of every mark again, in Vega's interpreter, and that is most of
what the step costs. So a channel is spent only on what differs from mark to mark. What is the same
for all stands in a style of the chart's configuration, which Vega applies once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profcore.analysis.timeline import Timeline
    from profcore.charts.figure import Unit

LEFT_FRACTION, RIGHT_FRACTION = 0.05, 0.01
"""Empty room: at the left for the number beside a bar that begins at the edge, on a phone too."""
FAINT: Final = 0.12
"""Fill of labels and waits: an outline, because nothing is computed in them."""
FULL: Final = 0.5
GAP: Final = 0.08
BARE_GAP: Final = 0.25
"""Fill of gaps: with an edge, and without one."""
EDGE_PX: Final = 0.8
OUTLINE_PX: Final = 2.5

BAR_STYLE, FAINT_STYLE, GAP_STYLE = "timeline_bar", "timeline_faint", "timeline_gap"
MANY_GAPS_STYLE, OUTLINE_STYLE, NAME_STYLE = "timeline_gaps", "timeline_outline", "timeline_name"
STYLES: Final[dict[str, dict[str, Any]]] = {
    BAR_STYLE: {"fillOpacity": FULL, "strokeWidth": EDGE_PX, "cursor": "pointer"},
    FAINT_STYLE: {"fillOpacity": FAINT, "strokeWidth": EDGE_PX, "cursor": "pointer"},
    GAP_STYLE: {"fillOpacity": GAP, "strokeWidth": EDGE_PX, "strokeDash": [3, 2]},
    MANY_GAPS_STYLE: {"fillOpacity": BARE_GAP},
    OUTLINE_STYLE: {"strokeWidth": OUTLINE_PX},
    NAME_STYLE: {"align": "left", "baseline": "middle", "fontSize": 11},
}

_INK_NAME: Final = "ink"
INK: Final = {"expr": _INK_NAME}
INK_PARAMETER: Final = alt.param(
    name=_INK_NAME, expr="luminance(background) < 0.5 ? '#ededeb' : '#111111'"
)
"""Colour of texts and outlines, from the theme's background: a browser draws the page's own text
colour, `currentColor`, as black on a canvas."""

TIP: Final = {"expr": "datum.tip"}
"""The column as it is: of a tooltip that is an encoding, Vega-Lite makes a longer expression."""


class Scale:
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
        """Return times as numbers of the axis."""
        return (time_ns - self.from_ns) / self._unit.ns


def px(field: str) -> dict[str, Any]:
    """Return the encoding of a place in pixels, which needs no scale."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def words(*, on_canvas: bool) -> dict[str, Any]:
    """Return what a screen reader says of a mark; a canvas has no elements that could say it."""
    return {"aria": False} if on_canvas else {"description": TIP}


def outline(layer: alt.Chart, scale: Scale) -> alt.Chart:
    """Draw the rows of a layer as outlines in the colour of texts."""
    layer = layer.mark_rect(
        aria=False, clip=True, filled=False, stroke=INK, style=OUTLINE_STYLE, tooltip=None
    )
    return layer.encode(x=scale.x, x2="to:Q", y=alt.Y(**px("top")), y2="bottom:Q")
