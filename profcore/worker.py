"""The child process that does the work: `python -m profcore.worker`.

It imports torch, waits for one job (a line of JSON on standard input), does it, writes files and
ends. Standard input stays open for its whole life: when that ends, the server is gone, and the
child ends with everything it started. CUDA is untouched until the job arrives.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from io import TextIOWrapper
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from profcore import experiment as experiments
from profcore import sweep
from profcore.errors import InputError, ProfcoreError, RunError
from profcore.failures import explain, first_line
from profcore.files import write_json
from profcore.machine_lock import lock_path, machine_lock
from profcore.recording import EXPERIMENT_FILE, LOG_FILE, PROGRESS_FILE, Phase, Point, Progress
from profcore.sweep import SWEEP_FILE

if TYPE_CHECKING:
    from types import ModuleType

ERROR_FILE: Final = "error.json"
MACHINE_FILE: Final = "machine.json"
CHECK_FILE: Final = "check.json"

DONE, FAILED, BAD_INPUT = 0, 1, 2
"""Exit statuses."""

_STDIN, _STDOUT, _STDERR = 0, 1, 2


class Job(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child is asked to do. Answers and the log are files in `folder`."""

    task: Literal["run", "sweep", "probe", "check"]
    folder: str
    device: str = "auto"
    """Used by `check`; a run has its device in its experiment."""
    beside: experiments.Experiment | None = None
    """Of a run: another experiment to time by turns with it."""
    began_s: float
    """When the run began, in seconds since the epoch: the zero of its phases."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a child could not do its job, in one sentence."""

    message: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a device can be recorded; None: it can."""

    problem: str | None


class PhaseLog:
    """The phases of one run, kept in its progress file."""

    def __init__(self, folder: Path, began_s: float) -> None:
        self._path = folder / PROGRESS_FILE
        self._began_s = began_s
        self._phases = [Phase(name="starting", began_s=0.0)]
        self._point: Point | None = None
        self._write()

    def begin(self, name: str) -> None:
        """Note that the phase `name` begins now."""
        began_s = max(0.0, time.time() - self._began_s)
        self._point = None
        self._phases.append(Phase(name=name, began_s=round(began_s, 3)))
        self._write()

    def point(self, point: Point) -> None:
        """Note which point of a sweep begins now."""
        self._point = point
        self._write()

    def _write(self) -> None:
        write_json(self._path, Progress(phases=self._phases, point=self._point))


def main() -> int:
    """Do one job and return the exit status."""
    faulthandler.enable()  # a crash in native code leaves the Python lines in the log
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    recorder = _import_recorder()
    try:
        job = msgspec.json.decode(lines.get(), type=Job)
    except msgspec.DecodeError as error:
        print(f"not a job: {error}", file=sys.stderr)  # noqa: T201 - nobody else can say it
        return BAD_INPUT
    folder = Path(job.folder)
    _redirect_output(folder / LOG_FILE)
    try:
        if isinstance(recorder, Exception):
            _say_what_is_missing(recorder)
        else:
            _work(job, folder, recorder)
    except Exception as error:  # noqa: BLE001 - the top of a process: it must say why it ends
        if not isinstance(error, ProfcoreError) or error.__cause__:
            traceback.print_exc()
        write_json(folder / ERROR_FILE, Failure(message=explain(error)))
        return BAD_INPUT if isinstance(error, InputError) else FAILED
    return DONE


def _import_recorder() -> ModuleType | Exception:
    """Import torch, which takes seconds, before the job is here; what fails is told then."""
    try:
        import profcore.recorder
    except Exception as error:  # noqa: BLE001 - a broken torch fails in many ways
        return error
    return profcore.recorder


def _say_what_is_missing(error: Exception) -> None:
    msg = (
        f"PyTorch cannot be imported here ({type(error).__name__}: {first_line(error)}); "
        "install it as described on pytorch.org."
    )
    raise RunError(msg) from error


def _work(job: Job, folder: Path, recorder: ModuleType) -> None:
    if job.task == "probe":
        write_json(folder / MACHINE_FILE, recorder.probe())
        return
    phases = PhaseLog(folder, job.began_s)

    def on_wait() -> None:
        phases.begin("waiting for another program's run")

    with machine_lock(lock_path(), on_wait=on_wait):
        if job.task == "check":
            problem = recorder.check_recording(job.device)
            write_json(folder / CHECK_FILE, Check(problem=problem))
        elif job.task == "sweep":
            plan = sweep.from_json((folder / SWEEP_FILE).read_bytes())
            recorder.record_sweep(plan, folder, on_phase=phases.begin, on_point=phases.point)
        else:
            experiment = experiments.from_json((folder / EXPERIMENT_FILE).read_bytes())
            recorder.record(experiment, folder, on_phase=phases.begin, beside=job.beside)


def _listen(lines: SimpleQueue[bytes]) -> None:
    """Hand on the first line; end everything when the server is gone."""
    data = b""
    # Not sys.stdin: its lock, held by a waiting thread, aborts the interpreter when it shuts down.
    while part := os.read(_STDIN, 65_536):
        data += part
        line, newline, _ = data.partition(b"\n")
        if newline:
            lines.put(line)
            break
    while os.read(_STDIN, 65_536):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # compile workers too
    os.kill(os.getpid(), signal.SIGKILL)  # started by hand: the group may hold the caller's shell


def _redirect_output(log: Path) -> None:
    """Send everything written from now on, by native code too, to the log of the run."""
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(fd, _STDOUT)
    os.dup2(fd, _STDERR)
    os.close(fd)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # a killed process flushes nothing


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's clean-up, which can hang in compile workers (pytorch#162199); all
    # files are written, and the server ends the whole group anyway.
    os._exit(status)
