"""A file on its way in: written to disk in pieces, known by the hash of its content."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from profcore.errors import TraceError
from profcore.trace.container import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

CHUNK_BYTES: Final = 4 * 1024**2
UPLOADS_FOLDER: Final = "uploads"
_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """A file that can be read; small, so that a session may hold it."""

    content_hash: str
    """32 hex digits."""
    path: Path
    name: str
    """As the visitor knows it: untrusted text, on one line."""
    size_bytes: int
    is_upload: bool
    """Whether it is a copy of ours, to be deleted after reading."""


def arrive(file: BinaryIO, *, name: str, root: Path) -> Arrival:
    """Write an upload to disk, a piece at a time, and let go of it.

    Args:
        file: Read from its beginning; not closed.
        name: What the visitor calls it.
        root: Folder of opened traces.

    Raises:
        TraceError: the folder cannot be written.
    """
    folder = root / UPLOADS_FOLDER
    part = folder / f".{secrets.token_hex(8)}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as target:
            file.seek(0)
            digest, size_bytes = _hashed(_pieces(file), target.write)
        path = folder / digest
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        msg = f"The upload could not be written to disk ({error.strerror}); free some space there."
        raise TraceError(msg) from error
    return Arrival(
        content_hash=digest,
        path=path,
        name=printable(name),
        size_bytes=size_bytes,
        is_upload=True,
    )


def point_at(text: str, *, limit_bytes: int) -> Arrival:
    """Take a file of this machine where it lies.

    Args:
        text: Its path; `~` is the home folder.
        limit_bytes: A larger file is refused before it is looked through.

    Raises:
        TraceError: no such file, not a file, too large, or not to be read.
    """
    shown = printable(text)
    try:
        path = Path(text.strip()).expanduser().absolute()
        if not path.is_file():
            msg = f"There is no file {shown}; check the path."
            raise TraceError(msg)
        size_bytes = path.stat().st_size
        if size_bytes > limit_bytes:
            msg = f"{shown} is larger than {limit_bytes / 1024**2:,.0f} MiB, which is the limit."
            raise TraceError(msg)
        with path.open("rb") as file:
            digest, size_bytes = _hashed(_pieces(file), None)
    except (OSError, ValueError, RuntimeError) as error:  # a null byte; no home folder
        msg = f"{shown} cannot be opened ({error}); check the path and that you may read it."
        raise TraceError(msg) from error
    return Arrival(
        content_hash=digest,
        path=path,
        name=printable(path.name),
        size_bytes=size_bytes,
        is_upload=False,
    )


def forget(arrival: Arrival) -> None:
    """Delete the copy of an upload; a file of the visitor's own machine stays."""
    if arrival.is_upload:
        arrival.path.unlink(missing_ok=True)


def forget_old(root: Path, *, kept_max_s: float, kept_max_bytes: int) -> None:
    """Delete what is left of uploads that nobody came back for, and the oldest beyond a size."""
    oldest_s = time.time() - kept_max_s
    for path, changed_s, _ in _entries(root):
        if path.name.startswith(".") and changed_s < oldest_s:  # left by a server that was killed
            shutil.rmtree(path, ignore_errors=True)
    waiting = _entries(root / UPLOADS_FOLDER)
    total_bytes = sum(size_bytes for _, _, size_bytes in waiting)
    for path, changed_s, size_bytes in sorted(waiting, key=lambda entry: entry[1]):
        if changed_s >= oldest_s and total_bytes <= kept_max_bytes:
            return
        path.unlink(missing_ok=True)
        total_bytes -= size_bytes


def _entries(folder: Path) -> list[tuple[Path, float, int]]:
    """Return path, time of change in seconds and size of what lies in a folder."""
    found = []
    with contextlib.suppress(OSError):  # nothing was uploaded yet
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process was faster
                status = path.stat()
                found.append((path, status.st_mtime, status.st_size))
    return found


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while data := file.read(CHUNK_BYTES):
        yield data


def _hashed(pieces: Iterator[bytes], write: Callable[[bytes], int] | None) -> tuple[str, int]:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    size_bytes = 0
    for data in pieces:
        digest.update(data)
        size_bytes += len(data)
        if write is not None:
            write(data)
    return digest.hexdigest(), size_bytes
