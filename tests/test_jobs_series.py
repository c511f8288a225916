"""Experiments recorded by turns, with a child that plays a part (see fake_worker)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from profcore.errors import QueueFullError
from profcore.experiment import Experiment
from profcore.jobs import JobRunner, Limits
from profcore.jobs.series import Series, other_sides
from profcore.library import Library
from tests import fake_worker as fake
from tests.processes import nothing_left, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def runner(library: Library) -> Iterator[JobRunner]:
    runner = JobRunner(library, limits=Limits(queued_max=1), command=fake.COMMAND)
    yield runner
    runner.close()


def play(part: int, **knobs: int) -> Experiment:
    return Experiment(size=part, device="cpu", **knobs)  # type: ignore[arg-type]


def ended(series: Series) -> None:
    until(lambda: not series.is_active, f"the end of {series.view()}")


def playing(series: Series) -> str:
    """Wait until a run is under way in its child; return its id."""

    def is_playing() -> bool:
        run = series.view().run
        return run is not None and any(phase.name == "playing" for phase in run.phases)

    until(is_playing, "a run that plays")
    run = series.view().run
    assert run is not None
    return run.run_id


def test_both_are_recorded_by_turns(runner: JobRunner, library: Library) -> None:
    first, second = play(fake.DONE), play(fake.DONE, steps=7)
    series = Series(runner, (first, second), 2)
    ended(series)
    view = series.view()
    assert (view.state, view.done, view.count, view.run, view.message) == ("done", 4, 4, None, "")
    assert [len(ids) for ids in view.made] == [2, 2]
    in_order = [id_ for pair in zip(*view.made, strict=True) for id_ in pair]
    begun = sorted(in_order, key=lambda id_: (library.root / id_ / "status.json").stat().st_mtime)
    assert begun == in_order
    assert [library.open(id_).experiment for id_ in in_order] == [first, second] * 2
    besides = [library.open(id_).beside for id_ in in_order]
    assert [beside.experiment for beside in besides if beside] == [second, first] * 2


def test_a_cold_start_takes_no_turns() -> None:
    warm, cold = play(fake.DONE), play(fake.DONE, warmup=0)
    assert other_sides((warm, cold)) == (None, None)
    assert other_sides((warm, replace(warm, device="auto"))) == (None, None)
    assert other_sides((warm,)) == (None,)


def test_cancel_ends_the_run_under_way_and_keeps_the_others(
    runner: JobRunner, library: Library
) -> None:
    series = Series(runner, (play(fake.DONE), play(fake.WAIT)), 3)
    until(lambda: series.view().done == 1, "the first run")
    waiting = playing(series)
    series.cancel()
    ended(series)
    view = series.view()
    assert (view.state, view.message) == ("cancelled", "")
    assert [len(ids) for ids in view.made] == [1, 0]
    assert library.open(waiting).status.state == "cancelled"
    assert library.open(view.made[0][0]).status.state == "done"


def test_a_run_that_fails_ends_it_with_its_sentence(runner: JobRunner) -> None:
    series = Series(runner, (play(fake.DONE), play(fake.RUN_ERROR)), 2)
    ended(series)
    view = series.view()
    assert (view.state, view.message) == ("failed", "The part was to fail.")
    assert [len(ids) for ids in view.made] == [1, 0]


def test_a_full_queue_refuses_the_first_run(runner: JobRunner) -> None:
    under_way = runner.submit(play(fake.WAIT))
    until(lambda: (view := runner.view(under_way)) is not None and view.state == "running", "a run")
    runner.submit(play(fake.WAIT))
    with pytest.raises(QueueFullError, match="waiting already"):
        Series(runner, (play(fake.DONE),), 1)


def test_a_queue_that_fills_up_later_is_waited_for(
    runner: JobRunner, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a queue that is full the first two times the second run is asked for
    series = Series(runner, (play(fake.WAIT),), 2)
    first = playing(series)
    ask, refused = runner.submit, []

    def full_twice(experiment: Experiment, **more: Any) -> str:
        if len(refused) < 2:
            refused.append(experiment)
            msg = "8 runs are waiting already."
            raise QueueFullError(msg)
        return ask(experiment, **more)

    monkeypatch.setattr(runner, "submit", full_twice)

    # WHEN
    (library.root / first / "go").touch()
    until(lambda: series.view().done == 1 and series.view().run is not None, "the second run")
    (library.root / playing(series) / "go").touch()
    ended(series)

    # THEN
    assert (series.view().state, series.view().done, len(refused)) == ("done", 2, 2)


def test_cancel_while_the_queue_is_full(
    runner: JobRunner, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = Series(runner, (play(fake.WAIT),), 2)
    first = playing(series)
    asked = []

    def full(experiment: Experiment, *, beside: Experiment | None = None) -> str:
        assert beside is None  # there is no other side
        asked.append(experiment)
        msg = "8 runs are waiting already."
        raise QueueFullError(msg)

    monkeypatch.setattr(runner, "submit", full)
    (library.root / first / "go").touch()
    until(lambda: bool(asked), "a question")
    assert series.view().run is None
    series.cancel()
    ended(series)
    assert (series.view().state, series.view().done) == ("cancelled", 1)
