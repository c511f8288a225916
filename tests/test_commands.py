"""The command line: words, exit statuses, and what goes to which stream."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from profcore import library
from profcore.__main__ import build_parser, main
from profcore.commands.registry import COMMANDS
from profcore.jobs import children
from profcore.library import Library
from profcore.recording import STATUS_FILE
from tests import fake_worker as fake
from tests.processes import marked_processes, nothing_left, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)

DRIVER = """
import sys
from profcore.jobs import children
from profcore.__main__ import main
from tests import fake_worker as fake
children.WORKER = fake.COMMAND
sys.exit(main(sys.argv[1:]))
"""
"""The command line with children that play a part, as a process of its own."""


class Answer(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFCORE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(children, "WORKER", fake.COMMAND)


@pytest.fixture
def recordings(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


def call(*arguments: str) -> Answer:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(arguments)
    return Answer(status, out.getvalue(), err.getvalue())


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Buffered, as usual: unbuffered, Python does not notice that its reader is gone.
        env={**os.environ, "PYTHONPATH": str(fake.PROJECT), "PYTHONUNBUFFERED": ""},
    )


def trace_file(folder: Path) -> Path:
    path = folder / "toy.json"
    path.write_bytes(fake.TRACE)
    return path


class TestSurface:
    """Scripts rely on these words: a change here is a change of the contract."""

    def test_the_commands(self) -> None:
        assert [command.name for command in COMMANDS] == [
            "run",
            "analyze",
            "sweep",
            "compare",
            "doctor",
        ]
        assert all(command.name in build_parser().format_help() for command in COMMANDS)

    def test_the_flags_of_run_are_the_knobs_of_an_experiment(self) -> None:
        arguments = vars(build_parser().parse_args(["run"]))
        assert set(arguments) == {
            *("workload", "size", "batch", "dtype", "bias", "compile", "warmup", "steps"),
            *("device", "shapes", "out", "json", "run"),
        }

    @pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
    def test_every_command_explains_itself(self, command, capsys) -> None:  # noqa: ANN001
        with pytest.raises(SystemExit) as ended:
            main([command.name, "--help"])
        assert ended.value.code == 0
        assert command.help in " ".join(capsys.readouterr().out.split())


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ((), "arguments are required: COMMAND"),
            (("dance",), "invalid choice: 'dance'"),
            (("analyze",), "arguments are required: TRACE_OR_RECORDING"),
            (("run", "--size", "3"), "size is 3; give 16 to 16,384"),
            (("run", "--size", "large"), "size is 'large'; give 16 to 16,384"),
            (("run", "--dtype", "int3"), "dtype is 'int3'; choose one of"),
            (("run", "--size", "64", "--device", "cuda:7"), "no device cuda:7"),
            (("analyze", "no such file"), "is no file, no folder and no id"),
            (("analyze", "0123456789ab"), "There is no recording 0123456789ab"),
            (("analyze", "a\0b"), "is no file, no folder and no id"),
            (("analyze", "x" * 5000), "is no file, no folder and no id"),
            (("analyze", "."), "is not a recording"),
        ],
    )
    def test_one_line_and_status_2(self, arguments: tuple[str, ...], sentence: str) -> None:
        answer = call(*arguments)
        assert answer.status == 2
        assert answer.out == ""
        *progress, line = answer.err.splitlines()
        assert progress in ([], ["looking at this machine"])
        assert line.startswith("profcore: ")
        assert sentence in line

    def test_a_file_that_is_no_trace(self, tmp_path: Path) -> None:
        (tmp_path / "page.json").write_text("<html></html>")
        answer = call("analyze", str(tmp_path / "page.json"), "--json")
        assert (answer.status, answer.out) == (2, "")
        assert len(answer.err.splitlines()) == 1
        assert "page.json" in answer.err

    def test_a_folder_that_holds_something(self, tmp_path: Path) -> None:
        trace_file(tmp_path)
        answer = call("run", "--size", "16", "--out", str(tmp_path))
        assert answer.status == 2
        assert "give a new or an empty folder" in answer.err
        assert marked_processes() == []


class TestAnalyze:
    def test_a_trace_as_text(self, tmp_path: Path) -> None:
        answer = call("analyze", str(trace_file(tmp_path)))
        assert (answer.status, answer.err) == (0, "")
        assert answer.out.startswith("toy.json: 2 events, 221 B\n")
        assert "   8.25 µs    8.25 µs      1  aten::mm\n" in answer.out

    def test_a_trace_as_json(self, tmp_path: Path) -> None:
        answer = call("analyze", str(trace_file(tmp_path)), "--json")
        assert answer.status == 0
        found = json.loads(answer.out)
        assert found["totals"]["operator_cpu_us"] == 8.25
        assert found["steps"][0]["cpu_us"] == 30.5

    def test_a_name_cannot_steer_the_terminal(self, tmp_path: Path) -> None:
        path = trace_file(tmp_path)
        path.write_bytes(fake.TRACE.replace(b"aten::mm", rb"\u001b[2Jaten::mm"))
        answer = call("analyze", str(path))
        assert "\x1b" not in answer.out
        assert "\ufffd[2Jaten::mm" in answer.out
        answer = call("analyze", str(path), "--json")
        assert answer.out.isascii()
        assert json.loads(answer.out)["operators"][-1]["name"] == "\x1b[2Jaten::mm"

    def test_a_run_without_a_trace_says_why(self, recordings: Library) -> None:
        assert call("run", "--size", str(fake.RUN_ERROR)).status == 1
        (recording,) = recordings.list()
        answer = call("analyze", recording.id)
        assert answer.status == 2
        assert answer.err == (
            f"profcore: The recording {recording.id} has no trace: The part was to fail.\n"
        )

    def test_a_sample_by_its_id(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = tmp_path / "samples" / "toy-16-warm"
        assert call("run", "--size", "16", "--out", str(folder)).status == 0
        (folder.parent / "order.txt").write_text("toy-16-warm\n")
        monkeypatch.setattr(library, "_SAMPLES", folder.parent)
        answer = call("analyze", "toy-16-warm")
        assert answer.status == 0
        assert answer.out.startswith("matmul_add · 16 ")


class TestRun:
    def test_it_makes_a_recording_in_the_library(self, recordings: Library) -> None:
        answer = call("run", "--size", "16", "--steps", "7", "--shapes", "--json")
        assert answer.status == 0
        assert json.loads(answer.out)["totals"]["self_cpu_us"] == 30.5
        (recording,) = recordings.list()
        assert recording.status.state == "done"
        assert (recording.experiment.steps, recording.experiment.shapes) == (7, True)
        first, *phases, last = answer.err.splitlines()
        assert first == "looking at this machine"
        assert [line.split("s  ")[1] for line in phases] == ["starting", "playing"]
        assert last == f"the recording is {recording.folder}"
        assert call("analyze", recording.id, "--json").out == answer.out

    def test_or_in_a_folder_of_ones_own(self, tmp_path: Path, recordings: Library) -> None:
        out = tmp_path / "deep" / "out"
        answer = call("run", "--size", "16", "--out", str(out))
        assert answer.status == 0
        assert answer.out.startswith("matmul_add · 16 · bf16 · eager · warm-up 3\n")
        assert recordings.list() == []
        assert call("analyze", str(out)).out == answer.out

    def test_a_failed_run_is_status_1(self, recordings: Library) -> None:
        answer = call("run", "--size", str(fake.CRASH), "--json")
        assert (answer.status, answer.out) == (1, "")
        lines = answer.err.splitlines()
        assert (
            "profcore: The child process ended with signal 11 (segmentation fault); "
            "its last lines are below." in lines
        )
        assert "first line of the log" in lines
        assert recordings.list()[0].status.state == "failed"

    def test_an_unknown_machine_is_told_and_the_run_is_made(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(fake.PROBE, "error")
        answer = call("run", "--size", "16")
        assert answer.status == 0
        assert "could not be asked what it can do: The driver does not answer." in answer.err
        answer = call("run", "--size", "16", "--device", "cuda:0")
        assert (answer.status, answer.out) == (1, "")
        assert answer.err.endswith("profcore: The driver does not answer.\n")

    def test_interrupted_it_ends_its_child_and_status_is_130(self, recordings: Library) -> None:
        process = start("run", "--size", str(fake.IGNORE_SIGTERM))
        until(lambda: list(recordings.root.glob("*/pid")), "the child")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (130, "")
        assert err.endswith("interrupted\n")
        assert "Traceback" not in err
        assert recordings.list()[0].status.state == "cancelled"

    def test_killed_it_leaves_no_child(self, recordings: Library) -> None:
        process = start("run", "--size", str(fake.GRANDCHILD))
        until(lambda: list(recordings.root.glob("*/pid")), "the child")
        process.kill()
        process.communicate()
        until(lambda: not marked_processes(), "the children to end")
        (recording,) = recordings.list()
        assert recording.status.state == "failed"
        assert not (recording.folder / STATUS_FILE).exists()

    def test_a_reader_that_has_seen_enough_is_no_error(self, tmp_path: Path) -> None:
        events = json.loads(fake.TRACE)["traceEvents"]
        many = [{**events[1], "name": f"operator {number}"} for number in range(5000)]
        (tmp_path / "long.json").write_text(json.dumps({"traceEvents": many}))
        process = start("analyze", str(tmp_path / "long.json"), "--json")
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "{\n"
        process.stdout.close()
        assert process.stderr.read() == ""
        process.stderr.close()
        assert process.wait() == 0


class TestDoctor:
    def test_it_says_what_can_be_recorded(self) -> None:
        answer = call("doctor")
        assert answer.status == 0
        lines = answer.out.splitlines()
        assert lines[0] == "PyTorch 2.0, Python 3.11, Toy"
        assert (
            "cuda:0 (Toy GPU, 1.00 GiB): cannot be recorded: The profiler recorded no kernel."
            in (lines)
        )
        assert "cpu (Toy CPU, 8.00 GiB): can be recorded" in lines

    def test_as_json(self, recordings: Library) -> None:
        found = json.loads(call("doctor", "--json").out)
        assert [(one["id"], one["can_record"]) for one in found["devices"]] == [
            ("cuda:0", False),
            ("cpu", True),
        ]
        assert found["data_folder"] == str(recordings.root)
        assert found["problem"] is None

    def test_without_an_answer_the_cpu_is_still_tried(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(fake.PROBE, "error")
        answer = call("doctor")
        assert answer.status == 0
        assert "could not be asked what it can do: The driver does not answer." in answer.out
        assert "cpu (CPU): can be recorded" in answer.out

    def test_nothing_works_is_status_1(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "die").touch()
        monkeypatch.setenv(fake.DIE, str(tmp_path / "die"))
        answer = call("doctor", "--json")
        assert answer.status == 1
        assert "the spare died" in json.loads(answer.out)["devices"][0]["problem"]


def test_the_command_line_does_not_import_torch_or_streamlit(tmp_path: Path) -> None:
    code = (
        "import sys; from profcore.__main__ import main; main(sys.argv[1:]);"
        "print(sorted({'torch', 'streamlit', 'altair'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "analyze", str(trace_file(tmp_path))],
        capture_output=True,
        text=True,
        check=True,
        cwd=fake.PROJECT,
    )
    assert done.stderr == "[]\n"


@pytest.mark.torch
def test_a_real_run_and_its_analysis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        children, "WORKER", (sys.executable, "-m", "profcore.worker")
    )  # not a part: torch itself
    out = tmp_path / "out"
    answer = call(
        *("run", "--size", "64", "--dtype", "fp32", "--device", "cpu"),
        *("--warmup", "1", "--steps", "3", "--out", str(out), "--json"),
    )
    assert answer.status == 0, answer.err
    found = json.loads(answer.out)
    assert len(found["steps"]) == 3
    assert {"aten::mm", "aten::add"} <= {row["name"] for row in found["operators"]}
    assert found["baseline"]["step_us_median"] > 0
    assert found["device"]["kind"] == "cpu"
    assert found["verdict"]["sentence"]
    assert call("analyze", str(out), "--json").out == answer.out
