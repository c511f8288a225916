# ruff: noqa: S311 - drawing pairs is no secret
"""How often does a comparison err on this machine?

Runs one experiment many times through the real queue, each in a child process of its own, and asks
of pairs drawn from these runs: are two identical ones told apart (they should not be, in at least
95 of 100), and is a step that is 10 % slower found (it should be, in at least 95 of 100)?

The slower side is real where that can be built: eleven matrices in a batch instead of ten are 10 %
more of the same work, and 10 % more time where the device sets the pace. Where the CPU sets the
pace more work takes no more time; there the times of the second side are multiplied by 1.1, so the
noise is that of real runs and only the slowdown is made.

    python benchmarks/compare_noise.py                 the first GPU, or the CPU
    python benchmarks/compare_noise.py --time 300      stop recording after 300 s
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from profcore.comparison import step_difference
from profcore.comparison.noise import process_noise_fraction
from profcore.experiment import Experiment
from profcore.jobs import JobRunner, Limits
from profcore.library import Library
from profcore.recording import ACTIVE, Timings
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.machine import Machine

PAIRS = 1000
"""Pairs of samples drawn for each rate."""
SLOWER = 1.1
RUNS_MIN = 6
PER_SIDE = (1, 4, 5, 8)
TIMES = ("step_ns_median", "step_ns_p25", "step_ns_p75")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is run, and what stands for the slower side."""

    name: str
    base: Experiment
    slower: Experiment | None
    """None: the times of the base, multiplied."""


def cases(machine: Machine) -> list[Case]:
    """Return a case in which the device sets the pace and one in which the CPU does."""
    if machine.gpu is not None:
        heavy: dict[str, Any] = {"workload": "batched_matmul", "size": 2048, "dtype": "bf16"}
        light = Experiment(size=64, dtype="bf16", steps=1)
    else:
        heavy = {"workload": "batched_matmul", "size": 256, "dtype": "fp32"}
        light = Experiment(size=32, dtype="fp32", steps=1)
    return [
        Case(
            name="the device sets the pace",
            base=Experiment(batch=10, steps=1, **heavy),
            slower=Experiment(batch=11, steps=1, **heavy),
        ),
        Case(name="the CPU sets the pace", base=light, slower=None),
    ]


def record(runner: JobRunner, library: Library, experiment: Experiment) -> Timings:
    """Make one run and return its unprofiled times."""
    run_id = runner.submit(experiment)
    while (view := runner.view(run_id)) is None or view.state in ACTIVE:
        time.sleep(0.05)
    timings = library.open(run_id).timings
    if view.state != "done" or timings is None:
        message = f"{run_id} is {view.state}: {view.message}"
        raise SystemExit(message)
    library.delete(run_id)
    return timings


def rate(a: list[Timings], b: list[Timings], count: int) -> float | None:
    """Return how often two samples of `count` runs are told apart; None for too few runs."""
    same = a is b
    if len(a) < 2 * count or len(b) < len(a):
        return None
    draw = random.Random(0)
    hits = 0
    for _ in range(PAIRS):
        if same:
            chosen = draw.sample(a, 2 * count)
            left, right = chosen[:count], chosen[count:]
        else:
            # Other places on either side, where there are enough: a run that meets itself
            # multiplied would know its own noise.
            places = range(len(a))
            mine = draw.sample(places, count)
            rest = [place for place in places if place not in mine]
            theirs = draw.sample(rest if len(rest) >= count else list(places), count)
            left, right = [a[place] for place in mine], [b[place] for place in theirs]
        hits += step_difference(left, right).is_real
    return hits / PAIRS


def multiplied(timings: Timings) -> Timings:
    """Return the times of a step that is 10 % slower."""
    changed: dict[str, Any] = {name: getattr(timings, name) * SLOWER for name in TIMES}
    changed["cpu_ns_median"] = timings.cpu_ns_median * SLOWER
    changed["step_ns"] = [value * SLOWER for value in timings.step_ns]
    return msgspec.structs.replace(timings, **changed)


def main() -> None:
    """Record, draw pairs, and print a table per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=420.0, help="seconds of recording in all")
    parser.add_argument("--runs", type=int, default=40, help="runs of each side at most")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        runner = JobRunner(library, limits=Limits(queued_max=2))
        try:
            while runner.machine is None and not runner.machine_problem:
                time.sleep(0.05)
            if runner.machine is None:
                raise SystemExit(runner.machine_problem)
            chosen = cases(runner.machine)
            for case in chosen:
                stop_s = time.monotonic() + arguments.time / len(chosen)
                show(case, *collect(case, runner, library, stop_s=stop_s, runs=arguments.runs))
        finally:
            runner.close()


def collect(
    case: Case, runner: JobRunner, library: Library, *, stop_s: float, runs: int
) -> tuple[list[Timings], list[Timings]]:
    """Record both sides by turns until the time is up."""
    base: list[Timings] = []
    slower: list[Timings] = []
    while len(base) < runs and (time.monotonic() < stop_s or len(base) < RUNS_MIN):
        base.append(record(runner, library, case.base))
        if case.slower is not None:
            slower.append(record(runner, library, case.slower))
    return base, slower or [multiplied(timings) for timings in base]


def show(case: Case, base: list[Timings], slower: list[Timings]) -> None:
    """Print the noise that was seen and the two rates."""
    logs = [math.log(timings.step_ns_median) for timings in base]
    medians = sorted(timings.step_ns_median for timings in base)
    assumed = process_noise_fraction(base[0], same_session=True)
    ratio = math.exp(
        statistics.median(math.log(one.step_ns_median) for one in slower) - statistics.median(logs)
    )
    print(
        f"{case.name}: {len(base)} runs, {time_text(medians[0])} to {time_text(medians[-1])}, "
        f"median {time_text(statistics.median(medians))}; from process to process "
        f"{percent_text(statistics.stdev(logs))} (assumed {percent_text(assumed)}); "
        f"the slower side takes {ratio:.3f}× as long",
        flush=True,
    )
    for count in PER_SIDE:
        same, found = rate(base, base, count), rate(base, slower, count)
        if same is None or found is None:
            print(f"  {count} a side: too few runs")
            continue
        print(
            f"  {count} a side: identical called different {percent_text(same)} (at most 5 %), "
            f"{SLOWER - 1:.0%} slower found {percent_text(found)}"
        )


if __name__ == "__main__":
    main()
