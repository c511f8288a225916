"""What happened when, on which thread and which stream?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt

from profcore.charts.figure import Figure, unit_for
from profcore.charts.timeline_bars import (
    CANVAS_OVER,
    MARKED,
    SELECTION,
    bar_layers,
    bar_table,
    marked_layer,
    marked_rows,
)
from profcore.charts.timeline_layout import FIXED_HEIGHT, layout
from profcore.charts.timeline_style import INK_PARAMETER, STYLES, Scale
from profcore.charts.timeline_texts import gap_layer, name_layer, number_layer, title_layer
from profcore.charts.timeline_words import note, sheet, takeaway

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from profcore.analysis.timeline import Timeline
    from profcore.rules.landmarks import Landmark

__all__ = ["MARKED", "QUESTION", "SELECTION", "timeline_figure"]

QUESTION: Final = "What happened when?"


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
    scale = Scale(line, unit)
    bars = bar_table(marks, places, scale)
    on_canvas = len(bars) > CANVAS_OVER
    layers = [
        gap_layer(gaps, places, scale, on_canvas=on_canvas),
        *bar_layers(bars, scale, on_canvas=on_canvas),
        name_layer(bars),
        marked_layer(scale),
        number_layer(landmarks, line, places, scale),
        title_layer(places),
    ]
    picture = alt.layer(*[layer for layer in layers if layer is not None])
    picture = picture.add_params(INK_PARAMETER)
    picture.height = places.height_px
    picture.autosize = FIXED_HEIGHT
    picture.datasets = {MARKED: marked_rows(line, places, scale, outlined)}
    picture.config = {"style": STYLES}
    picture.usermeta = {"embedOptions": {"renderer": "canvas" if on_canvas else "svg"}}
    return Figure(
        question=QUESTION,
        chart=picture,
        takeaway=takeaway(line, gaps),
        sheet=sheet(marks, line, unit),
        note=note(line, marks, gaps),
    )
