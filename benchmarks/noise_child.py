"""One process of `compare_noise.py`: imports torch, says the device, waits for a job.

It does what a run of the app does up to the end of its timing without the profiler, by the same
functions, so the times scatter from process to process as theirs do. The recording that follows in
a real run comes too late to change them and is left out, to save time.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec

import profcore.recorder  # noqa: F401 - all that a waiting child of the app has imported
from profcore.experiment import Experiment  # noqa: TC001 - msgspec reads the annotations
from profcore.machine_lock import lock_path, machine_lock
from profcore.recorder import baseline, warm
from profcore.recorder.clock import Pace, clock_of
from profcore.recorder.environment import describe_environment, read_clocks
from profcore.recorder.run import resolve_device
from profcore.recording import Environment, Timings  # noqa: TC001
from profcore.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

SHORT = Pace(settle_ns=150 * NS_PER_MS, budget_ns=150 * NS_PER_MS, keep_busy_ns=0)
"""To find out how long to wait: only the wait depends on it, and it need not be exact."""
CALLS = 20_000


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What to time."""

    experiment: Experiment
    wait_fraction: float = 0.0
    """Let the CPU spin before each step for this share of what the step takes in this process."""
    twice: bool = False
    """Build and time the program a second time in the same process."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found."""

    timings: list[Timings]
    """One, or two with `twice`."""
    environment: Environment
    seconds: float
    """What it took after the import."""


def main() -> None:
    """Do one job."""
    print(resolve_device("auto"), flush=True)  # NVML tells, CUDA stays untouched
    line = sys.stdin.readline()
    if not line:
        return  # not needed after all
    job = msgspec.json.decode(line, type=Job)
    with machine_lock(lock_path(), on_wait=lambda: None):
        began_s = time.monotonic()
        device = resolve_device(job.experiment.device)
        timings = [measure(job, device) for _ in range(2 if job.twice else 1)]
        clocks = read_clocks(device) if device.type == "cuda" else None
        answer = Answer(
            timings=timings,
            environment=describe_environment(device, clocks),
            seconds=round(time.monotonic() - began_s, 3),
        )
    print(msgspec.json.encode(answer).decode(), flush=True)


def measure(job: Job, device: torch.device) -> Timings:
    """Make the program ready and time it as a run does."""
    clock = clock_of(device)
    clock.synchronise()
    warm.prepare_compiler(job.experiment.compile, fresh_cache=None)
    ready = warm.make_ready(job.experiment, device, clock)
    if job.wait_fraction:
        short = baseline.measure(
            ready.program.step, clock_of(device, SHORT), taken="before", first_call_ns=0
        )
        ready.program.step = waiting(ready.program.step, job.wait_fraction * short.step_ns_median)
    return warm.measure(ready, job.experiment, clock, cache="kept")


def waiting(step: Callable[[], Any], wait_ns: float) -> Callable[[], Any]:
    """Return a step that is longer by `wait_ns` of CPU time, the cost of waiting included."""
    cost_ns = _mean_ns(_spin_then(_nothing, 0)) - _mean_ns(_nothing)
    return _spin_then(step, max(0, round(wait_ns - cost_ns)))


def _spin_then(step: Callable[[], Any], wait_ns: int) -> Callable[[], Any]:
    now_ns = time.perf_counter_ns

    def slower() -> Any:
        until_ns = now_ns() + wait_ns
        while now_ns() < until_ns:
            pass
        return step()

    return slower


def _nothing() -> None:
    pass


def _mean_ns(call: Callable[[], Any]) -> float:
    begin_ns = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - begin_ns) / CALLS


if __name__ == "__main__":
    main()
