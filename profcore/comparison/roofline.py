"""How near each point comes to what its device can do: the roofline.

Source: Williams, Waterman and Patterson, "Roofline", Communications of the ACM 52(4), 2009: a
step of intensity I (FLOP per byte) can reach at most min(peak FLOP/s, I × peak bytes/s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import pandas as pd

if TYPE_CHECKING:
    from profcore.devices import Ceilings

COLUMNS: Final[dict[str, str]] = {
    "id": "of the recording",
    "row": "name of its row",
    "axis": "the knob that changes along a row",
    "x": "this point's value of that knob",
    "intensity": "FLOP per byte, by the workload's formulas (float)",
    "flops_per_s": "achieved: FLOP of a step over its unprofiled time (float)",
    "roof_flops_per_s": "what the roof allows at this intensity (float; NaN: no ceiling known)",
    "roof_fraction": "achieved over allowed; above 1: see `rules.beyond` (float)",
    "limit": "`arithmetic` or `memory`: the part of the roof above it; empty without ceilings",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Roof:
    """The two ceilings that hold for one number format."""

    flops_per_s: float
    bytes_per_s: float
    format: str
    """Number format of the arithmetic ceiling."""
    source: Literal["measured", "table"]
    source_text: str
    device_name: str

    @property
    def ridge(self) -> float:
        """The intensity at which both ceilings meet, in FLOP per byte."""
        return self.flops_per_s / self.bytes_per_s

    def at(self, intensity: float) -> float:
        """Return the FLOP/s that the roof allows."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)


def roof_of(ceilings: Ceilings | None, *, dtype: str, is_matmul: bool) -> Roof | None:
    """Return the roof for a number format, or None when a ceiling is not known.

    Pointwise arithmetic runs on the ordinary cores whatever the format, so its ceiling is fp32's.
    """
    if ceilings is None:
        return None
    name = dtype if is_matmul else "fp32"
    rate = ceilings.flops_per_s.get(name)
    if not rate:
        return None
    return Roof(
        flops_per_s=rate,
        bytes_per_s=ceilings.memory_bytes_per_s,
        format=name,
        source=ceilings.source,
        source_text=ceilings.source_text,
        device_name=ceilings.device_name,
    )


def roofline_table(points: pd.DataFrame, roof: Roof | None) -> pd.DataFrame:
    """Return the points of a sweep under a roof: see COLUMNS.

    Args:
        points: The table of `points.points_table`.
        roof: None leaves the columns of the roof empty.
    """
    table = pd.DataFrame(
        {
            "id": points["id"],
            "row": points["row"],
            "axis": points["axis"],
            "x": points["x"],
            "intensity": points["step_flops"] / points["step_bytes"],
            "flops_per_s": points["flops_per_s"],
        }
    )
    if roof is None:
        return table.assign(roof_flops_per_s=float("nan"), roof_fraction=float("nan"), limit="")
    allowed = table["intensity"].map(roof.at).astype("float64")
    return table.assign(
        roof_flops_per_s=allowed,
        roof_fraction=table["flops_per_s"] / allowed,
        limit=["arithmetic" if value >= roof.ridge else "memory" for value in table["intensity"]],
    )
