"""From where on is the GPU kept busy?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import TEXT_COLOR, Figure, Picture, tooltip
from profcore.charts.size_axis import (
    HEIGHT_PX,
    LEGEND_LINE_PX,
    POINT_PX,
    crossing_rules,
    row_color,
    row_names,
    row_scale,
    words_of,
    x_axis,
)
from profcore.sweep import BUSY_THRESHOLDS
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.comparison.crossover import Crossover

QUESTION: Final = "From which {} on is the GPU kept busy?"
_LABELS: Final = ("below: the GPU waits for the CPU", "above: the GPU is the limit")


def busy_fraction_figure(points: pd.DataFrame, crossings: Sequence[Crossover]) -> Figure:
    """Draw the GPU's share of the step time over what grows, with the two thresholds.

    Args:
        points: The table of `profcore.comparison.points`.
        crossings: Of the same sweep; those that were found are marked.
    """
    drawn = points[points["busy_fraction"].notna()]
    rows = row_names(drawn)
    data = pd.DataFrame(
        {
            "row": drawn["row"],
            "x": drawn["x"],
            "x_text": [f"{x:,}" for x in drawn["x"]],
            "busy": drawn["busy_fraction"] * 100,
            "text": [percent_text(value) for value in drawn["busy_fraction"]],
            "gpu": [time_text(value) for value in drawn["gpu_ns"]],
            "step": [time_text(value) for value in drawn["step_ns"]],
        }
    )
    words, x = words_of(drawn), x_axis(drawn)
    y = alt.Y("busy:Q", title="GPU busy (% of the step)", scale=alt.Scale(domain=[0, 100]))
    base: alt.Chart = alt.Chart(data, height=HEIGHT_PX + LEGEND_LINE_PX)
    lines = base.mark_line().encode(x=x, y=y, color=row_color(rows))
    marks = base.mark_point(filled=True, size=POINT_PX).encode(
        x=x,
        y=y,
        color=alt.Color("row:N", sort=rows, scale=row_scale(rows), legend=None),
        tooltip=tooltip(
            ("x_text", words.name),
            ("text", "GPU busy"),
            ("gpu", "GPU work"),
            ("step", "Step"),
            ("row", "Row"),
        ),
    )
    layers: list[Picture] = [_thresholds(), lines, marks]
    if rules := crossing_rules(crossings):
        layers.insert(1, rules)
    return Figure(
        question=QUESTION.format(words.name.lower()),
        chart=alt.layer(*layers),
        takeaway=" ".join(one.sentence for one in crossings) or "No busy share is known.",
        sheet=pd.DataFrame(
            {
                "Row": drawn["row"],
                words.name: drawn["x"],
                "GPU busy (%)": drawn["busy_fraction"] * 100,
                "GPU work (µs)": drawn["gpu_ns"] / 1000,
                "Step (µs)": drawn["step_ns"] / 1000,
            }
        ),
        note="GPU work of a step over its time without the profiler. Below 50 % the GPU mostly "
        "waits for the CPU; from 80 % on the GPU is the limit.",
    )


def _thresholds() -> Picture:
    data = pd.DataFrame(
        {"busy": [share * 100 for share in BUSY_THRESHOLDS], "label": list(_LABELS)}
    )
    rule: Picture = alt.Chart(data).mark_rule(strokeDash=[6, 4], opacity=0.5, color=TEXT_COLOR)
    return rule.encode(y="busy:Q", tooltip=tooltip(("label", "Threshold")))
