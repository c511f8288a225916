"""Several experiments recorded by turns, again and again: A B A B ...

One run after the other goes through the ordinary queue, each in a process of its own, so that other
visitors' runs get their turn between. By turns, because a slow drift of the machine then hits all
alike; of two experiments each run also times the other one by turns with its own, in its process.
What was made stays when a series ends early.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.errors import ProfcoreError, QueueFullError
from profcore.recording import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.experiment import Experiment
    from profcore.jobs.queue import JobRunner
    from profcore.jobs.view import JobView

LOOK_EVERY_S: Final = 0.05
ASK_AGAIN_S: Final = 0.5
"""While the queue is full of other runs."""

_GONE: Final = "The run was deleted while it was made."


def other_sides(experiments: Sequence[Experiment]) -> tuple[Experiment | None, ...]:
    """Return for each of two experiments the other one, to be timed by turns with it.

    None where that cannot be: more or fewer than two, two devices, or a cold start, which nothing
    may precede in its process.
    """
    nobody = (None,) * len(experiments)
    if len(experiments) != 2:  # noqa: PLR2004 - a pair
        return nobody
    first, second = experiments
    if first.device != second.device or 0 in {first.warmup, second.warmup}:
        return nobody
    return second, first


@dataclass(frozen=True, kw_only=True, slots=True)
class SeriesView:
    """What a page may know about a series: a value, not a handle."""

    state: Literal["running", "done", "cancelled", "failed"]
    made: tuple[tuple[str, ...], ...]
    """Ids of the finished runs, one tuple per experiment."""
    count: int
    """Runs in all."""
    run: JobView | None
    """The run that waits or is under way."""
    message: str
    """One sentence when it failed."""
    elapsed_s: float

    @property
    def done(self) -> int:
        """Runs that are finished."""
        return sum(len(ids) for ids in self.made)


class Series:
    """A series under way. It needs nobody to watch it."""

    def __init__(self, runner: JobRunner, experiments: Sequence[Experiment], rounds: int) -> None:
        """Ask for the first run and start the thread that asks for the others.

        Args:
            runner: The queue.
            experiments: What takes turns; at least one.
            rounds: How often each is recorded; at least once.

        Raises:
            ProfcoreError: as `JobRunner.submit`, of the first run.
        """
        self._runner = runner
        self._turns = tuple(experiments) * rounds
        self._others = other_sides(experiments) * rounds
        self._made: tuple[list[str], ...] = tuple([] for _ in experiments)
        self._state: Literal["running", "done", "cancelled", "failed"] = "running"
        self._message = ""
        self._stop = threading.Event()
        self._began_s = time.monotonic()
        self._ended_s: float | None = None
        self._run_id = runner.submit(self._turns[0], beside=self._others[0])
        threading.Thread(target=self._loop, name="series", daemon=True).start()

    @property
    def is_active(self) -> bool:
        """Whether runs are still to come."""
        return self._state == "running"

    def view(self) -> SeriesView:
        """Return how far it is."""
        run_id = self._run_id
        return SeriesView(
            state=self._state,
            made=tuple(tuple(ids) for ids in self._made),
            count=len(self._turns),
            run=self._runner.view(run_id) if self.is_active and run_id else None,
            message=self._message,
            elapsed_s=(self._ended_s or time.monotonic()) - self._began_s,
        )

    def cancel(self) -> None:
        """End it with the run under way; the finished runs stay."""
        self._stop.set()
        if run_id := self._run_id:
            self._runner.cancel(run_id)

    # What follows runs in the thread.

    def _loop(self) -> None:
        try:
            for number, experiment in enumerate(self._turns):
                if number and not self._submit(experiment, self._others[number]):
                    break
                if not self._wait(number):
                    break
        except ProfcoreError as error:
            self._message = str(error)
        finally:
            complete = sum(map(len, self._made)) == len(self._turns)
            self._run_id = ""
            self._ended_s = time.monotonic()
            if complete:
                self._state = "done"
            else:
                self._state = "failed" if self._message else "cancelled"

    def _submit(self, experiment: Experiment, beside: Experiment | None) -> bool:
        """Ask for the next run until there is room for it; False: cancelled meanwhile."""
        self._run_id = ""
        while not self._stop.is_set():
            try:
                self._run_id = self._runner.submit(experiment, beside=beside)
            except QueueFullError:
                self._stop.wait(ASK_AGAIN_S)
            else:
                if self._stop.is_set():  # cancelled between the question and the answer
                    self._runner.cancel(self._run_id)
                return True
        return False

    def _wait(self, number: int) -> bool:
        """Wait for the run under way; False: it has no result, so the series ends."""
        while (view := self._runner.view(self._run_id)) is not None and view.state in ACTIVE:
            time.sleep(LOOK_EVERY_S)
        if view is not None and view.state == "done":
            self._made[number % len(self._made)].append(self._run_id)
            return not self._stop.is_set()
        if view is None or view.state != "cancelled":
            self._message = _GONE if view is None else view.message
        return False
