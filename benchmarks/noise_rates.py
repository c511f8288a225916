# ruff: noqa: S311 - drawing pairs is no secret
"""From recorded step times to error rates: how often are two sides told apart?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec

from profcore.comparison import step_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profcore.recording import Timings

DRAWS = 1000
"""Pairs of groups drawn for each rate."""
TIMES = ("step_ns_median", "step_ns_p25", "step_ns_p75", "cpu_ns_median")

Group = list["Timings"]


def drawn(a: Group, b: Group, count: int) -> Iterator[tuple[Group, Group]]:
    """Give pairs of groups of `count` runs from anywhere in the session, by chance.

    With the same list on both sides no run is in both groups. With two lists of equal length the
    places differ where there are enough: a run that meets itself multiplied would know its noise.
    """
    draw = random.Random(0)
    places = range(len(a))
    if len(a) < count or len(b) < count or (a is b and len(a) < 2 * count):
        return
    for _ in range(DRAWS):
        mine = draw.sample(places, count)
        rest = [place for place in range(len(b)) if place not in mine]
        theirs = draw.sample(rest if len(rest) >= count else list(range(len(b))), count)
        yield [a[place] for place in mine], [b[place] for place in theirs]


def neighbours(a: Group, b: Group, count: int) -> Iterator[tuple[Group, Group]]:
    """Give every pair of groups that follow each other as `compare --again` records them."""
    if a is b:
        for start in range(len(a) - 2 * count + 1):
            stretch = a[start : start + 2 * count]
            yield stretch[::2], stretch[1::2]
        return
    for start in range(min(len(a), len(b)) - count + 1):
        yield a[start : start + count], b[start : start + count]


def rate(pairs: Iterator[tuple[Group, Group]]) -> tuple[float, int] | None:
    """Return the share of pairs that are told apart and how many there were; None without any."""
    results = [step_difference(left, right).is_real for left, right in pairs]
    return (sum(results) / len(results), len(results)) if results else None


def multiplied(timings: Timings, factor: float) -> Timings:
    """Return the same run, as if every step had taken `factor` times as long."""
    changed: dict[str, Any] = {name: getattr(timings, name) * factor for name in TIMES}
    changed["step_ns"] = [value * factor for value in timings.step_ns]
    return msgspec.structs.replace(timings, **changed)
