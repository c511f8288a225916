"""What was calibrated on real GPUs still holds: from the recorded fractions, and from the traces.

A golden file is the outcome of benchmarks/calibrate.py on one GPU: programs whose truth is known by
construction, what the verdict said, which alarms fired, and which predictions held.
"""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from profcore.analysis import Analysis
from profcore.files import read_json
from profcore.recording import Timings, open_folder
from profcore.rules import check_all, judge
from profcore.rules.constants import (
    LOADER_NOTE_FRACTION,
    SYNCHRONISE_SHARE_FRACTION,
    WAIT_SHARE_FRACTION,
)
from profcore.rules.limits import gpu_bound, limit_profiled, limit_unprofiled
from profcore.trace import read

GOLDEN = sorted((Path(__file__).parent / "golden").glob("calibration-*.json"))
TRUTHS = {
    "overhead-bound", "compute-bound", "memory-bound", "copy-bound", "waiting", "input-bound",
    "compiling",
}  # fmt: skip
REASONS = {"R1": "compiling", "S6": "input-bound", "S1": "waiting", "S5": "waiting"}
CONTROLS_MIN = 6
PREDICTIONS_MIN = 8


@cache
def golden(path: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


CASES = [(path, case) for path in GOLDEN for case in golden(path)["cases"]]
IDS = [f"{path.stem}-{case['name']}" for path, case in CASES]


def verdict_from(fractions: dict[str, float | None], reason: str) -> str:
    """Decide as the verdict does, from recorded fractions alone."""
    unprofiled, profiled = fractions["busy_unprofiled"], fractions["busy_profiled"]
    at_most = fractions["busy_at_most"]
    if unprofiled is not None:
        limit = limit_unprofiled(unprofiled, profiled)
    elif profiled is not None and at_most is not None:
        limit = limit_profiled(profiled, at_most)
    else:
        return "cannot-tell"
    if limit == "gpu":
        return gpu_bound(
            copying=fractions["copying"],
            flops_fraction=fractions["flops"],
            bytes_fraction=fractions["bytes"],
        )
    if limit == "cpu":
        return REASONS.get(reason, "overhead-bound")
    return {"both": "balanced", "undecided": "cannot-tell"}[limit]


def test_there_is_a_golden_file() -> None:
    assert GOLDEN


@pytest.mark.parametrize(("path", "case"), CASES, ids=IDS)
class TestCases:
    def test_the_thresholds_still_give_this_verdict(self, path: Path, case: dict[str, Any]) -> None:
        del path
        reason = case["reason"]
        # R1 in a cold start: only the first step was compiled, and the verdict looks at the others.
        is_cold = reason == "R1" and case["verdict"] == "overhead-bound"
        found = verdict_from(case["fractions"], "" if is_cold else reason)
        assert found == case["verdict"]

    def test_the_reason_is_beyond_its_threshold(self, path: Path, case: dict[str, Any]) -> None:
        del path
        fractions = case["fractions"]
        waits = (
            fractions["blocked"] >= WAIT_SHARE_FRACTION
            or fractions["synchronised"] >= SYNCHRONISE_SHARE_FRACTION
        )
        loads = fractions["loader"] >= LOADER_NOTE_FRACTION
        if case["reason"] in {"S1", "S5"}:
            assert waits
        elif case["reason"] == "S6":
            assert loads
        elif case["verdict"] == "overhead-bound":
            assert not waits or "S2" in case["warnings"]  # it waits for a copy, which says so
            assert not loads

    def test_no_verdict_is_wrong(self, path: Path, case: dict[str, Any]) -> None:
        del path
        if not case["truth"] or case["verdict"] == case["truth"]:
            return
        # Undecided is an answer, but only where no unprofiled step time is known.
        assert case["verdict"] == "cannot-tell"
        assert case["fractions"]["busy_unprofiled"] is None

    def test_a_healthy_control_has_no_alarm(self, path: Path, case: dict[str, Any]) -> None:
        del path
        if case["is_healthy"]:
            assert case["warnings"] == case["trust"] == []


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
class TestWhole:
    def test_every_truth_and_enough_controls_are_there(self, path: Path) -> None:
        cases = golden(path)["cases"]
        assert {case["truth"] for case in cases} >= TRUTHS
        assert {case["verdict"] for case in cases} >= TRUTHS
        assert sum(case["is_healthy"] for case in cases) >= CONTROLS_MIN

    def test_predictions_were_run_and_held(self, path: Path) -> None:
        predictions = golden(path)["predictions"]
        assert len({one["rule"] for one in predictions}) >= PREDICTIONS_MIN
        assert all(one["held"] for one in predictions)
        assert all(one["measured_after"] for one in predictions)

    def test_all_rules_still_say_the_same_of_the_kept_traces(
        self, path: Path, tmp_path: Path
    ) -> None:
        archive = path.with_suffix(".zip")
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(tmp_path)
        asked = 0
        for case in golden(path)["cases"]:
            analysis = opened(tmp_path, case["name"])
            if analysis is None:
                continue  # too large to be kept
            asked += 1
            fired: dict[str, list[str]] = {"warning": [], "trust": []}
            for finding in check_all(analysis):
                if finding.state == "fired" and finding.kind in fired:
                    fired[finding.kind].append(finding.rule)
            assert judge(analysis).bound == case["verdict"], case["name"]
            assert fired["warning"] == case["warnings"], case["name"]
            assert fired["trust"] == case["trust"], case["name"]
        assert asked >= len(golden(path)["cases"]) - 5


def opened(folder: Path, name: str) -> Analysis | None:
    """Open a run of the program, or the trace of a known program."""
    if (folder / name / "trace.json.gz").exists():
        recording = open_folder(folder / name)
        return Analysis.of_recording(recording, read(recording.trace_path))
    trace = folder / "programs" / f"{name}.json.gz"
    if not trace.exists():
        return None
    timings = read_json(trace.with_name(f"{name}.timings.json"), Timings)
    return Analysis(read(trace), timings=timings)
