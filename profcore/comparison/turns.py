"""Two programs timed by turns in one process: is the difference larger than the noise?

What slows a machine for a while (a slow or shared core, a power limit, another program) slows both
turns of a round alike, so every round has a ratio of its own, and their median is the answer. Its
noise has two parts: inside a process, the bootstrap interval of that median; and from process to
process, because where the two programs lie in memory favours one or the other a little. The second
is assumed from measurements (TURNS_NOISE_FRACTION), or seen, where the processes scatter more.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Final

from profcore.analysis.bootstrap import median_interval
from profcore.analysis.run_noise import ASSUMED_CONFIDENCE, ASSUMED_DEVIATIONS
from profcore.comparison.noise import StepDifference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.recording import Beside

TURNS_NOISE_FRACTION: Final = 0.015
"""Standard deviation from process to process of the ratio of two programs that do the same."""
_SEEN_MIN: Final = 3
"""Processes from which their own scatter is taken."""


def turns_difference(of_a: Sequence[Beside], of_b: Sequence[Beside]) -> StepDifference | None:
    """Compare two experiments by the rounds in which they took turns.

    Args:
        of_a: From recordings of A, each timed by turns with B.
        of_b: From recordings of B, each timed by turns with A.

    Returns:
        None when there is no such recording with enough rounds.
    """
    processes, ratios, inner = [], [], []
    for a_ns, b_ns in (
        *((one.step_ns, one.other_step_ns) for one in of_a),
        *((one.other_step_ns, one.step_ns) for one in of_b),
    ):
        if len(a_ns) != len(b_ns) or min((*a_ns, *b_ns), default=0) <= 0:
            continue
        interval = median_interval([math.log(b / a) for a, b in zip(a_ns, b_ns, strict=True)])
        if interval is None:
            continue  # too few rounds to draw from
        processes.append((a_ns, b_ns))
        ratios.append(interval.median)
        inner.append(interval.error**2)
    if not processes:
        return None
    between = TURNS_NOISE_FRACTION
    if len(ratios) >= _SEEN_MIN:
        between = max(between, statistics.stdev(ratios))
    half = ASSUMED_DEVIATIONS * math.sqrt((between**2 + statistics.fmean(inner)) / len(ratios))
    middle = statistics.median(ratios)
    return StepDifference(
        a_ns=statistics.median(statistics.median(a_ns) for a_ns, _ in processes),
        b_ns=statistics.median(statistics.median(b_ns) for _, b_ns in processes),
        ratio=math.exp(middle),
        low_ratio=math.exp(middle - half),
        high_ratio=math.exp(middle + half),
        confidence=ASSUMED_CONFIDENCE,
        method="turns",
        runs_a=len(processes),
        runs_b=len(processes),
        noise_fraction=math.expm1(half),
    )
