"""A trace for Perfetto: the text of the file, with overlapping rows moved to threads of their own.

Perfetto draws the rows of one thread as a stack and drops a row that begins inside another and ends
after it. Such rows exist: two kernels on one stream, a call that outlasts its caller by a rounding.
Here each of them gets a further thread beside its own. Only the `tid` of moved rows is rewritten,
and the names of the new threads are added at the end of the list; every other byte stays.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from profcore.trace import schema
from profcore.trace.container import open_text
from profcore.trace.json_places import element_spans, value_spans
from profcore.trace.limits import DEFAULT_LIMITS
from profcore.trace.times import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from profcore.trace.schema import Event

TEXT_MAX_BYTES: Final = 256 * 1024**2
"""Text that is looked at; a larger file is for Perfetto's own "Open trace file"."""
FIRST_TID: Final = 1_000_000_000
"""New threads are numbered from here; no system gives out such numbers."""

UNTOUCHED: Final = (
    "The file is not clean JSON, so it is handed over as it is; Perfetto may drop rows of it."
)

_READ_BYTES: Final = 1024**2
_FLOWS: Final = frozenset("stf")

Key = tuple[object, object]
"""(pid, tid) as the file has them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Relaned:
    """The text to hand over."""

    text: bytes
    moved: int
    """Rows that stand on a thread of their own now."""
    threads: int
    """Threads that were added."""
    remark: str = ""
    """Why nothing was looked at; empty otherwise."""


def for_perfetto(source: Path | bytes, *, text_max_bytes: int = TEXT_MAX_BYTES) -> Relaned:
    """Return the text of a trace in which no row hides another in Perfetto.

    Args:
        source: a file, or its bytes; plain, gzip or zip.
        text_max_bytes: longer texts are refused.

    Raises:
        TraceError: there is no such file, it is damaged, or its text is longer than allowed.
    """
    limits = replace(DEFAULT_LIMITS, decompressed_max_bytes=text_max_bytes)
    with open_text(source, name=None, limits=limits, member=None) as stream:
        text = b"".join(iter(lambda: stream.read(_READ_BYTES), b""))
    try:
        return _relaned(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return Relaned(text=text, moved=0, threads=0, remark=UNTOUCHED)


def _relaned(text: bytes) -> Relaned:
    listed = _event_list(text)
    raws = msgspec.json.decode(text[listed.start : listed.stop], type=list[msgspec.Raw])
    events, unreadable = schema.decode_events(text[listed.start : listed.stop])
    if unreadable:
        return Relaned(text=text, moved=0, threads=0, remark=UNTOUCHED)
    tids = _new_tids(events)
    if not tids:
        return Relaned(text=text, moved=0, threads=0)
    spans = list(element_spans(text, listed.start + 1, map(len, raws)))
    parts, done = [], 0
    for index in sorted(tids.moved):
        for value in value_spans(text, b"tid", spans[index]):
            parts += [text[done : value.start], str(tids.moved[index]).encode()]
            done = value.stop
    last = spans[-1].stop
    names = b"".join(b",\n" + msgspec.json.encode(row) for row in _names(events, tids))
    rows = sum(events[index].ph == "X" for index in tids.moved)
    return Relaned(
        text=b"".join([*parts, text[done:last], names, text[last:]]),
        moved=rows,
        threads=len(tids.added),
    )


def _event_list(text: bytes) -> range:
    """Return the place of the event list in the text.

    Raises:
        msgspec.DecodeError: there is none.
    """
    start = len(text) - len(text.lstrip(b" \t\r\n\xef\xbb\xbf"))
    if text[start : start + 1] == b"[":
        return range(start, len(text.rstrip(b" \t\r\n\0")))
    header, _ = schema.decode_header(text[start:])
    if isinstance(header.traceEvents, msgspec.UnsetType):
        msg = "no event list"
        raise msgspec.DecodeError(msg)
    length = len(header.traceEvents)
    (*_, place) = value_spans(text, b"traceEvents", range(start, len(text)), values=1)
    return range(place.start, place.start + length)


class _NewTids:
    """Which elements of the list move, and to which threads."""

    def __init__(self, taken: Iterable[object]) -> None:
        self.moved: dict[int, int] = {}
        """From the position of an element to its new tid."""
        self.added: dict[int, tuple[Key, int]] = {}
        """From a new tid to the old thread and the number of the lane beside it, from 1."""
        self._taken = set(taken)
        self._next = FIRST_TID
        self._of: dict[tuple[Key, int], int] = {}

    def __bool__(self) -> bool:
        return bool(self.moved)

    def tid(self, key: Key, lane: int) -> int:
        """Return the thread number of the further lane of a thread."""
        if (key, lane) not in self._of:
            while self._next in self._taken:
                self._next += 1
            self._of[key, lane] = self._next
            self.added[self._next] = (key, lane)
            self._next += 1
        return self._of[key, lane]


def _new_tids(events: Sequence[Event]) -> _NewTids:
    tids = _NewTids(event.tid for event in events)
    timed = [index for index, event in enumerate(events) if event.ph == "X"]
    start, start_is_time = nanoseconds([events[index].ts for index in timed] or [b"0"])
    duration, duration_is_time = nanoseconds([events[index].dur for index in timed] or [b"0"])
    known = np.flatnonzero(start_is_time & duration_is_time & (duration >= 0))[: len(timed)]
    order = known[np.lexsort((-duration[known], start[known]))]
    begins, ends = start.tolist(), (start + duration).tolist()
    lanes: defaultdict[Key, list[list[int]]] = defaultdict(lambda: [[]])
    at: defaultdict[tuple[Key, int], set[int]] = defaultdict(set)
    for place in order.tolist():
        event = events[timed[place]]
        key = (event.pid, event.tid)
        lane = _fitting(lanes[key], begins[place], ends[place])
        at[key, begins[place]].add(lane)
        if lane:
            tids.moved[timed[place]] = tids.tid(key, lane)
    if tids:
        _move_arrows(events, tids, at)
    return tids


def _fitting(lanes: list[list[int]], start: int, end: int) -> int:
    """Return the first lane that shows [start, end) whole, and put it there.

    Each lane is the stack of ends of the rows still open in it.
    """
    for number, stack in enumerate(lanes):
        while stack and stack[-1] <= start:
            stack.pop()
        if not stack or end <= stack[-1]:
            stack.append(end)
            return number
    lanes.append([end])
    return len(lanes) - 1


def _move_arrows(
    events: Sequence[Event], tids: _NewTids, at: dict[tuple[Key, int], set[int]]
) -> None:
    """Move the ends of arrows with their rows: Perfetto ties them by thread and time."""
    arrows = [index for index, event in enumerate(events) if event.ph in _FLOWS]
    if not arrows:
        return
    when, is_time = nanoseconds([events[index].ts for index in arrows])
    for index, start, known in zip(arrows, when.tolist(), is_time.tolist(), strict=True):
        key = (events[index].pid, events[index].tid)
        found = at.get((key, start), set()) if known else set()
        # Where rows of two lanes begin at once, the arrow stays with the one that stayed.
        if len(found) == 1 and (lane := next(iter(found))):
            tids.moved[index] = tids.tid(key, lane)


def _names(events: Sequence[Event], tids: _NewTids) -> list[dict[str, object]]:
    """Return the metadata rows that name the new threads."""
    names: dict[Key, str] = {}
    for event in events:
        if event.ph == "M" and event.name == "thread_name" and event.args is not None:
            try:
                name = msgspec.json.decode(event.args.name, type=str)
            except msgspec.DecodeError:
                continue
            names[event.pid, event.tid] = name.strip()
    return [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": key[0],
            "tid": tid,
            "args": {"name": f"{names.get(key) or key[1]} (overlapping rows {lane})"},
        }
        for tid, (key, lane) in tids.added.items()
    ]
