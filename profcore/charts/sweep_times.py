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
    crossing_rules,
    row_names,
    size_axis,
)
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.comparison.crossover import Crossover

QUESTION: Final = "What sets the pace as the work grows, the CPU or the GPU?"
QUESTION_CPU: Final = "How does the step time grow with the work?"
_SIDES: Final = ((UNPROFILED, "step_ns"), (CPU, "cpu_ns"), (GPU, "gpu_ns"))


def sweep_times_figure(points: pd.DataFrame, crossings: Sequence[Crossover]) -> Figure:
    """Draw step time, CPU time and GPU work over size, both axes logarithmic.

    Args:
        points: The table of `profcore.comparison.points`.
        crossings: Of the same sweep; those that were found are marked.
    """
    has_gpu = bool(points["gpu_ns"].notna().any())
    rows = row_names(points)
    long = _long_rows(points)
    unit = unit_for(float(long["duration_ns"].median()) if len(long) else 0.0)
    for column in ("duration", "low", "high"):
        long[column] = long[f"{column}_ns"] / unit.ns
    series = [name for name, _ in _SIDES if name in set(long["series"])]
    legend_lines = max(len(series), len(rows) if len(rows) > 1 else 0)
    base: alt.Chart = alt.Chart(long, height=HEIGHT_PX + LEGEND_LINE_PX * legend_lines)
    x = size_axis(points["size"].tolist())
    y = alt.Y(
        "duration:Q",
        title=f"Time per step ({unit.name})",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(tickCount=5, format="~g"),
    )
    dash = alt.StrokeDash(
        "row:N",
        sort=rows,
        legend=alt.Legend(title=None, orient="top", labelLimit=300) if len(rows) > 1 else None,
    )
    tips = tooltip(
        ("size_text", "Size"),
        ("series", "What"),
        ("text", "Time"),
        ("spread", "Middle half"),
        ("row", "Row"),
    )
    lines = base.mark_line().encode(
        x=x, y=y, color=color("series", series), strokeDash=dash, detail="row:N"
    )
    marks = base.mark_point(filled=True, size=POINT_PX).encode(
        x=x, y=y, color=color("series", []), tooltip=tips
    )
    spreads = base.mark_rule(strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q", color=color("series", []), tooltip=tips
    )
    layers: list[Picture] = [lines, spreads, marks]
    if rules := crossing_rules(crossings):
        layers.insert(0, rules)
    return Figure(
        question=QUESTION if has_gpu else QUESTION_CPU,
        chart=alt.layer(*layers),
        takeaway=_takeaway(points, crossings),
        sheet=_sheet(points, has_gpu=has_gpu),
        note=_note(points, crossings, has_gpu=has_gpu),
    )


def _long_rows(points: pd.DataFrame) -> pd.DataFrame:
    """One row per mark; what is not known, or zero on a logarithmic axis, is left out."""
    marks = []
    for row in points.to_dict("records"):
        for series, column in _SIDES:
            value_ns = row[column]
            if not value_ns > 0:  # NaN too
                continue
            is_step = series == UNPROFILED
            low_ns = row["step_p25_ns"] if is_step else value_ns
            high_ns = row["step_p75_ns"] if is_step else value_ns
            marks.append(
                {
                    "row": row["row"],
                    "size": row["size"],
                    "size_text": f"{row['size']:,}",
                    "series": series,
                    "duration_ns": value_ns,
                    "low_ns": low_ns,
                    "high_ns": high_ns,
                    "text": time_text(value_ns),
                    "spread": f"{time_text(low_ns)} to {time_text(high_ns)}" if is_step else "-",
                }
            )
    columns = (
        "row", "size", "size_text", "series", "duration_ns", "low_ns", "high_ns", "text", "spread",
    )  # fmt: skip
    return pd.DataFrame(marks, columns=list(columns))


def _takeaway(points: pd.DataFrame, crossings: Sequence[Crossover]) -> str:
    if points.empty:
        return "No point has been timed yet."
    parts = []
    for name, row in points.groupby("row", sort=False):
        first, last = row.iloc[0], row.iloc[-1]
        parts.append(
            f"{name}: a step takes {time_text(first['step_ns'])} at {first['size']:,} and "
            f"{time_text(last['step_ns'])} at {last['size']:,}."
        )
    return " ".join([*parts, *(one.sentence for one in crossings if one.size is not None)])


def _note(points: pd.DataFrame, crossings: Sequence[Crossover], *, has_gpu: bool) -> str:
    parts = ["Both axes are logarithmic. The bars at the step times show the middle half."]
    if has_gpu:
        parts.append(
            "Where the step time follows the CPU line, the GPU waits; where it follows the GPU "
            "line, the GPU sets the pace."
        )
    if any(one.size is not None for one in crossings):
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
        "Size": points["size"],
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
