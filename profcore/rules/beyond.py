"""Why a step can be above what its device can do: the words for it, wherever a share is shown."""

from __future__ import annotations

from typing import Final

SEEN_FRACTION: Final = 1.005
"""From here on a share reads as more than 100 %."""
BURST_FRACTION: Final = 1.20
"""A few products in a row were seen up to 13 % above what an H200 keeps up."""
CACHE_FRACTION: Final = 1.10
"""Below it a kernel may move bytes a little faster than a copy does. H200: up to 7 %."""


def beyond_arithmetic(fraction: float) -> str:
    """Return a clause, or nothing where the share is no more than 100 %.

    Args:
        fraction: Achieved over measured.
    """
    if fraction < SEEN_FRACTION:
        return ""
    if fraction < BURST_FRACTION:
        return " (a short burst can be faster: under lasting load the clock falls)"
    return " (something slowed the device while that was measured)"


def beyond_memory(fraction: float) -> str:
    """Return a clause, or nothing where the share is no more than 100 %.

    Args:
        fraction: Bytes that must be moved over what memory was measured or said to move.
    """
    if fraction < SEEN_FRACTION:
        return ""
    if fraction < CACHE_FRACTION:
        return " (about as fast as a copy)"
    return " (more than memory gives: the data stays in a cache)"
