"""Why a point can lie above the roof of the memory."""

from __future__ import annotations

from typing import Final

SEEN_FRACTION: Final = 1.005
"""From here on a share reads as more than 100 %."""


def beyond_text(fraction: float) -> str:
    """Return a clause that says how more than the memory's roof can be; empty when it is not more.

    Above the arithmetic's roof there is nothing: a sweep raises it to what its steps reach.

    Args:
        fraction: Achieved over allowed.
    """
    if not fraction >= SEEN_FRACTION:
        return ""
    return ", which a step can reach whose data stays in a cache"
