"""The shared traces and the values that are right for them, as their README describes."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("PROFCORE_TRACES") or ROOT / "../shared/traces")
MISSING_REASON = "no traces (set PROFCORE_TRACES or provide ../shared/traces)"

TOLERANCE_US = 0.01
TOLERANCE_FRACTION = 1e-6


@cache
def files() -> dict[str, dict[str, Any]]:
    """Return the entries by path below the folder; {} when the folder is absent."""
    path = FOLDER / "reference.json"
    if not path.is_file():
        return {}
    entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["files"]
    return entries


def names(*, expect: str) -> list[str]:
    """Return the paths of the files that are expected to open, to be refused, ..."""
    return [name for name, entry in files().items() if entry["expect"] == expect]


def agree_us(ours_ns: float | None, stated_us: Any) -> bool:
    """Tell whether a time agrees: within 0.01 us or a millionth, whichever is larger."""
    if isinstance(stated_us, dict):
        return any(agree_us(ours_ns, one) for one in stated_us["any_of"])
    if stated_us is None:
        return ours_ns is None
    if ours_ns is None:
        return False
    margin = max(TOLERANCE_US, TOLERANCE_FRACTION * abs(stated_us))
    return abs(ours_ns / 1000 - stated_us) <= margin + 1e-9


def agree(ours: int, stated: Any) -> bool:
    """Tell whether a count agrees."""
    if isinstance(stated, dict):
        return ours in stated["any_of"]
    return bool(ours == stated)
