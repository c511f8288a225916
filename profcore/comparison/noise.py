"""Is the difference of two step times larger than the noise?

Two kinds of noise lie on a step time.

1. Inside one run: its repeats scatter. The bootstrap interval of their median says how much.
2. From run to run: another process has its memory, its threads and its hash seed elsewhere and
   sits on another core, so the same program is faster or slower for seconds or for its whole life.
   No number of repeats in one process shows that: a step that waits for the CPU took 20 µs in some
   processes and 30 µs in others on one H200, each sure of its own median to within a few percent.

So there are three methods.

- Both timed by turns in one process (`turns`, see `comparison.turns`): where it was done, it
  decides, because it sees far smaller differences than the other two.
- Four or more runs on each side (`runs`): the runs are the sample. Their medians are compared by
  rank: the shift of Hodges and Lehmann with its exact interval. Both kinds of noise are in it and
  nothing is assumed. Record the two sides by turns, or a slow drift of the machine counts as a
  difference.
- Fewer (`assumed`): the run-to-run noise cannot be seen, so the measured constants of
  `analysis.run_noise` stand in for it, and the bootstrap adds the noise inside each run. Where
  the CPU sets the pace that is too wide to see 10 %; it says so, and that turns would do. On a
  machine noisier than the measured ones it takes the scatter of the repeats instead, which can
  still be too little: on a shared machine with six programs at work, single runs of one
  experiment differed by half and more.

Either way a difference counts only when its interval leaves out "the same" and it is at least
MIN_FRACTION: less is of no use to anybody.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.analysis.run_noise import ASSUMED_CONFIDENCE, assumed_half_width
from profcore.comparison.ranks import shift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.recording import Timings

MIN_FRACTION: Final = 0.05
"""Smaller differences are not called differences. nsys-ai's gate; rules.constants has the same."""
CONFIDENCE: Final = 0.95
"""Of the interval by rank; with few runs the next exact one above it: 97 % for four on a side."""


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
    method: Literal["turns", "runs", "assumed"]
    """`turns` is decided in `comparison.turns`."""
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
        half = assumed_half_width(a, b, same_session=same_session)
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
