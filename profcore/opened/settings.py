"""What opening one file may cost, and how much is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from profcore.trace.limits import Limits

_MIB: Final = 1024**2
_GIB: Final = 1024**3


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenSettings:
    """Bounds of opening traces; all inclusive."""

    memory_max_bytes: int = 4 * _GIB
    """Address space of the child that reads one file; beyond it the file is refused."""
    cpu_time_max_s: int = 120
    """Processor time of that child."""
    wall_time_max_s: float = 180.0
    """Time on the clock for that child, slow disks included."""
    stored_trace_max_bytes: int = 1 * _GIB
    """Size of one trace as it is kept: what the web process loads at once."""
    kept_traces_max: int = 50
    """Opened traces on disk; the ones used longest ago go first."""
    kept_max_bytes: int = 8 * _GIB
    """The same as a size, uploads that wait for a choice included."""
    upload_kept_max_s: float = 3_600.0
    """How long an uploaded archive waits for somebody to choose a trace in it."""
    reader: Limits = field(
        default_factory=lambda: Limits(
            decompressed_max_bytes=2 * _GIB, events_max=8_000_000, piece_max_bytes=256 * _MIB
        )
    )
    """What the reader does at most; less than for the command line, where nobody else waits."""
