"""One run from knobs to files, in named phases."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Final

import msgspec
import torch

# The profiler imports this when it starts: imported here, it is not part of a cold start's time.
from torch._inductor import config as inductor_config

from profcore.errors import RunError
from profcore.files import write_json
from profcore.recorder import baseline, profile
from profcore.recorder.clock import clock_of
from profcore.recorder.environment import describe_environment, read_clocks
from profcore.recorder.program import Program
from profcore.recording import ENVIRONMENT_FILE, EXPERIMENT_FILE, TIMINGS_FILE, TRACE_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from profcore.experiment import CompileMode, Experiment

AUTOTUNE_COMPILE_THREADS: Final = 8
"""max-autotune compiles some twenty candidates; one graph of the other modes needs one thread,
and no pool of helpers that wakes up beside the measurement."""

_COLD_CACHE: Final = "compile-cache"


def record(experiment: Experiment, folder: Path, *, on_phase: Callable[[str], None]) -> None:
    """Run the experiment in this process and write the recording's files into `folder`.

    Args:
        experiment: The knobs. `auto` becomes the device that was used in `experiment.json`.
        folder: An existing folder; see `profcore.recording` for the files.
        on_phase: Called with the name of each phase as it begins.

    Raises:
        RunError: the device is not there.
    """
    device = resolve_device(experiment.device)
    experiment = msgspec.structs.replace(experiment, device=str(device))
    write_json(folder / EXPERIMENT_FILE, experiment)
    _prepare_compiler(experiment.compile, folder, is_cold=experiment.warmup == 0)
    try:
        if experiment.warmup == 0:
            _record_cold(experiment, device, folder, on_phase)
        else:
            _record_warm(experiment, device, folder, on_phase)
    finally:
        shutil.rmtree(folder / _COLD_CACHE, ignore_errors=True)


def resolve_device(name: str) -> torch.device:
    """Return the device that a knob names, without creating a CUDA context.

    Raises:
        RunError: no such device.
    """
    gpus = torch.cuda.device_count()  # asks NVML, not CUDA, as long as CUDA is untouched
    if name == "auto":
        name = "cuda:0" if gpus else "cpu"
    if name == "cpu":
        return torch.device("cpu")
    index = int(name.removeprefix("cuda:"))
    if index >= gpus:
        msg = f"There is no {name}: torch sees {gpus} GPUs here; choose auto or cpu."
        raise RunError(msg)
    return torch.device("cuda", index)


def _record_warm(
    experiment: Experiment, device: torch.device, folder: Path, on_phase: Callable[[str], None]
) -> None:
    is_gpu = device.type == "cuda"
    clock = clock_of(device)
    on_phase("starting the GPU" if is_gpu else "preparing the inputs")
    if is_gpu:
        torch.cuda.set_device(device)
    program = Program(experiment, device)
    program.prepare()
    clock.synchronise()
    on_phase("warming up" if experiment.compile == "eager" else "compiling and warming up")
    begin_ns = time.perf_counter_ns()
    program.step()
    clock.synchronise()
    first_call_ns = time.perf_counter_ns() - begin_ns
    for _ in range(experiment.warmup - 1):
        program.step()
    clock.synchronise()
    on_phase("timing without the profiler")
    timings = baseline.measure(program.step, clock, taken="before", first_call_ns=first_call_ns)
    write_json(folder / TIMINGS_FILE, timings)
    _write_environment(device, folder)
    on_phase("recording with the profiler")
    clock.synchronise()
    recorded = profile.record_steps(
        program, experiment, folder, clock, is_gpu=is_gpu, is_cold=False
    )
    if is_gpu and not recorded.has_gpu_rows:
        # A capture without GPU rows happens now and then; the second one usually has them. If not,
        # the recording is kept, and the rules say that GPU activity is missing.
        on_phase("recording again: no GPU rows the first time")
        (folder / TRACE_FILE).unlink()
        profile.record_steps(program, experiment, folder, clock, is_gpu=is_gpu, is_cold=False)


def _record_cold(
    experiment: Experiment, device: torch.device, folder: Path, on_phase: Callable[[str], None]
) -> None:
    is_gpu = device.type == "cuda"
    clock = clock_of(device)
    on_phase("preparing the inputs in host memory")
    program = Program(experiment, device)
    program.prepare_cold()
    on_phase("recording the cold start with the profiler")
    recorded = profile.record_steps(program, experiment, folder, clock, is_gpu=is_gpu, is_cold=True)
    on_phase("timing without the profiler")
    timings = baseline.measure(
        program.step, clock, taken="after", first_call_ns=recorded.first_step_ns
    )
    write_json(folder / TIMINGS_FILE, timings)
    _write_environment(device, folder)


def _write_environment(device: torch.device, folder: Path) -> None:
    clocks = read_clocks(device) if device.type == "cuda" else None
    write_json(folder / ENVIRONMENT_FILE, describe_environment(device, clocks))


def _prepare_compiler(mode: CompileMode, folder: Path, *, is_cold: bool) -> None:
    """Set how Inductor compiles, before it is first used."""
    if mode == "eager":
        return
    threads = AUTOTUNE_COMPILE_THREADS if mode.startswith("max-autotune") else 1
    inductor_config.compile_threads = min(threads, os.cpu_count() or 1)
    if is_cold:
        # Compiled code kept on disk by an earlier run would hide the cost of compiling.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / _COLD_CACHE)
