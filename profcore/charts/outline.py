"""How bars are highlighted: an outline, a band behind them, and the others faded.

Not by colour: that already says what a bar is, and the outline and the band are there for eyes
that see no colours, and for bars that are too thin to see an outline round.
"""

from __future__ import annotations

from typing import Any, Final

import altair as alt

from profcore.charts.figure import TEXT_COLOR

OUTLINED: Final = "outlined"
"""Column of a chart's data: whether the bar is highlighted."""
FADED: Final = 0.3
OUTLINE_PX: Final = 2
BAND_OPACITY: Final = 0.12


def with_outline(bars: alt.Chart) -> alt.Chart:
    """Return bars of which those marked in the column OUTLINED stand out."""
    is_outlined = f"datum.{OUTLINED}"
    encoded: alt.Chart = bars.encode(
        opacity=alt.condition(is_outlined, alt.value(1), alt.value(FADED)),
        stroke=alt.condition(is_outlined, alt.value(TEXT_COLOR), alt.value(None)),
        strokeWidth=alt.condition(is_outlined, alt.value(OUTLINE_PX), alt.value(0)),
    )
    return encoded


def band(chart: alt.Chart, **place: Any) -> alt.Chart:
    """Return a band across the whole chart behind each bar marked in the column OUTLINED.

    Args:
        chart: With data and nothing else.
        place: The axis that the bars stand on, x or y, and their offset on it.
    """
    marked: alt.Chart = chart.transform_filter(f"datum.{OUTLINED}").mark_rect(
        color=TEXT_COLOR, opacity=BAND_OPACITY, tooltip=None, aria=False
    )
    encoded: alt.Chart = marked.encode(**place)
    return encoded
