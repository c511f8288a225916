"""Steps, launches, GPU work, kernels, copies and totals on hand-made traces; times in ns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profcore.analysis import (
    activities,
    copies,
    kernels,
    launches,
    operators,
    steps,
)
from profcore.analysis.activities import MISSING_DELAY
from tests import handmade
from tests.handmade import analysis_of
from tests.trace_bytes import kernel, launch, memcpy, memset, op, row, step

if TYPE_CHECKING:
    import pandas as pd

CASES = [name for name in dir(handmade) if name.endswith("_rows")]


def column(table: pd.DataFrame, name: str) -> list:
    return table[name].tolist()


@pytest.mark.parametrize("case", [*CASES, "nothing"])
class TestEveryTable:
    def test_has_exactly_the_documented_columns(self, case: str) -> None:
        rows = getattr(handmade, case)() if case in CASES else [row("other", 0, 1, cat="x")]
        analysis = analysis_of(*rows)
        for module, table in (
            (steps, analysis.steps),
            (steps, analysis.empty_steps),
            (launches, analysis.launches),
            (activities, analysis.activities),
            (operators, analysis.operators),
            (kernels, analysis.kernels),
            (copies, analysis.copies),
        ):
            assert list(table.columns) == list(module.COLUMNS)
            assert list(table.index) == list(range(len(table)))
            for name in table.columns:
                if name.endswith("_ns") and name not in {"mean_ns", "median_ns"}:
                    assert table[name].dtype == "int64", name

    def test_shares_add_up_to_one(self, case: str) -> None:
        rows = getattr(handmade, case)() if case in CASES else [row("other", 0, 1, cat="x")]
        analysis = analysis_of(*rows)
        of_work = [*analysis.kernels["sum_ns"], *analysis.copies["sum_ns"]]
        for shares, whole in (
            (analysis.operators["self_cpu_fraction"], analysis.operators["self_cpu_ns"].sum()),
            (analysis.operators["self_gpu_fraction"], analysis.operators["self_gpu_ns"].sum()),
            (analysis.kernels["share_fraction"], analysis.kernels["sum_ns"].sum()),
        ):
            assert shares.sum() == pytest.approx(1 if whole else 0, abs=1e-12)
        copied = analysis.copies["sum_ns"].sum() / sum(of_work) if of_work else 0
        assert analysis.copies["share_fraction"].sum() == pytest.approx(copied, abs=1e-12)


class TestSteps:
    def test_three_plain_steps(self) -> None:
        table = analysis_of(*handmade.plain_rows()).steps
        assert column(table, "number") == [2, 3, 4]
        assert column(table, "start_ns") == [0, 200_000, 400_000]
        assert column(table, "cpu_ns") == [100_000] * 3
        assert column(table, "gpu_busy_ns") == column(table, "gpu_sum_ns") == [40_000] * 3
        assert column(table, "gpu_start_ns") == [60_000, 260_000, 460_000]
        assert column(table, "gpu_end_ns") == [105_000, 305_000, 505_000]
        assert column(table, "kernels") == column(table, "activities") == [2, 2, 2]
        assert column(table, "launches") == [2, 2, 2]
        assert column(table, "is_first") == [True, False, False]

    def test_work_belongs_to_the_step_that_launched_it_whenever_it_runs(self) -> None:
        # The first step's kernel runs during the second step.
        table = analysis_of(
            step(0, 0, 100),
            op("aten::mm", 5, 20),
            launch(10, 5, correlation=1),
            step(1, 100, 100),
            op("aten::mm", 105, 20),
            kernel("late", 120, 50, correlation=1),
        ).steps
        assert column(table, "kernels") == [1, 0]
        assert column(table, "gpu_busy_ns") == [50_000, 0]
        assert column(table, "gpu_start_ns") == [120_000, -1]
        assert column(table, "gpu_end_ns") == [170_000, -1]

    def test_a_launch_on_another_thread_counts(self) -> None:
        table = analysis_of(*handmade.backward_rows()).steps
        assert column(table, "kernels") == [2]
        assert column(table, "launches") == [2]
        assert column(table, "gpu_busy_ns") == [50_000]

    def test_two_devices_at_once_are_busy_once_and_summed_twice(self) -> None:
        table = analysis_of(*handmade.two_device_rows()).steps
        assert column(table, "gpu_busy_ns") == [70_000]
        assert column(table, "gpu_sum_ns") == [100_000]

    def test_leaked_work_belongs_to_no_step(self) -> None:
        analysis = analysis_of(*handmade.leaked_rows())
        assert column(analysis.steps, "gpu_sum_ns") == [40_000] * 3
        assert analysis.totals.gpu_work_sum_ns == 170_000
        assert analysis.totals.unmatched_kernels == 1

    def test_an_empty_step_at_the_end_is_kept_apart(self) -> None:
        analysis = analysis_of(*handmade.empty_tail_rows())
        assert column(analysis.steps, "number") == [2, 3, 4]
        assert column(analysis.empty_steps, "number") == [5]
        assert column(analysis.empty_steps, "cpu_ns") == [3_000]

    def test_an_empty_step_in_the_middle_stays(self) -> None:
        analysis = analysis_of(
            step(0, 0, 10), step(1, 10, 10), step(2, 20, 10), op("aten::mm", 22, 5)
        )
        assert column(analysis.steps, "number") == [0, 1, 2]

    def test_steps_that_are_all_empty_stay(self) -> None:
        analysis = analysis_of(step(0, 0, 10), step(1, 10, 10))
        assert column(analysis.steps, "number") == [0, 1]

    def test_copies_of_markers_are_no_steps(self) -> None:
        analysis = analysis_of(*handmade.doubled_marker_rows())
        assert column(analysis.steps, "number") == [2, 3, 4]
        assert column(analysis.steps, "kernels") == [2, 2, 2]
        assert analysis.markers.doubled == 3

    def test_old_files_mark_steps_as_operators(self) -> None:
        analysis = analysis_of(
            row("ProfilerStep#7", 0, 100, cat="Operator"), row("mm", 10, 20, cat="Operator")
        )
        assert column(analysis.steps, "number") == [7]
        assert analysis.totals.operator_cpu_ns == 20_000
        assert column(analysis.operators, "kind") == ["annotation", "operator"]

    def test_a_name_that_only_begins_like_a_step_is_none(self) -> None:
        analysis = analysis_of(
            row("ProfilerStep#x", 0, 10, cat="user_annotation"),
            row("ProfilerStep#12 more", 10, 10, cat="user_annotation"),
        )
        assert len(analysis.steps) == 0

    def test_each_process_launches_for_its_own_steps(self) -> None:
        # Two ranks in one file, steps at the same time; the second one launches.
        rows = [
            {**step(0, 0, 100), "pid": 1},
            {**op("aten::mm", 10, 20), "pid": 1},
            {**step(0, 0, 90), "pid": 2},
            {**op("aten::mm", 10, 20), "pid": 2},
            {**launch(12, 5, correlation=1), "pid": 2},
            kernel("gemm", 50, 10, correlation=1),
        ]
        table = analysis_of(*rows).steps
        assert column(table, "cpu_ns") == [100_000, 90_000]
        assert column(table, "kernels") == [0, 1]


class TestLaunches:
    def test_a_graph_launch_owns_all_its_work(self) -> None:
        analysis = analysis_of(*handmade.graph_rows())
        table = analysis.launches
        assert column(table, "name") == ["cudaGraphLaunch", "cudaLaunchKernel"]
        assert column(table, "is_graph") == [True, False]
        assert column(table, "activities") == [3, 1]
        assert column(table, "delay_ns") == [20_000, 40_000]
        work = analysis.activities
        assert column(work, "is_graph") == [True, True, True, False]
        assert column(work, "delay_ns") == [MISSING_DELAY] * 3 + [40_000]
        assert column(work, "step") == [0] * 4
        assert analysis.totals.launches == 2
        assert analysis.totals.graph_kernels == 2
        assert analysis.totals.launch_delay_mean_ns == 40_000

    def test_copies_and_fills_have_calls_that_are_no_launches(self) -> None:
        analysis = analysis_of(
            launch(0, 5, correlation=1, name="cudaMemcpyAsync"),
            launch(10, 5, correlation=2, name="cudaMemsetAsync"),
            launch(20, 5, correlation=3, name="cudaStreamSynchronize"),
            memcpy(30, 5, correlation=1, bytes=64),
            memset(40, 2, correlation=2, bytes=4),
        )
        table = analysis.launches
        assert column(table, "name") == ["cudaMemcpyAsync", "cudaMemsetAsync"]
        assert column(table, "is_kernel_launch") == [False, False]
        assert column(analysis.activities, "delay_ns") == [30_000, 30_000]
        assert analysis.totals.launches == 0
        assert analysis.totals.launch_delay_mean_ns is None

    @pytest.mark.parametrize(
        ("name", "counts"),
        [
            ("cudaLaunchKernel", True),
            ("cudaLaunchKernelExC", True),
            ("cudaLaunchCooperativeKernelMultiDevice", True),
            ("cuLaunchKernelEx", True),
            ("hipExtModuleLaunchKernel", True),
            ("hipGraphLaunch", True),
            ("cuLaunchClusterKernel", True),
            ("hipLaunchMultiKernelMultiDevice", True),
            ("hipHccModuleLaunch", True),
            ("urEnqueueKernelLaunchWithArgsExp", True),
            ("zeCommandListAppendLaunchKernel", True),
            ("cudaLaunchHostFunc", False),
            ("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", False),
            ("cudaStreamIsCapturing", False),
            ("cudaGraphInstantiate", False),
        ],
    )
    def test_spellings(self, name: str, counts: bool) -> None:  # noqa: FBT001
        analysis = analysis_of(launch(0, 5, correlation=1, name=name))
        assert analysis.totals.launches == int(counts)

    def test_a_launch_without_work_is_listed(self) -> None:
        analysis = analysis_of(*handmade.lost_gpu_rows())
        assert column(analysis.launches, "activities") == [0]
        assert column(analysis.launches, "delay_ns") == [-1]
        assert column(analysis.steps, "launches") == [1]
        assert not analysis.totals.gpu_recorded
        assert analysis.totals.gpu_span_ns is None


class TestActivities:
    def test_a_kernel_before_its_launch_is_set_apart(self) -> None:
        analysis = analysis_of(*handmade.skewed_rows())
        assert column(analysis.activities, "delay_ns") == [-800, 30_000]
        assert analysis.totals.negative_delays == 1
        assert analysis.totals.launch_delay_mean_ns == 30_000
        assert analysis.totals.launch_delay_median_ns == 30_000

    def test_several_launches_with_one_number(self) -> None:
        # Both launches lie in the step, so the kernel does; which one it was stays open.
        analysis = analysis_of(
            step(0, 0, 100),
            launch(10, 5, correlation=1),
            launch(20, 5, correlation=1),
            kernel("gemm", 50, 10, correlation=1),
        )
        work = analysis.activities
        assert column(work, "launch_row") == [-2]
        assert column(work, "delay_ns") == [MISSING_DELAY]
        assert column(work, "step") == [0]
        assert column(analysis.launches, "activities") == [0, 0]
        assert analysis.totals.several_kernels == 1
        assert analysis.totals.unmatched_kernels == 0

    def test_several_launches_in_different_steps_leave_the_step_open(self) -> None:
        analysis = analysis_of(
            step(0, 0, 100),
            launch(10, 5, correlation=1),
            step(1, 100, 100),
            launch(120, 5, correlation=1),
            kernel("gemm", 150, 10, correlation=1),
        )
        assert column(analysis.activities, "step") == [-1]
        assert column(analysis.steps, "kernels") == [0, 0]

    def test_a_kernel_without_a_number_matches_nothing(self) -> None:
        analysis = analysis_of(launch(0, 5), kernel("gemm", 10, 5))
        assert column(analysis.activities, "launch_row") == [-1]
        assert analysis.totals.unmatched_kernels == 1

    def test_a_kernel_under_a_copy_call_has_a_step_but_no_launch_delay(self) -> None:
        # ROCm runs some copies as kernels.
        analysis = analysis_of(
            step(0, 0, 100),
            op("aten::copy_", 10, 30),
            launch(20, 5, correlation=1, name="hipMemcpyWithStream"),
            kernel("__amd_rocclr_copyBuffer", 50, 10, correlation=1),
        )
        assert column(analysis.activities, "step") == [0]
        assert column(analysis.activities, "delay_ns") == [MISSING_DELAY]
        assert analysis.totals.unmatched_kernels == 1
        assert analysis.totals.launch_delay_mean_ns is None

    def test_a_kernel_under_several_calls_that_are_no_launches_has_none(self) -> None:
        analysis = analysis_of(
            launch(0, 5, correlation=1, name="hipMemcpy"),
            launch(1, 3, correlation=1, name="hipMemcpyAsync"),
            kernel("__amd_rocclr_copyBuffer", 50, 10, correlation=1),
        )
        assert column(analysis.activities, "launch_row") == [-1]
        assert analysis.totals.unmatched_kernels == 1
        assert analysis.totals.several_kernels == 0

    def test_the_innermost_operator_asked_for_it(self) -> None:
        # An annotation inside the operator does not take the kernel from it; torch links the same.
        analysis = analysis_of(
            op("aten::linear", 0, 50),
            op("aten::addmm", 5, 40),
            row("note", 10, 20, cat="user_annotation"),
            launch(12, 5, correlation=1),
            kernel("gemm", 60, 10, correlation=1),
        )
        row_of = column(analysis.activities, "operator_row")[0]
        assert analysis.trace.name_of(row_of) == "aten::addmm"

    def test_an_annotation_is_taken_where_no_operator_is(self) -> None:
        analysis = analysis_of(
            row("note", 0, 20, cat="user_annotation"),
            launch(12, 5, correlation=1),
            kernel("gemm", 60, 10, correlation=1),
        )
        row_of = column(analysis.activities, "operator_row")[0]
        assert analysis.trace.name_of(row_of) == "note"

    def test_without_a_launch_the_external_id_tells_the_operator(self) -> None:
        work = kernel("gemm", 60, 10, **{"External id": 5})
        analysis = analysis_of(op("aten::mm", 0, 50, external_id=5), work)
        assert column(analysis.activities, "launch_row") == [-1]
        table = analysis.operators
        assert column(table, "self_gpu_ns") == [10_000]
        assert column(analysis.activities, "step") == [-1]


class TestOperators:
    def test_the_plain_table(self) -> None:
        table = analysis_of(*handmade.plain_rows()).operators.set_index("name")
        # Per step, see handmade.plain_rows; times three.
        assert table["self_cpu_ns"].to_dict() == {
            "aten::addmm": 90_000,
            "work": 90_000,
            "aten::relu": 45_000,
            "cudaLaunchKernel": 45_000,
            "ProfilerStep*": 30_000,
            "cudaDeviceSynchronize": 10_000,
        }
        assert table.loc["aten::addmm", "total_cpu_ns"] == 120_000
        assert table.loc["aten::addmm", "self_gpu_ns"] == 90_000
        assert table.loc["work", "self_gpu_ns"] == 0
        assert table.loc["work", "total_gpu_ns"] == 120_000
        assert table.loc["ProfilerStep*", "calls"] == 3
        assert table.loc["cudaLaunchKernel", "kind"] == "runtime"

    def test_each_name_has_a_call_of_median_duration(self) -> None:
        # GIVEN four calls of 40, 10, 30 and 20 us: of the middle two the shorter, the last
        analysis = analysis_of(*(op("mul", 100 * n, us) for n, us in enumerate((40, 10, 30, 20))))
        row = analysis.operators["median_row"].iloc[0]
        assert analysis.trace.start_ns[row] - analysis.trace.start_ns.min() == 300_000

    def test_rows_are_in_order_of_self_time_then_name(self) -> None:
        table = analysis_of(*handmade.plain_rows()).operators
        assert column(table, "name")[:3] == ["aten::addmm", "work", "aten::relu"]

    def test_an_operator_that_only_calls_itself_counts_once(self) -> None:
        # As in torch: add [0, 50] holds nothing but add [10, 40]: one call of 50.
        analysis = analysis_of(
            op("aten::add", 0, 50),
            op("aten::add", 10, 30),
            launch(15, 10, correlation=1),
            kernel("add", 60, 5, correlation=1),
        )
        table = analysis.operators.set_index("name")
        assert table.loc["aten::add", ["calls", "self_cpu_ns", "total_cpu_ns"]].tolist() == [
            1,
            40_000,
            50_000,
        ]
        assert table.loc["aten::add", ["self_gpu_ns", "total_gpu_ns"]].tolist() == [5_000, 5_000]

    def test_a_chain_of_itself_counts_once(self) -> None:
        analysis = analysis_of(*(op("f", at, 100 - 2 * at) for at in range(5)), op("g", 20, 10))
        table = analysis.operators.set_index("name")
        assert table.loc["f", ["calls", "self_cpu_ns", "total_cpu_ns"]].tolist() == [
            1,
            90_000,
            100_000,
        ]

    def test_a_call_of_itself_beside_others_counts_again(self) -> None:
        # f [0, 100] holds f [10, 30] and g [50, 60]: two calls, total 120, self 70 + 20.
        analysis = analysis_of(op("f", 0, 100), op("f", 10, 20), op("g", 50, 10))
        table = analysis.operators.set_index("name")
        assert table.loc["f", ["calls", "self_cpu_ns", "total_cpu_ns"]].tolist() == [
            2,
            90_000,
            120_000,
        ]

    def test_exact_copies_of_a_row_count_as_they_stand(self) -> None:
        table = analysis_of(op("f", 0, 100), op("f", 0, 100)).operators
        assert table[["calls", "self_cpu_ns", "total_cpu_ns"]].to_numpy().tolist() == [
            [2, 100_000, 200_000]
        ]

    def test_an_annotation_and_an_operator_of_one_name_are_two_rows(self) -> None:
        table = analysis_of(op("same", 0, 10), row("same", 20, 10, cat="user_annotation")).operators
        assert column(table, "kind") == ["operator", "annotation"]


class TestKernels:
    def test_statistics_by_name(self) -> None:
        # gemm 10, 20, 60, 30: mean 30, median 25. fill 200 once: first by sum.
        analysis = analysis_of(
            *(kernel("gemm", at, dur) for at, dur in ((0, 10), (100, 20), (200, 60), (300, 30))),
            kernel("fill", 400, 200),
            memcpy(700, 50),
        )
        table = analysis.kernels
        assert column(table, "name") == ["fill", "gemm"]
        gemm = table.iloc[1]
        assert analysis.trace.duration_ns[gemm["median_row"]] == 20_000
        assert gemm[["calls", "sum_ns", "min_ns", "max_ns"]].tolist() == [
            4,
            120_000,
            10_000,
            60_000,
        ]
        assert gemm["mean_ns"] == 30_000
        assert gemm["median_ns"] == 25_000
        assert gemm["share_fraction"] == pytest.approx(120 / 320)

    def test_equal_sums_are_in_order_of_name(self) -> None:
        table = analysis_of(kernel("b", 0, 10), kernel("a", 20, 10)).kernels
        assert column(table, "name") == ["a", "b"]


class TestCopies:
    def test_by_name_with_direction_and_bytes(self) -> None:
        analysis = analysis_of(
            memcpy(0, 10, bytes=100),
            memcpy(20, 30, bytes=200),
            memcpy(60, 5, name="Memcpy DtoD (Device -> Device)"),
            memset(70, 1, bytes=4),
            kernel("k", 80, 54),
        )
        table = analysis.copies
        assert analysis.trace.duration_ns[table["median_row"]].tolist() == [10_000, 5_000, 1_000]
        assert column(table, "direction") == ["HtoD", "DtoD", ""]
        assert column(table, "kind") == ["memcpy", "memcpy", "memset"]
        assert column(table, "calls") == [2, 1, 1]
        assert column(table, "sum_ns") == [40_000, 5_000, 1_000]
        assert column(table, "size_bytes") == [300, -1, 4]
        assert column(table, "share_fraction") == pytest.approx([0.4, 0.05, 0.01])

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("Memcpy HtoD (Pageable -> Device)", "HtoD"),
            ("Memcpy DtoH (Device -> Pinned)", "DtoH"),
            ("Memcpy PtoP (Device -> Device)", "PtoP"),
            ("CopyHostToDevice", "HtoD"),
            ("hipMemcpyDeviceToHost", "DtoH"),
            ("Memory Copy (M2D)", "HtoD"),
            ("zeCommandListAppendMemoryCopy(D2M)", "DtoH"),
            ("Memcpy 2D (D2D)", "DtoD"),
            ("Memcpy", "unknown"),
        ],
    )
    def test_direction(self, name: str, expected: str) -> None:
        assert copies.direction(name) == expected


class TestTotals:
    def test_the_plain_trace(self) -> None:
        totals = analysis_of(*handmade.plain_rows()).totals
        assert totals.self_cpu_ns == 310_000
        assert totals.operator_cpu_ns == 180_000
        assert totals.gpu_kernel_sum_ns == totals.gpu_work_sum_ns == totals.gpu_busy_ns == 120_000
        assert totals.gpu_span_ns == 505_000 - 60_000
        assert (totals.kernels, totals.activities, totals.launches) == (6, 6, 6)
        assert totals.launch_delay_mean_ns == 35_000
        assert totals.launch_delay_median_ns == 40_000
        assert totals.memcpy_ns == {}
        assert totals.gpu_recorded

    def test_copies_by_direction(self) -> None:
        totals = analysis_of(*handmade.graph_rows()).totals
        assert totals.memcpy_ns == {"DtoD": 5_000}
        assert totals.gpu_work_sum_ns - totals.gpu_kernel_sum_ns == 5_000

    def test_operator_time_leaves_runtime_calls_inside_and_annotations_out(self) -> None:
        # linear [0, 50] with addmm [10, 40]: 20 + 30; the launch inside addmm stays; note is none.
        totals = analysis_of(
            row("note", 0, 60, cat="user_annotation"),
            op("aten::linear", 0, 50),
            op("aten::addmm", 10, 30),
            launch(20, 10),
        ).totals
        assert totals.operator_cpu_ns == 50_000
        assert totals.self_cpu_ns == 60_000

    def test_an_operator_past_its_parent_is_taken_off_only_up_to_the_end(self) -> None:
        # parent [0, 50], child [40, 60]: 50 - 10 + 20, the union.
        totals = analysis_of(op("parent", 0, 50), op("child", 40, 20)).totals
        assert totals.operator_cpu_ns == totals.self_cpu_ns == 60_000

    def test_nested_overhead_counts_once(self) -> None:
        totals = analysis_of(
            op("aten::mm", 0, 100),
            row("Runtime Triggered Module Loading", 10, 50, cat="overhead", pid=-1, tid=0),
            row("Lazy Function Loading", 20, 20, cat="overhead", pid=-1, tid=0),
        ).totals
        assert totals.profiler_overhead_ns == 50_000
        assert totals.self_cpu_ns == 100_000
