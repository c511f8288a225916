"""A child that behaves as told: the real worker around a recorder that plays a part.

The size of the experiment names the part, so that one server can be given different ones. Waiting
parts go on when the file "go" appears in their folder.
"""

# ruff: noqa: T201 - what a child prints becomes its log

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

PROJECT = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, str(Path(__file__).resolve()))

DONE, WAIT, IGNORE_SIGTERM, GRANDCHILD, CRASH = 16, 17, 18, 19, 20
RUN_ERROR, OUT_OF_MEMORY, COMPILER, BUG, SILENT, NO_TRACE, KILLED = 21, 22, 23, 24, 25, 26, 27

TRACE = (
    b'{"traceEvents": ['
    b'{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,'
    b' "ts": 10.0, "dur": 30.5},'
    b'{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 12.0, "dur": 8.25}'
    b"]}"
)
"""One step of 30.5 us that holds one operator of 8.25 us."""

PROBE = "FAKE_PROBE"
"""Environment: "error", "crash", or a path to wait for; anything else answers at once."""
DIE = "FAKE_DIE"
"""Environment: a path; while it exists children end before they read their job."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.experiment import Experiment
    from profcore.recording import Point
    from profcore.sweep import SweepPlan


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.005)


def record(
    experiment: Experiment,
    folder: Path,
    *,
    on_phase: Callable[[str], None],
    beside: Experiment | None = None,
) -> None:
    from profcore.files import write_json
    from profcore.recording import BESIDE_FILE, TRACE_FILE, Beside

    part = experiment.size
    on_phase("playing")
    print("first line of the log")
    print("External init callback must run in same thread as registerClient (1 != 2)")
    if part == IGNORE_SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if part == GRANDCHILD:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (folder / "pid").write_text(f"{os.getpid()}")
    die(part)
    if part in FAILURES:
        error = FAILURES[part]()
        raise error
    if part in {WAIT, IGNORE_SIGTERM, GRANDCHILD}:
        wait_for(folder / "go")
    if beside is not None:
        own_ns, other_ns = [part * 1000.0] * 9, [beside.size * 1000.0] * 9
        turns = Beside(experiment=beside, step_ns=own_ns, other_step_ns=other_ns)
        write_json(folder / BESIDE_FILE, turns)
    if part != NO_TRACE:
        (folder / TRACE_FILE).write_bytes(TRACE)


def record_sweep(
    plan: SweepPlan,
    folder: Path,
    *,
    on_phase: Callable[[str], None],
    on_point: Callable[[Point], None],
) -> None:
    """Time the points, then record them; a size names its part, as in a run."""
    from profcore.files import write_json
    from profcore.recording import (
        EXPERIMENT_FILE,
        STATUS_FILE,
        TIMINGS_FILE,
        TRACE_FILE,
        Point,
        Status,
    )

    points, count = folder / "points", len(plan.experiments())
    points.mkdir(exist_ok=True)
    (folder / "compile-cache").mkdir()
    on_phase("timing")
    for number, experiment in enumerate(plan.experiments()):
        point = points / f"{number:03d}"
        if (point / TIMINGS_FILE).exists():
            continue
        point.mkdir(exist_ok=True)
        write_json(point / EXPERIMENT_FILE, experiment)
        on_point(Point(number=number + 1, count=count, text=f"size {experiment.size}"))
        die(experiment.size)
        if experiment.size == WAIT:
            wait_for(folder / "go")
        write_json(point / TIMINGS_FILE, timings(experiment.size))
    on_phase("recording")
    for number, experiment in enumerate(plan.experiments()):
        point = points / f"{number:03d}"
        status = Status(state="done", created_at="2026-01-01")
        if experiment.size in FAILURES:
            status = Status(state="failed", message="No room.", created_at="2026-01-01")
        else:
            if experiment.size == IGNORE_SIGTERM:
                wait_for(folder / "go")
            (point / TRACE_FILE).write_bytes(TRACE)
        write_json(point / STATUS_FILE, status)


def timings(size: int) -> Any:
    """Return a step of `size` microseconds."""
    from profcore.recording import Timings

    each = {f"{side}_ns_{mark}": size * 1000.0 for side in ("step", "cpu") for mark in QUARTILES}
    return Timings(taken="before", repeats=9, steps_per_repeat=9, first_call_ns=1, **each)


QUARTILES = ("median", "p25", "p75")


def die(part: int) -> None:
    if part == CRASH:
        ctypes.string_at(0)
    if part == KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    if part == SILENT:
        sys.stdout.flush()
        os._exit(3)


def run_error() -> Exception:
    from profcore.errors import RunError

    return RunError("The part was to fail.")


def out_of_memory() -> Exception:
    kind = type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"})
    return kind("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of ...")


def compiler() -> Exception:
    kind = type("BackendCompilerFailed", (RuntimeError,), {"__module__": "torch._dynamo.exc"})
    return kind("backend='inductor' raised:\nInvalidCxxCompiler: No working C++ compiler found\n")


def bug() -> Exception:
    return ValueError("the part has a bug.\nsecond line")


FAILURES = {RUN_ERROR: run_error, OUT_OF_MEMORY: out_of_memory, COMPILER: compiler, BUG: bug}


def probe() -> Any:
    from profcore.errors import RunError
    from profcore.machine import Device, Machine

    part = os.environ.get(PROBE, "")
    if part == "error":
        msg = "The driver does not answer."
        raise RunError(msg)
    if part == "crash":
        print("the driver crashed")
        sys.stdout.flush()
        os._exit(5)
    if part:
        wait_for(Path(part))
    return Machine(
        devices=(
            Device(id="cuda:0", name="Toy GPU", memory_bytes=2**30, can_profile=True),
            Device(id="cpu", name="Toy CPU", memory_bytes=2**33, can_profile=True),
        ),
        torch="2.0",
        cuda="12.0",
        driver=None,
        python="3.11",
        platform="Toy",
        cpu_threads=2,
        cpu_flops_per_s={"fp32": 1e11, "tf32": 1e11, "bf16": 1e11, "fp16": 1e11},
        can_compile_cpu=True,
    )


def check_recording(device_id: str) -> str | None:
    return None if device_id == "cpu" else "The profiler recorded no kernel."


if __name__ == "__main__":
    if (path := os.environ.get(DIE)) and Path(path).exists():
        print("the spare died")
        sys.stdout.flush()
        os._exit(7)
    sys.path.insert(0, str(PROJECT))
    import profcore

    fake: Any = types.ModuleType("profcore.recorder")
    fake.record_sweep = record_sweep
    fake.record, fake.probe, fake.check_recording = record, probe, check_recording
    sys.modules["profcore.recorder"] = fake
    profcore.recorder = fake  # type: ignore[attr-defined]
    runpy.run_module("profcore.worker", run_name="__main__", alter_sys=True)
