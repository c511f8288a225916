"""One run, from a waiting child to the status that says how it ended."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore import owner as owners
from profcore.jobs.children import read_failure, watch
from profcore.jobs.endings import Ending, crash_text
from profcore.recording import TRACE_FILE, State, Status
from profcore.worker import ERROR_FILE, Job

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from profcore.jobs.children import Child


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one server allows."""

    queued_max: int = 8
    """Runs that may wait; the next `submit` raises QueueFullError."""
    run_time_s: float = 300.0
    """Wall time of one run, start of the process and waiting for the machine included."""
    grace_s: float = 1.0
    """Time between SIGTERM and SIGKILL."""
    recordings_max: int = 200
    """Finished recordings without a title that are kept, newest first."""


def make(
    child: Child,
    folder: Path,
    *,
    limits: Limits,
    stop: threading.Event,
    started_cold: bool,
    on_tick: Callable[[], None] | None = None,
) -> Status:
    """Have `child` record the experiment of `folder`, wait for it, and say how it ended.

    Args:
        child: Waiting for a job; it has ended when this returns or raises.
        folder: Made by the library.
        limits: Time and grace.
        stop: Set by somebody else to cancel.
        started_cold: The child was started for this run.
        on_tick: Called some twenty times a second; may raise to end the run.
    """
    child.send(Job(task="run", folder=str(folder), began_s=time.time()))
    ending = watch(
        child,
        folder,
        time_limit_s=limits.run_time_s,
        grace_s=limits.grace_s,
        stop=stop,
        on_tick=on_tick,
    )
    state, message = judge(ending, folder, limits)
    _clear(folder)
    return Status(
        state=state,
        message=message,
        log_tail=ending.log_tail if state in {"failed", "timeout"} else "",
        created_at=owners.created_at(folder),
        run_s=ending.seconds,
        started_cold=started_cold,
    )


def judge(ending: Ending, folder: Path, limits: Limits) -> tuple[State, str]:
    """Return the state of a run whose child has ended, and one sentence when it is not done."""
    if ending.reason == "stopped":
        return "cancelled", "The run was cancelled."
    if ending.reason == "timeout":
        return "timeout", (
            f"The run passed its time limit of {limits.run_time_s:,.0f} s; "
            "choose a smaller size or fewer steps."
        )
    if failure := read_failure(folder):
        return "failed", failure
    if ending.status == 0 and (folder / TRACE_FILE).exists():
        return "done", ""
    return "failed", f"{crash_text(ending)}; its last lines are below."


def _clear(folder: Path) -> None:
    """Remove what is no part of a recording: a killed child leaves caches and half files."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".part" or path.name == ERROR_FILE:  # its sentence is in the status
            path.unlink(missing_ok=True)
