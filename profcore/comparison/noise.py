"""Is the difference of two step times larger than the noise?

Two kinds of noise lie on a step time.

1. Inside one run: its repeats scatter. The bootstrap interval of their median says how much.
2. From run to run: another process has its memory, its threads and its hash seed elsewhere, so
   the same program is faster or slower for its whole life. No number of repeats in one process
   shows that: a step that waits for the CPU differed by up to 12 % between processes on one H200,
   each of which was sure of its own median to within 1 %.

So there are two methods.

- Four or more runs on each side (`runs`): the runs are the sample. Their medians are compared by
  rank: the shift of Hodges and Lehmann with its exact interval. Both kinds of noise are in it and
  nothing is assumed. Record the two sides by turns, or a slow drift of the machine counts as a
  difference.
- Fewer (`assumed`): the run-to-run noise cannot be seen, so the measured constants below stand in
  for it, and the bootstrap adds the noise inside each run. Where the CPU sets the pace that is too
  wide to see 10 %; it says so, and how many runs would do. On a machine noisier than the measured
  ones it takes the scatter of the repeats instead, which can still be too little: on a shared
  machine with six programs at work, single runs of one experiment differed by half and more.

Either way a difference counts only when its interval leaves out "the same" and it is at least
MIN_FRACTION: less is of no use to anybody.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from profcore.comparison.bootstrap import median_interval
from profcore.comparison.ranks import shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.recording import Environment, Timings

MIN_FRACTION: Final = 0.05
"""Smaller differences are not called differences. nsys-ai's gate; rules.constants has the same."""
CONFIDENCE: Final = 0.95
"""Of the interval by rank; with few runs the next exact one above it: 97 % for four on a side."""
ASSUMED_CONFIDENCE: Final = 0.98
ASSUMED_DEVIATIONS: Final = 2.33
"""Standard deviations on either side that hold 98 % of a normal distribution: more than above,
because the noise is assumed."""

GPU_NOISE_FRACTION: Final = 0.01
"""Standard deviation from process to process of a step whose pace the GPU sets. H200, 4096: 197.0
to 199.6 µs."""
CPU_NOISE_FRACTION: Final = 0.04
"""The same where the CPU sets the pace. H200, 64: 18.6 to 21 µs in one session, a range of 12 %,
which about three standard deviations fill."""
ELSEWHERE_CPU_NOISE_FRACTION: Final = 0.35
"""The same between machines of one kind, or before and after a restart. H200, 64: 20.1 and 32.5 µs,
ln(32.5 ÷ 20.1) ÷ √2 = 0.34."""
ELSEWHERE_GPU_NOISE_FRACTION: Final = 0.03
"""The same where the GPU sets the pace: power limits differ a little from chip to chip. Own
choice."""

GPU_PACE_FRACTION: Final = 0.8
"""The CPU needs at most this share of a step to issue it: the GPU sets the pace. On an H200 the
share is 0.93 to 0.98 where the CPU does, and 0.02 to 0.57 where the GPU does."""
RUNS_ADVISED: Final = 8
"""Runs a side that find a 10 % change in 98 of 100 cases where the CPU sets the pace (five find it
in 80, one in 30); simulated with the 4 % above, see the tests."""

_SAME_SESSION_S: Final = 6 * 3600.0
_IQR_PER_DEVIATION: Final = 1.349
_MEDIAN_ERROR: Final = 1.2533
"""Error of a median over that of a mean, for a normal distribution: √(π ÷ 2)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepDifference:
    """Two step times, and whether they differ by more than the noise."""

    a_ns: float
    """Median of the runs' medians."""
    b_ns: float
    ratio: float
    """B over A; by the ranks where there are enough runs, so it may differ from b_ns ÷ a_ns."""
    low_ratio: float
    high_ratio: float
    """The interval of the ratio."""
    confidence: float
    method: Literal["runs", "assumed"]
    runs_a: int
    runs_b: int
    noise_fraction: float
    """Half the width of the interval: what two such measurements may differ by themselves."""

    @property
    def is_real(self) -> bool:
        """Whether the difference is beyond noise."""
        leaves_out_same = self.low_ratio > 1 or self.high_ratio < 1
        return leaves_out_same and abs(math.log(self.ratio)) >= math.log1p(MIN_FRACTION)

    @property
    def is_slower(self) -> bool:
        """Whether B takes longer, by noise or not."""
        return self.ratio > 1


def step_difference(
    a: Sequence[Timings], b: Sequence[Timings], *, same_session: bool = True
) -> StepDifference:
    """Compare the step times of two sides.

    Args:
        a: The runs of one side, each of the same experiment; at least one.
        b: The runs of the other side.
        same_session: All were made on one machine without a restart between (`same_session`).

    Raises:
        ValueError: a side without runs.
    """
    if not a or not b:
        msg = "each side needs at least one run"
        raise ValueError(msg)
    logs_a = [math.log(run.step_ns_median) for run in a]
    logs_b = [math.log(run.step_ns_median) for run in b]
    by_rank = shift(logs_a, logs_b, confidence=CONFIDENCE) if same_session else None
    if by_rank is not None:
        middle, low, high = by_rank.estimate, by_rank.low, by_rank.high
    else:
        middle = statistics.median(logs_b) - statistics.median(logs_a)
        half = ASSUMED_DEVIATIONS * math.hypot(
            _side_error(a, same_session=same_session), _side_error(b, same_session=same_session)
        )
        low, high = middle - half, middle + half
    return StepDifference(
        a_ns=math.exp(statistics.median(logs_a)),
        b_ns=math.exp(statistics.median(logs_b)),
        ratio=math.exp(middle),
        low_ratio=math.exp(low),
        high_ratio=math.exp(high),
        confidence=ASSUMED_CONFIDENCE if by_rank is None else CONFIDENCE,
        method="assumed" if by_rank is None else "runs",
        runs_a=len(a),
        runs_b=len(b),
        noise_fraction=math.expm1((high - low) / 2),
    )


def _side_error(runs: Sequence[Timings], *, same_session: bool) -> float:
    """Return the standard error of one side's median, as a fraction of it."""
    inside = statistics.fmean(inner_error_fraction(run) ** 2 for run in runs)
    between = max(process_noise_fraction(run, same_session=same_session) for run in runs) ** 2
    # Another machine stays another machine, however often it runs.
    count = len(runs) if same_session else 1
    return math.sqrt(between / count + inside / len(runs))


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
