"""What a device can do at most, measured once on this machine and kept; else from a table.

Stored in `<data folder>/ceilings/`, one file per device, driver and torch version: another one of
these may have other kernels or clocks.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.devices import Ceilings, vendor_peaks
from profcore.files import read_json, write_json
from profcore.recording import read_ceilings

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.recording import Environment

CEILINGS_FOLDER: Final = "ceilings"
METHOD: Final = 2
"""Of measuring; raise it when what was measured before is not to be used any more."""


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


def highest(older: Ceilings, newer: Ceilings) -> Ceilings:
    """Return the higher of each rate of two measurements: whatever disturbs one only lowers it."""
    launches_ns = [one.launch_ns for one in (older, newer) if one.launch_ns is not None]
    return msgspec.structs.replace(
        newer,
        flops_per_s={
            name: max(one.flops_per_s.get(name, 0.0) for one in (older, newer))
            for name in older.flops_per_s | newer.flops_per_s
        },
        memory_bytes_per_s=max(older.memory_bytes_per_s, newer.memory_bytes_per_s),
        launch_ns=min(launches_ns, default=None),
    )


def find_ceilings(root: Path, environment: Environment) -> Ceilings | None:
    """Return the measured ceilings of a device, else the vendor's figures, else None."""
    return load(root, environment) or vendor_peaks(environment.device_name)


def beside(folder: Path, root: Path, environment: Environment) -> Ceilings | None:
    """Return the ceilings that lie beside a sweep, else as `find_ceilings`."""
    return read_ceilings(folder) or find_ceilings(root, environment)


def _path(root: Path, environment: Environment) -> Path:
    facts = (
        environment.device_name,
        environment.driver,
        environment.torch,
        environment.cpu_name,
        METHOD,
    )
    name = re.sub(r"[^a-z0-9]+", "-", environment.device_name.lower()).strip("-")[:40]
    mark = hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:12]
    return root / CEILINGS_FOLDER / f"{name}-{mark}.json"
