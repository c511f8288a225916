"""Hand-made traces of five to thirty rows, each for one case, and the analysis of them.

Times are microseconds in the rows, nanoseconds in the tables. The numbers that follow from each
case are worked out in its docstring.
"""

from __future__ import annotations

from typing import Any

from profcore.analysis import Analysis
from profcore.trace import Trace, read
from tests.trace_bytes import (
    Row,
    annotation,
    kernel,
    launch,
    memcpy,
    op,
    row,
    step,
    trace_bytes,
)

BACKWARD_TID = 201


def trace_of(*rows: Row, **header: Any) -> Trace:
    """Return the trace of some rows; `devices=()` leaves out the GPU."""
    return read(trace_bytes(*rows, **header), name="handmade.json")


def analysis_of(*rows: Row, **known: Any) -> Analysis:
    """Return the analysis of some rows; `known` goes to Analysis (experiment, timings ...)."""
    return Analysis(trace_of(*rows), **known)


def plain_rows() -> list[Row]:
    """Return three steps of 100 us at 0, 200 and 400, each with a GEMM and a ReLU.

    Per step at s: annotation "work" [s+5, s+95]; aten::addmm [s+10, s+50] with a launch
    [s+20, s+30] of gemm [s+60, s+90]; aten::relu [s+60, s+80] with a launch [s+65, s+70] of a
    vectorized_elementwise_kernel [s+95, s+105]. A closing cudaDeviceSynchronize [510, 520].

    Self CPU per step: ProfilerStep 100 - 90 = 10; work 90 - 40 - 20 = 30; addmm 40 - 10 = 30;
    relu 20 - 5 = 15; cudaLaunchKernel 10 + 5 = 15. Sum 100, the step. All: 3 x 100 + 10 = 310.
    Operators alone: addmm 40 + relu 20 = 60 a step, 180 in all.
    GPU per step: busy 40, sum 40, from s+60 to s+105. Delays 40 and 30, mean and medians: six
    values 30 30 30 40 40 40, mean 35, upper median 40.
    """
    rows = []
    for number, at in enumerate((0, 200, 400)):
        rows += [
            step(number + 2, at, 100),
            annotation("work", at + 5, 90),
            op("aten::addmm", at + 10, 40),
            launch(at + 20, 10, correlation=10 * number + 1),
            kernel("gemm_64x64", at + 60, 30, correlation=10 * number + 1),
            op("aten::relu", at + 60, 20),
            launch(at + 65, 5, correlation=10 * number + 2),
            kernel(
                "void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int)",
                at + 95,
                10,
                correlation=10 * number + 2,
            ),
        ]
    return [*rows, row("cudaDeviceSynchronize", 510, 10, cat="cuda_runtime")]


def cpu_rows() -> list[Row]:
    """Return three steps of 100 us without a GPU: aten::matmul 60 with aten::mm 50 inside."""
    rows = []
    for number, at in enumerate((0, 100, 200)):
        rows += [
            step(number, at, 100),
            op("aten::matmul", at + 10, 60),
            op("aten::mm", at + 15, 50),
        ]
    return rows


def backward_rows() -> list[Row]:
    """Return one step whose second kernel is launched by the autograd thread.

    Main thread: step 4 [0, 100], aten::mm [10, 30], launch 12. Other thread: MmBackward0 [40, 90]
    with aten::mm [50, 80] and a launch at 60. Both kernels, 20 and 30 long, belong to the step.
    """
    return [
        step(4, 0, 100),
        op("aten::mm", 10, 20),
        launch(12, 5, correlation=1),
        kernel("forward_gemm", 40, 20, correlation=1),
        op("MmBackward0", 40, 50, tid=BACKWARD_TID),
        op("aten::mm", 50, 30, tid=BACKWARD_TID),
        launch(60, 5, correlation=2, tid=BACKWARD_TID),
        kernel("backward_gemm", 120, 30, correlation=2),
    ]


def graph_rows() -> list[Row]:
    """Return one step with a graph launch at 20 of a copy (5) and two kernels (10 and 20).

    Besides it a plain launch at 50 with a kernel at 90 (delay 40). Two launches, three kernels,
    two of them of the graph; busy 5 + 10 + 20 + 8 = 43.
    """
    return [
        step(1, 0, 100),
        op("CompiledFxGraph", 10, 30),
        launch(20, 10, correlation=7, name="cudaGraphLaunch"),
        memcpy(40, 5, name="Memcpy DtoD (Device -> Device)", correlation=7, bytes=4096),
        kernel("nvjet_sm90_tst_64x64_64x16_1x1_h_bz_NNT", 50, 10, correlation=7),
        kernel("triton_poi_fused_add_0", 62, 20, correlation=7),
        op("aten::add", 45, 20),
        launch(50, 5, correlation=8),
        kernel("add_kernel", 90, 8, correlation=8),
    ]


def leaked_rows() -> list[Row]:
    """Return the plain steps and before them a kernel of 50 us whose launch is not in the file."""
    return [kernel("leaked_gemm", 2, 50), *plain_rows()]


def skewed_rows() -> list[Row]:
    """Return two kernels: one starts 0.8 us before its launch, the other 30 us after."""
    return [
        op("aten::mm", 0, 50),
        launch(10, 5, correlation=1),
        kernel("early", 9.2, 5, correlation=1),
        launch(20, 5, correlation=2),
        kernel("late", 50, 10, correlation=2),
    ]


def two_device_rows() -> list[Row]:
    """Return one step that works on two GPUs at the same time: 40 and 60 us, 30 of them together.

    Busy 70 (50 to 120), sum 100.
    """
    return [
        step(0, 0, 100),
        op("aten::mm", 10, 30),
        launch(15, 5, correlation=1),
        launch(25, 5, correlation=2),
        kernel("gemm", 50, 40, correlation=1, device=0),
        kernel("gemm", 60, 60, correlation=2, device=1),
    ]


def empty_tail_rows() -> list[Row]:
    """Return the plain steps and an empty ProfilerStep#5 at the end."""
    return [*plain_rows(), step(5, 600, 3)]


def doubled_marker_rows() -> list[Row]:
    """Return the plain steps, each marker twice on the CPU side and once more on the GPU side."""
    copies = [step(number + 2, at, 100) for number, at in enumerate((0, 200, 400))]
    gpu = [
        row(f"ProfilerStep#{number + 2}", at + 60, 45, cat="gpu_user_annotation", pid=0, tid=7)
        for number, at in enumerate((0, 200, 400))
    ]
    return [*plain_rows(), *copies, *gpu]


def overrun_rows() -> list[Row]:
    """Return a child that ends after its parent, under a grandparent that ends later still.

    Grandparent [0, 100], parent [10, 50], child [40, 60]. The child keeps its 20; the parent loses
    10 of its 40; the grandparent loses 50 (10 to 60): self 50 + 30 + 20 = 100, the union.
    """
    return [op("grandparent", 0, 100), op("parent", 10, 40), op("child", 40, 20)]


def overhead_rows() -> list[Row]:
    """Return overhead as CUPTI writes it: pid -1, tid 0, but inside a launch of the main thread.

    aten::mm [10, 60], launch [20, 50], Lazy Function Loading [25, 45]: self 20 + 10 + 20 = 50.
    """
    return [
        step(0, 0, 100),
        op("aten::mm", 10, 50),
        launch(20, 30, correlation=1),
        row("Lazy Function Loading", 25, 20, cat="overhead", pid=-1, tid=0),
        kernel("gemm", 80, 10, correlation=1),
    ]


def lost_gpu_rows() -> list[Row]:
    """Return launches whose kernels were not recorded, on a machine with a GPU."""
    return [step(0, 0, 100), op("aten::mm", 10, 50), launch(20, 10, correlation=1)]
