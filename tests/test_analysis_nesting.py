"""Who lies in whom: against a plain stack, and as algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profcore.analysis import Analysis, intervals, stacks
from tests import handmade
from tests.handmade import analysis_of
from tests.trace_bytes import annotation, op, row, step

Rows = list[tuple[int, int, int]]

spans = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 25)), max_size=40)


def sorted_arrays(rows: Rows) -> tuple[np.ndarray, ...]:
    ordered = sorted(rows, key=lambda one: (one[0], one[1], -one[2]))
    lane, start, length = (np.array(column, np.int64) for column in zip(*ordered, strict=True))
    return lane, start, start + length


def stack_parents(lane: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[int]:
    """The textbook way, one row after another."""
    parents, stack = [], []
    for at in range(len(start)):
        if at and lane[at] != lane[at - 1]:
            stack = []
        while stack and end[stack[-1]] <= start[at]:
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        stack.append(at)
    return parents


@given(spans.filter(bool))
@example([(0, 0, 10), (0, 0, 10), (0, 0, 0), (0, 10, 5)])
def test_parents_are_those_of_a_stack(rows: Rows) -> None:
    lane, start, end = sorted_arrays(rows)
    assert stacks.parents(start, end, lane).tolist() == stack_parents(lane, start, end)


@given(spans.filter(bool))
def test_self_times_are_never_negative_and_add_up_to_the_lane(rows: Rows) -> None:
    lane, start, end = sorted_arrays(rows)
    own = stacks.self_ns(start, end, stacks.parents(start, end, lane), lane=lane)
    assert (own >= 0).all()
    for one in np.unique(lane):
        mine = lane == one
        assert own[mine].sum() == intervals.busy_ns(start[mine], end[mine])


@given(spans.filter(bool))
def test_each_unit_of_time_belongs_to_the_row_that_began_last(rows: Rows) -> None:
    lane, start, end = sorted_arrays(rows)
    own = stacks.self_ns(start, end, stacks.parents(start, end, lane), lane=lane)
    counted = np.zeros(len(start), np.int64)
    for one in np.unique(lane):
        for unit in range(int(end.max())):
            inside = np.flatnonzero((lane == one) & (start <= unit) & (unit < end))
            if len(inside):
                counted[inside[-1]] += 1
    assert own.tolist() == counted.tolist()


@given(spans.filter(bool), st.integers(0, 10**12))
def test_a_shifted_clock_changes_nothing(rows: Rows, shift: int) -> None:
    lane, start, end = sorted_arrays(rows)
    parent = stacks.parents(start, end, lane)
    assert stacks.parents(start + shift, end + shift, lane).tolist() == parent.tolist()
    own = stacks.self_ns(start, end, parent, lane=lane)
    assert stacks.self_ns(start + shift, end + shift, parent, lane=lane).tolist() == own.tolist()


@given(spans.filter(bool), st.data())
def test_nearest_and_add_up_follow_the_parents(rows: Rows, data: st.DataObject) -> None:
    lane, start, end = sorted_arrays(rows)
    parent = stacks.parents(start, end, lane)
    count = len(start)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    value = np.array(data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)))
    nearest = stacks.nearest(wanted, parent)
    total = np.zeros(count, np.int64)
    for at in range(count):
        up = at
        while up >= 0 and not wanted[up]:
            up = parent[up]
        assert nearest[at] == up
        up = at
        while up >= 0:
            total[up] += value[at]
            up = parent[up]
    assert stacks.add_up(value, parent).tolist() == total.tolist()


def test_deep_nesting_is_settled_without_a_round_per_level() -> None:
    # Ten times ROUNDS_MAX deep, then one row after all have ended.
    depth = 10 * stacks.ROUNDS_MAX
    start = np.append(np.arange(depth), 10 * depth)
    end = np.append(9 * depth - np.arange(depth), 11 * depth)
    parent = stacks.parents(start, end, np.zeros(depth + 1, np.int64))
    assert parent.tolist() == [*range(-1, depth - 1), -1]


def test_a_chain_deeper_than_the_rounds_adds_up_and_finds_its_root() -> None:
    depth = 10 * stacks.ROUNDS_MAX
    parent = np.arange(-1, depth - 1)
    value = np.zeros(depth, np.int64)
    value[[depth - 1, depth // 2]] = 3, 4
    total = stacks.add_up(value, parent)
    assert total.tolist() == [7] * (depth // 2 + 1) + [3] * (depth // 2 - 1)
    wanted = np.zeros(depth, bool)
    wanted[0] = True
    assert (stacks.nearest(wanted, parent) == 0).all()


def names(analysis: Analysis, rows: np.ndarray) -> dict[str, str]:
    """Name of each row -> name of the row it points to; the test's names are unique."""
    trace = analysis.trace
    return {trace.name_of(at): trace.name_of(to) if to >= 0 else "-" for at, to in enumerate(rows)}


def test_parent_and_operator_of_every_row() -> None:
    analysis = analysis_of(
        step(0, 0, 100),
        op("aten::linear", 10, 50),
        row("cudaLaunchKernel", 20, 5, cat="cuda_runtime"),
        row("python", 21, 2, cat="python_function"),
        annotation("note", 30, 10),
        row("cudaDeviceSynchronize", 150, 5, cat="cuda_runtime"),
    )
    assert names(analysis, analysis.nesting.parent) == {
        "ProfilerStep#0": "-",
        "aten::linear": "ProfilerStep#0",
        "cudaLaunchKernel": "aten::linear",
        "python": "-",
        "note": "aten::linear",
        "cudaDeviceSynchronize": "-",
    }
    assert names(analysis, analysis.nesting.operator) == {
        "ProfilerStep#0": "ProfilerStep#0",
        "aten::linear": "aten::linear",
        "cudaLaunchKernel": "aten::linear",
        "python": "-",
        "note": "note",
        "cudaDeviceSynchronize": "-",
    }


def test_a_child_past_its_parent_keeps_its_time_and_nobody_counts_it_twice() -> None:
    table = analysis_of(*handmade.overrun_rows()).operators.set_index("name")
    assert table["self_cpu_ns"].to_dict() == {
        "grandparent": 50_000,
        "parent": 30_000,
        "child": 20_000,
    }


def test_rows_that_torch_hides_take_no_part() -> None:
    analysis = analysis_of(op("aten::add", 0, 10), op("aten::is_leaf", 2, 3))
    assert analysis.operators[["name", "self_cpu_ns"]].to_numpy().tolist() == [
        ["aten::add", 10_000]
    ]
    assert analysis.totals.self_cpu_ns == 10_000


class TestOverhead:
    def test_it_lies_in_the_call_that_paid_for_it(self) -> None:
        table = analysis_of(*handmade.overhead_rows()).operators.set_index("name")
        assert table["self_cpu_ns"].to_dict() == {
            "ProfilerStep*": 50_000,
            "aten::mm": 20_000,
            "cudaLaunchKernel": 10_000,
            "Lazy Function Loading": 20_000,
        }

    def test_it_goes_to_the_thread_whose_call_began_last(self) -> None:
        # Both threads are busy at 25; the backward thread's call began at 22, the step at 0.
        rows = [
            step(0, 0, 100),
            op("backward", 22, 40, tid=handmade.BACKWARD_TID),
            row("Lazy Function Loading", 25, 20, cat="overhead", pid=-1, tid=0),
        ]
        table = analysis_of(*rows).operators.set_index("name")
        assert table["self_cpu_ns"].to_dict() == {
            "ProfilerStep*": 100_000,
            "backward": 20_000,
            "Lazy Function Loading": 20_000,
        }

    def test_alone_it_counts_in_a_lane_of_its_own(self) -> None:
        rows = [
            op("aten::mm", 0, 10),
            row("Activity Buffer Request", 5, 20, cat="overhead", pid=-1, tid=0),
        ]
        analysis = analysis_of(*rows)
        assert analysis.totals.self_cpu_ns == 30_000
        assert analysis.totals.profiler_overhead_ns == 20_000


@pytest.mark.parametrize("name", [name for name in dir(handmade) if name.endswith("_rows")])
def test_the_order_of_rows_in_the_file_changes_no_number(name: str) -> None:
    rows = getattr(handmade, name)()
    one, other = analysis_of(*rows), analysis_of(*reversed(rows))
    assert one.totals == other.totals
    for table in ("operators", "kernels", "copies"):
        assert getattr(one, table).equals(getattr(other, table))
    assert one.steps.drop(columns="row").equals(other.steps.drop(columns="row"))
