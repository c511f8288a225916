"""Cuts the text of a trace between two events, so that it can be decoded a piece at a time.

A cut is the comma in `} , { "ph" :`. In valid JSON that can only stand between two objects, never
inside a text: the quote before `ph` would have to end that text, and no letter may follow then.
Should the objects lie deeper than the event list, the piece is no valid JSON by itself and the
decoder says so.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profcore.trace.container import Text
    from profcore.trace.limits import Limits

# Nearly all writers begin an event with its phase; objects in other lists may begin with a name.
_PLACES: Final = (
    re.compile(rb'\}\s*(,)\s*\{\s*"ph"\s*:'),
    re.compile(rb'\}\s*(,)\s*\{\s*"[A-Za-z_]+"\s*:'),
)
_WINDOW_BYTES: Final = 64 * 1024
"""No place to cut is longer than this."""
_WINDOWS_BYTES: Final = (4 * 1024, _WINDOW_BYTES, sys.maxsize)
"""A place to cut is looked for at the end of the text first: events are short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Some whole events, or the beginning or end of the file with some."""

    text: bytes
    character: int
    """Bytes of the file before it."""
    is_first: bool
    is_last: bool


def cut(head: bytes, text: Text, limits: Limits) -> Iterator[Piece]:
    """Cut a text into pieces of about `piece_bytes`; the commas between them are left out.

    Args:
        head: what was already read of the text.
        text: the rest.
        limits: `piece_bytes`, and `piece_max_bytes` for a piece without a place to cut.

    Raises:
        TraceError: a piece would be larger than allowed.
    """
    buffer = bytearray(head)
    searched = character = 0
    while data := _read(text, limits.piece_bytes):
        buffer += data
        comma = _last_cut(buffer, searched)
        if comma is None:
            check_size(len(buffer), text, limits)
            # A place to cut may straddle the end of what was searched.
            searched = max(0, len(buffer) - _WINDOW_BYTES)
            continue
        piece = bytes(memoryview(buffer)[:comma])
        yield Piece(text=piece, character=character, is_first=not character, is_last=False)
        character += comma + 1
        del buffer[: comma + 1]
        searched = 0
    yield Piece(text=bytes(buffer), character=character, is_first=not character, is_last=True)


def check_size(piece_bytes: int, text: Text, limits: Limits) -> None:
    """Refuse a piece that is too large to be decoded at once.

    Raises:
        TraceError: it is larger than `piece_max_bytes`.
    """
    if piece_bytes > limits.piece_max_bytes:
        msg = (
            f"{text.name} has {piece_bytes:,} bytes of text without the end of an event, the "
            f"limit is {limits.piece_max_bytes:,}; export it again."
        )
        raise TraceError(msg)


def _read(text: Text, size: int) -> bytes:
    parts = []
    missing = size
    while missing and (data := text.read(missing)):
        parts.append(data)
        missing -= len(data)
    return b"".join(parts)


def _last_cut(buffer: bytearray, start: int) -> int | None:
    for places in _PLACES:
        for window_bytes in _WINDOWS_BYTES:
            found = list(places.finditer(buffer, max(start, len(buffer) - window_bytes)))
            if found:
                return found[-1].start(1)
    return None
