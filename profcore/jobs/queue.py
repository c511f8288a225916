"""Who runs when: one queue and one thread for the whole machine.

Every run has a fresh child process. Two at once would bend each other's times even on two GPUs,
because the CPU side is what is measured. A spare child waits with torch imported and CUDA
untouched, so that a click need not pay the import and a cold start is still cold.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from profcore import owner as owners
from profcore import sweeps
from profcore.errors import ExperimentError, ProfcoreError, QueueFullError, RunError
from profcore.estimate import refusal, sweep_refusal
from profcore.jobs import runs
from profcore.jobs.children import WORKER, Child, ask
from profcore.jobs.runs import Limits
from profcore.jobs.view import JobView, read_phases, read_point, view_on_disk
from profcore.library import finish
from profcore.machine import Machine
from profcore.recording import POINT_ID, RUN_ID, Phase, State, Status
from profcore.sweep import SweepPlan
from profcore.worker import MACHINE_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from profcore.experiment import Experiment
    from profcore.library import Library


SERVER_STOPPED = "The server stopped during this run; run it again."

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    """One run that waits or is under way in this process."""

    folder: Path
    work: Experiment | SweepPlan
    since_s: float
    """Monotonic: when it was asked for, or when it began."""
    stop: threading.Event
    beside: Experiment | None = None

    @property
    def run_id(self) -> str:
        return self.folder.name


class JobRunner:
    """The queue. Only its thread touches child processes, so nothing can race for one."""

    def __init__(
        self, library: Library, *, limits: Limits | None = None, command: Sequence[str] = WORKER
    ) -> None:
        self._library = library
        self._limits = limits or Limits()
        self._command = tuple(command)
        self._changed = threading.Condition()
        self._queue: deque[_Turn] = deque()
        self._active: _Turn | None = None
        self._unwritten: dict[str, Status] = {}
        """How runs ended whose status could not be written, for instance on a full disk."""
        self._spare: Child | None = None
        self._spare_from_s = 0.0
        """Monotonic: no spare before."""
        self._machine: Machine | None = None
        self._machine_problem = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="job-runner", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    @property
    def machine(self) -> Machine | None:
        """What this machine can record; None until that is known (see `machine_problem`)."""
        return self._machine

    @property
    def machine_problem(self) -> str:
        """Why the machine could not be asked, in one sentence; empty while all is well."""
        return self._machine_problem

    def submit(self, experiment: Experiment, *, beside: Experiment | None = None) -> str:
        """Queue one run and return its id.

        Args:
            experiment: What to record.
            beside: Another experiment to time by turns with it, on the same device.

        Raises:
            ExperimentError: this machine cannot run it; the message has the estimate.
            QueueFullError: as many runs are waiting as the limits allow.
            RunError: the data folder cannot be written, or the server is stopping.
        """
        if beside is not None and (reason := self._refusal(beside)):
            raise ExperimentError(reason)
        return self._queue_up(experiment, lambda: self._library.new_folder(experiment), beside)

    def submit_sweep(self, plan: SweepPlan) -> str:
        """Queue one sweep and return its id; `cancel` and `view` serve it like a run.

        Raises:
            ExperimentError: this machine cannot run one of its points.
            QueueFullError: as many runs are waiting as the limits allow.
            RunError: the data folder cannot be written, or the server is stopping.
        """
        return self._queue_up(plan, lambda: self._library.new_sweep_folder(plan))

    def resume_sweep(self, sweep_id: str) -> None:
        """Queue the rest of a sweep that was cancelled, failed or ran out of time.

        Raises:
            RecordingError: no such sweep of this library, or it is under way or complete.
            ExperimentError, QueueFullError, RunError: as `submit_sweep`.
        """
        sweep = sweeps.open_sweep(self._library, sweep_id)
        self._queue_up(sweep.plan, lambda: sweeps.begin_again(sweep))

    def _queue_up(
        self,
        work: Experiment | SweepPlan,
        make_folder: Callable[[], Path],
        beside: Experiment | None = None,
    ) -> str:
        if reason := self._refusal(work):
            raise ExperimentError(reason)
        with self._changed:
            if self._closing.is_set():
                msg = "The server is stopping; try again when it is back."
                raise RunError(msg)
            if len(self._queue) >= self._limits.queued_max:
                msg = f"{len(self._queue)} runs are waiting already; try again when one is done."
                raise QueueFullError(msg)
            folder = make_folder()
            self._unwritten.pop(folder.name, None)
            self._queue.append(
                _Turn(
                    folder=folder,
                    work=work,
                    beside=beside,
                    since_s=time.monotonic(),
                    stop=threading.Event(),
                )
            )
            self._changed.notify_all()
        return folder.name

    def cancel(self, run_id: str) -> None:
        """Drop a waiting run or end a running one at once; others are left alone."""
        with self._changed:
            if self._active is not None and self._active.run_id == run_id:
                self._active.stop.set()
                return
            for turn in self._queue:
                if turn.run_id == run_id:
                    self._queue.remove(turn)
                    self._drop(turn, "cancelled", "The run was cancelled before it began.")
                    return

    def view(self, run_id: str) -> JobView | None:
        """Return the state of a run, of this server or another one, today's or older.

        Args:
            run_id: May come from a URL: it is checked before it becomes part of a path.

        Returns:
            None when there is no such run.
        """
        if not RUN_ID.fullmatch(run_id) and not POINT_ID.fullmatch(run_id):
            return None
        with self._changed:
            now_s = time.monotonic()
            for position, turn in enumerate(self._queue, start=1):
                if turn.run_id == run_id:
                    waited_s = now_s - turn.since_s
                    return JobView(
                        run_id=run_id, state="queued", position=position, elapsed_s=waited_s
                    )
            active = self._active
            unwritten = self._unwritten.get(run_id)
        if active is not None and active.run_id == run_id:
            return JobView(
                run_id=run_id,
                state="running",
                phases=read_phases(active.folder) or (Phase(name="starting", began_s=0.0),),
                point=read_point(active.folder),
                elapsed_s=now_s - active.since_s,
            )
        return view_on_disk(self._library, run_id, unwritten)

    def close(self) -> None:
        """End all children and the thread; waiting and running runs count as failed."""
        atexit.unregister(self.close)
        with self._changed:
            self._closing.set()
            if self._active is not None:
                self._active.stop.set()
            self._changed.notify_all()
        self._thread.join()

    def _refusal(self, work: Experiment | SweepPlan) -> str | None:
        experiment = work.base if isinstance(work, SweepPlan) else work
        if self._machine is None and self._machine_problem and experiment.device.startswith("cuda"):
            return (
                f"The GPUs of this machine are not known ({self._machine_problem.rstrip('.')}); "
                "choose cpu or auto."
            )
        if isinstance(work, SweepPlan):
            return sweep_refusal(
                work,
                self._machine,
                run_time_s=self._limits.run_time_s,
                sweep_time_s=self._limits.sweep_time_s,
            )
        return refusal(experiment, self._machine, run_time_s=self._limits.run_time_s)

    # What follows runs in the thread, except `_drop`.

    def _loop(self) -> None:
        try:
            self._probe()
            while (turn := self._next_turn()) is not None:
                self._run(turn)
        finally:
            if self._spare is not None:
                self._spare.end()
            with self._changed:
                self._closing.set()  # also after a fault: nothing may wait for this thread
                while self._queue:
                    self._drop(self._queue.popleft(), "failed", SERVER_STOPPED)

    def _probe(self) -> None:
        try:
            self._machine = ask(
                "probe", MACHINE_FILE, Machine, stop=self._closing, command=self._command
            )
        except RunError as error:
            self._machine_problem = str(error)
        except Exception as error:  # noqa: BLE001 - the thread must outlive it
            _LOG.exception("the machine could not be asked")
            self._machine_problem = f"This machine could not be asked what it can do: {error}."

    def _next_turn(self) -> _Turn | None:
        """Wait for the next run, with a spare child ready; None when the server stops."""
        with self._changed:
            while not self._closing.is_set():
                if self._queue:
                    turn = replace(self._queue.popleft(), since_s=time.monotonic())
                    self._active = turn
                    return turn
                patience_s = self._spare_from_s - time.monotonic()
                if self._spare is None and patience_s <= 0:
                    with contextlib.suppress(RunError):  # the next run will say it
                        self._spare = Child(self._command)
                self._changed.wait(patience_s if patience_s > 0 else None)
        return None

    def _run(self, turn: _Turn) -> None:
        try:
            status = self._make(turn)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one run
            if not isinstance(error, ProfcoreError):
                _LOG.exception("run %s could not be made", turn.run_id)
            status = Status(
                state="failed", message=str(error), created_at=owners.created_at(turn.folder)
            )
        self._finish(turn, status)
        with self._changed:
            self._active = None
            self._spare_from_s = time.monotonic() + self._limits.spare_after_s
        with contextlib.suppress(OSError):
            self._library.prune(self._limits.recordings_max)
            sweeps.prune(self._library, self._limits.sweeps_max)

    def _make(self, turn: _Turn) -> Status:
        # Asked again: the machine may not have been known when the run was queued.
        if reason := self._refusal(turn.work):
            raise ExperimentError(reason)
        child, started_cold = self._take_child()
        status = runs.make(
            child,
            turn.folder,
            limits=self._limits,
            stop=turn.stop,
            started_cold=started_cold,
            task="sweep" if isinstance(turn.work, SweepPlan) else "run",
            beside=turn.beside,
        )
        if status.state == "cancelled" and self._closing.is_set():
            return msgspec.structs.replace(status, state="failed", message=SERVER_STOPPED)
        return status

    def _take_child(self) -> tuple[Child, bool]:
        spare, self._spare = self._spare, None
        if spare is not None:
            if not spare.has_exited():
                return spare, False
            spare.end()
        return Child(self._command), True

    def _drop(self, turn: _Turn, state: State, message: str) -> None:
        """End a run that never began; the caller holds the lock."""
        created_at = owners.created_at(turn.folder)
        self._finish(turn, Status(state=state, message=message, created_at=created_at))

    def _finish(self, turn: _Turn, status: Status) -> None:
        try:
            finish(turn.folder, status)
        except OSError:
            _LOG.exception("the status of run %s could not be written", turn.run_id)
            self._unwritten[turn.run_id] = status
