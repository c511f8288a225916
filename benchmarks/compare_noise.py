"""How often does a comparison err on this machine?

Times experiments in many processes, one after the other and the two sides by turns, as the app and
`compare --again` do, and asks of groups drawn from them: are two identical sides told apart (in at
most 5 of 100), and is a side found that is 10 % slower (in at least 95 of 100)? `step_difference`
decides, as it does for the Compare page and the command line.

Three experiments: one whose pace the CPU sets; one whose pace the device sets; and the device at
its power limit. The slower side is real: the CPU spins before each step for a tenth of what the
step takes in that process, or eleven matrices are multiplied instead of ten. (Only the third has no
such side: there every time is multiplied by 1.1.)

    PYTHONPATH=. python benchmarks/compare_noise.py --time 420 --keep noise
    PYTHONPATH=. python benchmarks/compare_noise.py --from noise       the tables again, no runs

Every process is fresh, so its memory lies elsewhere. To save time several import torch at once and
then wait, idle, for their turn; nothing is imported while something is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import noise_child
import noise_rates

from profcore.analysis.run_noise import process_noise_fraction
from profcore.experiment import Experiment, describe
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.recording import Timings

SLOWER = 1.1
PER_SIDE = (1, 3, 4, 5, 6, 8, 12)
RUNS_FILE = "runs.jsonl"
CHILDREN_MAX = 16
"""Processes that wait at once."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One process, as kept on disk."""

    case: str
    side: str
    """`base` or `slower`."""
    at_s: float
    """When it began, since the first."""
    job: noise_child.Job
    answer: noise_child.Answer


def jobs_of(case: str, *, is_gpu: bool) -> dict[str, noise_child.Job]:
    """Return the two sides of a case; without a slower one the base's times are multiplied."""
    if case == "light":
        small = Experiment(size=64) if is_gpu else Experiment(size=32, dtype="fp32")
        return {
            "base": noise_child.Job(experiment=small),
            "slower": noise_child.Job(experiment=small, wait_fraction=SLOWER - 1),
            "twice": noise_child.Job(experiment=small, twice=True),
        }
    knobs: dict[str, Any] = (
        {"size": 4096, "dtype": "bf16"} if is_gpu else {"size": 256, "dtype": "fp32"}
    )
    if case == "large":
        return {"base": noise_child.Job(experiment=Experiment(**knobs))}
    return {
        side: noise_child.Job(
            experiment=Experiment(workload="batched_matmul", batch=batch, **knobs)
        )
        for side, batch in (("base", 10), ("slower", 11))
    }


TITLES = {
    "light": "a small step, the slower side spins for a tenth of it",
    "heavy": "ten large products, the slower side has eleven",
    "large": "one large product, the slower side's times multiplied",
}
ROUND: tuple[tuple[str, str], ...] = (
    ("light", "base"),
    ("light", "slower"),
    ("light", "twice"),
    ("light", "slower"),
    ("light", "base"),
    ("light", "slower"),
    ("large", "base"),
    ("heavy", "base"),
    ("heavy", "slower"),
    ("large", "base"),
)
"""What runs by turns, again and again: mostly the small step, whose noise is the question."""


def main() -> None:
    """Record, or read what was kept, and print a table per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=420.0, help="seconds of recording in all")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was recorded there")
    parser.add_argument("--from", type=Path, dest="source", metavar="FOLDER", help="read it again")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument(
        "--children", type=int, default=min(CHILDREN_MAX, os.cpu_count() or 1), metavar="N",
        help="processes that import torch at once",
    )  # fmt: skip
    arguments = parser.parse_args()
    if arguments.source is not None:
        show_all(read(arguments.source))
        return
    with contextlib.ExitStack() as stack:
        folder = arguments.keep
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        record(folder, time_s=arguments.time, children=arguments.children, cpu=arguments.cpu)
        show_all(read(folder))


def record(folder: Path, *, time_s: float, children: int, cpu: bool) -> None:
    """Run processes by turns until the time is up; each is written down as it ends."""
    began_s = time.monotonic()
    done = 0
    with (folder / RUNS_FILE).open("a", encoding="utf-8") as file:
        while (left_s := time_s - (time.monotonic() - began_s)) > 0:
            ready = [start() for _ in range(children)]
            try:
                devices = [device_of(child) for child in ready]
                is_gpu = not cpu and devices[0] != "cpu"
                for child in ready:
                    case, side = ROUND[done % len(ROUND)]
                    job = jobs_of(case, is_gpu=is_gpu)[side]
                    if not is_gpu:
                        job = on_cpu(job)
                    kept = Kept(
                        case=case,
                        side="base" if side == "twice" else side,
                        at_s=round(time.monotonic() - began_s, 3),
                        job=job,
                        answer=ask(child, job),
                    )
                    file.write(msgspec.json.encode(kept).decode() + "\n")
                    file.flush()
                    done += 1
                    left_s = time_s - (time.monotonic() - began_s)
                    if left_s <= 0:
                        break
            finally:
                for child in ready:
                    end(child)
            print(f"{done} processes, {left_s:.0f} s left", file=sys.stderr, flush=True)


def on_cpu(job: noise_child.Job) -> noise_child.Job:
    """Return the job with its device named: `auto` would take a GPU."""
    experiment = msgspec.structs.replace(job.experiment, device="cpu")
    return msgspec.structs.replace(job, experiment=experiment)


def start() -> subprocess.Popen[str]:
    """Start a process that imports torch and then waits."""
    return subprocess.Popen(
        [sys.executable, str(Path(noise_child.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def device_of(child: subprocess.Popen[str]) -> str:
    """Wait for the end of the import and return the device that the process would take."""
    device = child.stdout.readline().strip() if child.stdout is not None else ""
    if not device:
        msg = "A process ended before it was ready; its lines are above."
        raise SystemExit(msg)
    return device


def ask(child: subprocess.Popen[str], job: noise_child.Job) -> noise_child.Answer:
    """Hand over the job and return what was found when the process has ended."""
    out, _ = child.communicate(msgspec.json.encode(job).decode() + "\n")
    if child.returncode or not out:
        msg = f"A process failed ({child.returncode}); its lines are above."
        raise SystemExit(msg)
    return msgspec.json.decode(out, type=noise_child.Answer)


def end(child: subprocess.Popen[str]) -> None:
    """End a process that has not had its turn."""
    if child.poll() is None:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError, ValueError):
                pipe.close()


def read(folder: Path) -> list[Kept]:
    """Return what was recorded, in the order recorded."""
    lines = (folder / RUNS_FILE).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Kept) for line in lines]


def show_all(kept: list[Kept]) -> None:
    """Print the noise that was seen and the rates of every case."""
    took_s = [one.answer.seconds for one in kept]
    print(
        f"{len(kept)} processes on {kept[0].answer.environment.device_name}, "
        f"{statistics.median(took_s):.1f} s each after the import"
    )
    for case, title in TITLES.items():
        show(case, title, [one for one in kept if one.case == case])


def show(case: str, title: str, kept: list[Kept]) -> None:
    """Print one case."""
    base = [one.answer.timings[0] for one in kept if one.side == "base"]
    slower = [one.answer.timings[0] for one in kept if one.side == "slower"]
    if len(base) <= 1:
        print(f"{case}: too few runs")
        return
    print(f"\n{case}: {title} ({describe(kept[0].job.experiment)})")
    print(f"  base    {scatter(base)}")
    print(f"          assumed {percent_text(process_noise_fraction(base[0], same_session=True))}")
    if slower:
        logs = [[math.log(one.step_ns_median) for one in side] for side in (base, slower)]
        ratio = math.exp(statistics.median(logs[1]) - statistics.median(logs[0]))
        print(f"  slower  {scatter(slower)}; {ratio:.3f}× as long")
    else:
        slower = [noise_rates.multiplied(timings, SLOWER) for timings in base]
    twice = [one.answer.timings for one in kept if one.job.twice]
    if len(twice) > 1:
        apart = [abs(math.log(b.step_ns_median / a.step_ns_median)) for a, b in twice]
        print(
            f"  built anew in the same process, {len(twice)} times: apart by "
            f"{percent_text(statistics.median(apart))}, at most {percent_text(max(apart))}"
        )
    for name, way in (("drawn", noise_rates.drawn), ("neighbours", noise_rates.neighbours)):
        for count in PER_SIDE:
            same = noise_rates.rate(way(base, base, count))
            found = noise_rates.rate(way(base, slower, count))
            if same is None and found is None:
                continue
            print(
                f"  {count:2} a side, {name:10}  identical told apart {cell(same)} (at most 5 %)   "
                f"10 % slower found {cell(found)} (at least 95 %)"
            )


def scatter(runs: list[Timings]) -> str:
    """Return how the times of many processes lie."""
    times = sorted(run.step_ns_median for run in runs)
    logs = [math.log(value) for value in times]
    low, middle, high = (time_text(times[round(f * (len(times) - 1))]) for f in (0, 0.5, 1))
    deviation = percent_text(statistics.stdev(logs))
    return f"{len(runs):3} runs, {low} to {high}, median {middle}, standard deviation {deviation}"


def cell(found: tuple[float, int] | None) -> str:
    """Return a rate with the number of pairs behind it."""
    if found is None:
        return "  too few runs"
    share, count = found
    return f"{share:6.1%} of {count:4}"


if __name__ == "__main__":
    main()
