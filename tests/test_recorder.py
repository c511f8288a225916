"""The recorder on a CPU, each run in a child process, and its timing on a fake device."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from profcore.recording import open_folder, read_averages

TESTS = Path(__file__).resolve().parent
SMALL: dict[str, object] = {"size": 32, "dtype": "fp32", "steps": 3, "device": "cpu"}
PHASES_WARM = [
    "preparing the inputs",
    "warming up",
    "timing without the profiler",
    "recording with the profiler",
]

pytestmark = pytest.mark.torch


def child(script: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(TESTS / script), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def record(folder: Path, **knobs: object) -> tuple[list[str], list[dict[str, Any]]]:
    """Run an experiment; return its phases and the events of its trace."""
    folder.mkdir()
    knobs = {**SMALL, **knobs}
    phases = child("recorder_child.py", str(folder), json.dumps(knobs))["phases"]
    return phases, events_of(folder)


def events_of(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / "trace.json.gz", "rt", encoding="utf-8") as file:
        events: list[dict[str, Any]] = json.load(file)["traceEvents"]
    return events


def names(events: list[dict[str, Any]], start: str) -> list[str]:
    return [event["name"] for event in events if event.get("name", "").startswith(start)]


def test_a_warm_run_leaves_every_file_of_a_recording(tmp_path: Path) -> None:
    phases, events = record(tmp_path / "run", device="auto")

    assert phases == PHASES_WARM
    recording = open_folder(tmp_path / "run")
    # `auto` became the device that was used.
    assert recording.experiment.device == "cpu"
    assert recording.environment is not None
    assert recording.environment.device == "cpu"
    assert recording.environment.compute_capability is None
    timings = recording.timings
    assert timings is not None
    assert timings.taken == "before"
    assert timings.device_ns_median is None
    assert timings.step_ns_p25 <= timings.step_ns_median <= timings.step_ns_p75
    # On a CPU a step is over when its call returns.
    assert timings.cpu_ns_median <= timings.step_ns_median
    assert "aten::mm" in recording.table_path.read_text(encoding="utf-8")
    averages = {row.name: row for row in read_averages(recording) or []}
    assert averages["aten::mm"].calls == 3
    # Steps 0 and 1 are the profiler's own warm-up; nothing of them is in the file.
    assert names(events, "ProfilerStep#") == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]
    assert len(names(events, "aten::mm")) == 3


WARM: dict[str, dict[str, object]] = {
    "batched": {"workload": "batched_matmul", "batch": 2},
    "linear": {"workload": "linear"},
    "chain": {"workload": "elementwise_chain"},
    "vector": {"bias": "vector", "dtype": "bf16"},
    "shapes": {"shapes": True},
}


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The events of warm experiments that need no process of their own, recorded in one."""
    folder = tmp_path_factory.mktemp("warm")
    given = {name: {**SMALL, **knobs} for name, knobs in WARM.items()}
    child("warm_child.py", str(folder), json.dumps(given))
    return {name: events_of(folder / name) for name in WARM}


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("batched", {"aten::bmm": 3, "aten::add": 3}),
        ("linear", {"aten::linear": 3, "aten::addmm": 3, "aten::add": 0}),
        ("chain", {"aten::mul": 9, "aten::add": 6, "aten::sigmoid": 3}),
        ("vector", {"aten::mm": 3, "aten::add": 3}),
    ],
)
def test_each_workload_calls_the_operators_it_is_named_for(
    warm: dict[str, list[dict[str, Any]]], name: str, operators: dict[str, int]
) -> None:
    events = warm[name]
    counts = {
        name: sum(event.get("name") == name and event.get("cat") == "cpu_op" for event in events)
        for name in operators
    }
    assert counts == operators


def test_a_cold_run_records_its_very_first_call_and_times_afterwards(tmp_path: Path) -> None:
    phases, events = record(tmp_path / "run", warmup=0)

    assert phases == [
        "preparing the inputs in host memory",
        "recording the cold start with the profiler",
        "timing without the profiler",
    ]
    timings = open_folder(tmp_path / "run").timings
    assert timings is not None
    assert timings.taken == "after"
    # Exactly the asked-for steps: the profiler's warm-up called nothing.
    assert len(names(events, "aten::mm")) == 3
    # The inputs move inside the first step and in no other.
    (moved,) = [event for event in events if event.get("name") == "move inputs to the device"]
    first = next(event for event in events if event.get("name") == "ProfilerStep#2")
    assert first["ts"] <= moved["ts"]
    assert moved["ts"] + moved["dur"] <= first["ts"] + first["dur"]
    assert timings.first_call_ns <= first["dur"] * 1000 + 1


def test_a_cold_compiled_run_shows_the_compilation_in_its_first_step(tmp_path: Path) -> None:
    _, events = record(tmp_path / "run", warmup=0, compile="default", workload="elementwise_chain")
    compiled = [event for event in events if event.get("name") == "entire_frame_compile"]
    first = next(event for event in events if event.get("name") == "ProfilerStep#2")
    assert len(compiled) == 1
    assert first["ts"] <= compiled[0]["ts"] <= first["ts"] + first["dur"]
    # The fresh compile cache of this run is not left behind.
    assert not (tmp_path / "run" / "compile-cache").exists()


def test_shapes_are_recorded_when_asked_for(warm: dict[str, list[dict[str, Any]]]) -> None:
    mm = next(event for event in warm["shapes"] if event.get("name") == "aten::mm")
    assert mm["args"]["Input Dims"][:2] == [[32, 32], [32, 32]]


def test_a_gpu_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; import sys; "
        "from profcore.errors import RunError; from profcore.experiment import Experiment; "
        "from profcore.recorder import record\n"
        "try: record(Experiment(device='cuda:77'), Path(sys.argv[1]), on_phase=print)\n"
        "except RunError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith("There is no cuda:77: torch sees ")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def baseline() -> dict[str, Any]:
    """What was timed on each fake device: `<ns per step>,<ns its first call is held up>`."""
    return child("baseline_child.py", "3000,0", "980000,0", "2000000000,0", "0,600000000")


def test_a_launch_bound_step_takes_what_the_cpu_needs(baseline: dict[str, Any]) -> None:
    # 20 µs of CPU, 3 µs of device a call: the device waits. 50 calls (the most) a repeat:
    # 50 · 20 µs, and the last call's 3 µs after it: 1,003 µs / 50.
    timed = baseline["3000,0"]
    assert timed["calls"] == 50
    assert timed["cpu_ns"] == 20_000
    assert timed["step_ns"] == pytest.approx(20_060)
    assert timed["device_ns"] == pytest.approx(20_060)
    assert timed["repeats"] == 200


def test_a_device_bound_step_takes_what_the_device_needs(baseline: dict[str, Any]) -> None:
    # 20 µs of CPU, 980 µs of device: the first call's 20 µs, then 980 µs each. The first repeat
    # of one call reads 1,000 µs, so 10 calls fill 10 ms: (20 + 10 · 980) / 10 = 982 µs, after
    # which 10 calls still fill 10 ms best.
    timed = baseline["980000,0"]
    assert timed["calls"] == 10
    assert timed["cpu_ns"] == 20_000
    assert timed["step_ns"] == pytest.approx(982_000)
    assert timed["quartiles"] == pytest.approx([982_000, 982_000])


def test_a_slow_step_is_timed_at_least_three_times(baseline: dict[str, Any]) -> None:
    # 2 s a step: each repeat is one call and passes the budget of 1 s, but three are made.
    timed = baseline["2000000000,0"]
    assert timed["calls"] == 1
    assert timed["repeats"] == 3


def test_a_call_that_was_held_up_does_not_set_the_length_of_a_repeat(
    baseline: dict[str, Any],
) -> None:
    # The first call takes 600 ms, longer than the settling of 500 ms; all others take 20 µs, of
    # which 50, the most, make a repeat.
    timed = baseline["0,600000000"]
    assert timed["calls"] == 50


def test_turns_share_what_slows_the_machine() -> None:
    # 20 and 22 µs a step, twice that from 0.45 s on. Each is called for 125 ms, then 50 calls make
    # a turn: a round takes 2.1 ms, later 4.2 ms, so the second of time would hold some 290 rounds,
    # of which 200, the most, are made.
    timed = child("turns_child.py")
    mine_ns, other_ns = timed["mine_ns"], timed["other_ns"]
    assert len(mine_ns) == len(other_ns) == 200
    assert (mine_ns[0], other_ns[0]) == (20_000, 22_000)
    assert (mine_ns[-1], other_ns[-1]) == (40_000, 44_000)
    ratios = [other / mine for mine, other in zip(mine_ns, other_ns, strict=True)]
    # The change falls into one round; all others have the true ratio.
    assert sum(abs(ratio - 1.1) > 1e-9 for ratio in ratios) <= 1
    # Both were called before, then they take turns, and every second round the other goes first.
    assert timed["turns"][:8] == [f"ready {index}" for index in (0, 1, 0, 1, 1, 0, 0, 1)]


def test_another_experiment_is_timed_by_turns_before_the_recording(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    knobs = {"size": 32, "dtype": "fp32", "steps": 3, "device": "auto"}
    beside = {"size": 32, "dtype": "tf32", "device": "auto"}
    told = child("recorder_child.py", str(tmp_path / "run"), json.dumps(knobs), json.dumps(beside))
    assert told["phases"] == [
        *PHASES_WARM[:-1],
        "timing by turns with the other side",
        PHASES_WARM[-1],
    ]
    found = open_folder(tmp_path / "run").beside
    assert found is not None
    assert (found.experiment.dtype, found.experiment.device) == ("tf32", "cpu")
    assert 5 <= len(found.step_ns) == len(found.other_step_ns) <= 200
    assert min(*found.step_ns, *found.other_step_ns) > 0
    # What is shared is set back for the program that is recorded.
    assert told["precision"] == "highest"


def test_waiting_child_has_touched_no_gpu() -> None:
    code = (
        "import profcore.recorder, torch; assert not torch.cuda.is_initialized(); "
        "import sys; assert 'torch._inductor.config' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
