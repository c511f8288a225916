"""Work that runs into its successors on one stream, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import overlaps
from tests.handmade import analysis_of, graph_rows, plain_rows
from tests.trace_bytes import kernel, launch

if TYPE_CHECKING:
    from profcore.analysis import Analysis


def overlong_names(analysis: Analysis) -> list[str]:
    return [analysis.trace.name_of(int(row)) for row in overlaps.overlong_rows(analysis)]


def test_a_row_over_two_later_ones_is_overlong_and_says_what_it_would_hide() -> None:
    # long [0, 100] over a [20, 30] and b [40, 60]; c [100, 110] starts where it ends.
    analysis = analysis_of(
        kernel("long", 0, 100), kernel("a", 20, 10), kernel("b", 40, 20), kernel("c", 100, 10)
    )
    found = analysis.overlaps
    assert found.activity.tolist() == [0]
    assert found.over_ns.tolist() == [80_000]
    assert found.later.tolist() == [2]
    assert found.later_ns.tolist() == [30_000]
    assert found.is_overlong.tolist() == [True]
    kernels = analysis.kernels.set_index("name")["overlong_calls"]
    assert kernels.to_dict() == {"long": 1, "a": 0, "b": 0, "c": 0}


def test_a_row_that_ends_within_the_next_overlaps_and_is_not_overlong() -> None:
    found = analysis_of(kernel("a", 0, 30), kernel("b", 20, 20)).overlaps
    assert found.over_ns.tolist() == [10_000]
    assert not found.is_overlong.any()


def test_a_short_excess_is_not_overlong() -> None:
    # By design a kernel may start while the one before it drains: 4 µs is below the bound.
    found = analysis_of(kernel("a", 0, 30), kernel("b", 26, 2)).overlaps
    assert found.over_ns.tolist() == [4_000]
    assert not found.is_overlong.any()


def test_other_streams_and_devices_do_not_count() -> None:
    analysis = analysis_of(
        kernel("long", 0, 100),
        kernel("a", 20, 10, stream=8),
        kernel("b", 20, 10, device=1),
    )
    assert not len(analysis.overlaps.activity)


def test_copies_of_a_row_and_branches_of_a_graph_do_not_count() -> None:
    twice = [kernel("a", 0, 50, correlation=1), kernel("a", 0, 50, correlation=1)]
    assert not len(analysis_of(*twice).overlaps.activity)
    graph = [
        launch(0, 5, correlation=7, name="cudaGraphLaunch"),
        kernel("a", 10, 50, correlation=7),
        kernel("b", 20, 10, correlation=7),
    ]
    assert not len(analysis_of(*graph).overlaps.activity)
    assert not len(analysis_of(*graph_rows()).overlaps.activity)


def test_work_without_a_stream_is_not_looked_at() -> None:
    rows = [kernel("a", 0, 50), kernel("b", 10, 10)]
    for row in rows:
        del row["args"]["stream"]
        row["tid"] = "no number"
    assert not len(analysis_of(*rows).overlaps.activity)


def test_nothing_overlaps_in_the_plain_case() -> None:
    assert not len(analysis_of(*plain_rows()).overlaps.activity)


def test_agrees_with_a_plain_loop_on_random_work() -> None:
    random = np.random.default_rng(5)
    starts, lengths = random.integers(0, 200, 60), random.integers(0, 40, 60)
    streams = random.integers(7, 10, 60)
    analysis = analysis_of(
        *(
            kernel(f"k{i}", int(start), int(length), stream=int(stream))
            for i, (start, length, stream) in enumerate(zip(starts, lengths, streams, strict=True))
        )
    )
    table = analysis.activities
    expected = {}
    for i, one in table.iterrows():
        same = table[(table["stream"] == one["stream"])].drop(index=i)
        end = one["start_ns"] + one["duration_ns"]
        # In the order of the table: start, then longer first.
        after = same[same.index > i]
        inside = after[after["start_ns"] < end]
        if len(inside) and one["duration_ns"]:
            expected[i] = (len(inside), int(inside["duration_ns"].sum()))
    found = analysis.overlaps
    ours = {
        int(at): (int(later), int(later_ns))
        for at, later, later_ns in zip(found.activity, found.later, found.later_ns, strict=True)
    }
    assert ours == expected
