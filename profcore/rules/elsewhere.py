"""Entries of the catalogue that are no rule of the registry: where they are, or why they wait."""

from __future__ import annotations

from typing import Final

ELSEWHERE: Final[dict[str, tuple[str, str]]] = {
    "B6": (
        "The size at which overhead stops mattering",
        "Needs a row of sizes, not one recording: the sweep finds and shows it.",
    ),
    "L11": (
        "Predict before you look",
        "A habit, not an observation: “Confirm it” states what will be seen before it runs.",
    ),
    "M2": (
        "Out of memory, and what it costs to avoid it",
        (
            "Torch marks it with an instant, and only rows with a duration are read. What it costs "
            "shows as E9, memory taken from the driver inside the steps."
        ),
    ),
    "Q17": (
        "Slower after profiling",
        (
            "Needs the unprofiled step time before and after one recording. A run takes it once: "
            "before, or for a cold start after, and then the verdict says so."
        ),
    ),
    "T7": (
        "The table says what takes time, the trace when and why",
        "Said once, at the head of the Field guide, because it holds for every recording.",
    ),
}
"""Id -> (title, where it is or why it is not built)."""
