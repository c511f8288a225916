"""What do two runs spend per step, side by side?"""

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
from profcore.units import time_text

if TYPE_CHECKING:
    from profcore.comparison.figures import Figures

QUESTION: Final = "What do the two spend per step?"
_ROWS_PER_SIDE: Final = 3
_ROOM_PX: Final = 60
_LEGEND_LINE_PX: Final = 24


def compare_times_figure(a: Figures, b: Figures, *, names: tuple[str, str]) -> Figure:
    """Draw step time with its middle half, CPU time and GPU work of two runs.

    Args:
        a: Figures of one side.
        b: Figures of the other.
        names: What to call the sides.
    """
    data = _long_rows((a, b), names)
    largest_ns = float(data["high_ns"].max()) if len(data) else 0.0
    unit = unit_for(largest_ns)
    for column in ("duration", "low", "high"):
        data[column] = data[f"{column}_ns"] / unit.ns
    series = [name for name in (UNPROFILED, CPU, GPU) if name in set(data["series"])]
    bars_px = ROW_PX * _ROWS_PER_SIDE * max(1, data["side"].nunique())
    chart = spread_bars(
        data,
        row="side",
        series=series,
        height_px=bars_px + _ROOM_PX + _LEGEND_LINE_PX * len(series),
        largest_ns=largest_ns,
        unit=unit,
        tips=(
            ("name", "Run"),
            ("series", "What"),
            ("text", "Time per step"),
            ("spread", "Middle half"),
        ),
    )
    return Figure(
        question=QUESTION,
        chart=chart,
        takeaway=_takeaway(data),
        sheet=pd.DataFrame(
            {
                "Run": data["name"],
                "What": data["series"],
                f"Time per step ({unit.name})": data["duration"],
                f"Lower quartile ({unit.name})": data["low"],
                f"Upper quartile ({unit.name})": data["high"],
            }
        ),
        note="Step and CPU time are taken without the profiler; the grey bar is the middle half of "
        "the repeats of one run. Another run of the same may lie outside it.",
    )


def _long_rows(sides: tuple[Figures, Figures], names: tuple[str, str]) -> pd.DataFrame:
    """One row per bar."""
    bars = []
    for figures, name, side in zip(sides, names, labels(names), strict=True):
        low_ns, high_ns = figures.step_p25_ns, figures.step_p75_ns
        for series, value_ns in (
            (UNPROFILED, figures.step_ns),
            (CPU, figures.cpu_ns),
            (GPU, figures.gpu_busy_ns),
        ):
            if value_ns is None:
                continue
            has_spread = series == UNPROFILED and low_ns is not None and high_ns is not None
            low = low_ns if has_spread and low_ns is not None else value_ns
            high = high_ns if has_spread and high_ns is not None else value_ns
            bars.append(
                {
                    "side": side,
                    "name": name,
                    "series": series,
                    "duration_ns": value_ns,
                    "low_ns": low,
                    "high_ns": high,
                    "text": time_text(value_ns),
                    "spread": f"{time_text(low)} to {time_text(high)}" if has_spread else "-",
                }
            )
    columns = ("side", "name", "series", "duration_ns", "low_ns", "high_ns", "text", "spread")
    return pd.DataFrame(bars, columns=list(columns))


def _takeaway(data: pd.DataFrame) -> str:
    if data.empty:
        return "Neither run has a time per step."
    parts = []
    for name, bars in data.groupby("name", sort=False):
        spent = ", ".join(
            f"{series.lower() if series == UNPROFILED else series} {text}"
            for series, text in zip(bars["series"], bars["text"], strict=True)
        )
        parts.append(f"{name}: {spent}.")
    return " ".join(parts)
