from __future__ import annotations

import pytest

from tests.rule_traces import ADD, NVJET, Case, hold, loop, own_run, product
from tests.trace_bytes import Row, annotation, kernel, launch, memset, op

EAGER = loop(5, product(2), every_us=200, cpu_us=150)
HASHES = ("fgraphaaaaaaaaaaaa", "fgraphbbbbbbbbbbbb")


def region(at: float, number: int, *, graph: str = HASHES[0], kernel_us: float = 2) -> list[Row]:
    """Cache lookup [+5, +15], region [+20, +120] > prologue 10, graph [+50, +110] > product.

    The toll: lookup 10, region 100 - 10 - 60 = 30, prologue 10, graph 60 - 50 (aten::matmul) = 10;
    60 in all.
    """
    return [
        op("TorchDynamo Cache Lookup", at + 5, 10),
        op("Torch-Compiled Region: 0/0", at + 20, 100),
        op("AOTDispatcher Runtime Wrapper Prologue", at + 30, 10),
        op(f"## Call CompiledFxGraph {graph} ##", at + 50, 60),
        *product(kernel_us)(at + 45, number),
    ]


def compiled(count: int = 5, *, kernel_us: float = 2) -> list[Row]:
    """Return steps of 150 us, 200 us apart, of compiled code."""
    return loop(
        count,
        lambda at, number: region(at, number, kernel_us=kernel_us),
        every_us=200,
        cpu_us=150,
    )


def only_region(at: float, number: int) -> list[Row]:
    """A region without lookup, prologue and graph row."""
    return [op("Torch-Compiled Region: 0/0", at + 5, 90), *product(2)(at + 10, number)]


def only_lookup(at: float, number: int) -> list[Row]:
    """A lookup without a region."""
    return [op("TorchDynamo Cache Lookup", at + 1, 5), *product(2)(at, number)]


def compiling(name: str, at: float = 210, length: float = 100) -> list[Row]:
    """Return compiled steps; in step #3 the compiler works for 100 us."""
    return [*compiled(), op(name, at, length)]


def broken(at: float, number: int, *, nested: bool) -> list[Row]:
    """Two compiled functions: one inside the other, or an eager add between them."""
    first_us = 100 if nested else 30
    return [
        op("Torch-Compiled Region: 0/0", at + 5, first_us),
        op("aten::add", at + 40, 5),
        op("Torch-Compiled Region: 1/0", at + 50, 30),
        launch(at + 60, 5, correlation=number),
        kernel(ADD, at + 70, 2, correlation=number),
    ]


def graph(at: float, number: int, *, copy_us: float = 74, gemm_us: float = 184) -> list[Row]:
    """aten::_foreach_copy_ > launch; then a graph launch of a fill and the GEMM."""
    return [
        op("Torch-Compiled Region: 0/0", at + 5, 100),
        op("aten::_foreach_copy_", at + 10, 30),
        launch(at + 15, 5, correlation=number),
        kernel("multi_tensor_apply_kernel<Copy>", at + 30, copy_us, correlation=number),
        launch(at + 60, 10, correlation=number + 1, name="cudaGraphLaunch"),
        memset(at + 32 + copy_us, 1, correlation=number + 1, bytes=4),
        kernel(NVJET, at + 34 + copy_us, gemm_us, correlation=number + 1),
    ]


ATEN_ONLY = ("The program was eager, or torch is too old",)

CASES = (
    # --- K1: 100 of 150 us.
    Case(
        rule="K1",
        state="fired",
        rows=compiled(),
        says=("Torch-Compiled Region: 0/0: 1 per step, 66.7 % of the step time",),
    ),
    Case(rule="K1", state="clear", rows=loop(3, only_lookup)),
    Case(rule="K1", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    Case(
        rule="K1",
        state="not_checked",
        rows=EAGER,
        known=own_run(step_us=40),
        says=("This run was eager",),
    ),
    # --- K2, K3, K4
    Case(
        rule="K2",
        state="fired",
        rows=compiled(),
        says=("TorchDynamo Cache Lookup: 1 per step, 10.0 µs each",),
    ),
    Case(rule="K2", state="clear", rows=loop(3, only_region)),
    Case(rule="K2", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    Case(rule="K3", state="fired", rows=compiled(), says=("Prologue: 1 per step, 10.0 µs each",)),
    Case(rule="K3", state="clear", rows=loop(3, only_region)),
    Case(rule="K3", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    Case(rule="K4", state="fired", rows=compiled(), says=("fgraphaa… 5 times",)),
    Case(rule="K4", state="clear", rows=compiled(1)),
    Case(rule="K4", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    # --- K5: 60 us of toll against 2 us; against 150 us it is hidden.
    Case(
        rule="K5",
        state="fired",
        rows=compiled(),
        known=own_run(step_us=100),
        says=("60.0 µs of CPU time per step (40.0 % of the step, profiled)", "2.00 µs", "30×"),
        kind="note",
    ),
    Case(rule="K5", state="fired", rows=compiled(kernel_us=150), kind="fact"),
    Case(
        rule="K5",
        state="clear",
        rows=[*EAGER, op("TorchDynamo Cache Lookup", 2000, 5)],  # outside of all steps
    ),
    Case(rule="K5", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    # --- R1: 100 of 750 us, in the second step.
    Case(
        rule="R1",
        state="fired",
        rows=compiling("entire_frame_compile"),
        says=("100 µs inside step #3", "13.3 % of all recorded step time"),
    ),
    Case(rule="R1", state="fired", rows=compiling("backend_compile (dynamo_timed)")),
    Case(rule="R1", state="clear", rows=compiled()),
    Case(rule="R1", state="clear", rows=compiling("entire_frame_compile", at=5000)),
    Case(rule="R1", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    # --- R2: a recompilation by its id, and a new graph in the third step.
    Case(
        rule="R2",
        state="fired",
        rows=[*compiled(), annotation("inductor_data: compile_id=0/1", 210, 50)],
        says=("1 row of the recorded steps shows",),
    ),
    Case(
        rule="R2",
        state="fired",
        rows=loop(
            3,
            lambda at, number: region(at, number, graph=HASHES[number // 300]),
            every_us=200,
            cpu_us=150,
        ),
        says=("1 row of the recorded steps shows",),
    ),
    Case(
        rule="R2",
        state="clear",
        rows=[*compiled(), annotation("inductor_data: compile_id=0/0", 210, 50)],
    ),
    Case(rule="R2", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    # --- R3
    Case(
        rule="R3",
        state="fired",
        rows=loop(3, lambda at, number: broken(at, number, nested=True)),
        says=("1 further compiled region per step, nested in the first",),
    ),
    Case(
        rule="R3",
        state="fired",
        rows=loop(3, lambda at, number: broken(at, number, nested=False), every_us=200, cpu_us=150),
        known=own_run(step_us=100),
        says=("1 further compiled region per step, beside the first",),
        kind="warning",
    ),
    Case(rule="R3", state="clear", rows=compiled()),
    Case(rule="R3", state="not_checked", rows=EAGER, says=("no rows of torch.compile",)),
    # --- R4: per step one launch of a fill and a GEMM.
    Case(
        rule="R4",
        state="fired",
        rows=loop(3, graph),
        says=(f"3 graph launches replayed 6 GPU activities: {NVJET}.",),
    ),
    Case(rule="R4", state="not_checked", rows=EAGER, says=("No CUDA graph was launched",)),
    # --- R5: 74 of 74 + 1 + 184 us; 1.3 of 3.4 us is below the floor.
    Case(
        rule="R5",
        state="fired",
        rows=loop(3, graph),
        says=("74.0 µs per step, 28.6 % of the GPU time",),
        kind="warning",
    ),
    Case(
        rule="R5",
        state="clear",
        rows=loop(3, lambda at, number: graph(at, number, copy_us=1.3, gemm_us=2.1)),
    ),
    Case(
        rule="R5",
        state="fired",
        rows=loop(3, graph),
        known=own_run(step_us=900, compile="reduce-overhead"),
        kind="fact",
    ),
    Case(rule="R5", state="not_checked", rows=EAGER, says=("No CUDA graph was launched",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_a_graph_under_another_function_is_no_recompilation() -> None:
    # GIVEN two compiled functions, each with a graph of its own, in every step
    def body(at: float, number: int) -> list[Row]:
        return [
            *region(at, number),
            op("Torch-Compiled Region: 1/0", at + 125, 20),
            op(f"## Call CompiledFxGraph {HASHES[1]} ##", at + 130, 10),
        ]

    rows = loop(3, body, every_us=200, cpu_us=150)
    assert Case(rule="R2", state="clear", rows=rows).finding().state == "clear"
