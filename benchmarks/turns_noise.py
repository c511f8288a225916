"""How often does a comparison by turns err on this machine?

Usage: PYTHONPATH=. python benchmarks/turns_noise.py [--time 180] [--device cuda:0] [--keep FOLDER]
       PYTHONPATH=. python benchmarks/turns_noise.py --from FOLDER [FOLDER ...]
In fresh processes, two programs are built anew and timed by turns as a run beside another one does:
ten calls of a small step against ten (identical), and ten against eleven (a true 10 % slowdown).
`turns_difference` decides, as it does for the Compare page and the command line: of one process,
and of two, as "record both once more" makes them. Printed: how often identical sides are told apart
(wanted: at most 5 of 100) and how often the slowdown is found (at least 95 of 100).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from profcore.comparison.turns import turns_difference
from profcore.experiment import Experiment
from profcore.recording import Beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CALLS = (10, 11)
PAIRS_PER_PROCESS = 10
"""Of each kind."""
BATCH = 3
"""Processes that import torch together and then wait, idle, for their turn: nothing is imported
while something is timed."""
READY = "ready"
KEPT = "turns.jsonl"


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of programs."""

    process: str
    is_slower: bool
    beside: Beside


def child(device_name: str) -> None:
    """Import torch, wait for a line, time the pairs, print one line each."""
    import profcore.recorder  # noqa: F401 - all that a waiting child of the app has imported
    from profcore.recorder import warm
    from profcore.recorder.by_turns import time_by_turns
    from profcore.recorder.clock import clock_of
    from profcore.recorder.run import resolve_device

    experiment = Experiment(device=device_name, size=64, dtype="fp32")
    print(READY, flush=True)
    sys.stdin.readline()
    device = resolve_device(device_name)
    clock = clock_of(device)
    for number in range(2 * PAIRS_PER_PROCESS):
        programs = [warm.make_ready(experiment, device, clock).program for _ in range(2)]
        counts = (CALLS[0], CALLS[number % 2])
        mine, other = (
            functools.partial(_repeat, program.step, count)
            for program, count in zip(programs, counts, strict=True)
        )
        nothing = functools.partial(int)
        mine_ns, other_ns = time_by_turns(mine, other, clock, prepare=(nothing, nothing))
        pair = Pair(
            process="",
            is_slower=bool(number % 2),
            beside=Beside(experiment=experiment, step_ns=mine_ns, other_step_ns=other_ns),
        )
        print(msgspec.json.encode(pair).decode(), flush=True)


def _repeat(step: Callable[[], object], count: int) -> None:
    for _ in range(count):
        step()


def record(device: str, time_s: float, keep: Path | None) -> list[Pair]:
    """Run batches of processes one after the other; what is there is kept as it comes."""
    command = [sys.executable, str(Path(__file__)), "--child", "--device", device]
    began_s = time.monotonic()
    pairs: list[Pair] = []
    numbers = itertools.count()
    while True:
        batch = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(BATCH)
        ]
        for process in batch:
            if process.stdout is not None:
                process.stdout.readline()
        for process in batch:
            number = next(numbers)
            out, _ = process.communicate("\n")
            pairs += [
                msgspec.structs.replace(msgspec.json.decode(line, type=Pair), process=str(number))
                for line in out.splitlines()
            ]
            _keep(pairs, keep)
            left_s = time_s - (time.monotonic() - began_s)
            print(f"{number + 1} processes, {len(pairs)} pairs, {left_s:.0f} s left", flush=True)
            if left_s <= 0:
                for other in batch:
                    other.kill()
                    other.communicate()
                return pairs


def _keep(pairs: list[Pair], folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [msgspec.json.encode(pair).decode() for pair in pairs]
        (folder / KEPT).write_text("\n".join(lines), encoding="utf-8")


def rates(pairs: list[Pair]) -> Iterable[str]:
    """Yield the lines of the table."""
    for is_slower in (False, True):
        some = [pair for pair in pairs if pair.is_slower == is_slower]
        ratios = [_log_ratio(pair.beside) for pair in some]
        what = "10 % slower" if is_slower else "identical"
        yield (
            f"{what}: {len(some)} pairs in {len({pair.process for pair in some})} processes; ratio "
            f"{math.exp(statistics.median(ratios)):.4f} (median), standard deviation "
            f"{statistics.stdev(ratios):.2%}, from {math.exp(min(ratios)):.3f} to "
            f"{math.exp(max(ratios)):.3f}; the step took "
            f"{min(statistics.median(pair.beside.step_ns) for pair in some) / 1000:.0f} to "
            f"{max(statistics.median(pair.beside.step_ns) for pair in some) / 1000:.0f} µs"
        )
        one = [turns_difference([pair.beside], []) for pair in some]
        yield f"   decided from one process:  told apart {_share(one)}"
        two = [
            turns_difference([first.beside], [_turned(second.beside)])
            for first, second in itertools.combinations(some, 2)
            if first.process != second.process
        ]
        yield f"   decided from two processes: told apart {_share(two)}"


def _log_ratio(beside: Beside) -> float:
    return statistics.median(
        math.log(other / own)
        for own, other in zip(beside.step_ns, beside.other_step_ns, strict=True)
    )


def _turned(beside: Beside) -> Beside:
    return msgspec.structs.replace(
        beside, step_ns=beside.other_step_ns, other_step_ns=beside.step_ns
    )


def _share(found: list[Any]) -> str:
    hits = sum(one is not None and one.is_real for one in found)
    return f"{hits} of {len(found)} ({hits / max(1, len(found)):.1%})"


def main() -> None:
    """Record or read, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=float, default=180.0)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--from", dest="kept", type=Path, nargs="+")
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.device)
        return
    if arguments.kept:
        pairs = [
            msgspec.structs.replace(pair, process=f"{folder}/{pair.process}")
            for folder in arguments.kept
            for pair in map(
                msgspec.json.Decoder(Pair).decode,
                (folder / KEPT).read_text(encoding="utf-8").splitlines(),
            )
        ]
    else:
        pairs = record(arguments.device, arguments.time, arguments.keep)
    print("\n".join(rates(pairs)))


if __name__ == "__main__":
    main()
