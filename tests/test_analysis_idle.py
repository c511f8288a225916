"""Idle time by cause, the queue, and what stands for steps; worked out by hand (rows in us)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.analysis import idle, intervals, queue
from tests import handmade
from tests.handmade import analysis_of
from tests.trace_bytes import annotation, kernel, launch, memcpy, op, row, step

CASES = [name for name in dir(handmade) if name.endswith("_rows")]


class TestIdle:
    def test_the_plain_steps(self) -> None:
        # Work ends at 105, 305, 505: two stretches of 200. In the first, kernels [260, 290] and
        # [295, 305]; launches return at 230 and 270: queued [230, 260] and [290, 295]. Rest: host.
        table = analysis_of(*handmade.plain_rows()).idle
        assert table["step"].tolist() == [1, 2]
        assert table["start_ns"].tolist() == [105_000, 305_000]
        assert table["window_ns"].tolist() == [200_000] * 2
        assert table["kernel_ns"].tolist() == [40_000] * 2
        assert table["copy_ns"].tolist() == [0] * 2
        assert table["queued_ns"].tolist() == [35_000] * 2
        assert table["waiting_ns"].tolist() == [0] * 2
        assert table["host_ns"].tolist() == [125_000] * 2

    def test_waiting_and_copies_have_headings_of_their_own(self) -> None:
        # Stretch [100, 300]. Sync [110, 150]: 40 waiting. Copy [160, 200] with a kernel in
        # [190, 210]: 30 copying alone. The kernel's launch returned at 170, while the copy ran:
        # nothing queued and idle. Kernels 20 + 10; host 300 - 100 - 40 - 30 - 30 = 100.
        table = analysis_of(
            step(0, 0, 100),
            op("a", 5, 20),
            launch(10, 5, correlation=1),
            kernel("k", 50, 50, correlation=1),
            step(1, 100, 150),
            row("cudaStreamSynchronize", 110, 40, cat="cuda_runtime"),
            launch(152, 8, correlation=2, name="cudaMemcpyAsync"),
            memcpy(160, 40, correlation=2),
            launch(165, 5, correlation=3),
            kernel("k", 190, 20, correlation=3, stream=8),
            launch(240, 50, correlation=4),
            kernel("k", 290, 10, correlation=4),
        ).idle
        stated = {"window_ns": 200, "kernel_ns": 30, "copy_ns": 30, "queued_ns": 0}
        stated |= {"waiting_ns": 40, "host_ns": 100}
        assert table.iloc[0][list(stated)].tolist() == [1000 * part for part in stated.values()]

    def test_work_that_starts_before_its_call_returns_was_never_queued(self) -> None:
        # Stretch [60, 130]; the call [100, 120] returns after its kernel [110, 130] started.
        table = analysis_of(
            step(0, 0, 100),
            launch(10, 5, correlation=1),
            kernel("k", 50, 10, correlation=1),
            step(1, 100, 50),
            launch(100, 20, correlation=2),
            kernel("k", 110, 20, correlation=2),
        ).idle
        assert table[["kernel_ns", "queued_ns", "host_ns"]].iloc[0].tolist() == [20_000, 0, 50_000]

    def test_a_step_that_ends_before_the_one_before_it_has_an_empty_stretch(self) -> None:
        # Two streams: step 0 ends at 200, step 1 at 150, step 2 at 300.
        table = analysis_of(
            step(0, 0, 10),
            launch(1, 1, correlation=1),
            kernel("k", 100, 100, correlation=1),
            step(1, 10, 10),
            launch(11, 1, correlation=2),
            kernel("k", 140, 10, correlation=2, stream=8),
            step(2, 20, 10),
            launch(21, 1, correlation=3),
            kernel("k", 290, 10, correlation=3),
        ).idle
        assert table["start_ns"].tolist() == [200_000, 200_000]
        assert table["window_ns"].tolist() == [0, 100_000]
        assert table["queued_ns"].tolist() == [0, 90_000]

    @pytest.mark.parametrize("case", CASES)
    def test_the_parts_add_up_and_none_is_negative(self, case: str) -> None:
        table = analysis_of(*getattr(handmade, case)()).idle
        assert list(table.columns) == list(idle.COLUMNS)
        parts = table.drop(columns=["step", "start_ns", "window_ns"])
        assert (parts >= 0).all(axis=None)
        assert parts.sum(axis=1).tolist() == table["window_ns"].tolist()

    @given(
        st.lists(st.tuples(st.integers(0, 50), st.integers(0, 10)), max_size=15),
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=5),
    )
    def test_covered_is_the_union_clipped_to_each_window(
        self, spans: list[tuple[int, int]], windows: list[tuple[int, int]]
    ) -> None:
        start = np.array([one for one, _ in spans], np.int64)
        end = start + np.array([length for _, length in spans], np.int64)
        from_ns = np.array([one for one, _ in windows], np.int64)
        to_ns = from_ns + np.array([length for _, length in windows], np.int64)
        covered = intervals.covered_ns(*intervals.union(start, end), from_ns=from_ns, to_ns=to_ns)
        for at, (low, high) in enumerate(zip(from_ns, to_ns, strict=True)):
            clipped = intervals.clip(start, end, from_ns=low, to_ns=high)
            assert covered[at] == intervals.busy_ns(*clipped)


class TestQueue:
    def test_up_at_the_call_and_down_at_the_start_of_the_work(self) -> None:
        # Calls at 0 and 10, work at 20 and 30; a call at 40 whose work starts with it: no change.
        table = analysis_of(
            launch(0, 5, correlation=1),
            launch(10, 5, correlation=2),
            kernel("k", 20, 5, correlation=1),
            kernel("k", 30, 5, correlation=2),
            launch(40, 5, correlation=3),
            kernel("k", 40, 5, correlation=3),
        ).queue
        assert list(table.columns) == list(queue.COLUMNS)
        assert table["time_ns"].tolist() == [0, 10_000, 20_000, 30_000, 40_000]
        assert table["depth"].tolist() == [1, 2, 1, 0, 0]

    def test_streams_are_counted_apart(self) -> None:
        table = analysis_of(
            launch(0, 5, correlation=1),
            launch(2, 5, correlation=2),
            kernel("k", 20, 5, correlation=1, stream=7),
            kernel("k", 30, 5, correlation=2, stream=9),
        ).queue
        assert table["stream"].tolist() == [7, 7, 9, 9]
        assert table["depth"].tolist() == [1, 0, 1, 0]

    def test_a_graph_launch_is_one_item_and_skewed_clocks_none(self) -> None:
        # Graph launch 20, its first work 40; plain launch 50, its kernel 90.
        graph = analysis_of(*handmade.graph_rows()).queue
        assert graph["time_ns"].tolist() == [20_000, 40_000, 50_000, 90_000]
        assert graph["depth"].tolist() == [1, 0, 1, 0]
        skewed = analysis_of(*handmade.skewed_rows()).queue
        assert skewed["time_ns"].tolist() == [20_000, 50_000]

    @pytest.mark.parametrize("case", CASES)
    def test_it_is_empty_at_the_end_and_never_below_zero(self, case: str) -> None:
        table = analysis_of(*getattr(handmade, case)()).queue
        assert (table["depth"] >= 0).all()
        last = table.groupby(["device", "stream"])["depth"].last()
        assert (last == 0).all()


class TestWindows:
    def test_steps_where_the_file_marks_them(self) -> None:
        analysis = analysis_of(*handmade.plain_rows())
        assert analysis.windows.source == "steps"
        assert analysis.window_steps.equals(analysis.steps)

    def test_the_outermost_annotation_that_repeats_most(self) -> None:
        # "batch" twice, "layer" four times inside it, "setup" once.
        rows = [annotation("setup", 0, 50)]
        for number, at in enumerate((100, 200)):
            rows += [
                annotation("batch", at, 90),
                annotation("layer", at + 5, 30),
                annotation("layer", at + 40, 30),
                launch(at + 10, 5, correlation=number),
                kernel("k", at + 50, 20, correlation=number),
            ]
        analysis = analysis_of(*rows)
        assert (analysis.windows.source, analysis.windows.name) == ("annotation", "batch")
        table = analysis.window_steps
        assert table["number"].tolist() == [0, 1]
        assert table["cpu_ns"].tolist() == [90_000] * 2
        assert table["gpu_busy_ns"].tolist() == [20_000] * 2
        assert len(analysis.steps) == 0

    def test_else_the_whole_recording(self) -> None:
        analysis = analysis_of(*handmade.skewed_rows())
        assert analysis.windows.source == "recording"
        table = analysis.window_steps
        assert table["cpu_ns"].tolist() == [60_000]
        assert table["gpu_sum_ns"].tolist() == [15_000]
        assert table["launches"].tolist() == [2]

    def test_nothing_to_see_gives_no_window(self) -> None:
        analysis = analysis_of(row("other", 0, 1, cat="x"))
        assert analysis.windows.source == "recording"
        assert len(analysis.window_steps) == 0
