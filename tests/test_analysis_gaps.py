"""Why the GPU was idle, gap by gap: numbers worked out by hand."""

from __future__ import annotations

import pytest

from profcore import library
from profcore.analysis import Analysis, gaps, intervals, views
from profcore.trace import read
from tests import handmade
from tests.trace_bytes import Row, kernel, launch, op, overhead, row


def of(*rows: Row, until_us: int = 1000) -> list[tuple[int, int, str]]:
    """Return (start in us, duration in us, cause)."""
    table = gaps.gaps(handmade.analysis_of(*rows), start_ns=0, end_ns=until_us * 1000)
    return [
        (start // 1000, duration // 1000, cause)
        for start, duration, cause in zip(
            table["start_ns"], table["duration_ns"], table["cause"], strict=True
        )
    ]


FIRST = (launch(0, 5, correlation=1), kernel("a", 10, 10, correlation=1))


def test_before_the_first_and_after_the_last_work() -> None:
    # The lane of the GPU starts at 10; after 20 nothing is idle
    assert of(*FIRST) == [(0, 10, "start")]


def test_nothing_launched_is_host_bound() -> None:
    # From 20 to 110: the launch returns at 105, so 5 of 90 us are a launch gap
    rows = (*FIRST, launch(95, 10, correlation=2), kernel("b", 110, 10, correlation=2))
    assert of(*rows)[1:] == [(20, 90, "host")]
    table = gaps.gaps(handmade.analysis_of(*rows), start_ns=0, end_ns=120_000)
    assert table["host_ns"].tolist()[1] == 85_000
    assert table["launch_ns"].tolist()[1] == 5_000


def test_launched_and_not_started_is_a_launch_gap() -> None:
    rows = (*FIRST, launch(15, 5, correlation=2), kernel("b", 60, 10, correlation=2))
    assert of(*rows)[1:] == [(20, 40, "launch")]


def test_a_call_that_waits_is_a_wait() -> None:
    rows = (
        *FIRST,
        row("cudaStreamSynchronize", 15, 50, cat="cuda_runtime"),
        launch(66, 2, correlation=2),
        kernel("b", 70, 10, correlation=2),
    )
    # 20 to 70: waiting until 65, host until 68, launch gap until 70
    assert of(*rows)[1:] == [(20, 50, "waiting")]


def test_the_profiler_counts_before_everything_else() -> None:
    rows = (
        *FIRST,
        launch(15, 5, correlation=2),
        overhead(20, 30),
        kernel("b", 60, 10, correlation=2),
    )
    assert of(*rows)[1:] == [(20, 40, "profiler")]
    table = gaps.gaps(handmade.analysis_of(*rows), start_ns=0, end_ns=70_000)
    assert table["profiler_ns"].tolist()[1] == 30_000
    assert table["launch_ns"].tolist()[1] == 10_000


def test_work_on_any_stream_ends_a_gap() -> None:
    rows = (*FIRST, kernel("side", 15, 30, stream=9), kernel("b", 50, 10))
    assert of(*rows)[1:] == [(45, 5, "host")]


def test_a_trace_without_gpu_work_has_no_gaps() -> None:
    assert of(op("aten::mm", 0, 10)) == []


@pytest.mark.parametrize("recording", library.samples(), ids=lambda recording: recording.id)
def test_gaps_and_busy_time_fill_the_window(recording: library.Recording) -> None:
    analysis = Analysis.of_recording(recording, read(recording.trace_path))
    start_ns, end_ns = views.whole_view(analysis)
    table = gaps.gaps(analysis, start_ns=start_ns, end_ns=end_ns)
    work = analysis.activities
    begun = work["start_ns"].to_numpy()
    ended = begun + work["duration_ns"].to_numpy()
    busy_ns = intervals.busy_ns(begun, ended)
    assert table["duration_ns"].sum() + busy_ns == int(ended.max()) - start_ns
    parts = table[["profiler_ns", "launch_ns", "waiting_ns", "host_ns"]].sum(axis="columns")
    assert (parts == table["duration_ns"]).all()
