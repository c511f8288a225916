"""Run the product on a GPU over its grid of knobs and hold its numbers against independent ones.

Usage: PYTHONPATH=. python benchmarks/gpu_acceptance.py [--quick] [--keep FOLDER]
Prints one line per run and one per check; the exit status is 1 when a check failed. Needs a GPU.
The independent numbers come from torch.utils.benchmark and CUDA events in a process of their own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from queue_runs import record_all

from profcore import rules
from profcore.analysis import Analysis
from profcore.commands.report import report
from profcore.experiment import COMPILE_MODES, Experiment, describe
from profcore.trace import read

AGREEMENT = 0.03
ROOT = Path(__file__).resolve().parents[1]
INDEPENDENT = """
import json, torch
import torch.utils.benchmark as benchmark
torch.set_float32_matmul_precision("highest")
answer = {}
for size in (64, 4096):
    x, w, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    step = lambda: torch.add(torch.matmul(x, w), b)
    timer = benchmark.Timer("step()", globals={"step": step})
    timer.timeit(2000)
    wall_us = timer.blocked_autorange(min_run_time=2.0).median * 1e6
    events_us = []
    for _ in range(60):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(50):
            step()
        end.record()
        torch.cuda.synchronize()
        events_us.append(begin.elapsed_time(end) * 1000 / 50)
    answer[size] = {"wall_us": wall_us, "events_us": sorted(events_us)[30]}
print(json.dumps(answer))
"""


def grid(*, quick: bool) -> list[Experiment]:
    """Sizes 64 and 4096, cold and warm, in every compile mode; fp32 in eager and default mode."""
    modes = ("eager", "default") if quick else COMPILE_MODES
    experiments = [
        Experiment(size=size, dtype=dtype, compile=mode, warmup=warmup, device="cuda:0")
        for dtype, some in (("bf16", modes), ("fp32", modes[:2]))
        for warmup, mode, size in itertools.product((3, 0), some, (64, 4096))
    ]
    vector = [
        Experiment(size=size, compile="default", bias="vector", device="cuda:0")
        for size in (64, 4096)
    ]
    return vector + experiments


def run_all(experiments: list[Experiment], root: Path) -> dict[Experiment, dict[str, Any]]:
    """Run through the queue and the spare child, as the page does; print a line each."""
    answers = {}
    print(f"{'run':66}{'real µs':>9}{'CPU µs':>9}{'GPU µs':>9}{'events':>9}  busy  verdict")
    for experiment, recording in zip(experiments, record_all(experiments, root), strict=True):
        if recording.status.state != "done" or recording.timings is None:
            print(f"{describe(experiment):66}{recording.status.message}")
            continue
        analysis = Analysis.of_recording(recording, read(recording.trace_path))
        answer = report(analysis, rules.check_all(analysis), rules.judge(analysis))
        answer["device_us"] = (recording.timings.device_ns_median or 0) / 1000
        answers[experiment] = answer
        steps = answer["steps"][1:] if experiment.warmup == 0 else answer["steps"]
        gpu_us = sorted(step["gpu_busy_us"] for step in steps)[len(steps) // 2]
        answer["gpu_us"] = gpu_us
        base = answer["baseline"]
        print(
            f"{describe(experiment):66}{base['step_us_median']:9.1f}{base['cpu_us_median']:9.1f}"
            f"{gpu_us:9.1f}{answer['device_us']:9.1f}  {gpu_us / base['step_us_median']:4.0%}  "
            f"{answer['verdict']['sentence'].partition(':')[0]}; first step "
            f"{answer['steps'][0]['cpu_us'] / 1000:,.1f} ms; "
            + " ".join(
                finding["rule"]
                for finding in answer["findings"]
                if finding["state"] == "fired" and finding["kind"] in {"warning", "trust"}
            ),
            flush=True,
        )
    return answers


def fired(answer: dict[str, Any], rule: str) -> bool:
    """Tell whether a rule fired."""
    return any(
        finding["rule"] == rule and finding["state"] == "fired" for finding in answer["findings"]
    )


def check_all(
    answers: dict[Experiment, dict[str, Any]], independent: dict[str, dict[str, float]]
) -> bool:
    """Print the checks and return whether all hold."""
    results = []

    def check(what: str, holds: bool, numbers: str) -> None:  # noqa: FBT001
        results.append(holds)
        print(f"{'holds ' if holds else 'FAILS '} {what}: {numbers}")

    def of(**knobs: Any) -> dict[str, Any]:
        return answers[Experiment(device="cuda:0", **knobs)]

    large, small = of(size=4096), of(size=64)
    events_us, wall_us = independent["4096"]["events_us"], independent["4096"]["wall_us"]
    gpu_us, step_us = large["gpu_us"], large["baseline"]["step_us_median"]
    check(
        "4096 bf16: GPU busy per step at most the CUDA-event time and within 3 %",
        (1 - AGREEMENT) * large["device_us"] <= gpu_us <= large["device_us"],
        f"{gpu_us:.1f} µs, events in the run {large['device_us']:.1f} µs, alone {events_us:.1f} µs",
    )
    check(
        "4096 bf16: unprofiled step within 3 % of torch.utils.benchmark",
        abs(step_us / wall_us - 1) <= AGREEMENT,
        f"{step_us:.1f} µs against {wall_us:.1f} µs",
    )
    check("64 is overhead-bound", "verhead-bound" in small["verdict"]["sentence"], "verdict")
    check("4096 is compute-bound", "ompute-bound" in large["verdict"]["sentence"], "verdict")
    for size in (64, 4096):
        matrix = of(size=size, compile="default")
        vector = of(size=size, compile="default", bias="vector")
        copies = [sum(answer["totals"]["memcpy_us"].values()) for answer in (matrix, vector)]
        check(
            f"{size} compiled: a matrix bias is copied (DtoD), a vector one is not",
            copies[0] > 0 == copies[1] and fired(matrix, "G5") and not fired(vector, "G5"),
            f"{copies[0]:.1f} µs and {copies[1]:.1f} µs",
        )
    first = {knobs: fired(answer, "C1") or fired(answer, "R1") for knobs, answer in answers.items()}
    check(
        "the first step of every cold start is told (C1, compiled: R1), of no warm run",
        all(told == (knobs.warmup == 0) for knobs, told in first.items()),
        f"{sum(first.values())} of {len(first)} runs",
    )
    return all(results)


def through_the_command_line(folder: Path) -> None:
    """Run one experiment with `python -m profcore run --json` and print its verdict."""
    for size in ("64", "4096"):
        began_s = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "profcore", "run", "--size", size, "--json", "--out",
             str(folder / f"cli-{size}")],
            check=True, capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        answer = json.loads(done.stdout)
        print(f"python -m profcore run --size {size}: {time.monotonic() - began_s:.1f} s, "
              f"{answer['verdict']['sentence']}")  # fmt: skip


def main() -> int:
    """Run everything; 0 when every check holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="eager and default mode only")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = arguments.keep or Path(scratch)
        done = subprocess.run(
            [sys.executable, "-c", INDEPENDENT], check=True, capture_output=True, text=True
        )
        independent = json.loads(done.stdout)
        print("independent:", independent, flush=True)
        answers = run_all(grid(quick=arguments.quick), root)
        through_the_command_line(root / "cli")
        return 0 if check_all(answers, independent) else 1


if __name__ == "__main__":
    sys.exit(main())
