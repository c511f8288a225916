"""Events of one batch after another become columns; no event outlives its batch."""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profcore.trace.codes import TextCodes
from profcore.trace.kernel_facts import KernelFacts
from profcore.trace.kinds import GPU_SIDE, KindCodes, flags
from profcore.trace.lanes import LaneCodes
from profcore.trace.memory import Memory
from profcore.trace.model import GPU_WORK, MISSING
from profcore.trace.pairs import END, Pairs
from profcore.trace.schema import NO_ARGS
from profcore.trace.times import nanoseconds
from profcore.trace.whole import TOO_LARGE, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.trace.schema import Args, Event

NO_START: Final = "start time is missing or is no time"
NO_DURATION: Final = "duration is missing or is no time"
NEGATIVE: Final = "duration is negative"
ZERO: Final = "GPU row with start 0 and duration 0"

MEMORY: Final = "memory rows"
_ARROWS: Final = frozenset("stf")
UNTIMED: Final[dict[str | None, str]] = {
    "M": "names of processes and threads",
    **dict.fromkeys(_ARROWS, "arrows between rows"),
    **dict.fromkeys("iIR", "instants"),
    "C": "counters",
    **dict.fromkeys("bneSTpF", "asynchronous ranges"),
    None: "elements without a phase",
}
UNKNOWN_PHASE: Final = "elements of an unknown phase"

_IS_GPU: Final = flags(*GPU_SIDE)
_IS_KERNEL: Final = flags("kernel")
_HAS_CORRELATION: Final = flags("runtime", *GPU_SIDE)
_HAS_SIZE: Final = flags(*GPU_WORK)
_HAS_EXTERNAL_ID: Final = ~flags("python")  # the largest kind by far has none


class Columns:
    """The rows of a file so far."""

    def __init__(self) -> None:
        self.events = 0
        """Elements of the event list, of every phase."""
        self.set_aside: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.untimed: Counter[str] = Counter()
        self.names = TextCodes()
        self.lanes = LaneCodes()
        self.memory = Memory()
        self.kernel_facts = KernelFacts()
        self._kinds = KindCodes()
        self._pairs = Pairs(self.lanes.__getitem__)
        self._parts: list[dict[str, NDArray[Any]]] = []
        self._rows = 0

    def add(self, events: list[Event]) -> None:
        """Take the events of one batch."""
        self.events += len(events)
        timed = [event for event in events if event.ph == "X"]
        self._add_timed(timed)
        if len(timed) < len(events):
            self._add_others([event for event in events if event.ph != "X"])

    def finish(self) -> dict[str, NDArray[Any]]:
        """Join begin and end rows, and return the columns in order of the file.

        Returns:
            {} without any timed row. `lane` holds codes of `lanes` and `kind` may be NO_CATEGORY.
        """
        self._add_timed(self._pairs.join())
        self.set_aside += self._pairs.set_aside
        if self._pairs.ends:
            self.untimed[END] = self._pairs.ends
        names = list(self._parts[0]) if self._parts else []
        # One column at a time, so that only one is in memory twice.
        return {name: np.concatenate([part.pop(name) for part in self._parts]) for name in names}

    def _add_timed(self, timed: list[Event]) -> None:
        if not timed:
            return
        start_ns, start_is_time = nanoseconds([event.ts for event in timed])
        duration_ns, duration_is_time = nanoseconds([event.dur for event in timed])
        kind = self._kinds.of([event.cat for event in timed])
        at_zero = (start_ns == 0) & (duration_ns == 0) & _IS_GPU[kind]
        keep = self._kept(
            {
                NO_START: ~start_is_time,
                NO_DURATION: ~duration_is_time,
                NEGATIVE: duration_ns < 0,
                ZERO: at_zero,
            }
        )
        if not keep.all():
            timed = [timed[row] for row in np.flatnonzero(keep).tolist()]
            start_ns, duration_ns, kind = start_ns[keep], duration_ns[keep], kind[keep]
        if timed:
            part = self._other_columns(timed, kind)
            part |= {"start_ns": start_ns, "duration_ns": duration_ns, "kind": kind}
            self._parts.append(part)
            self._rows += len(timed)

    def _kept(self, faults: dict[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return the rows without a fault; each other row is counted under its first one."""
        keep = ~faults[NO_START]
        for reason, rows in faults.items():
            counted = rows if reason == NO_START else rows & keep
            if counted.any():
                self.set_aside[reason] += int(counted.sum())
                keep &= ~rows
        return keep

    def _other_columns(
        self, timed: list[Event], kind: NDArray[np.uint8]
    ) -> dict[str, NDArray[Any]]:
        args = [event.args or NO_ARGS for event in timed]
        names = [event.name for event in timed]
        linked, linked_args = _chosen(_HAS_CORRELATION[kind], args)
        on_gpu, gpu_args = _chosen(_IS_GPU[kind], args)
        sized, sized_args = _chosen(_HAS_SIZE[kind], args)
        known, known_args = _chosen(_HAS_EXTERNAL_ID[kind], args)
        kernels, kernel_args = _chosen(_IS_KERNEL[kind], args)
        self.kernel_facts.add(self._rows + kernels, kernel_args)

        def spread(rows: NDArray[np.int64], values: list[Any]) -> NDArray[np.int64]:
            column = np.full(len(timed), MISSING, np.int64)
            column[rows], too_large = whole_numbers(values)
            if too_large:
                self.repaired[TOO_LARGE] += too_large
            return column

        external_id = spread(known, [arg.external_id for arg in known_args])
        older = spread(known, [arg.external_id_2021 for arg in known_args])
        return {
            "name": np.frombuffer(array("i", map(self.names.__getitem__, names)), np.int32),
            "lane": self.lanes.of(timed),
            "correlation": spread(linked, [arg.correlation for arg in linked_args]),
            # In the older spelling 0 means that there is none.
            "external_id": np.where((external_id == MISSING) & (older > 0), older, external_id),
            "device": spread(on_gpu, [arg.device for arg in gpu_args]),
            "stream": spread(on_gpu, [arg.stream for arg in gpu_args]),
            "size_bytes": spread(sized, [arg.size_bytes for arg in sized_args]),
        }

    def _add_others(self, others: list[Event]) -> None:
        phases = Counter([event.ph for event in others])
        memory: list[Event] = []
        for event in [event for event in others if event.ph not in _ARROWS]:
            if event.ph in {"B", "E"}:
                self._pairs.add(event)
            elif event.ph in {"i", "I"} and event.name == "[memory]":
                memory.append(event)
                phases[event.ph] -= 1
            elif event.ph == "M":
                self.lanes.add_name(event)
        for phase, count in phases.items():
            if count and phase not in {"B", "E"}:
                self.untimed[UNTIMED.get(phase, UNKNOWN_PHASE)] += count
        if memory:
            without_time = self.memory.add(memory)
            self.untimed[MEMORY] += len(memory) - without_time
            if without_time:
                self.set_aside[NO_START] += without_time


def _chosen(mask: NDArray[np.bool_], args: list[Args]) -> tuple[NDArray[np.int64], list[Args]]:
    rows = np.flatnonzero(mask)
    return rows, [args[row] for row in rows.tolist()]
