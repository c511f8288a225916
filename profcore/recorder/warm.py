"""A warm program, made ready, timed and recorded: what a run and a point of a sweep share."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

# The profiler imports this when it starts: imported here, it is not part of a cold start's time.
from torch._inductor import config as inductor_config

from profcore.files import write_json
from profcore.recorder import baseline, profile
from profcore.recorder.environment import describe_environment, read_clocks
from profcore.recorder.program import Program
from profcore.recording import ENVIRONMENT_FILE, TRACE_FILE, Timings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Literal

    import torch

    from profcore.experiment import CompileMode, Experiment
    from profcore.recorder.clock import Clock

AUTOTUNE_COMPILE_THREADS: Final = 8
"""max-autotune compiles some twenty candidates; one graph of the other modes needs one thread,
and no pool of helpers that wakes up beside the measurement."""

CACHE_VARIABLE: Final = "TORCHINDUCTOR_CACHE_DIR"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """A program whose first calls are done."""

    program: Program
    first_call_ns: int


def make_ready(experiment: Experiment, device: torch.device, clock: Clock) -> Ready:
    """Make the inputs, compile, and call the step `experiment.warmup` times."""
    program = Program(experiment, device)
    program.prepare()
    clock.synchronise()
    begin_ns = time.perf_counter_ns()
    program.step()
    clock.synchronise()
    first_call_ns = time.perf_counter_ns() - begin_ns
    for _ in range(experiment.warmup - 1):
        program.step()
    clock.synchronise()
    return Ready(program=program, first_call_ns=first_call_ns)


def measure(
    ready: Ready,
    experiment: Experiment,
    clock: Clock,
    *,
    cache: Literal["kept", "shared", "fresh"],
) -> Timings:
    """Time the steps without the profiler, before anything was profiled."""
    timings = baseline.measure(
        ready.program.step, clock, taken="before", first_call_ns=ready.first_call_ns
    )
    if experiment.compile == "eager":
        return timings
    return msgspec.structs.replace(timings, compile_cache=cache)


def record(
    ready: Ready,
    experiment: Experiment,
    folder: Path,
    clock: Clock,
    *,
    is_gpu: bool,
    on_again: Callable[[], None],
) -> None:
    """Record the steps; once more, after calling `on_again`, when no GPU row came out."""
    clock.synchronise()
    recorded = profile.record_steps(
        ready.program, experiment, folder, clock, is_gpu=is_gpu, is_cold=False
    )
    if is_gpu and not recorded.has_gpu_rows:
        # A capture without GPU rows happens now and then; the second one usually has them. If not,
        # the recording is kept, and the rules say that GPU activity is missing.
        on_again()
        (folder / TRACE_FILE).unlink()
        profile.record_steps(ready.program, experiment, folder, clock, is_gpu=is_gpu, is_cold=False)


def write_environment(device: torch.device, folder: Path) -> None:
    """Write where this runs, with the clocks of this moment."""
    clocks = read_clocks(device) if device.type == "cuda" else None
    write_json(folder / ENVIRONMENT_FILE, describe_environment(device, clocks))


def prepare_compiler(mode: CompileMode, *, fresh_cache: Path | None) -> None:
    """Set how Inductor compiles, before it is first used.

    Args:
        mode: Nothing happens for eager.
        fresh_cache: An empty folder for compiled code, so that code kept on disk by an earlier run
            does not hide the cost of compiling; None: the machine's own cache.
    """
    if mode == "eager":
        return
    threads = AUTOTUNE_COMPILE_THREADS if mode.startswith("max-autotune") else 1
    inductor_config.compile_threads = min(threads, os.cpu_count() or 1)
    if fresh_cache is not None:
        os.environ[CACHE_VARIABLE] = str(fresh_cache)
