"""A gzip file of one or several members, inflated on demand and never further than asked for."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from profcore.trace.container import Stream

GZIP_START: Final = b"\x1f\x8b"
_READ_BYTES: Final = 256 * 1024


class GzipStream:
    """Reads like a file; raises zlib.error where the data are damaged, EOFError where they end."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._input = b""
        self._inflate = zlib.decompressobj(wbits=31)
        self.members = 1
        """Gzip files one after another; together they may be one text, or several."""
        self.has_padding = False
        """Something that is no gzip data follows the last member, and was passed over."""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes, nothing at the end."""
        while True:
            if self._inflate.eof and not self._next_member():
                return b""
            at_end = not self._input and not self._fill()
            data = self._inflate.decompress(self._input, size)
            self._input = self._inflate.unused_data or self._inflate.unconsumed_tail
            if data:
                return data
            if at_end and not self._inflate.eof:
                msg = "the compressed data end early"
                raise EOFError(msg)

    def _next_member(self) -> bool:
        while not self._input.lstrip(b"\0"):
            if not self._fill():
                return False
            self.has_padding = True
        self._input = self._input.lstrip(b"\0")
        if not self._input.startswith(GZIP_START[: len(self._input)]):
            self.has_padding = True
            return False
        self._inflate = zlib.decompressobj(wbits=31)
        self.members += 1
        return True

    def _fill(self) -> bool:
        self._input = self._stream.read(_READ_BYTES)
        return bool(self._input)
