"""Child processes: start, ask, watch, end. Every child leads a process group of its own.

A child and all it started (compile workers) end together: by a signal to the group, or by
themselves when their standard input ends because this process is gone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, Literal, TypeVar, cast

import msgspec

from profcore.errors import RunError
from profcore.files import read_json
from profcore.jobs.endings import Ending, crash_text, read_log_tail, tail
from profcore.recording import LOG_FILE
from profcore.worker import ERROR_FILE, Failure, Job

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

T = TypeVar("T")

WORKER: Final[tuple[str, ...]] = (sys.executable, "-m", "profcore.worker")
"""Command of a child; tests pass another one."""

ANSWER_TIME_S: Final = 120.0
"""Time limit of a question: importing torch from a cold disk takes most of it."""

_PROJECT: Final = Path(__file__).resolve().parents[2]
_POLL_S: Final = 0.05
_GRACE_POLL_S: Final = 0.01


class Child:
    """One child process, waiting for its job. Used from one thread; `end` must be called.

    Raises:
        RunError: it could not be started.
    """

    def __init__(self, command: Sequence[str] = WORKER) -> None:
        # What it prints before its job names a folder; without a name, so it cannot be left behind.
        self._early_log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed command, no shell
                command,
                bufsize=0,
                cwd=_PROJECT,
                stdin=subprocess.PIPE,
                stdout=self._early_log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self._early_log.close()
            msg = f"The child process could not be started: {error}."
            raise RunError(msg) from error
        self._stdin = cast("IO[bytes]", self._process.stdin)

    def send(self, job: Job) -> None:
        """Hand over the one job. A child that is gone already is noticed by whoever watches it."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(msgspec.json.encode(job) + b"\n")

    def has_exited(self) -> bool:
        """Tell whether it has ended, without reaping it: so its group id stays reserved."""
        if self._process.returncode is not None:
            return True
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, flags) is not None

    def signal(self, signum: signal.Signals) -> None:
        """Send a signal to the child and everything it started."""
        if self._process.returncode is None:
            # macOS answers "not permitted" for a group of zombies.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signum)

    def end(self) -> int:
        """End what is left of the group and return the exit status (negative: the signal)."""
        self.signal(signal.SIGKILL)
        status = self._process.wait()
        self._stdin.close()
        self._early_log.close()
        return status

    def early_output(self) -> bytes:
        """Return the end of what it printed before it had its job."""
        return tail(self._early_log)


def watch(
    child: Child,
    folder: Path,
    *,
    time_limit_s: float,
    grace_s: float,
    stop: threading.Event,
    on_tick: Callable[[], None] | None = None,
) -> Ending:
    """Wait until a child has ended by itself, by its time limit or by `stop`; then end its group.

    Args:
        child: It has its job.
        folder: Where it writes its log.
        time_limit_s: Seconds from now.
        grace_s: Seconds between the polite signal and the final one.
        stop: Set by somebody else to end the child.
        on_tick: Called some twenty times a second; may raise to end the child.
    """
    began_s = time.monotonic()
    reason: Literal["exited", "stopped", "timeout"] = "exited"
    try:
        while not child.has_exited():
            if stop.is_set() or time.monotonic() >= began_s + time_limit_s:
                reason = "stopped" if stop.is_set() else "timeout"
                _ask_to_end(child, grace_s)
                break
            if on_tick is not None:
                on_tick()
            stop.wait(_POLL_S)
        early_output = child.early_output()
    finally:
        status = child.end()
    log_path = folder / LOG_FILE
    if early_output and not log_path.exists():  # it ended before it knew where its log belongs
        with contextlib.suppress(OSError):
            log_path.write_bytes(early_output)
    return Ending(
        reason=reason,
        status=status,
        seconds=round(time.monotonic() - began_s, 3),
        log_tail=read_log_tail(log_path),
    )


def _ask_to_end(child: Child, grace_s: float) -> None:
    child.signal(signal.SIGTERM)
    kill_at_s = time.monotonic() + grace_s
    while not child.has_exited() and time.monotonic() < kill_at_s:
        time.sleep(_GRACE_POLL_S)


def ask(
    task: Literal["probe", "check"],
    answer_file: str,
    kind: type[T],
    *,
    stop: threading.Event,
    device: str = "auto",
    command: Sequence[str] = WORKER,
    time_limit_s: float = ANSWER_TIME_S,
) -> T:
    """Have a fresh child answer one question about this machine.

    Args:
        task: The question.
        answer_file: Name of the file the child answers in.
        kind: What that file holds.
        stop: Set by somebody else to give up.
        device: What `check` is about.
        command: Starts the child.
        time_limit_s: Seconds until the child is given up.

    Raises:
        RunError: there is no answer; the message says why.
    """
    with tempfile.TemporaryDirectory(prefix="profcore-") as name:
        folder = Path(name)
        child = Child(command)
        child.send(Job(task=task, folder=name, device=device, began_s=time.time()))
        ending = watch(child, folder, time_limit_s=time_limit_s, grace_s=0.0, stop=stop)
        if ending.reason == "stopped":
            msg = "The question was given up before it was answered."
            raise RunError(msg)
        if ending.reason == "timeout":
            msg = f"PyTorch did not start within {time_limit_s:,.0f} s; try again."
            raise RunError(msg)
        if failure := read_failure(folder):
            raise RunError(failure)
        answer = read_json(folder / answer_file, kind)
        if ending.status != 0 or answer is None:
            last_line = ending.log_tail.rpartition("\n")[2]
            msg = f"{crash_text(ending)}; it last printed: {last_line or 'nothing'}."
            raise RunError(msg)
        return answer


def read_failure(folder: Path) -> str | None:
    """Return the sentence in which a child says why it failed, or None."""
    try:
        failure = read_json(folder / ERROR_FILE, Failure)
    except msgspec.DecodeError:
        return None  # it died while writing: its log says more
    return failure.message if failure else None
