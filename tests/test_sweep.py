"""The plan of a sweep, and where sizes are added to it."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore import sweep
from profcore.errors import ExperimentError
from profcore.experiment import COMPILE_MODES, Experiment
from profcore.sweep import NEAR_RATIO, SweepPlan, crossing, describe, from_json, next_size

BASE = Experiment(size=64, device="cpu")


def test_points_come_row_by_row_with_ascending_sizes() -> None:
    plan = SweepPlan(base=BASE, sizes=(64, 16, 64), compiles=("eager", "default"))
    points = [(point.compile, point.size, point.device) for point in plan.experiments()]
    assert points == [
        ("eager", 16, "cpu"),
        ("eager", 64, "cpu"),
        ("default", 16, "cpu"),
        ("default", 64, "cpu"),
    ]
    assert [len(row) for row in plan.rows()] == [2, 2]


def test_lists_that_are_empty_keep_the_base() -> None:
    assert SweepPlan(base=BASE).experiments() == (BASE,)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"sizes": (8, 64)}, "size is 8; give 16 to 16,384"),
        ({"dtypes": ("int8",)}, "dtype is 'int8'; choose one of bf16"),
        ({"warmups": (0, 3)}, "only the first could be cold"),
        ({"refine": 9}, "refine is 9; give 0 to 8"),
        ({"sizes": tuple(range(16, 117))}, "101 points; give at most 100"),
    ],
)
def test_a_fault_is_one_sentence(fields: dict[str, tuple[int, ...]], says: str) -> None:
    with pytest.raises(ExperimentError, match=says):
        SweepPlan(base=BASE, **fields)  # type: ignore[arg-type]


def test_a_cold_base_is_refused_too() -> None:
    with pytest.raises(ExperimentError, match="warm-up of at least 1"):
        SweepPlan(base=Experiment(warmup=0), sizes=(16, 32))


def test_json_there_and_back() -> None:
    plan = SweepPlan(base=BASE, sizes=(16, 32), dtypes=("fp32",), refine=2)
    assert from_json(msgspec.json.encode(plan)) == plan
    with pytest.raises(ExperimentError, match="cannot be read"):
        from_json(b'{"base": {}, "size": 3}')
    with pytest.raises(ExperimentError, match="only the first could be cold"):
        from_json(b'{"base": {"warmup": 0}}')


def test_a_sweep_describes_itself() -> None:
    plan = SweepPlan(base=BASE, sizes=(16, 8192), compiles=("eager", "default"))
    assert describe(plan) == "matmul_add · size 16 to 8192 · bf16 · eager, default"
    every = SweepPlan(base=BASE, compiles=COMPILE_MODES, batches=(1, 4))
    assert describe(every) == "matmul_add · 64 · bf16 · all compile modes · batch 1, 4"


# --- where the busy share crosses ---------------------------------------------------------------

POINTS = [(1024, 0.3), (2048, 0.9), (512, 0.1)]


def test_a_crossing_lies_between_neighbours() -> None:
    assert crossing(POINTS, 0.5) == ((1024, 0.3), (2048, 0.9))
    assert crossing(POINTS, 0.2) == ((512, 0.1), (1024, 0.3))
    assert crossing(POINTS, 0.95) is None
    assert crossing([(64, 0.5), (128, 0.6)], 0.5) is None
    assert crossing([(64, 0.1), (128, 0.5)], 0.5) == ((64, 0.1), (128, 0.5))
    assert crossing([], 0.5) is None


def test_the_next_size_is_the_middle_by_ratio() -> None:
    # sqrt(1024 x 2048) = 1448.15; / 16 = 90.5, rounded to even 90: 1440 or 1456.
    assert next_size(POINTS) == 1456
    # 0.5 between 1024 and 1456 (ratio 1.42), 0.8 between 1456 and 2048 (1.41): the wider first:
    # sqrt(1024 x 1456) = 1221; / 16 = 76.3: 1216.
    assert next_size([*POINTS, (1456, 0.6)]) == 1216


def test_no_size_is_added_where_nothing_crosses_or_neighbours_are_near() -> None:
    assert next_size([(64, 0.1), (128, 0.2)]) is None
    assert next_size([(1000, 0.4), (1090, 0.9)]) is None
    assert next_size([(16, 0.4), (32, 0.9)]) is None  # sqrt(512) = 22.6 rounds to 16


@given(
    st.lists(st.integers(1, 1024), min_size=2, max_size=8, unique=True),
    st.floats(0.01, 1e4),
)
def test_bisection_ends_near_the_crossing(units: list[int], scale: float) -> None:
    def busy(size: int) -> float:
        return min(1.0, (size / 1000 / scale) ** 2)

    points = [(16 * unit, busy(16 * unit)) for unit in units]
    for _ in range(60):
        size = next_size(points)
        if size is None:
            break
        assert size not in dict(points)
        points.append((size, busy(size)))
    assert next_size(points) is None
    for threshold in sweep.BUSY_THRESHOLDS:
        found = crossing(points, threshold)
        if found is not None:
            low, high = found[0][0], found[1][0]
            assert high / low <= NEAR_RATIO or high - low <= 2 * sweep.SIZE_UNIT
    assert all(a < b for a, b in pairwise(sorted(size for size, _ in points)))
