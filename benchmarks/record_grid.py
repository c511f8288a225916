"""The child of calibrate.py: records cases as runs of the program.

Usage: python benchmarks/record_grid.py FOLDER DEVICE NAME ...
Warm cases share one process (all are timed before the first is recorded, as in a sweep); a cold
case must be the only one. Each becomes FOLDER/NAME with the files of a recording.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from calibration_cases import COLD, DRY, DRY_COLD, WARM, Case

from profcore.experiment import Experiment
from profcore.files import read_json, write_json
from profcore.recorder import record, record_sweep
from profcore.recording import EXPERIMENT_FILE, STATUS_FILE, Status
from profcore.sweep import POINTS_FOLDER, SweepPlan

if TYPE_CHECKING:
    from profcore.experiment import CompileMode


class Grid(SweepPlan, frozen=True, kw_only=True):
    """A sweep over a list of experiments instead of lists of values."""

    cases: tuple[Experiment, ...] = ()

    def rows(self) -> tuple[tuple[Experiment, ...], ...]:
        """Return each experiment as a row of its own, on the device of the base."""
        return tuple(
            (msgspec.structs.replace(case, device=self.base.device),) for case in self.cases
        )

    def values(self, axis: str) -> tuple[object, ...]:
        """Return the compile modes of the cases; the sweep starts the compiler for them."""
        if axis != "compiles":
            return super().values(axis)
        modes: dict[CompileMode, None] = dict.fromkeys(case.compile for case in self.cases)
        return tuple(modes)


def say(text: str) -> None:
    """Print with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def record_warm(cases: list[Case], folder: Path, device: str) -> None:
    """Record the cases in this process and put each into a folder of its name."""
    scratch = folder / "grid"
    scratch.mkdir(parents=True, exist_ok=True)
    grid = Grid(base=Experiment(device=device), cases=tuple(case.experiment for case in cases))
    record_sweep(grid, scratch, on_phase=say, on_point=lambda point: say(point.text))
    names = {case.experiment: case.name for case in cases}
    for point in sorted((scratch / POINTS_FOLDER).iterdir()):
        made = read_json(point / EXPERIMENT_FILE, Experiment)
        if made is not None:
            point.rename(folder / names[msgspec.structs.replace(made, device="auto")])


def main() -> int:
    """Record what is named."""
    folder, device, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    known = {case.name: case for case in (*DRY, *DRY_COLD, *WARM, *COLD)}
    if device == "cpu":
        known |= {case.name: case for case in (*DRY, *DRY_COLD)}
    cases = [known[name] for name in names]
    if cases[0].experiment.warmup:
        record_warm(cases, folder, device)
        return 0
    (case,) = cases
    place = folder / case.name
    place.mkdir(parents=True)
    experiment = msgspec.structs.replace(case.experiment, device=device)
    write_json(place / EXPERIMENT_FILE, experiment)
    record(experiment, place, on_phase=say)
    write_json(place / STATUS_FILE, Status(state="done"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
