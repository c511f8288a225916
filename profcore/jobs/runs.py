"""One run, from a waiting child to the status that says how it ended."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from profcore import owner as owners
from profcore.files import read_json, write_json
from profcore.jobs.children import read_failure, watch
from profcore.jobs.endings import Ending, crash_text
from profcore.recording import STATUS_FILE, TIMINGS_FILE, TRACE_FILE, State, Status
from profcore.sweep import POINTS_FOLDER
from profcore.worker import ERROR_FILE, Job

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from profcore.experiment import Experiment
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
    spare_after_s: float = 3.0
    """Time after a run before the next spare process starts: importing torch takes a core for some
    seconds, and the browser and the server draw the result meanwhile."""
    sweep_time_s: float = 1800.0
    """The same of one sweep, all its points together."""
    recordings_max: int = 200
    """Finished recordings without a title that are kept, newest first."""
    sweeps_max: int = 50
    """The same of sweeps."""


def make(
    child: Child,
    folder: Path,
    *,
    limits: Limits,
    stop: threading.Event,
    started_cold: bool,
    task: Literal["run", "sweep"] = "run",
    beside: Experiment | None = None,
    on_tick: Callable[[], None] | None = None,
) -> Status:
    """Have `child` record what `folder` asks for, wait for it, and say how it ended.

    Args:
        child: Waiting for a job; it has ended when this returns or raises.
        folder: Made by the library.
        limits: Time and grace.
        stop: Set by somebody else to cancel.
        started_cold: The child was started for this run.
        task: Whether the folder holds an experiment or the plan of a sweep.
        beside: Another experiment to time by turns with that of the folder.
        on_tick: Called some twenty times a second; may raise to end the run.
    """
    child.send(Job(task=task, folder=str(folder), beside=beside, began_s=time.time()))
    time_limit_s = limits.run_time_s if task == "run" else limits.sweep_time_s
    ending = watch(
        child,
        folder,
        time_limit_s=time_limit_s,
        grace_s=limits.grace_s,
        stop=stop,
        on_tick=on_tick,
    )
    if task == "run":
        state, message = judge(ending, folder, limits)
        _clear(folder)
    else:
        state, message = judge_sweep(ending, folder, limits)
        clear_sweep(folder, state)
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


def judge_sweep(ending: Ending, folder: Path, limits: Limits) -> tuple[State, str]:
    """Return the state of a sweep whose child has ended, and one sentence on what is missing."""
    points = _points(folder)
    done = sum(status is not None and status.state == "done" for _, status in points)
    kept = f"{done} of its points are done and kept; it can be resumed."
    if ending.reason == "stopped":
        return "cancelled", f"The sweep was cancelled; {kept}"
    if ending.reason == "timeout":
        return "timeout", (
            f"The sweep passed its time limit of {limits.sweep_time_s:,.0f} s; {kept}"
        )
    if failure := read_failure(folder):
        return "failed", failure
    if ending.status != 0 or not done:
        return "failed", f"{crash_text(ending)}; {kept}"
    failed = [status for _, status in points if status is not None and status.state == "failed"]
    if not failed:
        return "done", ""
    count = f"{len(failed)} of {len(points)} points could not be made"
    return "done", f"{count}, the first because: {failed[0].message}"


def clear_sweep(folder: Path, state: State) -> None:
    """Keep the points that are done or at least timed; remove what was only begun.

    A point that is timed and not recorded gets the state of its sweep; resuming records it.
    """
    for point, status in _points(folder):
        if status is None and not (point / TIMINGS_FILE).exists():
            shutil.rmtree(point, ignore_errors=True)
            continue
        if status is None:
            (point / TRACE_FILE).unlink(missing_ok=True)  # perhaps half of one
            message = "This point was timed; the sweep ended before it was recorded."
            ended = Status(
                state="cancelled" if state == "done" else state,
                message=message,
                created_at=owners.now_text(),
            )
            write_json(point / STATUS_FILE, ended)
        _clear(point)
    for path in folder.iterdir():
        if path.is_dir() and path.name != POINTS_FOLDER:
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".part" or path.name == ERROR_FILE:
            path.unlink(missing_ok=True)


def _points(folder: Path) -> list[tuple[Path, Status | None]]:
    points = folder / POINTS_FOLDER
    if not points.is_dir():
        return []
    return [(point, read_json(point / STATUS_FILE, Status)) for point in sorted(points.iterdir())]


def _clear(folder: Path) -> None:
    """Remove what is no part of a recording: a killed child leaves caches and half files."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".part" or path.name == ERROR_FILE:  # its sentence is in the status
            path.unlink(missing_ok=True)
