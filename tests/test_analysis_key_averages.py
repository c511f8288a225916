"""The operators table is torch's own (`key_averages`), to the nanosecond.

Checked on programs that a child process records on this machine's CPU, on the samples that ship
with the program, and on every recording under the folder that PROFCORE_RECORDINGS names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import profcore
from profcore.recording import AVERAGES_FILE
from tests import averages

PROGRAMS = ("nested_operators", "annotations", "loops", "backward", "threads")


def recordings() -> list[Path]:
    """Return the folders with both a trace and torch's table."""
    roots = [Path(profcore.__file__).parent / "samples"]
    if extra := os.environ.get("PROFCORE_RECORDINGS"):
        roots.append(Path(extra))
    return sorted(path.parent for root in roots for path in root.glob(f"*/{AVERAGES_FILE}"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("averages")
    command = [sys.executable, "-m", "tests.averages_child", str(folder)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


@pytest.mark.torch
@pytest.mark.parametrize("suffix", ["", "_steps"], ids=["plain", "steps"])
@pytest.mark.parametrize("program", PROGRAMS)
class TestOnTheCpu:
    def test_every_row_is_torchs(self, recorded: Path, program: str, suffix: str) -> None:
        analysis, stated = averages.load(recorded / (program + suffix))
        assert averages.cpu_differences(analysis, stated) == []
        total = sum(averages.figures(one)["self_cpu_ns"] for one in stated)
        assert analysis.totals.self_cpu_ns == total


@pytest.mark.parametrize("folder", recordings(), ids=lambda path: path.name)
class TestRecordings:
    """Recordings of a GPU, made with torch 2.11 or later."""

    def test_calls_and_total_times_are_torchs(self, folder: Path) -> None:
        found = averages.cpu_differences(*averages.load(folder))
        assert [one for one in found if one.figure in {"calls", "total_cpu_ns"}] == []

    def test_self_times_are_torchs_where_rows_nest(self, folder: Path) -> None:
        analysis, stated = averages.load(folder)
        found = averages.cpu_differences(analysis, stated)
        off = {one.name: one.ours - one.torch for one in found if one.figure == "self_cpu_ns"}
        assert off == averages.straddle_shifts(analysis)
        total = sum(averages.figures(one)["self_cpu_ns"] for one in stated)
        assert analysis.totals.self_cpu_ns == total

    def test_gpu_times_are_torchs_or_right(self, folder: Path) -> None:
        # Until 2.14 torch lets overhead rows claim the kernels of the operator around them, and
        # calls outside any operator those of whichever operator has their number (#193392). Such
        # claims swell the totals of all rows around them.
        analysis, stated = averages.load(folder)
        found = averages.cpu_differences(analysis, stated)
        claims = [one for one in found if one.figure == "self_gpu_ns"]
        assert {one.kind for one in claims} <= {"runtime", "overhead"}
        assert all(one.ours == 0 for one in claims)
        for one in (one for one in found if one.figure == "total_gpu_ns"):
            assert claims
            assert one.torch > one.ours
            if one.kind in {"operator", "annotation"}:
                assert one.ours == averages.launched_inside_ns(analysis, one.name)
            else:
                assert one.ours == 0

    def test_every_kernel_and_copy_is_torchs(self, folder: Path) -> None:
        assert averages.device_differences(*averages.load(folder)) == []
