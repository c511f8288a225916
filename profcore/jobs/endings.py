"""How a child process ended, in words."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

LOG_TAIL_LINES: Final = 20
HARMLESS: Final = (
    "External init callback must run in same thread as registerClient",
    "SyncActivityProfilerHandler.cpp",
)
"""Parts of lines that the profiler prints in every process; they mean nothing to a reader."""

_TAIL_BYTES: Final = 16_384


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """What is known when a child is gone."""

    reason: Literal["exited", "stopped", "timeout"]
    """By itself, because it was told to, or by its time limit."""
    status: int
    """Exit status; negative: the signal that ended it."""
    seconds: float
    log_tail: str
    """The last lines it printed."""


def crash_text(ending: Ending) -> str:
    """Return a clause for a child that could not say itself why it ended."""
    if ending.status == -signal.SIGKILL:
        return (
            "The child process was killed (signal 9), most likely because the machine ran out of "
            "memory"
        )
    if ending.status < 0:
        what = signal.strsignal(-ending.status) or "unknown signal"
        return f"The child process ended with signal {-ending.status} ({what.lower()})"
    return f"The child process ended with status {ending.status} and did not finish its job"


def read_log_tail(path: Path) -> str:
    """Return the last lines of a log, without those that mean nothing; empty without a log."""
    try:
        with path.open("rb") as file:
            text = tail(file).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not any(part in line for part in HARMLESS)
    ]
    return "\n".join(lines[-LOG_TAIL_LINES:])


def tail(file: BinaryIO) -> bytes:
    """Return the end of an open file."""
    # pread: a child may be writing through this very file position.
    size_bytes = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), _TAIL_BYTES, max(0, size_bytes - _TAIL_BYTES))
