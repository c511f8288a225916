"""From a path or bytes to a stream of JSON text: plain, gzip, or one member of a zip.

Nothing is inflated further than it is asked for, so a bomb stops at the limit.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol

from profcore.errors import TraceError
from profcore.trace.gzip_stream import GZIP_START, GzipStream
from profcore.trace.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

_ZIP_STARTS: Final = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_END: Final = b"PK\x05\x06"
_ZIP_END_MAX_BYTES: Final = 22 + 65535
_ZIP_COUNT: Final = slice(10, 12)
_DAMAGED: Final = (zlib.error, zipfile.BadZipFile, EOFError)
_CANNOT_UNPACK: Final = (NotImplementedError, RuntimeError)  # odd compression; a password
_TRACE_ENDINGS: Final = (".json", ".gz", ".trace", ".txt")
_NAMES_SHOWN: Final = 10
_NAME_MAX: Final = 120  # characters of a name in a sentence
_MIB: Final = 1024**2


class Stream(Protocol):
    """Anything with the `read` of a binary file."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, nothing at the end."""
        ...


class Text:
    """The text of a trace, read forward, with the limit on its length."""

    def __init__(self, file: Stream, *, name: str, stored_bytes: int, limits: Limits) -> None:
        self.name = name
        """For people: the file, and the member of an archive."""
        self.stored_bytes = stored_bytes
        self._limits = limits
        self._read_bytes = 0
        self._stream = file
        start = self._read(len(GZIP_START))
        stream = _Restarted(start, file)
        self._stream = GzipStream(stream) if start == GZIP_START else stream

    @property
    def members(self) -> int:
        """How many gzip files were found one after another so far; 1 when there is none."""
        return self._stream.members if isinstance(self._stream, GzipStream) else 1

    @property
    def has_padding(self) -> bool:
        """Whether bytes after the end of the gzip data were passed over."""
        return isinstance(self._stream, GzipStream) and self._stream.has_padding

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes of text, nothing at the end.

        Raises:
            TraceError: the compressed data are damaged or end early, or the text is longer than
                allowed.
        """
        data = self._read(size)
        self._read_bytes += len(data)
        bound = self._limits.decompressed_max_bytes
        if self._read_bytes > bound:
            msg = (
                f"{self.name} holds more than {_size_text(bound)} of text, which is the limit; "
                "record fewer steps, or raise decompressed_max_bytes."
            )
            raise TraceError(msg)
        return data

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (*_DAMAGED, OSError) as error:
            msg = f"{self.name} is damaged or cut off ({error}); copy or download it again."
            raise TraceError(msg) from error


@contextmanager
def open_text(
    source: Path | bytes, *, name: str | None, limits: Limits, member: str | None
) -> Iterator[Text]:
    """Open the text of a trace.

    Args:
        source: a file, or its bytes.
        name: what to call it; by default the name of the file.
        limits: what may be read at most.
        member: which file of a zip archive; needed when it holds several.

    Raises:
        TraceError: there is no such file, it is larger than allowed, or it is an archive that is
            damaged, cannot be unpacked or needs a choice.
    """
    shown = printable(name) if name else _name(source)
    with _opened(source, shown) as file:
        stored_bytes = file.seek(0, io.SEEK_END)
        if stored_bytes > limits.stored_max_bytes:
            msg = (
                f"{shown} has {_size_text(stored_bytes)}, the limit is "
                f"{_size_text(limits.stored_max_bytes)}; record fewer steps, or raise "
                "stored_max_bytes."
            )
            raise TraceError(msg)
        if not _is_zip(file):
            yield Text(file, name=shown, stored_bytes=stored_bytes, limits=limits)
            return
        archive = _archive(file, shown, stored_bytes, limits)
        chosen = _chosen(archive, shown, member)
        try:
            stream = archive.open(chosen)
        except _DAMAGED as error:
            msg = f"{shown} is a damaged zip archive ({error}); copy or download it again."
            raise TraceError(msg) from error
        except _CANNOT_UNPACK as error:
            msg = f"{shown} is a zip archive that cannot be read here ({error}); unpack it first."
            raise TraceError(msg) from error
        with stream:
            label = f"{shown}/{printable(chosen)}"
            yield Text(stream, name=label, stored_bytes=stored_bytes, limits=limits)


def list_members(source: Path | bytes, *, limits: Limits = DEFAULT_LIMITS) -> tuple[str, ...]:
    """Return the names of the files in a zip archive that may be traces; () for other files.

    Raises:
        TraceError: there is no such file, or the archive is damaged.
    """
    shown = _name(source)
    with _opened(source, shown) as file:
        stored_bytes = file.seek(0, io.SEEK_END)
        return _candidates(_archive(file, shown, stored_bytes, limits)) if _is_zip(file) else ()


class _Restarted:
    """A stream whose first bytes were already read."""

    def __init__(self, start: bytes, rest: Stream) -> None:
        self._start = start
        self._rest = rest

    def read(self, size: int) -> bytes:
        if not self._start:
            return self._rest.read(size)
        data, self._start = self._start[:size], self._start[size:]
        return data + self._rest.read(size - len(data))


def _name(source: Path | bytes) -> str:
    return printable(source.name) if isinstance(source, Path) else "the file"


def printable(name: str) -> str:
    """Return a name as it can stand in a sentence: one line, and not endless."""
    text = "".join(sign if sign.isprintable() else "\ufffd" for sign in name[:_NAME_MAX])
    return text if len(name) <= _NAME_MAX else f"{text}..."


@contextmanager
def _opened(source: Path | bytes, shown: str) -> Iterator[IO[bytes]]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    try:
        # Asked first: opening a named pipe would wait for ever.
        if source.exists() and not source.is_file():
            msg = f"{source} is not a file; give the trace file itself."
            raise TraceError(msg)
        file = source.open("rb")
    except FileNotFoundError as error:
        msg = f"There is no file {source}; check the path."
        raise TraceError(msg) from error
    except (OSError, ValueError) as error:
        msg = f"{shown} cannot be opened ({error}); check the path and that you may read it."
        raise TraceError(msg) from error
    with file:
        yield file


def _is_zip(file: IO[bytes]) -> bool:
    file.seek(0)
    start = file.read(len(_ZIP_STARTS[0]))
    file.seek(0)
    return start in _ZIP_STARTS


def _archive(file: IO[bytes], shown: str, stored_bytes: int, limits: Limits) -> zipfile.ZipFile:
    # Asked first: zipfile lists every member when it opens, however many there are.
    file.seek(-min(stored_bytes, _ZIP_END_MAX_BYTES), io.SEEK_END)
    tail = file.read()
    end = tail.rfind(_ZIP_END)
    members = int.from_bytes(tail[end:][_ZIP_COUNT], "little") if end >= 0 else 0
    if members > limits.zip_members_max:
        msg = f"{shown} is a zip archive of {members:,} files; unpack it and open one trace."
        raise TraceError(msg)
    try:
        return zipfile.ZipFile(file)
    except (*_DAMAGED, *_CANNOT_UNPACK, ValueError) as error:
        msg = f"{shown} is a zip archive that is damaged or cut off; copy or download it again."
        raise TraceError(msg) from error


def _candidates(archive: zipfile.ZipFile) -> tuple[str, ...]:
    names = tuple(
        info.filename
        for info in archive.infolist()
        if not info.is_dir()
        and not info.filename.startswith("__MACOSX/")
        and not Path(info.filename).name.startswith(".")
    )
    return tuple(name for name in names if name.lower().endswith(_TRACE_ENDINGS)) or names


def _chosen(archive: zipfile.ZipFile, shown: str, member: str | None) -> str:
    names = _candidates(archive)
    if any(name.endswith("/data.pkl") for name in names):
        msg = f"{shown} is a file of torch.save (a pickle in a zip); open a profiler trace."
        raise TraceError(msg)
    listed = ", ".join(map(printable, names[:_NAMES_SHOWN])) + (
        ", ..." if len(names) > _NAMES_SHOWN else ""
    )
    if not names:
        msg = f"{shown} is a zip archive without a file in it; open a profiler trace."
    elif member is not None and member not in names:
        msg = f"{shown} has no member {printable(member)}; it holds {listed}."
    elif member is None and len(names) > 1:
        msg = f"{shown} is a zip archive of {len(names)} files; choose one of {listed}."
    else:
        return member or names[0]
    raise TraceError(msg)


def _size_text(size_bytes: int) -> str:
    return f"{size_bytes / _MIB:,.0f} MiB" if size_bytes >= _MIB else f"{size_bytes:,} bytes"
