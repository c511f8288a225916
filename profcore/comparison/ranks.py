"""Two small groups of numbers, compared by rank: how far apart, and how sure.

Nothing is assumed about how the numbers scatter, so that one odd run in a group does no harm.
Source: Hodges and Lehmann's shift estimate with the exact interval of the Mann-Whitney test
(Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, sections 4.1 to 4.3).
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


_ROUNDING = 1 + 1e-9
"""1 - 0.9 is a little less than 0.1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shift:
    """By how much the second group lies above the first."""

    estimate: float
    """Median of all differences of one number of the second and one of the first group."""
    low: float
    high: float


def shift(first: Sequence[float], second: Sequence[float], *, confidence: float) -> Shift | None:
    """Return the shift with its interval, or None when the groups are too small for `confidence`.

    For 95 % each group needs four numbers.
    """
    rank = interval_rank(len(first), len(second), confidence=confidence)
    if rank == 0:
        return None
    differences = sorted(b - a for a in first for b in second)
    return Shift(
        estimate=statistics.median(differences),
        low=differences[rank - 1],
        high=differences[-rank],
    )


@lru_cache(maxsize=256)
def interval_rank(first: int, second: int, *, confidence: float) -> int:
    """Return which of the sorted differences bounds the interval, counted from either end.

    0: even from the smallest to the largest difference the confidence is less.
    """
    ways = math.comb(first + second, first)
    tail, rank = 0, 0
    for count in _counts(first, second):
        tail += count
        if 2 * tail > (1 - confidence) * ways * _ROUNDING:
            break
        rank += 1
    return rank


@lru_cache(maxsize=256)
def _counts(first: int, second: int) -> tuple[int, ...]:
    """Return, for u = 0, 1, ..., in how many orders of two groups u pairs are the wrong way round.

    The last number of an order belongs to the first group and exceeds all of the second, or it
    belongs to the second.
    """
    if first == 0 or second == 0:
        return (1,)
    counts = [0] * (first * second + 1)
    for u, count in enumerate(_counts(first - 1, second)):
        counts[u + second] += count
    for u, count in enumerate(_counts(first, second - 1)):
        counts[u] += count
    return tuple(counts)
