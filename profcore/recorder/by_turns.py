"""Two programs timed by turns in one process, so that what slows the machine slows both alike.

A step that waits for the CPU takes half as long again for seconds at a time, when its thread sits
on a slower or shared core: on one H200 the same 64×64 step took 20 µs in one process and 30 µs in
the next, and changed over within a process too. Turns of some 10 ms each share such a stretch.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.recorder import warm
from profcore.recorder.baseline import keep_busy
from profcore.recorder.clock import clock_of
from profcore.recording import Beside

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from profcore.experiment import Experiment
    from profcore.recorder.clock import Clock

SETTLE_FACTOR: Final = 0.25
"""Of the settling time of a timing, for each of the two: they have run before, and turns need no
settled clock."""
ROUNDS_MIN: Final = 5
ROUNDS_MAX: Final = 200


def time_beside(ready: warm.Ready, experiment: Experiment, device: torch.device) -> Beside:
    """Time the program that is ready by turns with another one, which is gone afterwards.

    Args:
        ready: Warm.
        experiment: The other one; its device is replaced. At least one warm-up call.
        device: Both work on it.
    """
    clock = clock_of(device)
    warm.prepare_compiler(experiment.compile, fresh_cache=None)
    other = warm.make_ready(experiment, device, clock)
    mine_ns, other_ns = time_by_turns(
        ready.program.step,
        other.program.step,
        clock,
        prepare=(ready.program.set_precision, other.program.set_precision),
    )
    ready.program.set_precision()
    return Beside(
        experiment=msgspec.structs.replace(experiment, device=str(device)),
        step_ns=mine_ns,
        other_step_ns=other_ns,
    )


def time_by_turns(
    mine: Callable[[], object],
    other: Callable[[], object],
    clock: Clock,
    *,
    prepare: tuple[Callable[[], object], Callable[[], object]],
) -> tuple[list[float], list[float]]:
    """Time two programs by turns, without the profiler; both are warm.

    Args:
        mine: One step; returns when the device has been asked, not when it is done.
        other: The same of the other program.
        clock: Of the device both work on.
        prepare: Called before each turn of the one and the other, outside the time measured: sets
            what the two share and want differently.

    Returns:
        Nanoseconds per step of every round, of both, in the order measured. In every second round
        the other goes first.
    """
    steps = (mine, other)
    calls = [0, 0]
    for index in (0, 1):
        prepare[index]()
        calls[index] = keep_busy(steps[index], clock, round(SETTLE_FACTOR * clock.pace.settle_ns))
    taken: tuple[list[float], list[float]] = ([], [])
    gc_was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()  # as in the timing of one program
    try:
        begin_ns = time.perf_counter_ns()
        for done in range(ROUNDS_MAX):
            for index in (0, 1) if done % 2 == 0 else (1, 0):
                prepare[index]()
                taken[index].append(_turn_ns(steps[index], clock, calls[index]))
            elapsed_ns = time.perf_counter_ns() - begin_ns
            if done + 1 >= ROUNDS_MIN and elapsed_ns >= clock.pace.budget_ns:
                break
    finally:
        if gc_was_enabled:
            gc.enable()
    return taken


def _turn_ns(step: Callable[[], object], clock: Clock, calls: int) -> float:
    clock.synchronise()
    start_ns = time.perf_counter_ns()
    for _ in range(calls):
        step()
    clock.synchronise()
    return round((time.perf_counter_ns() - start_ns) / calls, 1)
