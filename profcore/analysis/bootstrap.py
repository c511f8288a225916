"""How sure is the median of one run's repeats? Drawn again, many times, from the repeats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS: Final = 1000
SEED: Final = 0
"""The same numbers always give the same interval."""
REPEATS_MIN: Final = 5
"""Fewer repeats are too few to draw from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MedianInterval:
    """The middle 95 % of the medians drawn, and their spread."""

    median: float
    low: float
    high: float
    error: float
    """Standard deviation of the medians drawn."""


def median_interval(values: Sequence[float]) -> MedianInterval | None:
    """Return the interval of the median, or None for fewer than REPEATS_MIN values.

    Neighbouring repeats are alike (a GPU at its power limit wavers with a period of about a
    second), so blocks of neighbours are drawn, not single values.

    Args:
        values: In the order measured.

    Source: the moving-block bootstrap (Künsch, 1989), with blocks of the cube root of the number
    of values, doubled because the alike stretches here are long.
    """
    return _interval(tuple(values))


@lru_cache(maxsize=512)  # a page that is drawn again asks the same again, some 5 ms each
def _interval(values: tuple[float, ...]) -> MedianInterval | None:
    count = len(values)
    if count < REPEATS_MIN:
        return None
    measured = np.asarray(values, np.float64)
    block = min(max(1, round(2 * count ** (1 / 3))), count // 2)
    blocks = math.ceil(count / block)
    starts = np.random.default_rng(SEED).integers(0, count - block + 1, size=(DRAWS, blocks))
    chosen = (starts[:, :, None] + np.arange(block)).reshape(DRAWS, -1)[:, :count]  # (draws, n)
    medians = np.median(measured[chosen], axis=1)  # (draws,)
    low, high = np.quantile(medians, (0.025, 0.975))
    return MedianInterval(
        median=float(np.median(measured)),
        low=float(low),
        high=float(high),
        error=float(medians.std()),
    )
