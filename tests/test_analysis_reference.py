"""Every table against the values in reference.json, whose definitions are those of the tables."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from profcore.analysis import Analysis, columns, totals
from profcore.errors import TraceError
from profcore.trace import read
from tests import reference
from tests.reference import agree, agree_us

OPENED = reference.names(expect="opens")

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not OPENED, reason=reference.MISSING_REASON),
]


@cache
def analysis_of(name: str) -> Analysis:
    return Analysis(read(reference.FOLDER / name))


@pytest.fixture(params=OPENED)
def case(request: pytest.FixtureRequest) -> tuple[Analysis, dict]:
    return analysis_of(request.param), reference.files()[request.param]


def test_totals(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    ours, stated = analysis.totals, entry["totals"]
    assert agree(ours.kernels, stated["kernels"])
    assert agree(ours.launches, stated["launches"])
    assert agree_us(ours.gpu_kernel_sum_ns, stated["gpu_kernel_sum_us"])
    assert agree_us(ours.gpu_busy_ns, stated["gpu_busy_us"])
    assert agree_us(ours.gpu_span_ns, stated["gpu_span_us"])
    assert agree_us(ours.operator_cpu_ns, stated["operator_cpu_us"])
    assert agree_us(ours.launch_delay_mean_ns, stated["launch_delay_mean_us"])


@pytest.mark.parametrize("name", reference.names(expect="opens or refused"))
def test_totals_of_files_that_may_be_refused(name: str) -> None:
    try:
        ours = analysis_of(name).totals
    except TraceError:
        return
    stated = reference.files()[name]["totals"]
    assert agree(ours.kernels, stated.get("kernels", ours.kernels))
    assert agree(ours.launches, stated.get("launches", ours.launches))
    for figure in ("gpu_kernel_sum", "gpu_busy", "operator_cpu"):
        if f"{figure}_us" in stated:
            assert agree_us(getattr(ours, f"{figure}_ns"), stated[f"{figure}_us"])


def test_launch_delays(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    ours, stated = analysis.totals, entry["launch_delay"]
    if entry["totals"]["launches"] == {"any_of": [1, 0]}:
        pytest.skip("the reference leaves open whether XPU launches are read; they are")
    assert ours.graph_kernels == stated["graph"]
    assert ours.unmatched_kernels == stated["unmatched"]
    assert ours.several_kernels == stated["several"]
    assert ours.negative_delays == stated["negative"]
    assert agree_us(ours.launch_delay_median_ns, stated["median_us"])
    matched = (
        ours.kernels
        - ours.graph_kernels
        - ours.unmatched_kernels
        - ours.several_kernels
        - ours.negative_delays
    )
    assert matched == stated["matched"]


def test_launch_spellings(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    if entry["totals"]["launches"] == {"any_of": [1, 0]}:
        pytest.skip("the reference leaves open whether XPU launches are read; they are")
    launches = analysis.launches
    assert Counter(launches[launches["is_kernel_launch"]]["name"]) == entry["launches_by_name"]


def test_steps(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    if "steps" not in entry:
        pytest.skip("the reference leaves the steps of this file open")
    # The reference lists every step row; an empty one at the end is kept apart here.
    numbers = [*analysis.steps["number"], *analysis.empty_steps["number"]]
    durations = [*analysis.steps["cpu_ns"], *analysis.empty_steps["cpu_ns"]]
    assert numbers == [step["number"] for step in entry["steps"]]
    for ours, stated in zip(durations, entry["steps"], strict=True):
        assert agree_us(ours, stated["cpu_us"])


def test_five_largest_kernels(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    table = analysis.kernels
    assert len(table) == entry["kernel_names"]
    for ours, stated in zip(table.head(5).itertuples(), entry["kernels"], strict=True):
        assert ours.name == stated["name"]
        assert ours.calls == stated["calls"]
        assert agree_us(ours.sum_ns, stated["total_us"])


def test_copies_and_fills(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    copies = analysis.copies[analysis.copies["kind"] == "memcpy"]
    assert set(copies["direction"]) == set(entry["memcpy"])
    for direction, stated in entry["memcpy"].items():
        mine = copies[copies["direction"] == direction]
        assert mine["calls"].sum() == stated["count"]
        assert agree_us(mine["sum_ns"].sum(), stated["us"])
        assert agree_us(analysis.totals.memcpy_ns[direction], stated["us"])
    assert set(copies["name"]) == set(entry["memcpy_by_name"])
    for name, stated in entry["memcpy_by_name"].items():
        ours = copies.set_index("name").loc[name]
        assert ours["calls"] == stated["count"]
        assert ours["size_bytes"] == (-1 if stated["bytes"] is None else stated["bytes"])
    fills = analysis.copies[analysis.copies["kind"] == "memset"]
    assert fills["calls"].sum() == entry["memset"]["count"]
    assert agree_us(fills["sum_ns"].sum(), entry["memset"]["us"])


def test_streams(case: tuple[Analysis, dict]) -> None:
    analysis, entry = case
    activities = analysis.activities
    kernels = activities[activities["kind"] == "kernel"]
    by_stream = kernels.groupby(["device", "stream"])["duration_ns"].agg(["size", "sum"])
    ours = {f"{device}/{stream}": row for (device, stream), row in by_stream.iterrows()}
    for stream, stated in entry["streams"].items():
        # A file that says neither device nor stream has them in pid and tid; here they are -1.
        mine = ours.get(stream) if stream in ours else ours.get("-1/-1", ours.get("0/-1"))
        assert mine is not None, f"{stream} not in {sorted(ours)}"
        assert mine["size"] == stated["calls"]
        assert agree_us(mine["sum"], stated["us"])


def test_five_largest_operators(case: tuple[Analysis, dict]) -> None:
    # Among operators alone: torch's own table, which is `analysis.operators`, takes runtime calls
    # off them and is checked against torch.
    analysis, entry = case
    trace = analysis.trace
    row, own = totals.operator_self_ns(trace)
    assert len(row) == entry["totals"]["cpu_ops"]
    name = trace.name[row]
    count = len(trace.names)
    self_ns = columns.sums(own, name, groups=count)
    total_ns = columns.sums(trace.duration_ns[row], name, groups=count)
    calls = np.bincount(name, minlength=count)
    order = sorted(np.flatnonzero(calls), key=lambda at: (-self_ns[at], trace.names[at]))
    for at, stated in zip(order[:5], entry["operator_self_top"], strict=True):
        assert trace.names[at] == stated["name"]
        assert calls[at] == stated["calls"]
        assert agree_us(self_ns[at], stated["self_us"])
        assert agree_us(total_ns[at], stated["total_us"])


def test_tables_agree_with_each_other(case: tuple[Analysis, dict]) -> None:
    analysis, _ = case
    ours, activities, operators = analysis.totals, analysis.activities, analysis.operators
    assert operators["self_cpu_ns"].sum() == ours.self_cpu_ns
    assert (operators["self_cpu_ns"] >= 0).all()
    assert (operators["total_gpu_ns"] >= operators["self_gpu_ns"]).all()
    asked = activities[activities["operator_row"] >= 0]
    assert operators["self_gpu_ns"].sum() == asked["duration_ns"].sum()
    assert analysis.kernels["sum_ns"].sum() == ours.gpu_kernel_sum_ns
    assert (
        analysis.kernels["sum_ns"].sum() + analysis.copies["sum_ns"].sum() == ours.gpu_work_sum_ns
    )
    for table, share in (
        (operators, "self_cpu_fraction"),
        (operators, "self_gpu_fraction"),
        (analysis.kernels, "share_fraction"),
    ):
        assert table[share].sum() == pytest.approx(1, abs=1e-12) or not table[share].any()
    steps = analysis.steps
    assert (steps["gpu_busy_ns"] <= steps["gpu_sum_ns"]).all()
    assert (steps["gpu_busy_ns"] <= steps["gpu_end_ns"] - steps["gpu_start_ns"]).all()
    assert steps["gpu_sum_ns"].sum() == activities[activities["step"] >= 0]["duration_ns"].sum()
    assert ours.gpu_busy_ns <= ours.gpu_work_sum_ns
    parts = analysis.idle.drop(columns=["step", "start_ns", "window_ns"])
    assert (parts >= 0).all(axis=None)
    assert parts.sum(axis=1).tolist() == analysis.idle["window_ns"].tolist()
    assert (analysis.queue["depth"] >= 0).all()
    assert analysis.window_steps["gpu_sum_ns"].sum() >= steps["gpu_sum_ns"].sum()
