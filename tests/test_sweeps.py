"""Sweeps on disk and in the queue, with a child that plays a part (see fake_worker)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profcore import sweeps
from profcore.errors import ExperimentError, RecordingError
from profcore.experiment import Experiment
from profcore.files import write_json
from profcore.jobs import JobRunner, Limits
from profcore.library import Library, finish, open_own
from profcore.recording import (
    CEILINGS_FILE,
    ENVIRONMENT_FILE,
    STATUS_FILE,
    TIMINGS_FILE,
    TRACE_FILE,
    Status,
)
from profcore.sweep import SweepPlan
from tests import fake_worker as fake
from tests.processes import nothing_left, until
from tests.rule_traces import MEASURED, environment
from tests.test_jobs import see, wait_until, wait_until_ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def runner(library: Library) -> Iterator[JobRunner]:
    runner = JobRunner(library, limits=Limits(sweeps_max=2), command=fake.COMMAND)
    yield runner
    runner.close()


def plan(*sizes: int) -> SweepPlan:
    return SweepPlan(base=Experiment(device="cpu"), sizes=sizes)


def sizes(sweep: sweeps.Sweep) -> list[tuple[int, str]]:
    return [(point.experiment.size, point.status.state) for point in sweep.points]


class TestQueue:
    def test_a_sweep_leaves_a_recording_per_point(
        self, runner: JobRunner, library: Library
    ) -> None:
        sweep_id = runner.submit_sweep(plan(fake.DONE, 30))
        view = wait_until_ended(runner, sweep_id)
        assert (view.state, view.message, view.point) == ("done", "", None)
        assert [phase.name for phase in view.phases] == ["starting", "timing", "recording"]

        sweep = sweeps.open_sweep(library, sweep_id)
        assert sizes(sweep) == [(16, "done"), (30, "done")]
        assert sweep.missing() == ()
        assert sweep.title == "matmul_add · size 16 to 30 · bf16 · eager"
        assert sorted(path.name for path in sweep.folder.iterdir()) == [
            "log.txt", "points", "progress.json", "status.json", "sweep.json",
        ]  # fmt: skip
        point = library.open(f"{sweep_id}-001")
        assert point == sweep.points[1]
        assert point.ceilings is None
        write_json(sweep.folder / CEILINGS_FILE, MEASURED)
        assert library.open(f"{sweep_id}-001").ceilings is None  # of another device, or unknown
        write_json(point.folder / ENVIRONMENT_FILE, environment())
        assert library.open(f"{sweep_id}-001").ceilings == MEASURED
        assert open_own(point.folder).ceilings == MEASURED
        assert point.trace_path.read_bytes() == fake.TRACE
        seen = runner.view(point.id)
        assert seen is not None
        assert seen.state == "done"
        # It is no recording, and it does not stand among them.
        assert library.list() == []
        assert library.damaged() == []
        with pytest.raises(RecordingError, match="not a recording"):
            library.open(sweep_id)

    def test_cancel_keeps_what_is_there_and_resume_makes_the_rest(
        self, runner: JobRunner, library: Library
    ) -> None:
        # GIVEN: 16 is recorded when 18, the part that waits in the second pass, is on.
        sweep_id = runner.submit_sweep(plan(fake.DONE, fake.IGNORE_SIGTERM, 30))
        folder = library.root / sweep_id
        wait_until(runner, sweep_id, "running")
        until((folder / "points/000" / STATUS_FILE).exists, "a point")
        under_way = sweeps.open_sweep(library, sweep_id)
        assert under_way.is_active
        assert [state for _, state in sizes(under_way)] == ["done", "running", "running"]
        assert len(under_way.timed) == 3

        # WHEN it is cancelled THEN two points are timed only, and nothing else is left.
        runner.cancel(sweep_id)
        view = wait_until_ended(runner, sweep_id)
        assert view.state == "cancelled"
        assert view.message == (
            "The sweep was cancelled; 1 of its points are done and kept; it can be resumed."
        )
        sweep = sweeps.open_sweep(library, sweep_id)
        assert sizes(sweep) == [(16, "done"), (18, "cancelled"), (30, "cancelled")]
        assert [experiment.size for experiment in sweep.missing()] == [18, 30]
        assert not (folder / "compile-cache").exists()

        # WHEN it is resumed THEN the rest is made.
        (folder / "go").touch()
        runner.resume_sweep(sweep_id)
        view = wait_until_ended(runner, sweep_id)
        assert view.state == "done"
        assert [state for _, state in sizes(sweeps.open_sweep(library, sweep_id))] == ["done"] * 3
        with pytest.raises(RecordingError, match="is complete"):
            runner.resume_sweep(sweep_id)

    def test_a_point_that_was_only_begun_goes(self, runner: JobRunner, library: Library) -> None:
        sweep_id = runner.submit_sweep(plan(fake.DONE, fake.WAIT))
        begun = library.root / sweep_id / "points/001"
        until(begun.exists, "the second point")
        until(lambda: see(runner, sweep_id).point is not None, "its place in the progress")
        point = see(runner, sweep_id).point
        assert point is not None
        assert (point.count, point.text) == (2, f"size {fake.WAIT if point.number == 2 else 16}")
        runner.cancel(sweep_id)
        wait_until_ended(runner, sweep_id)
        assert not begun.exists()

    def test_a_point_that_fails_does_not_end_the_sweep(
        self, runner: JobRunner, library: Library
    ) -> None:
        sweep_id = runner.submit_sweep(plan(fake.DONE, fake.RUN_ERROR))
        view = wait_until_ended(runner, sweep_id)
        assert view.state == "done"
        assert view.message == ("1 of 2 points could not be made, the first because: No room.")
        assert [state for _, state in sizes(sweeps.open_sweep(library, sweep_id))] == [
            "done",
            "failed",
        ]
        runner.resume_sweep(sweep_id)  # what failed may be tried again
        wait_until_ended(runner, sweep_id)

    def test_a_crash_keeps_what_is_there(self, runner: JobRunner, library: Library) -> None:
        sweep_id = runner.submit_sweep(plan(fake.DONE, fake.SILENT))
        view = wait_until_ended(runner, sweep_id)
        assert view.state == "failed"
        assert "ended with status 3" in view.message
        assert "can be resumed" in view.message
        assert sizes(sweeps.open_sweep(library, sweep_id)) == [(16, "failed")]

    def test_what_one_point_cannot_do_is_refused_at_once(self, runner: JobRunner) -> None:
        until(lambda: runner.machine, "the machine")
        too_much = SweepPlan(
            base=Experiment(workload="batched_matmul", batch=64), sizes=(16, 16384)
        )
        with pytest.raises(ExperimentError, match=r"64 × 16,384 .* needs about"):
            runner.submit_sweep(too_much)

    def test_old_sweeps_without_a_title_go(self, runner: JobRunner, library: Library) -> None:
        made = []
        for _ in range(3):
            made.append(runner.submit_sweep(plan(fake.DONE)))
            wait_until_ended(runner, made[-1])
        until(lambda: len(sweeps.list_sweeps(library)) == 2, "the oldest to go")
        assert [sweep.id for sweep in sweeps.list_sweeps(library)] == [made[2], made[1]]


class TestFolders:
    def test_the_list_is_newest_first_and_deleting_needs_an_end(self, library: Library) -> None:
        first, second = (library.new_sweep_folder(plan(16)) for _ in range(2))
        with pytest.raises(RecordingError, match="is not finished"):
            library.delete(first.name)
        finish(first, Status(state="done", created_at="2026-01-02"))
        finish(second, Status(state="done", created_at="2026-01-01"))
        assert [sweep.id for sweep in sweeps.list_sweeps(library)] == [first.name, second.name]
        library.rename(first.name, "my sweep")
        assert sweeps.open_sweep(library, first.name).title == "my sweep"
        library.delete(first.name)
        assert [sweep.id for sweep in sweeps.list_sweeps(library)] == [second.name]

    def test_ids_are_checked(self, library: Library) -> None:
        folder = library.new_sweep_folder(plan(16))
        for wrong in ("../etc", "nothing", "0" * 12):
            with pytest.raises(RecordingError, match="no recording"):
                sweeps.open_sweep(library, wrong)
        with pytest.raises(RecordingError, match="no such point"):
            library.open(f"{folder.name}-007")
        with pytest.raises(RecordingError, match="no recording"):
            library.open(f"{folder.name}-../x")
        run = library.new_folder(Experiment())
        with pytest.raises(RecordingError, match="not a sweep"):
            sweeps.open_sweep(library, run.name)

    def test_a_damaged_plan_is_told(self, library: Library) -> None:
        folder = library.new_sweep_folder(plan(16))
        (folder / "sweep.json").write_text("{")
        with pytest.raises(RecordingError, match="is damaged"):
            sweeps.open_sweep(library, folder.name)
        assert sweeps.list_sweeps(library) == []

    def test_auto_is_the_device_that_was_used(self, library: Library) -> None:
        folder = library.new_sweep_folder(SweepPlan(base=Experiment(), sizes=(16, 32)))
        point = folder / "points" / "000"
        point.mkdir(parents=True)
        write_json(point / "experiment.json", Experiment(size=16, device="cuda:0"))
        write_json(point / TIMINGS_FILE, fake.timings(16))
        write_json(point / STATUS_FILE, Status(state="done"))
        (point / TRACE_FILE).write_bytes(fake.TRACE)
        finish(folder, Status(state="cancelled", created_at="2026-01-01"))
        missing = sweeps.open_sweep(library, folder.name).missing()
        assert [experiment.size for experiment in missing] == [32]
