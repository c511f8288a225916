"""Memory over time, worked out by hand."""

from __future__ import annotations

from profcore.analysis import memory
from tests.handmade import analysis_of, plain_rows
from tests.trace_bytes import kernel
from tests.trace_bytes import memory as memory_row


def test_totals_of_the_file_are_taken_as_they_are() -> None:
    analysis = analysis_of(
        kernel("k", 0, 5),
        memory_row(10, 512, allocated=1512, reserved=4096),
        memory_row(20, -512, allocated=1000, reserved=4096),
        memory_row(15, 64, allocated=64, reserved=0, device=-1),
    )
    table = analysis.memory
    assert list(table.columns) == list(memory.COLUMNS)
    assert table["device"].tolist() == [-1, 0, 0]
    assert table["time_ns"].tolist() == [15_000, 10_000, 20_000]
    assert table["allocated_bytes"].tolist() == [64, 1512, 1000]
    assert table["reserved_bytes"].tolist() == [0, 4096, 4096]
    assert not table["is_relative"].any()


def test_without_totals_changes_are_added_up_and_lifted_above_zero() -> None:
    rows = [memory_row(at, size, allocated=0, reserved=0) for at, size in ((1, 10), (2, -30))]
    for row in rows:
        del row["args"]["Total Allocated"], row["args"]["Total Reserved"]
    table = analysis_of(kernel("k", 0, 5), *rows).memory
    # 10, then 10 - 30 = -20: 20 were there before, so 30 and 0.
    assert table["allocated_bytes"].tolist() == [30, 0]
    assert table["reserved_bytes"].tolist() == [-1, -1]
    assert table["is_relative"].all()


def test_a_file_without_memory_rows_has_an_empty_table() -> None:
    table = analysis_of(*plain_rows()).memory
    assert len(table) == 0
    assert list(table.columns) == list(memory.COLUMNS)
