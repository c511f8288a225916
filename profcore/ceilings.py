"""What a device can do at most, measured once on this machine and kept; else from a table.

Stored in `<data folder>/ceilings/`, one file per device, driver and torch version: another one of
these may have other kernels or clocks.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from profcore.devices import find_peaks
from profcore.files import read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.recording import Environment

CEILINGS_FOLDER: Final = "ceilings"
CEILINGS_FILE: Final = "ceilings.json"
"""The same beside a sweep that was drawn with them, so that it can travel."""


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The highest rates of one device, and where they come from."""

    source: Literal["measured", "table"]
    source_text: str
    """One sentence for people: how they were measured, or whose figures they are."""
    device_name: str
    driver: str | None = None
    torch: str = ""
    """Empty in a table."""
    flops_per_s: dict[str, float]
    """Of a large matrix product by number format; a format without an entry is not known."""
    memory_bytes_per_s: float | None
    """Of a large copy inside the device: bytes read and bytes written."""
    launch_ns: float | None = None
    """CPU time to launch one kernel that does nothing; None in a table and on a CPU."""
    measured_at: str = ""
    """UTC, ISO 8601; empty in a table."""


def load(root: Path, environment: Environment) -> Ceilings | None:
    """Return what was measured for this device, driver and torch, or None.

    Args:
        root: The data folder.
        environment: Where the run was made.
    """
    try:
        return read_json(_path(root, environment), Ceilings)
    except (msgspec.DecodeError, OSError):
        return None  # it will be measured again


def save(root: Path, environment: Environment, ceilings: Ceilings) -> None:
    """Keep measured ceilings.

    Raises:
        OSError: the data folder cannot be written.
    """
    path = _path(root, environment)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, ceilings)


def from_table(device_name: str) -> Ceilings | None:
    """Return the vendor's figures for a device that is listed, else None."""
    peaks = find_peaks(device_name)
    if peaks is None:
        return None
    return Ceilings(
        source="table",
        source_text=f"{peaks.source}; real programs reach a part of them.",
        device_name=peaks.name,
        flops_per_s={str(dtype): rate for dtype, rate in peaks.flops_per_s.items()},
        memory_bytes_per_s=peaks.memory_bytes_per_s,
    )


def find_ceilings(root: Path, environment: Environment) -> Ceilings | None:
    """Return the measured ceilings of a device, else the vendor's figures, else None."""
    return load(root, environment) or from_table(environment.device_name)


def beside(folder: Path, root: Path, environment: Environment) -> Ceilings | None:
    """Return the ceilings that lie beside a sweep, else as `find_ceilings`."""
    try:
        own = read_json(folder / CEILINGS_FILE, Ceilings)
    except (msgspec.DecodeError, OSError):
        own = None
    return own or find_ceilings(root, environment)


def _path(root: Path, environment: Environment) -> Path:
    facts = (environment.device_name, environment.driver, environment.torch, environment.cpu_name)
    name = re.sub(r"[^a-z0-9]+", "-", environment.device_name.lower()).strip("-")[:40]
    mark = hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:12]
    return root / CEILINGS_FOLDER / f"{name}-{mark}.json"
