"""Step times without the profiler: many calls between two device synchronisations, repeated."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.recording import Timings
from profcore.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from profcore.recorder.clock import Clock

REPEAT_NS: Final = 10 * NS_PER_MS
"""Wanted length of one repeat: the synchronisation at its end (about 10 µs) is then 0.1 %."""
CALLS_MAX: Final = 50
"""Calls per repeat: with ten launches each they stay below the 1,024 that a GPU's queue holds, so
the CPU time until the calls return is never time spent waiting for a place in it."""
ROUNDS_MIN: Final = 3
"""Before the length of a step is believed: a single call may have met another program."""
LONG_NS: Final = 1000 * NS_PER_MS
"""A round this long is believed at once."""
REPEATS_MIN: Final = 3
REPEATS_MAX: Final = 200
DEVICE_EVERY: Final = 8
"""After this many repeats comes one for the device's own clock, whose events would cost the others
time; in between, because a GPU at its power limit changes its pace from one tenth of a second to
the next."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Repeat:
    step_ns: float
    cpu_ns: float
    device_ns: float | None


def measure(
    step: Callable[[], object],
    clock: Clock,
    *,
    taken: Literal["before", "after"],
    first_call_ns: int,
) -> Timings:
    """Time `step` without the profiler.

    Args:
        step: One step; returns when the device has been asked, not when it is done.
        clock: Of the device the step works on.
        taken: Whether this happens before or after profiling; only noted.
        first_call_ns: What the first call of the process took; only noted.

    Returns:
        Medians and quartiles over the repeats.
    """
    calls = keep_busy(step, clock, clock.pace.settle_ns)
    gc_was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()  # as timeit does: a collection inside a repeat is not the step's time
    try:
        repeats = list(_repeats(step, clock, calls))
    finally:
        if gc_was_enabled:
            gc.enable()
    step_p25, step_p50, step_p75 = quartiles([repeat.step_ns for repeat in repeats])
    cpu_p25, cpu_p50, cpu_p75 = quartiles([repeat.cpu_ns for repeat in repeats])
    device_ns = [repeat.device_ns for repeat in repeats if repeat.device_ns is not None]
    return Timings(
        taken=taken,
        repeats=len(repeats),
        steps_per_repeat=calls,
        step_ns_median=step_p50,
        step_ns_p25=step_p25,
        step_ns_p75=step_p75,
        cpu_ns_median=cpu_p50,
        cpu_ns_p25=cpu_p25,
        cpu_ns_p75=cpu_p75,
        device_ns_median=statistics.median(device_ns) if device_ns else None,
        first_call_ns=first_call_ns,
        step_ns=[round(repeat.step_ns, 1) for repeat in repeats],
    )


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Return the 25th, 50th and 75th percentile (linear between neighbours)."""
    p25, p50, p75 = statistics.quantiles(values, n=4, method="inclusive")
    return p25, p50, p75


def keep_busy(step: Callable[[], object], clock: Clock, duration_ns: int) -> int:
    """Call `step` for a while without measuring, so that clocks and power settle.

    Returns:
        How many calls fill one repeat of REPEAT_NS, 1 to CALLS_MAX.
    """
    clock.synchronise()
    begin_ns = time.perf_counter_ns()
    fastest_ns: float = REPEAT_NS
    calls = 1
    for done in itertools.count(1):
        start_ns = time.perf_counter_ns()
        for _ in range(calls):
            step()
        clock.synchronise()
        now_ns = time.perf_counter_ns()
        fastest_ns = min(fastest_ns, (now_ns - start_ns) / calls)
        calls = max(1, min(CALLS_MAX, round(REPEAT_NS / fastest_ns)))
        is_known = done >= ROUNDS_MIN or now_ns - start_ns >= LONG_NS
        if is_known and now_ns - begin_ns >= duration_ns:
            break
    return calls


def _repeats(step: Callable[[], object], clock: Clock, calls: int) -> Iterator[_Repeat]:
    clock.synchronise()
    begin_ns = time.perf_counter_ns()
    for done in range(1, REPEATS_MAX + 1):
        start_ns = time.perf_counter_ns()
        for _ in range(calls):
            step()
        returned_ns = time.perf_counter_ns()
        clock.synchronise()
        end_ns = time.perf_counter_ns()
        yield _Repeat(
            step_ns=(end_ns - start_ns) / calls,
            cpu_ns=(returned_ns - start_ns) / calls,
            device_ns=clock.device_ns(step, calls) if done % DEVICE_EVERY == 1 else None,
        )
        if done >= REPEATS_MIN and end_ns - begin_ns >= clock.pace.budget_ns:
            return
