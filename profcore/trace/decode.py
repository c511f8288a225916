"""One piece of text becomes events: as it is, or mended, or else the fault is told."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.trace.repair import repaired, repaired_names
from profcore.trace.schema import Event, Header, decode_events, decode_header

if TYPE_CHECKING:
    from profcore.trace.pieces import Piece

HEADER_LOST: Final = "device list and options left out, as a number there is too large"

_OBJECT_START: Final = b'{"traceEvents":['
_LIST_START: Final = b"["
_BYTE: Final = re.compile(r" *\(byte (\d+)\)")


class NoEventListError(Exception):
    """The text is JSON, but an object without an event list; the message says what is there."""


class FaultError(Exception):
    """The piece is no JSON, and could not be mended."""

    def __init__(self, *, piece: Piece, error: msgspec.DecodeError, place: int | None) -> None:
        """Tell the fault.

        Args:
            piece: what could not be decoded.
            error: what is wrong.
            place: where in the piece; None where the text just stops.
        """
        self.character = piece.character + (len(piece.text) if place is None else place)
        """Bytes of the file before the fault."""
        self.at_end = place is None
        """The text just stops: it was cut in a wrong place, or the file is cut off."""
        self.follows = "trailing characters" in str(error)
        """The event list ended, and something else came."""
        self.reason = _BYTE.sub("", str(error)).removeprefix("JSON is malformed: ")
        super().__init__(str(error))


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """What one piece holds."""

    events: list[Event]
    unreadable: int
    """Elements of the list that are no objects."""
    header: Header | None
    """Of the first and last piece of an object."""
    repaired: Counter[str]


def decode(piece: Piece, *, is_list: bool) -> Decoded:
    """Decode a piece.

    Args:
        piece: as cut, so without the brackets round the event list at either end.
        is_list: the file is a list of events with nothing round it.

    Raises:
        FaultError: no JSON, even after repair.
        NoEventListError: JSON, but the beginning of an object without an event list.
        RecursionError: lists and objects nest too deep.
    """
    has_header = not is_list and (piece.is_first or piece.is_last)
    start = b"" if piece.is_first else _OBJECT_START if has_header else _LIST_START
    end = b"" if piece.is_last else b"]}" if has_header else b"]"
    text = start + piece.text + end
    try:
        return _decoded(text, has_header=has_header, counts=Counter())
    except msgspec.DecodeError as error:
        first = error
    mended, counts = repaired(text)
    try:
        return _decoded(mended, has_header=has_header, counts=counts)
    except msgspec.DecodeError as error:
        fault = _fault(piece, first, error, len(start))
    if fault.at_end or fault.follows:
        # Moving the end of a text could make the wrong piece, or half a file, look whole.
        raise fault
    named, name_counts = repaired_names(text)
    mended, counts = repaired(named)
    try:
        return _decoded(mended, has_header=has_header, counts=name_counts + counts)
    except msgspec.DecodeError as error:
        raise fault from error


def _fault(
    piece: Piece, first: msgspec.DecodeError, second: msgspec.DecodeError, start_bytes: int
) -> FaultError:
    """Tell the fault from the error of the text as it was, and of the mended one.

    What the mended text still lacks is the real fault, but only the first error knows its place.
    Without a byte the error is that the text just stops.
    """
    if not _BYTE.search(str(second)):
        return FaultError(piece=piece, error=second, place=None)
    byte = _BYTE.search(str(first))
    place = int(byte[1]) - start_bytes if byte else len(piece.text)
    place = min(max(place, 0), len(piece.text))
    return FaultError(piece=piece, error=first if byte else second, place=place)


def _decoded(text: bytes, *, has_header: bool, counts: Counter[str]) -> Decoded:
    if not has_header:
        events, unreadable = decode_events(text)
        return Decoded(events=events, unreadable=unreadable, header=None, repaired=counts)
    header, is_whole = decode_header(text)
    if not is_whole:
        counts[HEADER_LOST] += 1
    if isinstance(header.traceEvents, msgspec.UnsetType):
        msg = "JSON without traceEvents"
        raise NoEventListError(msg)
    if bytes(header.traceEvents) == b"null":
        msg = "JSON whose traceEvents are null"
        raise NoEventListError(msg)
    try:
        events, unreadable = decode_events(header.traceEvents)
    except msgspec.ValidationError as error:
        msg = "JSON whose traceEvents are no list"
        raise NoEventListError(msg) from error
    header.traceEvents = msgspec.UNSET
    return Decoded(events=events, unreadable=unreadable, header=header, repaired=counts)
