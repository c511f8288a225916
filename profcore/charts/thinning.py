"""A step curve with more changes than a screen has pixels: thinned without losing a peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

POINTS_MAX: Final = 800
"""Points of one curve; five of them stay below what a browser draws quickly."""


def thinned(time_ns: Ints, value: Ints, *, points: int = POINTS_MAX) -> tuple[Ints, Ints]:
    """Return at most `points` changes of a step curve, each the largest value of its stretch.

    Args:
        time_ns: (n,) ascending; the curve has value[i] from time_ns[i] on.
        value: (n,)
        points: How many stretches of equal length the time is cut into.

    Returns:
        The curve itself when it is short enough. Else one point per stretch with a change in it,
        at the start of the stretch (the last at the last change), with the largest value there,
        the one it begins with included.
    """
    if len(time_ns) <= points:
        return time_ns, value
    # Floats would do for the place in a picture; whole numbers keep the order exact.
    edges = np.linspace(0, float(time_ns[-1] - time_ns[0]), points, endpoint=False).astype(np.int64)
    edges += time_ns[0]
    first = np.unique(np.searchsorted(time_ns, edges))
    first = first[first < len(time_ns)]
    largest = np.maximum.reduceat(value, first)
    before = np.concatenate((value[:1], value))[first]
    return time_ns[first], np.maximum(largest, before)
