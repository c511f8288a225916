"""The `[memory]` instants of a file, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.trace.model import MemoryRows
from profcore.trace.schema import NO_ARGS
from profcore.trace.times import nanoseconds
from profcore.trace.whole import whole_of_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profcore.trace.schema import Event

_FIELDS = ("memory_bytes", "device_type", "device_id", "allocated", "reserved")


class Memory:
    """Memory instants, batch after batch."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.int64]] = [np.zeros((0, 1 + len(_FIELDS)), np.int64)]

    def add(self, events: Sequence[Event]) -> int:
        """Take the instants of one batch; return how many had no time and were left out."""
        start_ns, valid = nanoseconds([event.ts for event in events])
        args = [event.args or NO_ARGS for event in events]
        facts = [whole_of_json([getattr(arg, field) for arg in args]) for field in _FIELDS]
        table = np.column_stack([start_ns, *facts])
        self._parts.append(table[valid])
        return int((~valid).sum())

    def rows(self, origin_ns: int) -> MemoryRows:
        """Return all of them in order of time, counted from `origin_ns`."""
        table = np.concatenate(self._parts)
        table = table[np.argsort(table[:, 0], kind="stable")]
        start, size, device_type, device, allocated, reserved = (
            np.ascontiguousarray(column) for column in table.T
        )
        return MemoryRows(
            start_ns=start - origin_ns,
            size_bytes=size,
            device_type=device_type,
            device=device,
            allocated_bytes=allocated,
            reserved_bytes=reserved,
        )
