"""The child process, its sentences and its lock."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from profcore import machine_lock as locks
from profcore.errors import MachineBusyError, RunError
from profcore.experiment import Experiment
from profcore.failures import TEXT_MAX, explain
from profcore.files import read_json
from profcore.jobs import JobRunner, Limits
from profcore.jobs.children import Child, ask, watch
from profcore.jobs.endings import Ending, crash_text, read_log_tail
from profcore.library import Library, make_folder
from profcore.machine_lock import lock_path, machine_lock
from profcore.recording import ACTIVE, PROGRESS_FILE, Progress, read_averages
from profcore.worker import CHECK_FILE, ERROR_FILE, LOG_FILE, Check, Job
from tests import fake_worker as fake
from tests.processes import marked_processes, nothing_left, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)


def start_by_hand() -> subprocess.Popen[bytes]:
    """Start a worker in this process's own group, as a shell script would."""
    return subprocess.Popen(
        fake.COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


class TestProtocol:
    def test_what_is_no_job_ends_it(self) -> None:
        process = start_by_hand()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"task": "dance"}\n')
        process.stdin.flush()
        assert process.stdout.read().startswith(b"not a job: ")
        assert process.wait() == 2
        process.stdin.close()
        process.stdout.close()

    def test_without_a_server_it_ends_alone(self) -> None:
        """This test's own process group has to survive it."""
        process = start_by_hand()
        process.communicate()
        assert process.returncode == -signal.SIGKILL

    def test_a_damaged_experiment_is_bad_input(self, tmp_path: Path) -> None:
        make_folder(tmp_path / "run", Experiment())
        (tmp_path / "run" / "experiment.json").write_text('{"size": "large"}')
        child = Child(fake.COMMAND)
        child.send(Job(task="run", folder=str(tmp_path / "run"), began_s=0.0))
        ending = watch(child, tmp_path / "run", time_limit_s=30, grace_s=0, stop=threading.Event())
        assert (ending.reason, ending.status) == ("exited", 2)
        error = json.loads((tmp_path / "run" / ERROR_FILE).read_text())
        assert error["message"].startswith("The experiment cannot be read")

    def test_a_question_is_answered_in_a_file(self) -> None:
        for device, problem in (("cpu", None), ("cuda:0", "The profiler recorded no kernel.")):
            answer = ask(
                "check",
                CHECK_FILE,
                Check,
                device=device,
                stop=threading.Event(),
                command=fake.COMMAND,
            )
            assert answer == Check(problem=problem)

    def test_a_question_has_a_time_limit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(fake.PROBE, str(tmp_path / "never"))
        with pytest.raises(RunError, match=r"did not start within 1 s; try again\."):
            ask(
                "probe",
                CHECK_FILE,
                Check,
                stop=threading.Event(),
                command=fake.COMMAND,
                time_limit_s=0.6,
            )
        assert marked_processes() == []

    def test_an_interrupted_watch_ends_the_child(self, tmp_path: Path) -> None:
        make_folder(tmp_path / "run", Experiment(size=fake.WAIT))
        child = Child(fake.COMMAND)
        child.send(Job(task="run", folder=str(tmp_path / "run"), began_s=0.0))

        def interrupt() -> None:
            if (tmp_path / "run" / "pid").exists():
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            watch(
                child,
                tmp_path / "run",
                time_limit_s=30,
                grace_s=0,
                stop=threading.Event(),
                on_tick=interrupt,
            )
        assert marked_processes() == []

    def test_torch_that_cannot_be_imported_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "torch.py").write_text("raise ImportError('libcuda is too old')")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        with pytest.raises(RunError) as caught:
            ask("check", CHECK_FILE, Check, device="cpu", stop=threading.Event())
        assert str(caught.value) == (
            "PyTorch cannot be imported here (ImportError: libcuda is too old); "
            "install it as described on pytorch.org."
        )


class TestSentences:
    @pytest.mark.parametrize(
        ("error", "sentence"),
        [
            (RunError("As it is."), "As it is."),
            (KeyError("size"), "KeyError: 'size'."),
            (ValueError(), "ValueError: no further message."),
            (
                MemoryError(),
                "The machine ran out of memory; choose a smaller size or batch.",
            ),
            (
                RuntimeError(
                    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
                    "allocate memory: you tried to allocate 4398046511104 bytes. Error code 12"
                ),
                (
                    "The machine ran out of memory when 4398046511104 bytes more were asked for; "
                    "choose a smaller size or batch."
                ),
            ),
            (
                RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
                "The GPU ran out of memory; choose a smaller size or batch.",
            ),
            (
                RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with"),
                "RuntimeError: CUDA error: an illegal memory access was encountered.",
            ),
        ],
    )
    def test_an_error_is_explained(self, error: Exception, sentence: str) -> None:
        assert explain(error) == sentence

    def test_a_long_message_is_cut(self) -> None:
        sentence = explain(ValueError("x" * 1000))
        assert sentence == f"ValueError: {'x' * (TEXT_MAX - 1)}…."

    def test_a_compiler_error_is_known_by_its_cause(self) -> None:
        compiler_error = type("Unsupported", (Exception,), {"__module__": "torch._dynamo.exc"})
        error = RuntimeError("worker failed")
        error.__cause__ = compiler_error("call to print")
        assert explain(error) == (
            "torch.compile failed: worker failed; choose eager, or read the log."
        )

    def test_an_unknown_signal_has_a_sentence(self) -> None:
        ending = Ending(reason="exited", status=-64, seconds=1.0, log_tail="")
        assert crash_text(ending).startswith("The child process ended with signal 64 (")


class TestLog:
    def test_the_last_lines_that_mean_something(self, tmp_path: Path) -> None:
        harmless = (
            "[W1] External init callback must run in same thread as registerClient (1 != 2)",
            "USDT:2026-01-01 1:1 SyncActivityProfilerHandler.cpp:52] profiler_start",
        )
        lines = [f"line {number}" for number in range(30)]
        (tmp_path / LOG_FILE).write_text("\n".join([*lines, "", *harmless, ""]))
        assert read_log_tail(tmp_path / LOG_FILE) == "\n".join(lines[10:])

    def test_a_long_log_is_read_from_its_end(self, tmp_path: Path) -> None:
        (tmp_path / LOG_FILE).write_bytes(b"\xff" * 100_000 + b"\nthe end\n")
        assert read_log_tail(tmp_path / LOG_FILE).splitlines()[-1] == "the end"
        assert len(read_log_tail(tmp_path / LOG_FILE)) < 20_000

    def test_no_log_is_empty(self, tmp_path: Path) -> None:
        assert read_log_tail(tmp_path / LOG_FILE) == ""


class TestLock:
    def test_the_second_waits_and_gives_up(self, tmp_path: Path) -> None:
        waited: list[str] = []
        with machine_lock(tmp_path / "lock", on_wait=lambda: waited.append("first")):
            assert waited == []
            second = machine_lock(
                tmp_path / "lock", on_wait=lambda: waited.append("second"), wait_s=0.01
            )
            with pytest.raises(MachineBusyError, match="wait until it is done"), second:
                pytest.fail("two at once")
        assert waited == ["second"]
        with machine_lock(tmp_path / "lock", on_wait=lambda: waited.append("third")):
            assert waited == ["second"]

    def test_it_is_the_same_for_every_data_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PROFCORE_LOCK")
        monkeypatch.setattr(locks.tempfile, "gettempdir", lambda: str(tmp_path))
        path = lock_path()
        assert path == tmp_path / f"profcore-{os.getuid()}" / "run.lock"
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert lock_path() == path

    def test_a_folder_of_somebody_else_is_not_used(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("PROFCORE_LOCK")
        monkeypatch.setattr(locks.tempfile, "gettempdir", lambda: str(tmp_path))
        (tmp_path / "profcore-12345").mkdir()
        monkeypatch.setattr(locks.os, "getuid", lambda: 12345)
        if (tmp_path / "profcore-12345").stat().st_uid == 12345:
            pytest.skip("this is user 12345")
        with pytest.raises(RunError, match="belongs to another user; set PROFCORE_LOCK"):
            lock_path()


@pytest.mark.torch
class TestWithTorch:
    @pytest.fixture
    def library(self, tmp_path: Path) -> Library:
        return Library(tmp_path / "data")

    @pytest.fixture
    def runner(self, library: Library) -> Iterator[JobRunner]:
        with contextlib.closing(JobRunner(library, limits=Limits(run_time_s=120))) as runner:
            yield runner

    def test_a_small_run_on_the_cpu(self, runner: JobRunner, library: Library) -> None:
        run_id = runner.submit(Experiment(dtype="fp32", device="cpu", warmup=1, steps=2))

        def has_ended() -> bool:
            view = runner.view(run_id)
            assert view is not None
            return view.state not in ACTIVE

        until(has_ended, "the run")
        assert runner.machine is not None
        assert runner.machine.devices[-1].id == "cpu"
        recording = library.open(run_id)
        assert recording.status.state == "done", recording.status
        assert recording.experiment.device == "cpu"
        assert recording.timings is not None
        assert recording.environment is not None
        assert recording.trace_path.read_bytes()[:2] == b"\x1f\x8b"
        averages = read_averages(recording)
        assert averages is not None
        assert "aten::mm" in {row.name for row in averages}
        progress = read_json(recording.folder / PROGRESS_FILE, Progress)
        assert progress is not None
        assert progress.phases[0].name == "starting"
        assert len(progress.phases) >= 4

    def test_the_cpu_can_be_recorded(self) -> None:
        answer = ask("check", CHECK_FILE, Check, device="cpu", stop=threading.Event())
        assert answer.problem is None

    def test_a_waiting_child_has_imported_torch_and_left_cuda_alone(self) -> None:
        code = (
            "import profcore.worker as w, sys; r = w._import_recorder();"
            "torch = sys.modules['torch']; print(r.__name__, torch.cuda.is_initialized())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=fake.PROJECT,
        )
        assert done.stdout.split() == ["profcore.recorder", "False"]
