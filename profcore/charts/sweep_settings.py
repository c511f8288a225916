"""What does a step cost in each setting, at one size?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from profcore.charts.figure import (
    CPU,
    GPU,
    ROW_PX,
    UNPROFILED,
    Figure,
    labels,
    unit_for,
)
from profcore.charts.spread_bars import spread_bars
from profcore.units import NS_PER_US, time_text

if TYPE_CHECKING:
    from typing import Any

QUESTION: Final = "What does a step cost in each setting?"
_SIDES: Final = ((UNPROFILED, "step_ns"), (CPU, "cpu_ns"), (GPU, "gpu_ns"))
_ROOM_PX: Final = 60
_LEGEND_LINE_PX: Final = 24
_COLUMNS: Final = ("label", "row", "series", "duration_ns", "low_ns", "high_ns", "text", "spread")


def sweep_settings_figure(points: pd.DataFrame) -> Figure:
    """Draw step time with its middle half, CPU time and GPU work of every point.

    Args:
        points: The table of `profcore.comparison.points`, one point a row.
    """
    data = _long_rows(points)
    largest_ns = float(data["high_ns"].max()) if len(data) else 0.0
    unit = unit_for(largest_ns)
    for column in ("duration", "low", "high"):
        data[column] = data[f"{column}_ns"] / unit.ns
    series = [name for name, _ in _SIDES if name in set(data["series"])]
    bars_px = ROW_PX * 2 // 3 * max(1, len(series)) * max(1, data["label"].nunique())
    chart = spread_bars(
        data,
        row="label",
        series=series,
        height_px=bars_px + _ROOM_PX + _LEGEND_LINE_PX * len(series),
        largest_ns=largest_ns,
        unit=unit,
        tips=(
            ("row", "Setting"),
            ("series", "What"),
            ("text", "Time per step"),
            ("spread", "Middle half"),
        ),
    )
    return Figure(
        question=QUESTION,
        chart=chart,
        takeaway=_takeaway(points),
        sheet=_sheet(points),
        note="Step and CPU time are taken without the profiler; the grey bar is the middle half of "
        "the repeats.",
    )


def _long_rows(points: pd.DataFrame) -> pd.DataFrame:
    """One row per bar; what is not known is left out."""
    bars: list[dict[str, Any]] = []
    names = labels(points["row"])
    for label, row in zip(names, points.to_dict("records"), strict=True):
        for series, column in _SIDES:
            value_ns = row[column]
            if not value_ns >= 0:  # NaN
                continue
            is_step = series == UNPROFILED
            low_ns = row["step_p25_ns"] if is_step else value_ns
            high_ns = row["step_p75_ns"] if is_step else value_ns
            bars.append(
                {
                    "label": label,
                    "row": row["row"],
                    "series": series,
                    "duration_ns": value_ns,
                    "low_ns": low_ns,
                    "high_ns": high_ns,
                    "text": time_text(value_ns),
                    "spread": f"{time_text(low_ns)} to {time_text(high_ns)}" if is_step else "-",
                }
            )
    return pd.DataFrame(bars, columns=list(_COLUMNS))


def _sheet(points: pd.DataFrame) -> pd.DataFrame:
    columns: dict[str, object] = {
        "Setting": points["row"],
        "Step (µs)": points["step_ns"] / NS_PER_US,
        "CPU (µs)": points["cpu_ns"] / NS_PER_US,
    }
    if points["gpu_ns"].notna().any():
        columns["GPU work (µs)"] = points["gpu_ns"] / NS_PER_US
    return pd.DataFrame(columns)


def _takeaway(points: pd.DataFrame) -> str:
    if points.empty:
        return "No point has been timed yet."
    fastest = points.iloc[int(points["step_ns"].to_numpy().argmin())]
    each = "; ".join(
        f"{row['row']} {time_text(row['step_ns'])}" for row in points.to_dict("records")
    )
    return f"A step takes: {each}. The fastest is {fastest['row']}."
