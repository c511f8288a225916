"""Trust in the times: clocks, resolution, and what else ran inside the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import compiler, intervals
from profcore.analysis.activities import MISSING_DELAY
from profcore.analysis.trust_gpu import of_gpu
from profcore.analysis.trust_model import Outcome, cannot_tell, counted, fine, look
from profcore.units import NS_PER_US, percent_text, time_text

if TYPE_CHECKING:
    from profcore.analysis.analysis import Analysis

SKEW_FRACTION: Final = 0.01
"""Work that starts before its launch, of all; the same value as in rule Q5."""
SKEW_COUNT: Final = 10
"""The same as a count."""
OVERHEAD_FRACTION: Final = 0.05
"""Profiler work of step time; the same value as in rule Q9. H200: 0 in 35 warm traces."""

NO_STEPS: Final = "No steps are marked in this file."


@of_gpu
def clock_skew(analysis: Analysis) -> Outcome:
    """GPU work that seems to start before the call that launched it."""
    delay = analysis.activities["delay_ns"].to_numpy()
    delay = delay[delay != MISSING_DELAY]
    if not len(delay):
        return cannot_tell("No GPU work could be paired with a single launch call.")
    early = delay[delay < 0]
    pairs = counted(len(delay), "pair") + " of launch and work"
    if not len(early):
        return fine(f"In all {pairs} the work starts after its launch.")
    text = (
        f"In {len(early):,} of {pairs} the work starts before its launch, by "
        f"{time_text(-int(early.min()))} at most. Such pairs are left out of launch delays."
    )
    is_much = len(early) >= SKEW_COUNT or len(early) >= SKEW_FRACTION * len(delay)
    return look(text) if is_much else fine(text)


def resolution(analysis: Analysis) -> Outcome:
    """Nanoseconds, or rounded to whole microseconds."""
    trace = analysis.trace
    if np.any(trace.duration_ns % NS_PER_US):
        empty = int((analysis.activities["duration_ns"] == 0).sum())
        if empty < SKEW_COUNT and empty < SKEW_FRACTION * max(len(analysis.activities), 1):
            return fine("Times are finer than a microsecond.")
        return look(
            f"{counted(empty, 'piece of GPU work lasts', 'pieces of GPU work last')} no time."
        )
    text = "All durations are whole microseconds."
    short = analysis.activities["duration_ns"] < 10 * NS_PER_US
    if not short.any():
        return fine(text)
    return look(
        f"{text} {counted(int(short.sum()), 'piece of GPU work is', 'pieces of GPU work are')} "
        "shorter than 10 µs: rounding changes them by more than a tenth."
    )


def overhead(analysis: Analysis) -> Outcome:
    """Rows of the profiler itself that begin inside a step."""
    trace = analysis.trace
    if not len(analysis.steps):
        return cannot_tell(NO_STEPS)
    row = compiler.in_steps(analysis, np.flatnonzero(trace.is_kind("overhead")))
    spent_ns = intervals.busy_ns(trace.start_ns[row], trace.start_ns[row] + trace.duration_ns[row])
    share = spent_ns / max(int(analysis.steps["cpu_ns"].sum()), 1)
    if not len(row):
        return fine("No row of the profiler's own work lies inside a step.")
    text = (
        f"{counted(len(row), 'row')} of the profiler and of first-use loading take "
        f"{time_text(spent_ns)} inside the steps, {percent_text(share)} of their time."
    )
    return look(text) if share >= OVERHEAD_FRACTION else fine(text)


def compilation(analysis: Analysis) -> Outcome:
    """torch.compile at work inside a step."""
    if not len(analysis.steps):
        return cannot_tell(NO_STEPS)
    row = compiler.rows_in_steps(analysis)
    if not len(row):
        return fine("No row shows torch.compile at work inside a step.")
    spent_ns = int(analysis.trace.duration_ns[row].sum())
    share = min(spent_ns / max(int(analysis.steps["cpu_ns"].sum()), 1), 1.0)
    return look(
        f"torch.compile worked for {time_text(spent_ns)} inside the steps, "
        f"{percent_text(share)} of their time: those steps measure the compiler."
    )
