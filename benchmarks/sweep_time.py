"""From a click to a finished sweep, with a warm spare child; prints where the seconds went.

Usage: PYTHONPATH=. python benchmarks/sweep_time.py [--repeats 2] [--keep FOLDER]
The sweep is that of the page's first visit on a GPU: matmul_add, 16 to 8192, eager and default
mode, with three sizes added to each line. The first repeat on a machine also measures its ceilings.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.library import Library
from profcore.recording import ACTIVE
from profcore.sweep import SweepPlan

SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
POLL_S = 0.02
SPARE_S = 20.0
"""Pause before the click: the spare child has imported torch by then."""


def main() -> None:
    """Print a line per phase and point, and the whole time from the click."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--keep", type=Path, help="keep the sweeps in this folder")
    arguments = parser.parse_args()
    plan = SweepPlan(
        base=Experiment(device=arguments.device),
        sizes=tuple(size for size in SIZES if size <= arguments.largest),
        compiles=("eager", "default"),
        refine=3 if arguments.device.startswith("cuda") else 0,
    )
    with tempfile.TemporaryDirectory() as scratch:
        library = Library(arguments.keep or Path(scratch))
        for _ in range(arguments.repeats):
            runner = JobRunner(library)
            try:
                time.sleep(SPARE_S)
                _sweep(runner, plan)
            finally:
                runner.close()


def _sweep(runner: JobRunner, plan: SweepPlan) -> None:
    began_s = time.monotonic()
    sweep_id = runner.submit_sweep(plan)
    seen: list[tuple[float, str]] = [(0.0, "click")]
    while (view := runner.view(sweep_id)) is not None and view.state in ACTIVE:
        phase = view.phases[-1].name if view.phases else view.state
        now = f"{phase}: {view.point.text}" if view.point else phase
        if now != seen[-1][1]:
            seen.append((time.monotonic() - began_s, now))
        time.sleep(POLL_S)
    seen.append((time.monotonic() - began_s, view.state if view else "gone"))
    for (start_s, what), (end_s, _) in pairwise(seen):
        print(f"{start_s:7.2f} s  +{end_s - start_s:5.2f}  {what}")
    print(f"{seen[-1][0]:7.2f} s  {seen[-1][1]}: from the click to the last file", flush=True)


if __name__ == "__main__":
    main()
