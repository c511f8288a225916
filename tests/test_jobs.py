"""The queue, with a child that plays a part (see fake_worker)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from profcore.errors import ExperimentError, QueueFullError, RunError
from profcore.experiment import Experiment
from profcore.jobs import JobRunner, JobView, Limits
from profcore.library import Library
from profcore.recording import ACTIVE, STATUS_FILE, TRACE_FILE, State, Status
from tests import fake_worker as fake
from tests.processes import marked_processes, nothing_left, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[..., JobRunner]

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def start(library: Library) -> Iterator[Start]:
    """Return a function that starts a runner, which is closed after the test."""
    runners: list[JobRunner] = []

    def start_one(**limits: float) -> JobRunner:
        runner = JobRunner(library, limits=Limits(**limits), command=fake.COMMAND)  # type: ignore[arg-type]
        runners.append(runner)
        return runner

    yield start_one
    for runner in runners:
        runner.close()


def submit(runner: JobRunner, part: int) -> str:
    return runner.submit(Experiment(size=part, device="cpu"))


def see(runner: JobRunner, run_id: str) -> JobView:
    view = runner.view(run_id)
    assert view is not None
    return view


def wait_until(runner: JobRunner, run_id: str, *states: State) -> JobView:
    until(lambda: see(runner, run_id).state in states, f"{states}: {see(runner, run_id)}")
    return see(runner, run_id)


def wait_until_ended(runner: JobRunner, run_id: str) -> JobView:
    until(lambda: see(runner, run_id).state not in ACTIVE, f"the end: {see(runner, run_id)}")
    return see(runner, run_id)


def wait_until_playing(runner: JobRunner, library: Library, run_id: str) -> int:
    """Return the process id of the child."""
    path = library.root / run_id / "pid"
    until(lambda: path.exists() and path.read_text(), f"a child: {see(runner, run_id)}")
    return int(path.read_text())


def go(library: Library, run_id: str) -> None:
    (library.root / run_id / "go").touch()


def wait_until_known(runner: JobRunner) -> None:
    until(lambda: runner.machine or runner.machine_problem, "the machine")


def wait_for_spare(runner: JobRunner) -> int:
    until(lambda: runner._spare is not None, "a spare child")
    assert runner._spare is not None
    return runner._spare._process.pid


def kill_spare(runner: JobRunner) -> None:
    os.kill(wait_for_spare(runner), 9)
    until(lambda: runner._spare is not None and runner._spare.has_exited(), "its end")


class TestOrder:
    def test_a_run_ends_with_its_phases_and_a_recording(
        self, start: Start, library: Library
    ) -> None:
        runner = start()
        run_id = submit(runner, fake.DONE)
        view = wait_until_ended(runner, run_id)
        assert (view.state, view.message, view.log_tail) == ("done", "", "")
        assert [phase.name for phase in view.phases] == ["starting", "playing"]
        assert 0 <= view.phases[1].began_s <= view.elapsed_s
        recording = library.open(run_id)
        assert recording.status.state == "done"
        assert recording.trace_path.read_bytes() == fake.TRACE
        assert not (recording.folder / "owner.json").exists()

    def test_runs_wait_their_turn_in_order(self, start: Start, library: Library) -> None:
        runner = start()
        first, second, third = (submit(runner, part) for part in (fake.WAIT, fake.WAIT, fake.DONE))
        wait_until_playing(runner, library, first)
        assert [see(runner, run_id).position for run_id in (first, second, third)] == [0, 1, 2]
        assert see(runner, second).state == "queued"
        go(library, first)
        wait_until_playing(runner, library, second)
        assert see(runner, first).state == "done"
        assert see(runner, third).position == 1
        go(library, second)
        assert wait_until_ended(runner, third).state == "done"
        newest_first = [recording.id for recording in library.list()]
        assert newest_first == [third, second, first]

    def test_a_full_queue_refuses(self, start: Start, library: Library) -> None:
        runner = start(queued_max=1)
        first = submit(runner, fake.WAIT)
        wait_until_playing(runner, library, first)
        submit(runner, fake.DONE)
        with pytest.raises(QueueFullError, match="1 runs are waiting already"):
            submit(runner, fake.DONE)

    def test_a_run_of_no_folder_is_unknown(self, start: Start) -> None:
        runner = start()
        assert runner.view("0123456789ab") is None
        assert runner.view("../../etc") is None
        runner.cancel("0123456789ab")


class TestCancel:
    def test_a_waiting_run_is_dropped(self, start: Start, library: Library) -> None:
        runner = start()
        first, second, third = (submit(runner, part) for part in (fake.WAIT, fake.DONE, fake.DONE))
        wait_until_playing(runner, library, first)
        runner.cancel(second)
        view = see(runner, second)
        assert (view.state, view.message) == (
            "cancelled",
            "The run was cancelled before it began.",
        )
        assert see(runner, third).position == 1
        go(library, first)
        assert wait_until_ended(runner, third).state == "done"
        assert not (library.root / second / "pid").exists()

    @pytest.mark.parametrize("part", [fake.WAIT, fake.IGNORE_SIGTERM])
    def test_a_running_one_ends(self, start: Start, library: Library, part: int) -> None:
        runner = start(grace_s=0.2)
        run_id = submit(runner, part)
        pid = wait_until_playing(runner, library, run_id)
        runner.cancel(run_id)
        view = wait_until_ended(runner, run_id)
        assert (view.state, view.message) == ("cancelled", "The run was cancelled.")
        assert pid not in marked_processes()
        assert wait_until_ended(runner, submit(runner, fake.DONE)).state == "done"

    def test_what_the_child_started_ends_too(self, start: Start, library: Library) -> None:
        runner = start()
        run_id = submit(runner, fake.GRANDCHILD)
        wait_until_playing(runner, library, run_id)
        assert len(marked_processes()) == 2
        runner.cancel(run_id)
        wait_until_ended(runner, run_id)
        spare = wait_for_spare(runner)
        until(lambda: marked_processes() == [spare], "the grandchild to end")

    def test_what_a_child_leaves_behind_ends_too(self, start: Start, library: Library) -> None:
        runner = start()
        run_id = submit(runner, fake.GRANDCHILD)
        wait_until_playing(runner, library, run_id)
        go(library, run_id)
        assert wait_until_ended(runner, run_id).state == "done"
        spare = wait_for_spare(runner)
        until(lambda: marked_processes() == [spare], "the grandchild to end")


class TestEndings:
    def test_a_time_limit(self, start: Start) -> None:
        runner = start(run_time_s=0.5)
        view = wait_until_ended(runner, submit(runner, fake.WAIT))
        assert view.state == "timeout"
        assert "passed its time limit" in view.message
        assert view.log_tail == "first line of the log"

    @pytest.mark.parametrize(
        ("part", "message"),
        [
            (fake.RUN_ERROR, "The part was to fail."),
            (
                fake.OUT_OF_MEMORY,
                (
                    "The GPU ran out of memory when 2.00 GiB more were asked for; "
                    "choose a smaller size or batch."
                ),
            ),
            (
                fake.COMPILER,
                (
                    "torch.compile failed: InvalidCxxCompiler: No working C++ compiler found; "
                    "choose eager, or read the log."
                ),
            ),
            (fake.BUG, "ValueError: the part has a bug."),
            (
                fake.CRASH,
                (
                    "The child process ended with signal 11 (segmentation fault); "
                    "its last lines are below."
                ),
            ),
            (
                fake.KILLED,
                (
                    "The child process was killed (signal 9), most likely because the machine ran "
                    "out of memory; its last lines are below."
                ),
            ),
            (
                fake.SILENT,
                (
                    "The child process ended with status 3 and did not finish its job; "
                    "its last lines are below."
                ),
            ),
            (
                fake.NO_TRACE,
                (
                    "The child process ended with status 0 and did not finish its job; "
                    "its last lines are below."
                ),
            ),
        ],
    )
    def test_a_failure_says_why_in_one_sentence(
        self, start: Start, library: Library, part: int, message: str
    ) -> None:
        runner = start()
        run_id = submit(runner, part)
        view = wait_until_ended(runner, run_id)
        assert (view.state, view.message) == ("failed", message)
        assert view.log_tail.startswith("first line of the log")
        assert "registerClient" not in view.log_tail
        assert len(view.log_tail.splitlines()) <= 20
        assert not (library.root / run_id / "error.json").exists()
        assert wait_until_ended(runner, submit(runner, fake.DONE)).state == "done"

    def test_a_bug_leaves_its_traceback_in_the_log(self, start: Start, library: Library) -> None:
        runner = start()
        run_id = submit(runner, fake.BUG)
        wait_until_ended(runner, run_id)
        log = (library.root / run_id / "log.txt").read_text()
        assert "Traceback" in log
        assert "second line" in log

    def test_a_command_that_cannot_start_fails_the_run(
        self, library: Library, tmp_path: Path
    ) -> None:
        runner = JobRunner(library, command=(str(tmp_path / "nothing"),))
        try:
            view = wait_until_ended(runner, submit(runner, fake.DONE))
            assert view.state == "failed"
            assert view.message.startswith("The child process could not be started")
            assert runner.machine_problem.startswith("The child process could not be started")
        finally:
            runner.close()

    def test_a_status_that_cannot_be_written_is_still_known(
        self, start: Start, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def disk_is_full(folder: Path, status: Status) -> None:
            raise OSError(28, "No space left on device", str(folder), status.state)

        monkeypatch.setattr("profcore.jobs.queue.finish", disk_is_full)
        runner = start()
        view = wait_until_ended(runner, submit(runner, fake.BUG))
        assert (view.state, view.message) == ("failed", "ValueError: the part has a bug.")

    def test_old_recordings_go_and_titled_ones_stay(self, start: Start, library: Library) -> None:
        runner = start(recordings_max=1)
        first = submit(runner, fake.DONE)
        wait_until_ended(runner, first)
        library.rename(first, "keep me")
        second = submit(runner, fake.DONE)
        third = submit(runner, fake.DONE)
        wait_until_ended(runner, third)
        until(lambda: runner.view(second) is None, "the second one to be deleted")
        assert [recording.id for recording in library.list()] == [third, first]


class TestSpare:
    def test_it_makes_the_next_run_and_is_replaced_when_that_has_ended(
        self, start: Start, library: Library
    ) -> None:
        runner = start()
        spare = wait_for_spare(runner)
        run_id = submit(runner, fake.WAIT)
        assert wait_until_playing(runner, library, run_id) == spare
        assert runner._spare is None
        assert marked_processes() == [spare]
        go(library, run_id)
        wait_until_ended(runner, run_id)
        assert wait_for_spare(runner) != spare
        assert not library.open(run_id).status.started_cold

    def test_a_dead_one_is_replaced_by_a_cold_child(self, start: Start, library: Library) -> None:
        runner = start()
        kill_spare(runner)
        run_id = submit(runner, fake.DONE)
        assert wait_until_ended(runner, run_id).state == "done"
        assert library.open(run_id).status.started_cold

    def test_one_that_dies_before_it_reads_its_job_leaves_its_output(
        self, start: Start, library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        die = tmp_path / "die"
        monkeypatch.setenv(fake.DIE, str(die))
        runner = start()
        wait_until_known(runner)
        kill_spare(runner)
        die.touch()
        run_id = submit(runner, fake.DONE)
        view = wait_until_ended(runner, run_id)
        assert view.state == "failed"
        assert view.log_tail == "the spare died"
        assert (library.root / run_id / "log.txt").read_text() == "the spare died\n"


class TestMachine:
    def test_it_is_asked_first(self, start: Start) -> None:
        runner = start()
        wait_until_known(runner)
        assert runner.machine is not None
        assert [device.id for device in runner.machine.devices] == ["cuda:0", "cpu"]
        assert runner.machine_problem == ""

    def test_what_it_cannot_do_is_refused(self, start: Start) -> None:
        runner = start()
        wait_until_known(runner)
        with pytest.raises(ExperimentError, match="no device cuda:7"):
            runner.submit(Experiment(device="cuda:7"))

    def test_a_run_asked_for_before_is_refused_when_it_is_known(
        self, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answer = tmp_path / "answer"
        monkeypatch.setenv(fake.PROBE, str(answer))
        runner = start()
        assert runner.machine is None
        run_id = runner.submit(Experiment(device="cuda:7"))
        answer.touch()
        view = wait_until_ended(runner, run_id)
        assert (view.state, view.phases) == ("failed", ())
        assert "no device cuda:7" in view.message

    @pytest.mark.parametrize(
        ("part", "problem"),
        [
            ("error", "The driver does not answer."),
            (
                "crash",
                (
                    "The child process ended with status 5 and did not finish its job; "
                    "it last printed: the driver crashed."
                ),
            ),
        ],
    )
    def test_without_an_answer_the_cpu_still_works(
        self, start: Start, monkeypatch: pytest.MonkeyPatch, part: str, problem: str
    ) -> None:
        monkeypatch.setenv(fake.PROBE, part)
        runner = start()
        wait_until_known(runner)
        assert runner.machine is None
        assert runner.machine_problem == problem
        with pytest.raises(ExperimentError, match="choose cpu or auto"):
            runner.submit(Experiment(device="cuda:0"))
        assert wait_until_ended(runner, submit(runner, fake.DONE)).state == "done"


class TestClose:
    def test_it_ends_children_and_says_so(self, start: Start, library: Library) -> None:
        runner = start()
        running, waiting = submit(runner, fake.WAIT), submit(runner, fake.DONE)
        wait_until_playing(runner, library, running)
        runner.close()
        assert marked_processes() == []
        for run_id in (running, waiting):
            view = see(runner, run_id)
            assert view.state == "failed"
            assert view.message == "The server stopped during this run; run it again."
        with pytest.raises(RunError, match="stopping"):
            submit(runner, fake.DONE)
        runner.close()

    def test_it_ends_the_spare(self, start: Start) -> None:
        runner = start()
        wait_for_spare(runner)
        runner.close()
        assert marked_processes() == []

    def test_it_gives_up_a_question(
        self, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(fake.PROBE, str(tmp_path / "never"))
        runner = start()
        until(marked_processes, "the question")
        runner.close()
        assert marked_processes() == []

    def test_a_later_runner_reads_what_is_on_disk(self, start: Start) -> None:
        before = start()
        run_id = submit(before, fake.BUG)
        seen = wait_until_ended(before, run_id)
        before.close()
        assert start().view(run_id) == seen

    def test_a_damaged_recording_is_a_failed_run(self, start: Start, library: Library) -> None:
        runner = start()
        run_id = submit(runner, fake.DONE)
        wait_until_ended(runner, run_id)
        (library.root / run_id / STATUS_FILE).write_text("{")
        view = see(runner, run_id)
        assert view.state == "failed"
        assert "damaged" in view.message
        assert (library.root / run_id / TRACE_FILE).exists()
