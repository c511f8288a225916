"""What the web process asks of the child that reads a file, and what it answers. Plain data."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from profcore.trace.limits import Limits  # noqa: TC001 - msgspec reads the annotations

ANSWER_FILE: Final = "answer.json"


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to read, and at what cost."""

    path: str
    name: str
    """What to call the file."""
    member: str
    """Of an archive; empty: the only one there."""
    folder: str
    """Where to write."""
    limits: Limits
    memory_max_bytes: int
    cpu_time_max_s: int
    stored_trace_max_bytes: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How it went."""

    state: Literal["done", "choose", "refused", "memory"]
    sentence: str = ""
    """Why the file was refused."""
    members: tuple[str, ...] = ()
    """Traces of an archive, one of which must be chosen."""
