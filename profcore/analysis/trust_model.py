"""The words of the trust report, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

State = Literal["fine", "look", "cannot tell"]
"""`look`: something in the file can mislead. `cannot tell`: the file lacks what the check needs."""

LISTED_MAX: Final = 5
"""Steps or reasons named one by one; the rest is counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one check found."""

    outcome: State
    text: str
    """The numbers, in one or two sentences. Names from the file are not in it."""
    snippet: str = ""
    """Code that would record what is missing; empty when nothing is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One line of the trust report."""

    id: str
    """Stable: part of the JSON answer."""
    title: str
    outcome: State
    text: str
    snippet: str = ""


def fine(text: str) -> Outcome:
    """Return an outcome without a doubt."""
    return Outcome(outcome="fine", text=text)


def look(text: str, snippet: str = "") -> Outcome:
    """Return an outcome that can mislead."""
    return Outcome(outcome="look", text=text, snippet=snippet)


def cannot_tell(text: str, snippet: str = "") -> Outcome:
    """Return an outcome of a check whose input is missing."""
    return Outcome(outcome="cannot tell", text=text, snippet=snippet)


def counted(count: int, one: str, many: str = "") -> str:
    """Return "1 row" or "1,234 rows"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(numbers: Sequence[int]) -> str:
    """Return "#3, #4" for step numbers; a long list is cut."""
    shown = ", ".join(f"#{number}" for number in numbers[:LISTED_MAX])
    return shown + (f" and {len(numbers) - LISTED_MAX:,} more" if len(numbers) > LISTED_MAX else "")


def reasons(counts: Mapping[str, int]) -> str:
    """Return counts by reason, the largest first."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    shown = "; ".join(f"{count:,} × {reason}" for reason, count in ranked[:LISTED_MAX])
    return shown + (f"; {len(ranked) - LISTED_MAX} more" if len(ranked) > LISTED_MAX else "")
