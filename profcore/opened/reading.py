"""Open a file: in a child process with limits, so that a hostile one cannot take the app down."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.errors import RunError, TraceError
from profcore.files import read_json
from profcore.jobs.children import Child, watch
from profcore.opened import arrivals
from profcore.opened.order import ANSWER_FILE, Answer, Order
from profcore.opened.shelf import new_about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from profcore.jobs.endings import Ending
    from profcore.opened.arrivals import Arrival
    from profcore.opened.settings import OpenSettings
    from profcore.opened.shelf import OpenedTrace, Shelf

COMMAND: Final[tuple[str, ...]] = (sys.executable, "-m", "profcore.opened.child")
"""Starts the child; its order is one more argument. Tests pass another one."""

_POLL_S: Final = 0.1
_ONE_AT_A_TIME: Final = threading.Lock()
"""One file is read at a time, so that the memory limit holds for all visitors together."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """An archive with several traces: one must be chosen."""

    members: tuple[str, ...]
    """Names in the archive: untrusted text."""


def open_trace(
    arrival: Arrival,
    shelf: Shelf,
    *,
    member: str = "",
    on_tick: Callable[[], None] | None = None,
    command: Sequence[str] = COMMAND,
) -> OpenedTrace | Choice:
    """Return the trace of a file, reading it unless the shelf has it already.

    Args:
        arrival: The file. A copy of an upload is deleted when it has been read or refused.
        shelf: Where the columns are kept.
        member: Which trace of an archive.
        on_tick: Called some twenty times a second while the child reads; may raise to give up.
        command: Starts the child.

    Raises:
        TraceError: the file is no trace, or more than the settings allow; one sentence says which.
    """
    trace_id = shelf.id_of(arrival, member)
    if not shelf.has(trace_id):
        with _turn(on_tick), shelf.making() as folder:
            answer = _ask(arrival, member, folder, shelf.settings, on_tick, command)
            if answer.state == "choose":
                return Choice(members=answer.members)
            if answer.state == "done":
                shelf.put(folder, trace_id, new_about(arrival, member))
        if answer.state != "done":
            arrivals.forget(arrival)
            raise TraceError(answer.sentence)
    if not member:  # an archive may be asked for another of its traces
        arrivals.forget(arrival)
    return shelf.get(trace_id)


@contextlib.contextmanager
def _turn(on_tick: Callable[[], None] | None) -> Iterator[None]:
    while not _ONE_AT_A_TIME.acquire(timeout=_POLL_S):
        if on_tick is not None:
            on_tick()
    try:
        yield
    finally:
        _ONE_AT_A_TIME.release()


def _ask(
    arrival: Arrival,
    member: str,
    folder: Path,
    settings: OpenSettings,
    on_tick: Callable[[], None] | None,
    command: Sequence[str],
) -> Answer:
    order = Order(
        path=str(arrival.path),
        name=arrival.name,
        member=member,
        folder=str(folder),
        limits=settings.reader,
        memory_max_bytes=settings.memory_max_bytes,
        cpu_time_max_s=settings.cpu_time_max_s,
        stored_trace_max_bytes=settings.stored_trace_max_bytes,
    )
    try:
        child = Child((*command, msgspec.json.encode(order).decode()))
    except RunError as error:
        raise TraceError(str(error)) from error
    ending = watch(
        child,
        folder,
        time_limit_s=settings.wall_time_max_s,
        grace_s=0.0,
        stop=threading.Event(),
        on_tick=on_tick,
    )
    try:
        answer = read_json(folder / ANSWER_FILE, Answer)
    except msgspec.DecodeError:
        answer = None  # it died while writing
    if answer is None:
        return Answer(state="refused", sentence=_ending_text(ending, arrival.name, settings))
    if answer.state == "memory":
        return Answer(state="refused", sentence=_memory_text(arrival.name, settings))
    (folder / ANSWER_FILE).unlink(missing_ok=True)
    return answer


def _memory_text(name: str, settings: OpenSettings) -> str:
    return (
        f"{name} needs more than {settings.memory_max_bytes / 1024**2:,.0f} MiB of memory to read, "
        "which is the limit here; record fewer steps, or without Python stacks."
    )


def _ending_text(ending: Ending, name: str, settings: OpenSettings) -> str:
    """Return the sentence for a child that could not say itself why it ended."""
    if ending.reason == "timeout":
        return (
            f"{name} could not be read within {settings.wall_time_max_s:,.0f} s, which is the "
            "limit here; record fewer steps."
        )
    if ending.status in {-signal.SIGXCPU, -signal.SIGKILL} and (
        ending.status == -signal.SIGXCPU or ending.seconds >= settings.cpu_time_max_s
    ):
        return (
            f"{name} needs more than {settings.cpu_time_max_s:,} s of processor time to read, "
            "which is the limit here; record fewer steps."
        )
    if ending.status in {-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS}:
        return _memory_text(name, settings)
    return (
        f"{name} could not be read: the reader ended with status {ending.status} without a word. "
        "That is a fault of this program; please report it with the file."
    )
