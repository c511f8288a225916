"""One run from knobs to files, in named phases."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

import msgspec
import torch

from profcore.errors import RunError
from profcore.files import write_json
from profcore.recorder import baseline, kept_ceilings, profile, warm
from profcore.recorder.by_turns import time_beside
from profcore.recorder.clock import clock_of
from profcore.recorder.program import Program
from profcore.recording import BESIDE_FILE, EXPERIMENT_FILE, TIMINGS_FILE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from profcore.experiment import Experiment

COMPILE_CACHE: Final = "compile-cache"
"""Folder of compiled code that is removed when the run is over."""


def record(
    experiment: Experiment,
    folder: Path,
    *,
    on_phase: Callable[[str], None],
    beside: Experiment | None = None,
) -> None:
    """Run the experiment in this process and write the recording's files into `folder`.

    Args:
        experiment: The knobs. `auto` becomes the device that was used in `experiment.json`.
        folder: An existing folder; see `profcore.recording` for the files.
        on_phase: Called with the name of each phase as it begins.
        beside: Another experiment to be timed by turns with this one, on the same device. Left out
            when one of the two is a cold start, which nothing may precede.

    Raises:
        RunError: the device is not there.
    """
    device = resolve_device(experiment.device)
    experiment = msgspec.structs.replace(experiment, device=str(device))
    write_json(folder / EXPERIMENT_FILE, experiment)
    is_cold = experiment.warmup == 0
    fresh_cache = folder / COMPILE_CACHE if is_cold else None
    warm.prepare_compiler(experiment.compile, fresh_cache=fresh_cache)
    try:
        if is_cold:
            _record_cold(experiment, device, folder, on_phase)
        else:
            warm_beside = beside if beside is not None and beside.warmup > 0 else None
            _record_warm(experiment, device, folder, on_phase, warm_beside)
        kept_ceilings.put_beside_run(experiment, folder)
    finally:
        shutil.rmtree(folder / COMPILE_CACHE, ignore_errors=True)


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
    experiment: Experiment,
    device: torch.device,
    folder: Path,
    on_phase: Callable[[str], None],
    beside: Experiment | None,
) -> None:
    is_gpu = device.type == "cuda"
    clock = clock_of(device)
    on_phase("starting the GPU" if is_gpu else "preparing the inputs")
    if is_gpu:
        torch.cuda.set_device(device)
        clock.synchronise()  # makes the context
    on_phase("warming up" if experiment.compile == "eager" else "compiling and warming up")
    ready = warm.make_ready(experiment, device, clock)
    on_phase("timing without the profiler")
    write_json(folder / TIMINGS_FILE, warm.measure(ready, experiment, clock, cache="kept"))
    warm.write_environment(device, folder)
    if beside is not None:
        on_phase("timing by turns with the other side")
        write_json(folder / BESIDE_FILE, time_beside(ready, beside, device))
    on_phase("recording with the profiler")
    warm.record(
        ready,
        experiment,
        folder,
        clock,
        is_gpu=is_gpu,
        on_again=lambda: on_phase("recording again: no GPU rows the first time"),
    )


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
    if experiment.compile != "eager":
        timings = msgspec.structs.replace(timings, compile_cache="fresh")
    write_json(folder / TIMINGS_FILE, timings)
    warm.write_environment(device, folder)
