"""What the charts of a sweep have in common: what grows on a logarithmic axis, a line per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import TEXT_COLOR
from profcore.comparison.crossover import x_text
from profcore.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.charts.figure import Picture
    from profcore.comparison.crossover import Crossover

HEIGHT_PX: Final = 300
LEGEND_LINE_PX: Final = 24
"""Added to the height for each line of a legend, which would else take it from the drawing."""
ROWS_MAX: Final = 4
"""More rows with lines of several kinds cannot be told apart."""
THEME_COLORS: Final = 5
_TABLEAU: Final = 10
POINT_PX: Final = 60
"""Area of a point's mark."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AxisWords:
    """How people call what stands on the x axis."""

    title: str
    """Under the axis."""
    name: str
    """Over a column and in a tooltip."""
    at: str
    """In a sentence, with the value in the place of {}."""


WORDS: Final[dict[str, AxisWords]] = {
    "size": AxisWords(title="Size (rows and columns of each matrix)", name="Size", at="{}"),
    "batch": AxisWords(title="Batch (matrices multiplied at once)", name="Batch", at="batch {}"),
    "warmup": AxisWords(
        title="Warm-up calls before the measurement", name="Warm-up calls", at="warm-up {}"
    ),
}
"""By the column `axis` of the points."""


def words_of(points: pd.DataFrame) -> AxisWords:
    """Return the words for the axis of these points."""
    return WORDS[str(points["axis"].iloc[0])] if len(points) else WORDS["size"]


def x_axis(points: pd.DataFrame) -> alt.X:
    """Return the axis of what grows: equal steps for equal ratios, a tick at every value."""
    return alt.X(
        "x:Q",
        title=words_of(points).title,
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(
            values=sorted(set(points["x"].tolist())),
            format="~d",
            labelOverlap="greedy",
            labelAngle=0,
            grid=False,
        ),
    )


def row_color(rows: Sequence[str]) -> alt.Color:
    """Return the colour of each row, in the theme's own order; a single row needs no legend."""
    return alt.Color(
        "row:N",
        sort=list(rows),
        scale=row_scale(rows),
        legend=alt.Legend(title=None, orient="top", labelLimit=300) if len(rows) > 1 else None,
    )


def row_scale(rows: Sequence[str]) -> alt.Scale | alt.UndefinedType:
    """Return the colours of the rows: the theme's, or more where those would come again."""
    if len(rows) <= THEME_COLORS:
        return alt.Undefined
    return alt.Scale(scheme="tableau10" if len(rows) <= _TABLEAU else "tableau20")


def crossing_rules(crossings: Sequence[Crossover]) -> Picture | None:
    """Return a dashed line down at every crossing that was found, with its place beside it.

    None where there is none, and for so many rows that nobody could tell whose line it is.
    """
    found = [one for one in crossings if one.x is not None]
    if not found or len({one.row for one in crossings}) > ROWS_MAX:
        return None
    data = pd.DataFrame(
        {
            "x": [one.x for one in found],
            "row": [one.row for one in found],
            "label": [f"{percent_text(one.threshold)} busy" for one in found],
            "text": [x_text(one.x) for one in found if one.x is not None],
        }
    )
    rule: alt.Chart = alt.Chart(data).mark_rule(
        strokeDash=[3, 3], strokeWidth=1.5, opacity=0.7, color=TEXT_COLOR
    )
    return rule.encode(
        x=alt.X("x:Q"),
        tooltip=[
            alt.Tooltip("label:N", title="From here on at least"),
            alt.Tooltip("text:N", title=f"{WORDS[found[0].axis].name}, about"),
            alt.Tooltip("row:N", title="Row"),
        ],
    )


def row_names(points: pd.DataFrame) -> list[str]:
    """Return the rows of a sweep in their order."""
    return [str(name) for name in points["row"].unique()]
