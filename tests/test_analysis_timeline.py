"""The timeline: every row in its lane, on its level, cut to the window, and its sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profcore import library
from profcore.analysis import Analysis, blocks, intervals, levels, timeline, views
from profcore.trace import read
from profcore.trace.model import GPU_WORK, kind_code
from tests import handmade, reference
from tests.trace_bytes import kernel, launch, op, row, step

WHOLE = {"start_ns": 0, "end_ns": 10_000_000_000}


def lane(line: timeline.Timeline, title: str) -> int:
    return line.lanes["title"].tolist().index(title)


def bars(line: timeline.Timeline, title: str) -> list[tuple[str, int, int, int]]:
    """Return (name, level, start in us, end in us) of one lane."""
    marks = line.marks[line.marks["lane"] == lane(line, title)]
    return [
        (name, level, start // 1000, end // 1000)
        for name, level, start, end in zip(
            marks["name"], marks["level"], marks["start_ns"], marks["end_ns"], strict=True
        )
    ]


class TestLanes:
    def test_a_thread_nests_and_a_stream_is_flat(self) -> None:
        line = timeline.timeline(
            handmade.analysis_of(*handmade.plain_rows()), start_ns=0, end_ns=200_000
        )
        assert line.lanes["title"].tolist() == ["CPU thread 200", "GPU 0, stream 7"]
        assert bars(line, "CPU thread 200") == [
            ("ProfilerStep#2", 0, 0, 100),
            ("work", 1, 5, 95),
            ("aten::addmm", 2, 10, 50),
            ("aten::relu", 2, 60, 80),
            ("cudaLaunchKernel", 3, 20, 30),
            ("cudaLaunchKernel", 3, 65, 70),
        ]
        assert [bar[1:] for bar in bars(line, "GPU 0, stream 7")] == [(0, 60, 90), (0, 95, 105)]
        assert line.lanes["levels"].tolist() == [4, 1]
        # The thread is covered for 100 us, the stream sums 30 + 10
        assert line.lanes["drawn_ns"].tolist() == [100_000, 40_000]
        assert line.left_out == {}

    def test_a_window_cuts_the_bars_at_its_edges(self) -> None:
        line = timeline.timeline(
            handmade.analysis_of(*handmade.plain_rows()), start_ns=25_000, end_ns=70_000
        )
        assert bars(line, "GPU 0, stream 7") == [("gemm_64x64", 0, 60, 70)]
        assert ("cudaLaunchKernel", 3, 25, 30) in bars(line, "CPU thread 200")
        assert line.lanes["drawn_ns"].tolist() == [45_000, 10_000]
        # relu 60 to 70 with a launch 65 to 70 inside
        marks = line.marks[line.marks["name"] == "aten::relu"]
        assert (marks["sum_ns"].item(), marks["self_ns"].item()) == (10_000, 5_000)

    def test_overlapping_kernels_of_one_stream_get_levels_of_their_own(self) -> None:
        line = timeline.timeline(
            handmade.analysis_of(
                kernel("a", 0, 10), kernel("b", 9, 11), kernel("c", 12, 3), kernel("d", 20, 5)
            ),
            **WHOLE,
        )
        # b begins before a ends; c finds level 0 free again
        assert [bar[:2] for bar in bars(line, "GPU 0, stream 7")] == [
            ("a", 0),
            ("c", 0),
            ("d", 0),
            ("b", 1),
        ]
        assert line.lanes["drawn_ns"].tolist() == [29_000]

    def test_a_level_is_free_again_at_the_very_end_of_a_bar(self) -> None:
        rows = [kernel("a", 0, 10), kernel("b", 5, 15), kernel("c", 10, 2)]
        line = timeline.timeline(handmade.analysis_of(*rows), **WHOLE)
        assert [bar[:2] for bar in bars(line, "GPU 0, stream 7")] == [("a", 0), ("c", 0), ("b", 1)]

    def test_overhead_stands_in_the_thread_that_paid_for_it(self) -> None:
        line = timeline.timeline(handmade.analysis_of(*handmade.overhead_rows()), **WHOLE)
        assert ("Lazy Function Loading", 3, 25, 45) in bars(line, "CPU thread 200")

    def test_what_is_not_drawn_is_counted(self) -> None:
        rows = [op("aten::mm", 0, 10), op("aten::is_leaf", 1, 1), row("?", 2, 1, cat="new kind")]
        line = timeline.timeline(handmade.analysis_of(*rows), **WHOLE)
        assert len(line.marks) == 1
        assert line.left_out == {timeline.HELPERS: 1, timeline.UNKNOWN: 1}

    def test_a_picture_has_a_bounded_height(self) -> None:
        deep = [op(f"op{level}", level, 200 - 2 * level) for level in range(60)]
        threads = [op("x", 0, 1, tid=1000 + number) for number in range(50)]
        line = timeline.timeline(handmade.analysis_of(*deep, *threads), **WHOLE)
        assert line.left_out == {timeline.DEEP: 20, timeline.CROWDED: 19}
        assert line.lanes["levels"].max() == timeline.LEVELS_MAX
        assert len(line.lanes) == timeline.LANES_MAX

    def test_a_window_without_length_is_refused(self) -> None:
        with pytest.raises(ValueError, match="ends at 5 ns, at or before its start at 5 ns"):
            timeline.timeline(handmade.analysis_of(op("x", 0, 1)), start_ns=5, end_ns=5)

    def test_python_frames_stand_above_their_thread(self) -> None:
        frame = row("train.py(3): step", 0, 50, cat="python_function")
        line = timeline.timeline(handmade.analysis_of(frame, op("aten::mm", 5, 10)), **WHOLE)
        assert line.lanes["title"].tolist() == ["Python calls, thread 200", "CPU thread 200"]


class TestBlocks:
    def test_few_marks_stay_as_they_are(self) -> None:
        line = timeline.timeline(handmade.analysis_of(*handmade.plain_rows()), **WHOLE)
        assert blocks.blocks(line) is line.marks

    def test_narrow_bars_of_one_column_become_one_block(self) -> None:
        # GIVEN a window of 1,000 us, so that a column is 1 us: three kernels in column 0, a wide
        # one from 1 to 101, and two in column 200
        rows = [
            kernel("a", 0, 0.2),
            kernel("b", 0.3, 0.3),
            kernel("c", 0.7, 0.1),
            kernel("wide", 1, 100),
            kernel("d", 200, 0.5),
            kernel("e", 200.5, 0.25),
        ]
        line = timeline.timeline(handmade.analysis_of(*rows), start_ns=0, end_ns=1_000_000)
        # WHEN four are allowed, THEN there are three
        merged = blocks.blocks(line, marks_max=4)
        assert merged["name"].tolist() == ["b", "wide", "d"]
        assert merged["rows"].tolist() == [3, 1, 2]
        assert merged["row"].tolist()[0] == -1
        assert merged["row"].tolist()[1] >= 0
        assert merged["sum_ns"].tolist() == [600, 100_000, 750]
        assert merged["start_ns"].tolist() == [0, 1000, 200_000]
        assert merged["end_ns"].tolist() == [800, 101_000, 200_750]

    def test_columns_grow_until_the_bars_are_few_enough(self) -> None:
        rows = [kernel("k", 2 * number, 1) for number in range(2000)]
        line = timeline.timeline(handmade.analysis_of(*rows), start_ns=0, end_ns=4_000_000)
        merged = blocks.blocks(line, marks_max=500)
        assert len(merged) <= 500
        assert merged["rows"].sum() == 2000
        assert merged["sum_ns"].sum() == 2_000_000


spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 25), st.integers(0, 2)), max_size=40)


@settings(deadline=None)  # machines are shared
@given(spans)
def test_no_two_bars_of_a_level_cover_each_other(rows: list[tuple[int, int, int]]) -> None:
    rows = sorted(rows, key=lambda each: (each[2], each[0], -each[1]))
    start, length, group = (np.array([r[i] for r in rows], np.int64) for i in range(3))
    end = start + length
    for level in (
        levels.nested_levels(start, end, group),
        levels.free_levels(start, end, group),
    ):
        for one in set(zip(group.tolist(), level.tolist(), strict=True)):
            here = (group == one[0]) & (level == one[1])
            assert intervals.busy_ns(start[here], end[here]) == int(length[here].sum())


def test_deep_nesting_is_counted_to_the_end() -> None:
    count = 1000
    start = np.arange(count)
    level = levels.nested_levels(start, 2 * count - start, np.zeros(count, np.int64))
    assert level.tolist() == list(range(count))


def assert_reconciles(analysis: Analysis) -> None:
    """Lane by lane: what is drawn is what the tables say, over the whole recording."""
    trace = analysis.trace
    end_ns = int((trace.start_ns + trace.duration_ns).max()) + 1
    line = timeline.timeline(analysis, start_ns=0, end_ns=end_ns)
    for marks in (line.marks, blocks.blocks(line, marks_max=300)):
        drawn = marks.groupby("lane")[["self_ns", "sum_ns", "rows"]].sum()
        on_cpu = (line.lanes["side"] == "cpu").to_numpy()
        on_gpu = (line.lanes["side"] == "gpu").to_numpy()
        assert drawn["self_ns"][on_cpu].sum() == analysis.totals.self_cpu_ns
        assert drawn["self_ns"].sum() == analysis.operators["self_cpu_ns"].sum()
        assert drawn["sum_ns"][on_gpu].sum() == analysis.totals.gpu_work_sum_ns
        assert drawn["rows"][on_gpu].sum() == len(analysis.activities)
        assert drawn["self_ns"][on_cpu].tolist() == line.lanes["drawn_ns"][on_cpu].tolist()
    rows = line.marks["rows"].sum() + sum(line.left_out.values())
    assert rows == len(trace)
    work = np.isin(trace.kind, [kind_code(kind) for kind in GPU_WORK])
    for position in np.flatnonzero(on_gpu):
        marks = line.marks[line.marks["lane"] == position]
        of_lane = work & (trace.lane == trace.lane[marks["row"].iloc[0]])
        assert line.lanes["drawn_ns"][position] == trace.duration_ns[of_lane].sum()


@pytest.mark.parametrize("recording", library.samples(), ids=lambda recording: recording.id)
def test_lanes_reconcile_with_the_tables_on_the_samples(recording: library.Recording) -> None:
    assert_reconciles(Analysis.of_recording(recording, read(recording.trace_path)))


@pytest.mark.traces
@pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON)
@pytest.mark.parametrize("name", reference.names(expect="opens"))
def test_lanes_reconcile_with_the_tables_on_public_traces(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without the bounds of a picture, so that every thread and level takes part
    monkeypatch.setattr(timeline, "LANES_MAX", 10_000)
    monkeypatch.setattr(timeline, "LEVELS_MAX", 1_000_000)
    analysis = Analysis(read(reference.FOLDER / name))
    if len(analysis.trace):
        assert_reconciles(analysis)


class TestViews:
    def test_a_step_reaches_to_the_end_of_its_own_work(self) -> None:
        analysis = handmade.analysis_of(*handmade.plain_rows())
        # Steps of 100 us at 0, 200, 400; the work of each ends 105 us after its start
        assert views.step_view(analysis, 1) == (200_000, 305_000)
        # The first begins with the recording, the last ends with the closing synchronize
        assert views.step_view(analysis, 0) == (0, 105_000)
        assert views.step_view(analysis, 2) == (400_000, 520_000)
        assert views.whole_view(analysis) == (0, 520_000)

    def test_work_belongs_to_the_step_that_launched_it(self) -> None:
        analysis = handmade.analysis_of(
            step(0, 0, 100),
            launch(10, 5, correlation=1),
            step(1, 100, 100),
            op("aten::mm", 110, 5),
            kernel("late", 150, 40, correlation=1),
        )
        row_of = {analysis.trace.name_of(row): row for row in range(len(analysis.trace))}
        assert views.step_of_row(analysis, row_of["late"]) == 0
        assert views.step_of_row(analysis, row_of["ProfilerStep#1"]) == 1
        assert views.step_of_row(analysis, 99) is None
        assert views.step_of_row(analysis, -1) is None

    def test_rows_of_unknown_kinds_have_a_view_too(self) -> None:
        rows = [row("what", 5, 10, cat="new kind"), row("else", 30, 1, cat="new kind")]
        assert views.whole_view(handmade.analysis_of(*rows)) == (0, 26_000)

    def test_a_row_after_the_last_step_is_shown_with_it(self) -> None:
        analysis = handmade.analysis_of(*handmade.plain_rows())
        last = len(analysis.trace) - 1
        assert analysis.trace.name_of(last) == "cudaDeviceSynchronize"
        assert views.step_of_row(analysis, last) == 2
