"""Do more warm-up calls change the step time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.comparison.noise import MIN_FRACTION
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    import pandas as pd


def warmup_sentences(points: pd.DataFrame) -> tuple[str, ...]:
    """Say for every row how far its step times lie apart.

    Args:
        points: The table of `points.points_table`, with the warm-up calls as its axis.
    """
    return tuple(
        _sentence(str(name), row) for name, row in points.groupby("row", sort=False) if len(row) > 1
    )


def _sentence(name: str, row: pd.DataFrame) -> str:
    first, last = int(row["x"].iloc[0]), int(row["x"].iloc[-1])
    least = row.iloc[int(row["step_ns"].to_numpy().argmin())]
    most = row.iloc[int(row["step_ns"].to_numpy().argmax())]
    apart = most["step_ns"] / least["step_ns"] - 1
    if apart < MIN_FRACTION:
        return (
            f"{name}: from {first} to {last} warm-up calls the step time stays the same "
            f"({time_text(least['step_ns'])} to {time_text(most['step_ns'])}, "
            f"{percent_text(apart)} apart)."
        )
    calls = f"{most['x']:,} warm-up call{'s' if most['x'] > 1 else ''}"
    return (
        f"{name}: the step times lie {percent_text(apart)} apart: {time_text(most['step_ns'])} "
        f"with {calls} and {time_text(least['step_ns'])} with {least['x']:,}."
    )
