"""JSON files that two processes share: written in one step, read as "missing or whole"."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


def write_text(path: Path, text: str) -> None:
    """Replace `path` in one step; a crash leaves the old file or the new one."""
    # The random part keeps two threads of one process apart.
    part = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write_json(path: Path, data: Any) -> None:
    """Replace `path` by the JSON form of `data` (msgspec types or plain containers)."""
    text = msgspec.json.format(msgspec.json.encode(data), indent=1).decode()
    write_text(path, text + "\n")


def read_json(path: Path, kind: type[T]) -> T | None:
    """Return what `path` holds as `kind`, or None when the file is not there.

    Raises:
        msgspec.DecodeError: the file is not JSON or does not fit `kind`.
    """
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return msgspec.json.decode(data, type=kind)
