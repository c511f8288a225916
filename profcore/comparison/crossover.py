"""Where growing work begins to keep the GPU busy: rule B6 of the catalogue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.sweep import BUSY_THRESHOLDS, crossing
from profcore.units import percent_text

if TYPE_CHECKING:
    import pandas as pd

SIZES_MIN: Final = 3
"""Fewer sizes show no course."""
_DIGITS: Final = 2
"""Significant digits of a crossover: it lies somewhere between two measured sizes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossover:
    """Where one row of sizes crosses one threshold of the busy share."""

    row: str
    threshold: float
    state: Literal["crossed", "always above", "never reached", "too few sizes", "no GPU"]
    size: float | None
    """Between the two neighbours: straight in the logarithm of the size. None: not crossed."""
    below: tuple[int, float] | None
    """(size, busy share) of the neighbour below the threshold."""
    above: tuple[int, float] | None
    """The same of the one at or above it."""
    sentence: str


def crossovers(points: pd.DataFrame) -> tuple[Crossover, ...]:
    """Return the crossings of every row of sizes, threshold by threshold.

    Args:
        points: The table of `points.points_table`.
    """
    return tuple(
        _crossover(str(name), row, threshold)
        for name, row in points.groupby("row", sort=False)
        for threshold in BUSY_THRESHOLDS
    )


def _crossover(name: str, row: pd.DataFrame, threshold: float) -> Crossover:
    known = row[row["busy_fraction"].notna()]
    points = [
        (int(size), float(busy))
        for size, busy in zip(known["size"], known["busy_fraction"], strict=True)
    ]
    state: Literal["crossed", "always above", "never reached", "too few sizes", "no GPU"]
    below = above = size = None
    limit = percent_text(threshold)
    if not points:
        state, text = "no GPU", "this sweep recorded no GPU, so there is no busy share"
    elif len(points) < SIZES_MIN:
        state, text = "too few sizes", f"{SIZES_MIN} sizes or more would show where it crosses"
    elif found := crossing(points, threshold):
        below, above = found
        size = crossing_size(below, above, threshold)
        state = "crossed"
        text = (
            f"the GPU is busy {limit} of the step from about size {size_text(size)} on "
            f"({percent_text(below[1])} at {below[0]:,}, {percent_text(above[1])} at {above[0]:,})"
        )
    elif min(points)[1] >= threshold:
        state = "always above"
        text = f"the GPU is busy {limit} of the step or more from the smallest size on"
    else:
        state = "never reached"
        best = max(busy for _, busy in points)
        text = f"the GPU is never busy {limit} of the step; at most {percent_text(best)}"
    return Crossover(
        row=name,
        threshold=threshold,
        state=state,
        size=size,
        below=below,
        above=above,
        sentence=f"{name}: {text}.",
    )


def crossing_size(below: tuple[int, float], above: tuple[int, float], threshold: float) -> float:
    """Return where a straight line over the logarithm of the size reaches the threshold."""
    (low, low_busy), (high, high_busy) = below, above
    share = (threshold - low_busy) / (high_busy - low_busy)
    return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))


def size_text(size: float) -> str:
    """Return a size between measured ones to two digits: "1,900"."""
    digits = _DIGITS - 1 - math.floor(math.log10(size))
    return f"{round(size, digits):,.0f}"


def crossover_sentence(found: Crossover, *, workload: str, dtype: str, device: str) -> str:
    """Return the headline of a sweep for one row: where the crossover lies on this device."""
    what = f"On this {device} the crossover for {dtype} {workload} ({found.row})"
    if found.size is None:
        return f"{what} was not found: {found.sentence.partition(': ')[2]}"
    return (
        f"{what} lies near size {size_text(found.size)}: from there on the GPU works "
        f"{percent_text(found.threshold)} of the step or more."
    )
