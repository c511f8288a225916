"""Which process makes a recording, so that others can tell "under way" from "given up".

A run has no `status.json` before it ends. Until then `owner.json` names the server or command that
asked for it; when that process is gone, nobody will ever finish the run.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from profcore.files import read_json, write_json

OWNER_FILE: Final = "owner.json"
_PROC: Final = Path("/proc")
_STATE, _START = 0, 19
"""Positions in /proc/<pid>/stat, counted after the command (see proc(5): fields 3 and 22)."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The process that asked for a run, and when."""

    pid: int
    pid_started: str
    """When that process began, in the kernel's own count; empty where there is no /proc. Process
    ids are used again, the pair is not."""
    created_at: str
    """UTC, ISO 8601."""

    def is_alive(self) -> bool:
        """Whether that very process still runs."""
        return _started(self.pid) == self.pid_started


def now_text() -> str:
    """Return the time as recordings write it: UTC, ISO 8601, fine enough to give an order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def sign(folder: Path) -> None:
    """Write this process into `folder` as its owner."""
    pid = os.getpid()
    owner = Owner(pid=pid, pid_started=_started(pid) or "", created_at=now_text())
    write_json(folder / OWNER_FILE, owner)


def read(folder: Path) -> Owner | None:
    """Return the owner of a folder; None when the file is not there or damaged."""
    try:
        return read_json(folder / OWNER_FILE, Owner)
    except (msgspec.DecodeError, OSError):
        return None  # as good as no owner: the run counts as given up


def created_at(folder: Path) -> str:
    """Return when the run of a folder was asked for; now, if that is not known."""
    owner = read(folder)
    return owner.created_at if owner else now_text()


def _started(pid: int) -> str | None:
    """Return when a process began, an empty text where that is not known, None if it is gone."""
    if not _PROC.joinpath("self", "stat").exists():
        return "" if _exists(pid) else None
    try:
        stat = _PROC.joinpath(str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the command before it may hold spaces and brackets
    return None if fields[_STATE] in {"Z", "X"} else fields[_START]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True
