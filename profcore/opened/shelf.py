"""The folder of opened traces: found again by the hash of their content, pruned by count and size.

Folders appear and vanish by renaming, so two servers may share one shelf.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.errors import TraceError
from profcore.files import read_json, write_json
from profcore.opened import arrivals
from profcore.opened.settings import OpenSettings
from profcore.owner import now_text
from profcore.trace import store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from profcore.opened.arrivals import Arrival
    from profcore.trace import Trace

TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
FOLDER: Final = "opened"
ABOUT_FILE: Final = "about.json"
_UNKNOWN: Final = (
    "There is no opened trace of this address: it was cleared away to make room, or opened on "
    "another machine. Open the file again."
)


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a trace beside its columns."""

    name: str
    """Of the file, as the visitor called it: untrusted text."""
    member: str = ""
    """Of an archive; empty for other files."""
    size_bytes: int
    opened_at: str
    """UTC, ISO 8601."""
    format: int
    """`store.FORMAT` at that time; another one is read anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedTrace:
    """One trace on the shelf."""

    id: str
    folder: Path
    about: About

    @property
    def title(self) -> str:
        """The name of the file, and of the member of an archive."""
        return f"{self.about.name} / {self.about.member}" if self.about.member else self.about.name

    def load(self) -> Trace:
        """Return its columns.

        Raises:
            TraceError: it was cleared away meanwhile, or is damaged.
        """
        trace = store.load(self.folder)
        with contextlib.suppress(OSError):
            os.utime(self.folder)  # the ones used longest ago are cleared away first
        return trace


class Shelf:
    """The opened traces below one folder."""

    def __init__(self, root: Path, *, settings: OpenSettings | None = None) -> None:
        self.root = root / FOLDER
        self.settings = settings or OpenSettings()

    @staticmethod
    def id_of(arrival: Arrival, member: str = "") -> str:
        """Return the id under which a file, or a member of an archive, is kept."""
        if not member:
            return arrival.content_hash
        text = f"{arrival.content_hash}\n{member}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).hexdigest()

    def get(self, trace_id: str) -> OpenedTrace:
        """Return an opened trace; ids come from the URL and may be anything.

        Raises:
            TraceError: there is none of this id.
        """
        found = self._find(trace_id)
        if found is None:
            raise TraceError(_UNKNOWN)
        return found

    def has(self, trace_id: str) -> bool:
        """Tell whether a trace is there, so that it need not be read again."""
        found = self._find(trace_id)
        return found is not None and (found.folder / store.REST_FILE).is_file()

    def newest_first(self) -> tuple[OpenedTrace, ...]:
        """Return the opened traces, the one used last first."""
        found = [(used_s, self._find(name)) for used_s, name in self._by_use()]
        return tuple(opened for _, opened in reversed(found) if opened is not None)

    @contextlib.contextmanager
    def making(self) -> Iterator[Path]:
        """Give a new hidden folder to read into; what is left of it at the end is deleted.

        Raises:
            TraceError: the folder cannot be written.
        """
        folder = self.root / f".{secrets.token_hex(8)}.part"
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            msg = f"The folder of opened traces cannot be written ({error.strerror})."
            raise TraceError(msg) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, folder: Path, trace_id: str, about: About) -> OpenedTrace:
        """Keep what was read into a folder of `making`, under an id."""
        target = self.root / trace_id
        write_json(folder / ABOUT_FILE, about)
        if target.exists():  # damaged, or of another version of the program
            self._delete(target)
        with contextlib.suppress(OSError):  # another process put the same content there
            folder.rename(target)
        self.prune(keep=trace_id)
        return self.get(trace_id)

    def prune(self, *, keep: str = "") -> None:
        """Clear away the traces used longest ago until count and size are within the settings."""
        settings = self.settings
        arrivals.forget_old(
            self.root,
            kept_max_s=settings.upload_kept_max_s,
            kept_max_bytes=settings.kept_max_bytes // 2,
        )
        names = [name for _, name in self._by_use()]
        sizes = {name: _size_bytes(self.root / name) for name in names}
        waiting_bytes = _size_bytes(self.root / arrivals.UPLOADS_FOLDER)
        for name in names:
            kept_bytes = sum(sizes.values()) + waiting_bytes
            if len(sizes) <= settings.kept_traces_max and kept_bytes <= settings.kept_max_bytes:
                return
            if name != keep:
                self._delete(self.root / name)
                del sizes[name]

    def _find(self, trace_id: str) -> OpenedTrace | None:
        folder = self.root / trace_id if TRACE_ID.fullmatch(trace_id) else None
        if folder is None:
            return None
        try:
            about = read_json(folder / ABOUT_FILE, About)
        except (msgspec.DecodeError, OSError):
            return None  # as good as not there: it is read again
        if about is None or about.format != store.FORMAT:
            return None
        return OpenedTrace(id=trace_id, folder=folder, about=about)

    def _by_use(self) -> list[tuple[float, str]]:
        """Return when each trace was used last, and its id; the longest ago first."""
        used = []
        try:
            entries = list(os.scandir(self.root))
        except OSError:
            return []  # nothing was opened yet
        for entry in entries:
            if TRACE_ID.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    used.append((entry.stat().st_mtime, entry.name))
        return sorted(used)

    def _delete(self, folder: Path) -> None:
        # Out of sight in one step, so that nobody loads half a trace.
        grave = self.root / f".{secrets.token_hex(8)}.deleted"
        with contextlib.suppress(OSError):
            folder.rename(grave)
            shutil.rmtree(grave, ignore_errors=True)


def new_about(arrival: Arrival, member: str) -> About:
    """Return what is to be kept beside the columns of a file."""
    return About(
        name=arrival.name,
        member=member,
        size_bytes=arrival.size_bytes,
        opened_at=now_text(),
        format=store.FORMAT,
    )


def _size_bytes(folder: Path) -> int:
    total = 0
    try:
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                total += entry.stat().st_size
    except OSError:
        return 0
    return total
