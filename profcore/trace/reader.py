"""Reads a trace: cut into pieces, decoded, turned into columns, put in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn

from profcore.errors import TraceError
from profcore.trace import header as headers
from profcore.trace.columns import Columns
from profcore.trace.container import open_text
from profcore.trace.decode import Decoded, FaultError, NoEventListError, decode
from profcore.trace.limits import DEFAULT_LIMITS, Limits
from profcore.trace.model import Source, Trace
from profcore.trace.nesting_limit import nests_deeper
from profcore.trace.order import ordered
from profcore.trace.pieces import Piece, check_size, cut
from profcore.trace.schema import Header
from profcore.trace.sniff import OPEN_A_TRACE, object_without_events, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from profcore.trace.container import Text

_HEAD_BYTES: Final = 64 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_EXPORT_AGAIN: Final = "copy or export it again"

PADDING: Final = "bytes after the end of the gzip data, passed over"
UNREADABLE: Final = "elements of the event list that are no readable objects"


def read(
    source: Path | bytes,
    *,
    name: str | None = None,
    limits: Limits | None = None,
    member: str | None = None,
) -> Trace:
    """Read a profiler trace: .json, .json.gz, or one in a .zip.

    Args:
        source: a file, or its bytes.
        name: what to call the file; by default its own name.
        limits: what may be read at most.
        member: which file of a zip archive; needed when it holds several (`list_members`).

    Raises:
        TraceError: the file is no trace, is damaged, or is larger than allowed. One sentence says
            what the file is and what to do.
    """
    bounds = limits or DEFAULT_LIMITS

    def opened() -> AbstractContextManager[Text]:
        return open_text(source, name=name, limits=bounds, member=member)

    with opened() as text:
        return _Reading(text, bounds, opened).trace()


class _Reading:
    """One file on its way to a Trace."""

    def __init__(
        self, text: Text, limits: Limits, opened: Callable[[], AbstractContextManager[Text]]
    ) -> None:
        self._text = text
        self._limits = limits
        self._opened = opened
        head = _head(text, min(_HEAD_BYTES, limits.piece_bytes))
        self._head = head.removeprefix(_BOM)
        self._bom_bytes = len(head) - len(self._head)
        what = refusal(self._head, text.name)
        if what:
            self._refuse(f"is {what}")
        self._is_list = self._head.lstrip().startswith(b"[")
        self._columns = Columns()
        self._header = Header()

    def trace(self) -> Trace:
        """Read all of it."""
        columns = self._columns
        for decoded in self._decoded():
            columns.add(decoded.events)
            columns.repaired += decoded.repaired
            if decoded.unreadable:
                columns.events += decoded.unreadable
                columns.set_aside[UNREADABLE] += decoded.unreadable
            if decoded.header:
                self._header = headers.merged(self._header, decoded.header)
            if columns.events > self._limits.events_max:
                self._refuse(
                    f"holds more than {self._limits.events_max:,} events, which is the limit; "
                    "record fewer steps, or raise events_max"
                )
        return self._finished()

    def _decoded(self) -> Iterator[Decoded]:
        pieces = cut(self._head, self._text, self._limits)
        for piece in pieces:
            try:
                yield self._decode(piece)
            except FaultError as fault:
                if piece.is_last or not (fault.at_end or fault.follows):
                    self._refuse_fault(fault)
                yield self._decode_rest(piece, pieces)
            except NoEventListError as error:
                if piece.is_last:
                    self._refuse_object(error)
                yield self._decode_rest(piece, pieces)

    def _decode(self, piece: Piece) -> Decoded:
        too_deep = f"nests lists and objects too deep for a trace; {OPEN_A_TRACE}"
        if nests_deeper(piece.text, self._limits.nesting_max_levels):
            self._refuse(too_deep)
        try:
            return decode(piece, is_list=self._is_list)
        except RecursionError:
            self._refuse(too_deep)

    def _decode_rest(self, piece: Piece, pieces: Iterator[Piece]) -> Decoded:
        """Decode all that is left at once: a cut was made outside the event list."""
        text = bytearray(piece.text)
        for later in pieces:
            text += b"," + later.text
            check_size(len(text), self._text, self._limits)
        rest = Piece(
            text=bytes(text), character=piece.character, is_first=piece.is_first, is_last=True
        )
        try:
            return self._decode(rest)
        except FaultError as fault:
            self._refuse_fault(fault)
        except NoEventListError as error:
            self._refuse_object(error)

    def _finished(self) -> Trace:
        columns = self._columns
        if self._text.has_padding:
            columns.repaired[PADDING] = 1
        if not columns.events:
            self._refuse("has no events: nothing was recorded; record it again")
        rows = columns.finish()
        if not rows:
            counts = columns.set_aside + columns.untimed
            listed = ", ".join(f"{count} {reason}" for reason, count in counts.items())
            self._refuse(f"has no timed events, only {listed}; record it again")
        source = Source(
            file=self._text.name,
            size_bytes=self._text.stored_bytes,
            events=columns.events,
            set_aside=dict(columns.set_aside),
            repaired=dict(columns.repaired),
            untimed=dict(columns.untimed),
        )
        return ordered(rows, columns, self._header, source)

    def _refuse_object(self, error: NoEventListError) -> NoReturn:
        what = object_without_events(self._head) or f"{error}, so no trace"
        self._refuse(f"is {what}; {OPEN_A_TRACE}")

    def _refuse_fault(self, fault: FaultError) -> NoReturn:
        what = object_without_events(self._head)
        if fault.follows and what and b'"traceEvents"' not in self._head:
            self._refuse(f"is {what}; {OPEN_A_TRACE}")
        line, column = self._place(fault.character)
        place = f"line {line}, column {column}"
        if fault.follows and self._text.members > 1:
            self._refuse(f"is several documents in one gzip ({place}); unpack it and open one")
        if fault.follows:
            self._refuse(f"goes on after the trace has ended ({place}); {_EXPORT_AGAIN}")
        if fault.at_end:
            self._refuse(
                f"ends early, at character {fault.character} (line {line}), so a part of it is "
                f"lost; {_EXPORT_AGAIN}"
            )
        self._refuse(f"is not valid JSON at {place} ({fault.reason}); {_EXPORT_AGAIN}")

    def _place(self, character: int) -> tuple[int, int]:
        """Return line and column, both from 1; the text is read once more for it."""
        line, column = 1, 1
        with self._opened() as text:
            missing = character + self._bom_bytes
            while missing and (data := text.read(min(missing, 1024**2))):
                missing -= len(data)
                line += data.count(b"\n")
                column = len(data) - data.rfind(b"\n") if b"\n" in data else column + len(data)
        return line, column

    def _refuse(self, what: str) -> NoReturn:
        msg = f"{self._text.name} {what}."
        raise TraceError(msg)


def _head(text: Text, size: int) -> bytes:
    head = b""
    while len(head) < size and (data := text.read(size - len(head))):
        head += data
    return head
