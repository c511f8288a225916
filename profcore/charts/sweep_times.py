"""What happens to the step time, the CPU and the GPU as the work grows?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import CPU, GPU, UNPROFILED, Figure, Picture, color, tooltip, unit_for
from profcore.charts.size_axis import (
    HEIGHT_PX,
    LEGEND_LINE_PX,
    POINT_PX,
    ROWS_MAX,
    WORDS,
    crossing_rules,
    row_color,
    row_names,
    row_scale,
    words_of,
    x_axis,
)
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.comparison.crossover import Crossover

QUESTION: Final = "What sets the pace as the work grows, the CPU or the GPU?"
QUESTION_CPU: Final = "How does the step time grow with the work?"
QUESTION_WARMUP: Final = "Does the number of warm-up calls change the step time?"
_SIDES: Final = ((UNPROFILED, "step_ns"), (CPU, "cpu_ns"), (GPU, "gpu_ns"))


def sweep_times_figure(points: pd.DataFrame, crossings: Sequence[Crossover]) -> Figure:
    """Draw step time, CPU time and GPU work over what grows, both axes logarithmic.

    Args:
        points: The table of `profcore.comparison.points`.
        crossings: Of the same sweep; those that were found are marked.
    """
    has_gpu = bool(points["gpu_ns"].notna().any())
    rows = row_names(points)
    is_crowded = len(rows) > ROWS_MAX
    long = _long_rows(points, _SIDES[:1] if is_crowded or not has_gpu else _SIDES)
    unit = unit_for(float(long["duration_ns"].median()) if len(long) else 0.0)
    for column in ("duration", "low", "high"):
        long[column] = long[f"{column}_ns"] / unit.ns
    series = [name for name, _ in _SIDES if name in set(long["series"])]
    legend_lines = max(len(series), len(rows) if len(rows) > 1 else 0)
    base: alt.Chart = alt.Chart(long, height=HEIGHT_PX + LEGEND_LINE_PX * legend_lines)
    words, x = words_of(points), x_axis(points)
    y = alt.Y(
        "duration:Q",
        title=f"Time per step ({unit.name})",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(tickCount=5, format=",~g"),
    )
    dash = alt.StrokeDash(
        "row:N",
        sort=rows,
        legend=alt.Legend(title=None, orient="top", labelLimit=300) if len(rows) > 1 else None,
    )
    tips = tooltip(
        ("x_text", words.name),
        ("series", "What"),
        ("text", "Time"),
        ("spread", "Middle half"),
        ("row", "Row"),
    )
    if is_crowded:
        lines = base.mark_line().encode(x=x, y=y, color=row_color(rows))
        quiet = alt.Color("row:N", sort=rows, scale=row_scale(rows), legend=None)
    else:
        lines = base.mark_line().encode(
            x=x, y=y, color=color("series", series), strokeDash=dash, detail="row:N"
        )
        quiet = color("series", [])
    marks = base.mark_point(filled=True, size=POINT_PX).encode(x=x, y=y, color=quiet, tooltip=tips)
    spreads = base.mark_rule(strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", color=quiet, tooltip=tips
    )
    layers: list[Picture] = [lines, spreads, marks]
    if rules := crossing_rules(crossings):
        layers.insert(0, rules)
    return Figure(
        question=_question(points, has_gpu=has_gpu),
        chart=alt.layer(*layers),
        takeaway=_takeaway(points, crossings),
        sheet=_sheet(points, has_gpu=has_gpu),
        note=_note(points, crossings, has_gpu=has_gpu, is_crowded=is_crowded),
    )


def _question(points: pd.DataFrame, *, has_gpu: bool) -> str:
    if words_of(points) == WORDS["warmup"]:
        return QUESTION_WARMUP
    return QUESTION if has_gpu else QUESTION_CPU


def _long_rows(points: pd.DataFrame, sides: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """One row per mark; what is not known, or zero on a logarithmic axis, is left out."""
    marks = []
    for row in points.to_dict("records"):
        for series, column in sides:
            value_ns = row[column]
            if not value_ns > 0:  # NaN too
                continue
            is_step = series == UNPROFILED
            low_ns = row["step_p25_ns"] if is_step else value_ns
            high_ns = row["step_p75_ns"] if is_step else value_ns
            marks.append(
                {
                    "row": row["row"],
                    "x": row["x"],
                    "x_text": f"{row['x']:,}",
                    "series": series,
                    "duration_ns": value_ns,
                    "low_ns": low_ns,
                    "high_ns": high_ns,
                    "text": time_text(value_ns),
                    "spread": f"{time_text(low_ns)} to {time_text(high_ns)}" if is_step else "-",
                }
            )
    columns = (
        "row", "x", "x_text", "series", "duration_ns", "low_ns", "high_ns", "text", "spread",
    )  # fmt: skip
    return pd.DataFrame(marks, columns=list(columns))


def _takeaway(points: pd.DataFrame, crossings: Sequence[Crossover]) -> str:
    if points.empty:
        return "No point has been timed yet."
    words, parts = words_of(points), []
    for name, row in points.groupby("row", sort=False):
        first, last = row.iloc[0], row.iloc[-1]
        at_first, at_last = (words.at.format(f"{one['x']:,}") for one in (first, last))
        parts.append(
            f"{name}: a step takes {time_text(first['step_ns'])} at {at_first} and "
            f"{time_text(last['step_ns'])} at {at_last}."
        )
    return " ".join([*parts, *(one.sentence for one in crossings if one.x is not None)])


def _note(
    points: pd.DataFrame, crossings: Sequence[Crossover], *, has_gpu: bool, is_crowded: bool
) -> str:
    parts = ["Both axes are logarithmic. The bars at the step times show the middle half."]
    if is_crowded:
        parts.append("With so many lines only the step time is drawn; the rest is in the table.")
    elif has_gpu:
        parts.append(
            "Where the step time follows the CPU line, the GPU waits; where it follows the GPU "
            "line, the GPU sets the pace."
        )
    if crossing_rules(crossings) is not None:
        parts.append("A dashed upright marks where the busy share crosses 50 or 80 %.")
    if (points["gpu_source"] == "queue").any():
        parts.append(
            "GPU work of points that are not recorded yet is timed by events and up to a few "
            "microseconds too long."
        )
    return " ".join(parts)


def _sheet(points: pd.DataFrame, *, has_gpu: bool) -> pd.DataFrame:
    columns: dict[str, object] = {
        "Row": points["row"],
        words_of(points).name: points["x"],
        "Step (µs)": points["step_ns"] / 1000,
        "Lower quartile (µs)": points["step_p25_ns"] / 1000,
        "Upper quartile (µs)": points["step_p75_ns"] / 1000,
        "CPU (µs)": points["cpu_ns"] / 1000,
    }
    if has_gpu:
        columns |= {
            "GPU work (µs)": points["gpu_ns"] / 1000,
            "GPU busy (%)": points["busy_fraction"] * 100,
            "Launches": points["launches"],
        }
    return pd.DataFrame(columns)
