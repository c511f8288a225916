"""Where growing work begins to keep the GPU busy: rule B6 of the catalogue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.sweep import BUSY_THRESHOLDS, crossing
from profcore.units import percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

POINTS_MIN: Final = 3
"""Fewer points show no course."""
WORK_AXES: Final = ("size", "batch")
"""Along these the work grows; more warm-up calls are no more work."""
_DIGITS: Final = 2
"""Significant digits of a crossover: it lies somewhere between two measured sizes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Crossover:
    """Where one row of points crosses one threshold of the busy share."""

    row: str
    axis: str
    """`size` or `batch`: what grows along the row."""
    threshold: float
    state: Literal["crossed", "always above", "never reached", "too few points", "no GPU"]
    x: float | None
    """Between the two neighbours: straight in the logarithm of the axis. None: not crossed."""
    below: tuple[int, float] | None
    """(x, busy share) of the neighbour below the threshold."""
    above: tuple[int, float] | None
    """The same of the one at or above it."""
    sentence: str


def crossovers(points: pd.DataFrame) -> tuple[Crossover, ...]:
    """Return the crossings of every row, threshold by threshold; none where no work grows.

    With one value of the axis alone there is nothing to cross, and nothing is said about it.

    Args:
        points: The table of `points.points_table`.
    """
    if len(set(points["x"])) == 1:
        return ()
    return tuple(
        _crossover(str(name), row, threshold)
        for name, row in points[points["axis"].isin(WORK_AXES)].groupby("row", sort=False)
        for threshold in BUSY_THRESHOLDS
    )


def _crossover(name: str, row: pd.DataFrame, threshold: float) -> Crossover:
    known = row[row["busy_fraction"].notna()]
    axis = str(row["axis"].iloc[0])
    points = [
        (int(x), float(busy)) for x, busy in zip(known["x"], known["busy_fraction"], strict=True)
    ]
    state: Literal["crossed", "always above", "never reached", "too few points", "no GPU"]
    below = above = x = None
    limit = percent_text(threshold)
    if not points:
        state, text = "no GPU", "this sweep recorded no GPU, so there is no busy share"
    elif len(points) < POINTS_MIN:
        many = {"batch": "batches"}.get(axis, f"{axis}s")
        state, text = "too few points", f"{POINTS_MIN} {many} or more would show where it crosses"
    elif found := crossing(points, threshold):
        below, above = found
        x = crossing_x(below, above, threshold)
        state = "crossed"
        text = (
            f"the GPU is busy {limit} of the step from about {axis} {x_text(x)} on "
            f"({percent_text(below[1])} at {below[0]:,}, {percent_text(above[1])} at {above[0]:,})"
        )
    elif min(points)[1] >= threshold:
        state = "always above"
        text = f"the GPU is busy {limit} of the step or more from the smallest {axis} on"
    else:
        state = "never reached"
        best = max(busy for _, busy in points)
        text = f"the GPU is never busy {limit} of the step; at most {percent_text(best)}"
    return Crossover(
        row=name,
        axis=axis,
        threshold=threshold,
        state=state,
        x=x,
        below=below,
        above=above,
        sentence=f"{name}: {text}.",
    )


def crossing_x(below: tuple[int, float], above: tuple[int, float], threshold: float) -> float:
    """Return where a straight line over the logarithm of the axis reaches the threshold."""
    (low, low_busy), (high, high_busy) = below, above
    share = (threshold - low_busy) / (high_busy - low_busy)
    return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))


def x_text(x: float) -> str:
    """Return a size or batch between measured ones to two digits: "1,900", "3.5"."""
    digits = _DIGITS - 1 - math.floor(math.log10(x))
    return f"{round(x, digits):,.{max(0, digits)}f}"


def crossover_sentence(found: Crossover, *, workload: str, dtype: str, device: str) -> str:
    """Return the headline of a sweep for one row: where the crossover lies on this device.

    Args:
        found: The crossing of the upper threshold.
        workload: Its name; with what stays the same along the row if that is the size.
        dtype: Number format of the row.
        device: Name of the device.
    """
    what = f"On this {device} the crossover for {dtype} {workload} ({found.row})"
    if found.x is None:
        return f"{what} was not found: {found.sentence.partition(': ')[2]}"
    return (
        f"{what} lies near {found.axis} {x_text(found.x)}: from there on the GPU works "
        f"{percent_text(found.threshold)} of the step or more."
    )


def range_sentence(found: Sequence[Crossover], *, workload: str, device: str) -> str:
    """Return the headline of a sweep of many rows: the first and the last crossover.

    Args:
        found: The crossings of the upper threshold, one per row; at least one.
        workload: Its name.
        device: Name of the device.
    """
    crossed = sorted((one.x, one.row) for one in found if one.x is not None)
    if not crossed:
        return f"On this {device} no crossover was found for {workload}."
    (low, low_row), (high, high_row) = crossed[0], crossed[-1]
    return (
        f"On this {device} the crossover for {workload} lies between {found[0].axis} {x_text(low)} "
        f"({low_row}) and {x_text(high)} ({high_row}); it was found in {len(crossed)} of "
        f"{len(found)} rows."
    )
