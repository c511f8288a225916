"""A real sweep on the CPU, in a child process."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import msgspec
import pytest

from profcore import ceilings
from profcore.recording import STATUS_FILE, open_folder, read_ceilings
from tests.rule_traces import MEASURED
from tests.test_recorder import child, record

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.devices import Ceilings

pytestmark = pytest.mark.torch

AGAIN = "measuring again what the device can do"
PLAN = {
    "base": {"dtype": "fp32", "steps": 2, "device": "cpu"},
    "sizes": [32, 16],
    "dtypes": ["fp32", "bf16"],
    "refine": 2,
}


def test_every_point_is_a_recording_and_what_is_done_is_skipped(tmp_path: Path) -> None:
    # WHEN
    (tmp_path / "sweep").mkdir()
    told = child("sweep_child.py", str(tmp_path / "sweep"), json.dumps(PLAN))

    # THEN all points are timed before the first of them is recorded.
    assert [phase for phase in told["phases"] if phase != AGAIN] == [
        "measuring what the device can do",
        "timing every point without the profiler",
        "recording every point with the profiler",
    ]
    points = [
        "matmul_add · 16 · fp32 · eager · warm-up 3",
        "matmul_add · 32 · fp32 · eager · warm-up 3",
        "matmul_add · 16 · bf16 · eager · warm-up 3",
        "matmul_add · 32 · bf16 · eager · warm-up 3",
    ]
    assert told["points"] == [f"{number}/4 {text}" for number, text in enumerate(points, 1)] * 2
    folders = sorted((tmp_path / "sweep/points").iterdir())
    assert [folder.name for folder in folders] == ["000", "001", "002", "003"]
    for folder, text in zip(folders, points, strict=True):
        recording = open_folder(folder)
        assert recording.title == text
        assert recording.status.state == "done"
        assert recording.environment is not None
        timings = recording.timings
        assert timings is not None
        assert timings.taken == "before"
        assert len(timings.step_ns) == timings.repeats >= 3
        assert min(timings.step_ns) <= timings.step_ns_median <= max(timings.step_ns)
        assert timings.compile_cache == ""
        with gzip.open(recording.trace_path, "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        steps = [event for event in events if event.get("name", "").startswith("ProfilerStep#")]
        assert len(steps) == 2

    # THEN the ceilings were measured, kept for the next sweep, and put beside this one.
    kept_by = ceilings.load(tmp_path, recording.environment)
    assert kept_by is not None
    assert_of_a_cpu(kept_by)
    assert ceilings.beside(tmp_path / "sweep", tmp_path / "x", recording.environment) == kept_by

    # GIVEN one point that was timed only, and one that is not there
    (folders[2] / STATUS_FILE).write_text(json.dumps({"state": "cancelled"}))
    for path in folders[3].iterdir():
        path.unlink()
    folders[3].rmdir()
    kept = folders[0].stat().st_mtime_ns
    timed = (folders[2] / "timings.json").read_bytes()

    # GIVEN ceilings that no point can reach
    ceilings.save(tmp_path, recording.environment, with_rate(kept_by, 1e18))

    # WHEN it is run again THEN one point is timed, and two are recorded.
    told = child("sweep_child.py", str(tmp_path / "sweep"), json.dumps(PLAN))
    assert told["phases"] == [
        "timing every point without the profiler",
        "recording every point with the profiler",
    ]
    assert told["points"] == [f"4/4 {points[3]}", f"1/2 {points[2]}", f"2/2 {points[3]}"]
    assert [open_folder(folder).status.state for folder in folders] == ["done"] * 4
    assert folders[0].stat().st_mtime_ns == kept
    assert (folders[2] / "timings.json").read_bytes() == timed

    # GIVEN ceilings that every point beats WHEN it is run again THEN they are measured again.
    ceilings.save(tmp_path, recording.environment, with_rate(kept_by, 1.0))
    told = child("sweep_child.py", str(tmp_path / "sweep"), json.dumps(PLAN))
    assert told["phases"] == [
        "timing every point without the profiler",
        AGAIN,
        "recording every point with the profiler",
    ]
    raised = ceilings.load(tmp_path, recording.environment)
    assert raised is not None
    assert min(raised.flops_per_s.values()) > 1e6
    assert read_ceilings(tmp_path / "sweep") == raised


def test_a_run_takes_the_ceilings_with_it_unless_it_beats_them(tmp_path: Path) -> None:
    record(tmp_path / "first")
    first = open_folder(tmp_path / "first")
    assert first.ceilings is None
    assert first.environment is not None
    high = msgspec.structs.replace(MEASURED, flops_per_s={"fp32": 1e18})
    ceilings.save(tmp_path, first.environment, high)
    record(tmp_path / "below")
    assert open_folder(tmp_path / "below").ceilings == high
    ceilings.save(tmp_path, first.environment, with_rate(high, 1.0))
    record(tmp_path / "above")
    assert open_folder(tmp_path / "above").ceilings is None


def assert_of_a_cpu(found: Ceilings) -> None:
    assert found.is_measured
    assert set(found.flops_per_s) >= {"fp32", "bf16"}
    assert found.flops_per_s["fp32"] > 1e8
    assert found.memory_bytes_per_s > 1e7
    assert found.launch_ns is None


def with_rate(found: Ceilings, flops_per_s: float) -> Ceilings:
    rates = dict.fromkeys(found.flops_per_s, flops_per_s)
    return msgspec.structs.replace(found, flops_per_s=rates)


def test_compile_modes_at_one_size_are_timed_by_turns_with_eager(tmp_path: Path) -> None:
    (tmp_path / "sweep").mkdir()
    plan = {
        "base": PLAN["base"],
        "sizes": [16],
        "compiles": ["eager", "default", "reduce-overhead"],
    }
    child("sweep_child.py", str(tmp_path / "sweep"), json.dumps(plan))
    eager, compiled, again = map(open_folder, sorted((tmp_path / "sweep/points").iterdir()))
    assert eager.beside is None
    assert compiled.beside is not None
    assert compiled.beside.experiment == eager.experiment
    assert len(compiled.beside.step_ns) == len(compiled.beside.other_step_ns) >= 5
    # The second mode finds in the cache what the first one compiled of the same program.
    caches = [one.timings.compile_cache for one in (eager, compiled, again) if one.timings]
    assert caches == ["", "fresh", "shared"]


def test_a_device_that_is_not_there_ends_the_sweep(tmp_path: Path) -> None:
    plan = {"base": {"size": 16, "device": "cuda:7"}}
    with pytest.raises(AssertionError, match="There is no cuda:7"):
        child("sweep_child.py", str(tmp_path), json.dumps(plan))
