"""In which unit the rates of a chart are short to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pandas as pd

_PREFIXES: Final = (("T", 1e12), ("G", 1e9))
_LAST: Final = ("M", 1e6)


@dataclass(frozen=True, kw_only=True, slots=True)
class RateUnit:
    """A unit of work per second for an axis or a column."""

    name: str
    per_s: float
    """FLOP/s or bytes/s in one of it."""


def rate_unit(rates: pd.Series, unit: str) -> RateUnit:
    """Return the largest unit of which the highest rate has at least one.

    Args:
        rates: Per second, in `unit`; may be empty.
        unit: `FLOP/s` or `B/s`.
    """
    highest = float(rates.max()) if len(rates) else 0.0
    prefix, per_s = next((one for one in _PREFIXES if highest >= one[1]), _LAST)
    return RateUnit(name=f"{prefix}{unit}", per_s=per_s)
