"""Recording from the command line: ask the machine, start a child, tell its progress, wait."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Literal

from profcore import owner as owners
from profcore.commands.answer import say
from profcore.errors import RunError
from profcore.jobs import children, runs
from profcore.jobs.view import read_phases, read_point
from profcore.library import finish
from profcore.machine import Machine
from profcore.recording import Status
from profcore.worker import MACHINE_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from profcore.experiment import Experiment
    from profcore.jobs.runs import Limits
    from profcore.recording import Point


def ask_machine(device: str) -> Machine | None:
    """Return what this machine can do; None, and a word on it, when it cannot be asked.

    Raises:
        RunError: it cannot be asked, and `device` names a GPU.
    """
    say("looking at this machine")
    try:
        return children.ask(
            "probe", MACHINE_FILE, Machine, stop=threading.Event(), command=children.WORKER
        )
    except RunError as error:
        if device.startswith("cuda"):
            raise
        say(f"this machine could not be asked what it can do: {error}")
        return None


@contextlib.contextmanager
def waiting_child() -> Iterator[children.Child]:
    """Start the child of a run early: it imports torch while another one asks the machine.

    Raises:
        RunError: it could not be started.
    """
    child = children.Child(children.WORKER)
    try:
        yield child
    finally:
        child.end()


def make_here(
    folder: Path,
    limits: Limits,
    *,
    task: Literal["run", "sweep"] = "run",
    child: children.Child | None = None,
    beside: Experiment | None = None,
) -> Status:
    """Make what `folder` asks for in a child of this process, and write how it ended.

    An interruption ends the child; of a sweep, the points that are done stay.

    Args:
        folder: Of the recording or sweep.
        limits: How long it may take.
        task: What it is.
        child: One that waits for its job already; None: a new one.
        beside: Another experiment to time by turns with that of the folder.
    """
    tell = _teller(folder)
    try:
        status = runs.make(
            child or children.Child(children.WORKER),
            folder,
            limits=limits,
            stop=threading.Event(),
            started_cold=True,
            task=task,
            beside=beside,
            on_tick=tell,
        )
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        status = Status(
            state="cancelled" if interrupted else "failed",
            message="The run was interrupted." if interrupted else str(error),
            created_at=owners.created_at(folder),
        )
        if task == "sweep":
            runs.clear_sweep(folder, status.state)
        finish(folder, status)
        raise
    tell()
    finish(folder, status)
    return status


def _teller(folder: Path) -> Callable[[], None]:
    """Return a function that says what has begun since it was last called."""
    told = 0
    last: Point | None = None

    def tell() -> None:
        nonlocal told, last
        phases, point = read_phases(folder), read_point(folder)
        for phase in phases[told:]:
            say(f"{phase.began_s:6.1f} s  {phase.name}")
        told = len(phases)
        if point is not None and point != last:
            say(f"          {point.number} of {point.count}: {point.text}")
        last = point

    return tell
