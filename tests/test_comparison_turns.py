"""Two programs timed by turns: the ratio by hand, the interval, and error rates by simulation."""

# ruff: noqa: S311 - simulated noise is no secret

from __future__ import annotations

import math
import random

import pytest

from profcore.analysis.run_noise import ASSUMED_DEVIATIONS
from profcore.comparison.noise import step_difference
from profcore.comparison.turns import TURNS_NOISE_FRACTION, turns_difference
from profcore.experiment import Experiment
from profcore.recording import Beside
from tests.test_comparison_noise import timings

OTHER = Experiment(size=64)
PAIRS = 200


def beside(own: list[float], other: list[float]) -> Beside:
    return Beside(experiment=OTHER, step_ns=own, other_step_ns=other)


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    # B takes 1.1 times A in every round, whatever A takes: the ratio is 1.1 and nothing scatters,
    # so only what is assumed between processes is left: 2.33 x 1.5 % either way.
    a_ns = [20_000.0, 30_000.0, 31_000.0, 20_500.0, 19_000.0, 30_500.0]
    found = turns_difference([beside(a_ns, [a * 1.1 for a in a_ns])], [])
    assert found is not None
    half = ASSUMED_DEVIATIONS * TURNS_NOISE_FRACTION
    assert found.ratio == pytest.approx(1.1)
    assert found.low_ratio == pytest.approx(1.1 * math.exp(-half))
    assert found.high_ratio == pytest.approx(1.1 * math.exp(half))
    assert (found.method, found.runs_a, found.is_real, found.is_slower) == ("turns", 1, True, True)
    # medians of six: between 20 500 and 30 000
    assert (found.a_ns, found.b_ns) == pytest.approx((25_250, 27_775))


def test_a_recording_of_b_counts_the_other_way_round() -> None:
    a_ns = [20_000.0] * 6
    b_ns = [22_000.0] * 6
    found = turns_difference([], [beside(b_ns, a_ns)])
    assert found is not None
    assert found.ratio == pytest.approx(1.1)
    assert (found.a_ns, found.b_ns) == (20_000, 22_000)


def test_more_processes_narrow_the_interval() -> None:
    a_ns, b_ns = [20_000.0] * 6, [22_000.0] * 6
    four = turns_difference([beside(a_ns, b_ns)] * 2, [beside(b_ns, a_ns)] * 2)
    assert four is not None
    assert four.runs_a == 4
    assert math.log(four.high_ratio / four.ratio) == pytest.approx(
        ASSUMED_DEVIATIONS * TURNS_NOISE_FRACTION / 2
    )


def test_processes_that_scatter_more_than_assumed_widen_it() -> None:
    # log ratios -0.2, 0, 0.2: standard deviation 0.2; the median 0; 2.33 x 0.2 / sqrt(3)
    processes = [beside([1e4] * 6, [1e4 * math.exp(shift)] * 6) for shift in (-0.2, 0.0, 0.2)]
    found = turns_difference(processes, [])
    assert found is not None
    assert found.ratio == pytest.approx(1)
    assert math.log(found.high_ratio) == pytest.approx(ASSUMED_DEVIATIONS * 0.2 / math.sqrt(3))
    assert not found.is_real


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [beside([1e4] * 4, [1e4] * 4)],  # too few rounds to draw from
        [beside([1e4] * 6, [1e4] * 5)],
        [beside([1e4] * 6, [0.0] * 6)],
    ],
)
def test_what_cannot_be_used_decides_nothing(turns: list[Beside]) -> None:
    assert turns_difference(turns, []) is None


def test_a_real_difference_is_at_least_five_percent() -> None:
    a_ns = [20_000.0] * 6
    found = turns_difference([beside(a_ns, [20_900.0] * 6)] * 8, [])
    assert found is not None
    assert found.low_ratio > 1
    assert not found.is_real


# --- error rates, simulated ---------------------------------------------------------------------


def process(draw: random.Random, slowdown: float) -> Beside:
    """Rounds of a process whose core changes between 20 and 30 µs a step every few rounds."""
    own, other = [], []
    favour = math.exp(draw.gauss(0, TURNS_NOISE_FRACTION))
    base = draw.choice((20_000, 30_000))
    for _ in range(40):
        if draw.random() < 0.05:
            base = draw.choice((20_000, 30_000))
        own.append(base * math.exp(draw.gauss(0, 0.03)))
        other.append(base * slowdown * favour * math.exp(draw.gauss(0, 0.03)))
    return beside(own, other)


def found_of_100(slowdown: float) -> float:
    draw = random.Random(7)
    hits = 0
    for _ in range(PAIRS):
        found = turns_difference([process(draw, slowdown)], [process(draw, 1 / slowdown)])
        assert found is not None
        hits += found.is_real
    return hits / PAIRS * 100


def test_two_processes_find_ten_percent_and_nothing_where_nothing_is() -> None:
    assert found_of_100(1.1) >= 95
    assert found_of_100(1.0) <= 5


def test_separate_runs_of_the_same_processes_do_not() -> None:
    draw = random.Random(7)
    hits = 0
    for _ in range(50):
        one, two = process(draw, 1.1), process(draw, 1.1)
        a, b = sorted(one.step_ns)[20], sorted(two.other_step_ns)[20]
        hits += step_difference([timings(a)], [timings(b)]).is_real
    assert hits < 25
