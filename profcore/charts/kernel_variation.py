"""Does the same kernel always take the same time?"""

from __future__ import annotations

from typing import Final

import altair as alt
import pandas as pd

from profcore.analysis.names import short_name
from profcore.charts.figure import GPU, TEXT_COLOR, Figure, color, tooltip, unit_for
from profcore.charts.timeline_layout import FIXED_HEIGHT
from profcore.units import ratio_text, time_text

QUESTION: Final = "Does this kernel always take the same time?"
POINTS_MAX: Final = 1_000
HEIGHT_PX: Final = 140
OUTSIDE: Final = "no step"


def kernel_variation_figure(
    activities: pd.DataFrame, steps: pd.DataFrame, *, name: str, row: int | None = None
) -> Figure:
    """Draw every call of one kernel, step by step, with the median as a line.

    Args:
        activities: The table of `profcore.analysis.activities`.
        steps: The table of `profcore.analysis.steps`.
        name: Full name of a kernel, copy or fill in it.
        row: The call that is on show elsewhere; it is outlined.
    """
    calls = activities[activities["name"] == name]
    numbers = steps["number"].tolist()
    unit = unit_for(float(calls["duration_ns"].max()) if len(calls) else 0.0)
    table = pd.DataFrame(
        {
            "step": [f"#{numbers[at]}" if at >= 0 else OUTSIDE for at in calls["step"]],
            "time": calls["duration_ns"].to_numpy() / unit.ns,
            "text": [time_text(ns) for ns in calls["duration_ns"]],
            "edge": [2.5 if each == row else 0.0 for each in calls["row"]],
            "series": GPU,
        }
    ).head(POINTS_MAX)
    points = (
        alt.Chart(table)
        .mark_circle(size=70, opacity=0.8, stroke=TEXT_COLOR)
        .encode(
            x=alt.X("step:N", title="Launched in step", sort=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("time:Q", title=f"Time ({unit.name})", scale=alt.Scale(zero=True)),
            color=color("series", []),
            strokeWidth=alt.StrokeWidth("edge:Q", scale=None),
            tooltip=tooltip(("step", "Step"), ("text", "Time")),
        )
    )
    median_ns = float(calls["duration_ns"].median()) if len(calls) else 0.0
    line = (
        alt.Chart(pd.DataFrame({"median": [median_ns / unit.ns], "text": [time_text(median_ns)]}))
        .mark_rule(strokeDash=[6, 4], color=TEXT_COLOR)
        .encode(y="median:Q", tooltip=tooltip(("text", "Median")))
    )
    picture = alt.layer(points, line)
    picture.height = HEIGHT_PX
    picture.autosize = FIXED_HEIGHT
    return Figure(
        question=QUESTION,
        chart=picture,
        takeaway=_takeaway(calls, name),
        sheet=table[["step", "time"]].set_axis(["Step", f"Time ({unit.name})"], axis="columns"),
        note=f"The first {POINTS_MAX:,} of {len(calls):,} calls."
        if len(calls) > POINTS_MAX
        else "",
    )


def _takeaway(calls: pd.DataFrame, name: str) -> str:
    short = short_name(name)
    if calls.empty:
        return f"{short} was not recorded."
    low, high = int(calls["duration_ns"].min()), int(calls["duration_ns"].max())
    text = f"{short}: median {time_text(calls['duration_ns'].median())}"
    if len(calls) == 1:
        return f"{text}, one call."
    text += f", from {time_text(low)} to {time_text(high)} in {len(calls):,} calls"
    return f"{text}; the longest is {ratio_text(high / low)} the shortest." if low else f"{text}."
