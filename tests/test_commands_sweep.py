"""`sweep` and `compare` on the command line, with children that play a part."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from profcore import sweeps
from profcore.commands import compare_report, sweep_report
from profcore.files import write_json
from profcore.recording import ENVIRONMENT_FILE, TIMINGS_FILE
from tests import fake_worker as fake
from tests.processes import marked_processes, nothing_left, until
from tests.rule_traces import environment
from tests.test_commands import _data, call, recordings, start

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.library import Library

__all__ = ["_data", "recordings"]  # fixtures

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)


class TestSweep:
    def test_points_and_claims_as_json(self, recordings: Library) -> None:
        answer = call("sweep", "--sizes", "16,30", "--dtype", "fp32", "--device", "cpu", "--json")
        assert answer.status == 0, answer.err
        found = json.loads(answer.out)
        (sweep,) = sweeps.list_sweeps(recordings)
        assert found["id"] == sweep.id
        assert found["state"] == "done"
        assert [point["id"] for point in found["points"]] == [f"{sweep.id}-000", f"{sweep.id}-001"]
        point = found["points"][1]
        assert (point["size"], point["dtype"], point["state"]) == (30, "fp32", "done")
        assert (point["step_us_median"], point["cpu_us_median"]) == (30, 30)
        assert (point["busy_fraction"], point["gpu_us"], point["launches"]) == (None, None, None)
        # 2·30³ + 30² = 54,900 FLOP in 30 µs = 1.83 GFLOP/s
        assert point["flops_per_s"] == 1.83e9
        assert [found["state"] for found in found["crossovers"]] == ["no GPU", "no GPU"]
        for name in found:
            assert f'"{name}"' in (sweep_report.__doc__ or "")
        for name in point:
            assert f'"{name}"' in (sweep_report.__doc__ or "")

    def test_text_has_a_line_per_point(self) -> None:
        answer = call("sweep", "--sizes", "16,30", "--compile", "eager,default", "--device", "cpu")
        assert answer.status == 0
        lines = answer.out.splitlines()
        assert lines[0] == "matmul_add · size 16 to 30 · bf16 · eager, default"
        assert len([line for line in lines if line.endswith("compile default")]) == 2
        assert "compile default at size 16: cannot be told; a compiled step takes" in answer.out

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("--sizes", "64,big"), "sizes has 'big'; give whole numbers"),
            (("--sizes", ","), "sizes is empty"),
            (("--sizes", "8"), "size is 8; give 16 to 16,384"),
            (("--warmup", "0"), "only the first could be cold"),
            (("--compile", "eager,fast"), "compile is 'fast'"),
            (("--refine", "many"), "refine has 'many'"),
            (("--resume", "0123456789ab"), "There is no recording 0123456789ab"),
        ],
    )
    def test_bad_input_is_one_line(self, arguments: tuple[str, ...], says: str) -> None:
        answer = call("sweep", *arguments)
        assert answer.status == 2
        assert answer.out == ""
        assert answer.err.startswith(f"profcore: {says}") or says in answer.err
        assert answer.err.count("\n") == 1

    def test_ctrl_c_keeps_points_and_resume_makes_the_rest(self, recordings: Library) -> None:
        process = start("sweep", "--sizes", f"{fake.DONE},{fake.IGNORE_SIGTERM}", "--device", "cpu")
        until(lambda: any(sweep.done for sweep in sweeps.list_sweeps(recordings)), "a point")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        assert err.endswith("interrupted\n")
        until(lambda: not marked_processes(), "the child to end")
        (sweep,) = sweeps.list_sweeps(recordings)
        assert sweep.status.state == "cancelled"
        assert [point.status.state for point in sweep.points] == ["done", "cancelled"]

        (sweep.folder / "go").touch()
        answer = call("sweep", "--resume", sweep.id, "--json")
        assert answer.status == 0
        assert [point["state"] for point in json.loads(answer.out)["points"]] == ["done", "done"]
        again = call("sweep", "--resume", sweep.id)
        assert again.status == 2
        assert "is complete" in again.err

    def test_a_sweep_that_fails_is_status_1(self) -> None:
        answer = call("sweep", "--sizes", f"{fake.SILENT}", "--device", "cpu")
        assert answer.status == 1
        assert "profcore: The child process ended with status 3" in answer.err


class TestCompare:
    def recorded(self, library: Library, *knobs: str, step_us: int = 30) -> str:
        answer = call("run", "--size", f"{fake.DONE}", "--device", "cpu", *knobs)
        assert answer.status == 0
        recording = library.list()[0]
        write_json(recording.folder / TIMINGS_FILE, fake.timings(step_us))
        write_json(recording.folder / ENVIRONMENT_FILE, environment("cpu"))
        return recording.id

    def test_two_recordings_as_json(self, recordings: Library) -> None:
        a, b = self.recorded(recordings), self.recorded(recordings, "--dtype", "fp32", step_us=60)
        answer = call("compare", a, b, "--json")
        assert answer.status == 0
        found = json.loads(answer.out)
        assert found["comparable"] is True
        assert found["knobs"] == [{"knob": "dtype", "a": "bf16", "b": "fp32"}]
        assert (found["step"]["ratio"], found["step"]["is_real"]) == (2.0, True)
        assert found["verdict"]["sentence"] == (
            "fp32 is 2.00× slower than bf16: 60.0 µs against 30.0 µs a step."
        )
        assert found["operators"][0]["name"] in {"aten::mm", "ProfilerStep*"}
        assert found["chains"]["a"] == [{"text": "aten::mm", "times": 1}]
        for part in (found, found["a"], found["step"], found["operators"][0], found["verdict"]):
            for name in part:
                assert f'"{name}"' in (compare_report.__doc__ or "")

    def test_text_begins_with_what_differs(self, recordings: Library) -> None:
        a, b = self.recorded(recordings), self.recorded(recordings)
        answer = call("compare", a, b)
        assert answer.status == 0
        assert answer.out.startswith("A: matmul_add · 16 · bf16 · eager · warm-up 3\nB: ")
        assert "No difference beyond noise: 30.0 µs (B) against 30.0 µs (A)" in answer.out

    def test_several_runs_of_a_side(self, recordings: Library) -> None:
        a = [self.recorded(recordings, step_us=us) for us in (30, 31)]
        b = self.recorded(recordings, "--dtype", "fp32", step_us=60)
        found = json.loads(call("compare", ",".join(a), b, "--json").out)
        assert (found["a"]["runs"], found["b"]["runs"]) == (2, 1)
        assert found["a"]["step_us_median"] == 30.5
        mixed = call("compare", f"{a[0]},{b}", a[1])
        assert mixed.status == 2
        assert "mixes different experiments" in mixed.err

    def test_again_records_both_by_turns(self, recordings: Library) -> None:
        a, b = self.recorded(recordings), self.recorded(recordings, "--dtype", "fp32")
        answer = call("compare", a, b, "--again", "2", "--json")
        assert answer.status == 0, answer.err
        turns = [line for line in answer.err.splitlines() if ", run " in line]
        assert turns == ["A, run 1 of 2", "B, run 1 of 2", "A, run 2 of 2", "B, run 2 of 2"]
        made = [recording.experiment.dtype for recording in recordings.list()[:4]]
        assert made == ["fp32", "bf16", "fp32", "bf16"]

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("nothing", "nowhere"), "'nothing' is no file"),
            ((",", "x"), "One side is empty"),
        ],
    )
    def test_bad_input_is_one_line(self, arguments: tuple[str, ...], says: str) -> None:
        answer = call("compare", *arguments)
        assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert says in answer.err

    def test_traces_can_be_compared_and_not_made_again(self, tmp_path: Path) -> None:
        path = tmp_path / "toy.json"
        path.write_bytes(fake.TRACE)
        answer = call("compare", str(path), str(path))
        assert answer.status == 0
        assert "not the same: At least one side is an opened trace" in answer.out
        again = call("compare", str(path), str(path), "--again", "2")
        assert again.status == 2
        assert "Only recordings can be made again" in again.err
        assert call("compare", str(path), str(path), "--again", "99").status == 2
