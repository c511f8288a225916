"""How far do the step times of two runs of the same lie apart by chance?

Measured constants for the noise from process to process, the bootstrap for the noise inside one
run: what a comparison falls back on when it cannot see that noise. Also used by rules that hold a
run beside its twin.
"""

from __future__ import annotations

import math
import statistics
from datetime import datetime
from typing import TYPE_CHECKING, Final

from profcore.analysis.bootstrap import median_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.recording import Environment, Timings

ASSUMED_CONFIDENCE: Final = 0.98
ASSUMED_DEVIATIONS: Final = 2.33
"""Standard deviations on either side that hold 98 % of a normal distribution: more than above,
because the noise is assumed."""

GPU_NOISE_FRACTION: Final = 0.01
"""Standard deviation from process to process of a step whose pace the GPU sets. H200, 22 processes
at 4096: 0.4 %; the rest is for GPUs that waver more."""
CPU_NOISE_FRACTION: Final = 0.16
"""The same where the CPU sets the pace. H200, 69 processes at 64: some near 20 µs, some near 30 µs.
With the deviations above it holds 98 % of their pairs; their standard deviation itself is 19 %, but
two clusters have no tails."""
ELSEWHERE_CPU_NOISE_FRACTION: Final = 0.35
"""The same between machines of one kind, or before and after a restart. H200, 64: 20.1 and 32.5 µs,
ln(32.5 ÷ 20.1) ÷ √2 = 0.34."""
ELSEWHERE_GPU_NOISE_FRACTION: Final = 0.03
"""The same where the GPU sets the pace: power limits differ a little from chip to chip. Own
choice."""

GPU_PACE_FRACTION: Final = 0.8
"""The CPU needs at most this share of a step to issue it: the GPU sets the pace. On an H200 the
share is 0.93 to 0.98 where the CPU does, and 0.02 to 0.57 where the GPU does."""
_HALF_MAX: Final = math.log(100)
"""A run whose few repeats differ a thousandfold tells nothing; a factor of 100 either way says so
too, and its square is still a number."""
_SAME_SESSION_S: Final = 6 * 3600.0
_IQR_PER_DEVIATION: Final = 1.349
_MEDIAN_ERROR: Final = 1.2533
"""Error of a median over that of a mean, for a normal distribution: √(π ÷ 2)."""


def assumed_half_width(
    a: Sequence[Timings], b: Sequence[Timings], *, same_session: bool = True
) -> float:
    """Return half the width of the interval of the logarithm of the ratio of two step times.

    Args:
        a: The runs of one side, each of the same experiment; at least one.
        b: The runs of the other side.
        same_session: All were made on one machine without a restart between (`same_session`).
    """
    error = math.hypot(
        _side_error(a, same_session=same_session), _side_error(b, same_session=same_session)
    )
    return min(ASSUMED_DEVIATIONS * error, _HALF_MAX)


def _side_error(runs: Sequence[Timings], *, same_session: bool) -> float:
    """Return the standard error of one side's median, as a fraction of it.

    Two or three runs are no better than one against the noise from process to process: its two
    clusters lie so far apart that the middle of three falls into either (H200: identical sides of
    three runs were told apart in 16 of 100 cases when it was divided by their number).
    """
    inside = statistics.fmean(inner_error_fraction(run) ** 2 for run in runs)
    between = max(process_noise_fraction(run, same_session=same_session) for run in runs) ** 2
    return math.sqrt(between + inside / len(runs))


def inner_error_fraction(timings: Timings) -> float:
    """Return the standard error of a run's own median, as a fraction of it.

    By the bootstrap; for recordings without single repeats from the quartiles, as if the repeats
    were normal and independent.
    """
    interval = median_interval(timings.step_ns)
    if interval is not None:
        return interval.error / timings.step_ns_median
    deviation = (timings.step_ns_p75 - timings.step_ns_p25) / _IQR_PER_DEVIATION
    return _MEDIAN_ERROR * deviation / math.sqrt(timings.repeats) / timings.step_ns_median


def process_noise_fraction(timings: Timings, *, same_session: bool) -> float:
    """Return what is assumed about how a step time scatters from process to process.

    Where the CPU sets the pace it is at least what the repeats scatter: other programs on the
    machine come and go between runs as they do within one. A GPU that wavers at its power limit
    does so in every run alike.
    """
    if timings.cpu_ns_median <= GPU_PACE_FRACTION * timings.step_ns_median:
        return GPU_NOISE_FRACTION if same_session else ELSEWHERE_GPU_NOISE_FRACTION
    assumed = CPU_NOISE_FRACTION if same_session else ELSEWHERE_CPU_NOISE_FRACTION
    seen = (timings.step_ns_p75 - timings.step_ns_p25) / _IQR_PER_DEVIATION / timings.step_ns_median
    return max(assumed, seen)


def same_session(a: Environment | None, b: Environment | None) -> bool:
    """Tell whether two runs were made on one machine without a restart between.

    Where that was not noted: on machines of the same description, within six hours.
    """
    if a is None or b is None:
        return False
    if a.boot and b.boot:
        return a.boot == b.boot
    if (a.device_name, a.cpu_name, a.driver) != (b.device_name, b.cpu_name, b.driver):
        return False
    try:
        apart = datetime.fromisoformat(a.recorded_at) - datetime.fromisoformat(b.recorded_at)
    except (ValueError, TypeError):  # one without a time zone cannot be subtracted from one with
        return False
    return abs(apart.total_seconds()) <= _SAME_SESSION_S
