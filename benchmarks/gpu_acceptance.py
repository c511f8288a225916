"""Run the product on a GPU over its grid of knobs and hold its numbers against independent ones.

Usage: PYTHONPATH=. python benchmarks/gpu_acceptance.py [--through command,page]
       [--dtypes bf16,fp32] [--quick] [--keep FOLDER]
Prints one line per run and one per check; the exit status is 1 when a check failed. Needs a GPU.
The independent numbers come from torch.utils.benchmark and CUDA events in a process of their own.
With two GPUs it can run twice at once, each with its own CUDA_VISIBLE_DEVICES and PROFCORE_LOCK.
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
from typing import TYPE_CHECKING, Any

import command_runs
import page_runs
import queue_runs

from profcore import rules
from profcore.analysis import Analysis
from profcore.commands.report import report
from profcore.experiment import COMPILE_MODES, Experiment, describe
from profcore.trace import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profcore.recording import Recording

AGREEMENT = 0.03
INDEPENDENT = """
import json, sys, torch
import torch.utils.benchmark as benchmark
torch.set_float32_matmul_precision("highest")
dtype = {"bf16": torch.bfloat16, "fp32": torch.float32}[sys.argv[1]]
answer = {}
for size in (64, 4096):
    x, w, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(3))
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


def grid(dtype: str, *, quick: bool) -> list[Experiment]:
    """Sizes 64 and 4096, warm and cold, in every compile mode; for bf16 a vector bias too."""
    modes = ("eager", "default") if quick else COMPILE_MODES
    vector = [
        Experiment(size=size, compile="default", bias="vector", device="cuda:0")
        for size in (64, 4096)
    ]
    return (vector if dtype == "bf16" else []) + [
        Experiment(size=size, dtype=dtype, compile=mode, warmup=warmup, device="cuda:0")
        for warmup, mode, size in itertools.product((3, 0), modes, (64, 4096))
    ]


def recordings(
    way: str, experiments: list[Experiment], root: Path
) -> Iterator[tuple[Recording, dict[str, Any] | None]]:
    """Yield each recording, and its report: as the command printed it, or made from the files."""
    if way == "command":
        yield from command_runs.record_all(experiments, root)
        return
    record_all = {"page": page_runs, "queue": queue_runs}[way].record_all
    for recording in record_all(experiments, root):
        if recording.status.state != "done":
            yield recording, None
            continue
        analysis = Analysis.of_recording(recording, read(recording.trace_path))
        yield recording, report(analysis, rules.check_all(analysis), rules.judge(analysis))


def run_all(way: str, experiments: list[Experiment], root: Path) -> dict[Experiment, Any]:
    """Run them and print a line each; return their reports, with `gpu_us` and `device_us`."""
    answers = {}
    print(f"through the {way}:")
    print(f"{'run':66}{'real µs':>9}{'CPU µs':>9}{'GPU µs':>9}{'events':>9}  busy  verdict")
    made = recordings(way, experiments, root)
    began_s = time.monotonic()
    for experiment, (recording, answer) in zip(experiments, made, strict=True):
        took_s, began_s = time.monotonic() - began_s, time.monotonic()
        if answer is None or recording.timings is None:
            print(f"{describe(experiment):66}{recording.status.message}", flush=True)
            continue
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
            f"{answer['steps'][0]['cpu_us'] / 1000:,.1f} ms; took {took_s:.1f} s; "
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


def check_all(answers: dict[Experiment, Any], independent: dict[str, Any]) -> list[bool]:
    """Print the checks of the runs with one number format; return whether each holds."""
    results = []

    def check(what: str, holds: bool, numbers: str) -> None:  # noqa: FBT001
        results.append(holds)
        print(f"{'holds ' if holds else 'FAILS '} {what}: {numbers}", flush=True)

    dtype = next(iter(answers)).dtype

    def of(**knobs: Any) -> dict[str, Any]:
        return answers[Experiment(device="cuda:0", dtype=dtype, **knobs)]

    large, small = of(size=4096), of(size=64)
    events_us, wall_us = independent["4096"]["events_us"], independent["4096"]["wall_us"]
    gpu_us, step_us = large["gpu_us"], large["baseline"]["step_us_median"]
    check(
        f"4096 {dtype}: GPU busy per step at most the CUDA-event time and within 3 %",
        (1 - AGREEMENT) * large["device_us"] <= gpu_us <= large["device_us"],
        f"{gpu_us:.1f} µs, events in the run {large['device_us']:.1f} µs, alone {events_us:.1f} µs",
    )
    check(
        f"4096 {dtype}: unprofiled step within 3 % of torch.utils.benchmark",
        abs(step_us / wall_us - 1) <= AGREEMENT,
        f"{step_us:.1f} µs against {wall_us:.1f} µs",
    )
    for knobs, answer in answers.items():
        wanted = "verhead-bound" if knobs.size < 4096 else "ompute-bound"  # noqa: PLR2004
        sentence = answer["verdict"]["sentence"]
        if wanted not in sentence:
            check(f"{describe(knobs)} is {wanted}", False, sentence)  # noqa: FBT003
    check("64 is overhead-bound", "verhead-bound" in small["verdict"]["sentence"], "verdict")
    check("4096 is compute-bound", "ompute-bound" in large["verdict"]["sentence"], "verdict")
    for size in (64, 4096) if dtype == "bf16" else ():
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
    return results


def measure_independently(dtype: str) -> dict[str, Any]:
    """Return wall and event time per step of sizes 64 and 4096 from a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", INDEPENDENT, dtype], check=True, capture_output=True, text=True
    )
    print(f"independent, {dtype}: {done.stdout.strip()}", flush=True)
    return json.loads(done.stdout)


def main() -> int:
    """Run everything; 0 when every check holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--through", default="command,page", help="command, page, queue")
    parser.add_argument("--dtypes", default="bf16,fp32")
    parser.add_argument("--quick", action="store_true", help="eager and default mode only")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        root = (arguments.keep or Path(scratch)).absolute()
        for way, dtype in itertools.product(
            arguments.through.split(","), arguments.dtypes.split(",")
        ):
            experiments = grid(dtype, quick=arguments.quick)
            independent = measure_independently(dtype)
            answers = run_all(way, experiments, root / way)
            results.append(len(answers) == len(experiments))
            results += check_all(answers, independent)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
