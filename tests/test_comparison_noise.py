"""Step times: is a difference larger than the noise? By hand, and by simulation."""

# ruff: noqa: S311 - simulated noise is no secret

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.analysis.bootstrap import median_interval
from profcore.analysis.run_noise import (
    CPU_NOISE_FRACTION,
    GPU_NOISE_FRACTION,
    process_noise_fraction,
    same_session,
)
from profcore.comparison.noise import step_difference
from profcore.comparison.ranks import interval_rank, shift
from profcore.recording import Environment, Timings
from tests.rule_traces import environment

PAIRS = 400


def timings(
    median_ns: float, *, cpu_fraction: float = 0.95, spread: float = 0.01, **more: Any
) -> Timings:
    return Timings(
        taken="before",
        repeats=100,
        steps_per_repeat=50,
        step_ns_median=median_ns,
        step_ns_p25=median_ns * (1 - spread / 2),
        step_ns_p75=median_ns * (1 + spread / 2),
        cpu_ns_median=median_ns * cpu_fraction,
        cpu_ns_p25=median_ns * cpu_fraction,
        cpu_ns_p75=median_ns * cpu_fraction,
        first_call_ns=1,
        **more,
    )


# --- ranks --------------------------------------------------------------------------------------


def test_the_shift_is_the_median_of_all_differences() -> None:
    # Differences: 5 6 7 8, 4 5 6 7, 3 4 5 6, 2 3 4 5; sorted 2 3 3 4 4 4 5 5 5 5 6 6 6 7 7 8:
    # median 5. Four against four: of C(8, 4) = 70 orders 1 has no pair the wrong way round and 1
    # has one; 2 x 1 / 70 = 0.029 is within 0.05, 2 x 2 / 70 = 0.057 is not: the outermost bounds.
    found = shift([0, 1, 2, 3], [5, 6, 7, 8], confidence=0.95)
    assert found is not None
    assert (found.estimate, found.low, found.high) == (5, 2, 8)


def test_three_against_three_cannot_reach_95_percent() -> None:
    # C(6, 3) = 20 orders: 2 / 20 = 0.1 at best.
    assert interval_rank(3, 3, confidence=0.95) == 0
    assert interval_rank(3, 3, confidence=0.9) == 1
    assert shift([1, 2, 3], [9, 10, 11], confidence=0.95) is None


def test_five_against_five() -> None:
    # C(10, 5) = 252; orders with at most 0, 1, 2, 3 pairs the wrong way: 1, 2, 4, 7.
    # 2 x 4 / 252 = 0.032, 2 x 7 / 252 = 0.056: three from either end.
    assert interval_rank(5, 5, confidence=0.95) == 3


@pytest.mark.parametrize(("first", "second"), [(1, 6), (3, 4), (5, 2)])
def test_ranks_agree_with_counting_all_orders(first: int, second: int) -> None:
    counts = [0] * (first * second + 1)
    places = range(first + second)
    for chosen in combinations(places, first):
        rest = [place for place in places if place not in chosen]
        counts[sum(a > b for a in chosen for b in rest)] += 1
    total = math.comb(first + second, first)
    tail, rank = 0, 0
    while 2 * (tail + counts[rank]) <= 0.1 * total:
        tail += counts[rank]
        rank += 1
    assert interval_rank(first, second, confidence=0.9) == rank


# --- bootstrap ----------------------------------------------------------------------------------


def test_equal_repeats_have_no_spread() -> None:
    interval = median_interval([7.0] * 20)
    assert interval is not None
    assert (interval.median, interval.low, interval.high, interval.error) == (7, 7, 7, 0)


def test_few_repeats_have_no_interval() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0]) is None


@given(st.lists(st.floats(1, 1e9), min_size=5, max_size=40))
def test_the_interval_lies_inside_the_values(values: list[float]) -> None:
    interval = median_interval(values)
    assert interval is not None
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert min(values) <= interval.median <= max(values)


def test_slow_waves_make_the_interval_wider_than_shuffled_values() -> None:
    wave = [100 + 10 * math.sin(index / 16) for index in range(100)]
    shuffled = random.Random(3).sample(wave, k=len(wave))
    slow, fast = median_interval(wave), median_interval(shuffled)
    assert slow is not None
    assert fast is not None
    assert slow.error > 1.3 * fast.error


# --- one run each -------------------------------------------------------------------------------


def test_the_assumed_noise_of_two_runs_is_worked_out() -> None:
    # Inside: quartiles 1 % apart of 100 repeats: 1.2533 x 0.01 / 1.349 / 10 = 0.00093 each.
    # Between: 0.16 each. 2.33 x sqrt(2 x (0.16² + 0.00093²)) = 0.52723; exp(0.52723) - 1 = 0.69423.
    found = step_difference([timings(100_000)], [timings(110_000)])
    assert found.method == "assumed"
    assert found.noise_fraction == pytest.approx(0.69423, abs=1e-4)
    assert found.ratio == pytest.approx(1.1)
    assert not found.is_real


def test_a_gpu_that_sets_the_pace_is_trusted_more() -> None:
    # 2.33 x sqrt(2 x (0.01² + 0.00093²)) = 0.03309.
    found = step_difference(
        [timings(100_000, cpu_fraction=0.3)], [timings(110_000, cpu_fraction=0.3)]
    )
    assert found.noise_fraction == pytest.approx(math.expm1(0.03309), abs=1e-4)
    assert found.is_real
    assert found.is_slower


def test_repeats_that_scatter_make_the_assumed_noise_larger() -> None:
    # The middle half is 36 % wide: 0.36 / 1.349 = 0.2669 from process to process.
    restless = timings(100_000, spread=0.36)
    assert process_noise_fraction(restless, same_session=True) == pytest.approx(0.26686, abs=1e-5)
    assert process_noise_fraction(timings(100_000), same_session=True) == 0.16
    paced = timings(100_000, spread=0.36, cpu_fraction=0.3)
    assert process_noise_fraction(paced, same_session=True) == 0.01


def test_repeats_that_differ_a_thousandfold_still_give_numbers() -> None:
    # A machine so busy that one of three repeats took 8 ms instead of 12 µs.
    lost = timings(12_000, spread=1_400)
    found = step_difference([lost], [timings(12_000)])
    assert (found.low_ratio, found.high_ratio) == pytest.approx((0.01, 100))
    assert not found.is_real


def test_less_than_five_percent_never_counts() -> None:
    a, b = timings(100_000, cpu_fraction=0.3), timings(104_900, cpu_fraction=0.3)
    found = step_difference([a], [b])
    assert found.low_ratio > 1
    assert not found.is_real
    assert not step_difference([b], [a]).is_real


def test_another_machine_needs_far_more() -> None:
    # 20.1 and 32.5 µs are the same program on two machines of one kind.
    found = step_difference([timings(20_100)], [timings(32_500)], same_session=False)
    assert not found.is_real
    many = step_difference([timings(20_100)] * 8, [timings(32_500)] * 8, same_session=False)
    assert many.method == "assumed"
    assert not many.is_real


def test_repeats_are_used_where_they_were_kept() -> None:
    noisy = [100.0, 200.0] * 10
    a = timings(150, step_ns=noisy, cpu_fraction=0.1)
    quiet = timings(150, step_ns=[150.0] * 20, cpu_fraction=0.1)
    assert step_difference([a], [a]).noise_fraction > 5 * (
        step_difference([quiet], [quiet]).noise_fraction
    )


def test_a_side_without_runs_is_refused() -> None:
    with pytest.raises(ValueError, match="each side"):
        step_difference([], [timings(1)])


def test_a_session_is_told_by_its_boot() -> None:
    here = environment()
    assert not same_session(here, None)
    assert same_session(here, environment())

    def at(boot: str, when: str) -> Environment:
        known = {name: getattr(here, name) for name in here.__struct_fields__}
        return Environment(**{**known, "boot": boot, "recorded_at": when})

    assert same_session(at("aa", "2026-01-01T00:00:00+00:00"), at("aa", "2026-02-01T00:00:00Z"))
    assert not same_session(at("aa", "2026-01-01T00:00:00Z"), at("bb", "2026-01-01T00:00:00Z"))
    assert not same_session(at("", "2026-01-01T00:00:00Z"), at("bb", "2026-01-01T07:00:00Z"))
    assert not same_session(at("", "2026-01-01T00:00:00Z"), at("", "some time"))


# --- error rates, simulated ---------------------------------------------------------------------


def side(draw: random.Random, *, runs: int, base: float, noise: float, gpu: bool) -> list[Timings]:
    """Runs whose medians scatter from process to process, each sure of its own to about 0.1 %."""
    return [
        timings(base * math.exp(draw.gauss(0, noise)), cpu_fraction=0.3 if gpu else 0.95)
        for _ in range(runs)
    ]


def found_of_100(*, runs: int, slowdown: float, noise: float, gpu: bool) -> float:
    draw = random.Random(11)
    hits = 0
    for _ in range(PAIRS):
        a = side(draw, runs=runs, base=30_000, noise=noise, gpu=gpu)
        b = side(draw, runs=runs, base=30_000 * slowdown, noise=noise, gpu=gpu)
        hits += step_difference(a, b).is_real
    return hits / PAIRS * 100


@pytest.mark.parametrize(
    ("runs", "noise", "gpu"),
    [
        (1, GPU_NOISE_FRACTION, True),
        (1, CPU_NOISE_FRACTION, False),
        (4, CPU_NOISE_FRACTION, False),
        (8, CPU_NOISE_FRACTION, False),
        (8, 2 * CPU_NOISE_FRACTION, False),
    ],
)
def test_identical_runs_show_no_difference(runs: int, noise: float, gpu: bool) -> None:  # noqa: FBT001
    assert found_of_100(runs=runs, slowdown=1.0, noise=noise, gpu=gpu) <= 5


def test_two_clusters_are_not_told_apart_by_three_runs() -> None:
    # As on an H200: half of the processes take 20 µs, half 30 µs, each 5 % to and fro.
    draw = random.Random(3)

    def three() -> list[Timings]:
        return [
            timings(draw.choice((20_000, 30_000)) * math.exp(draw.gauss(0, 0.05))) for _ in range(3)
        ]

    assert sum(step_difference(three(), three()).is_real for _ in range(PAIRS)) <= 0.05 * PAIRS


def test_one_run_each_finds_ten_percent_where_the_gpu_sets_the_pace() -> None:
    assert found_of_100(runs=1, slowdown=1.1, noise=GPU_NOISE_FRACTION, gpu=True) >= 95


def test_where_the_cpu_does_separate_runs_do_not_find_it() -> None:
    assert found_of_100(runs=1, slowdown=1.1, noise=CPU_NOISE_FRACTION, gpu=False) < 5
    assert found_of_100(runs=8, slowdown=1.1, noise=CPU_NOISE_FRACTION, gpu=False) < 50
