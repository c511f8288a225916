from __future__ import annotations

import pytest

from tests.rule_traces import ADD, NVJET, Case, cpu_only, hold, loop, own_run, product, runtime
from tests.trace_bytes import Row, kernel, launch, memcpy, op

CPU = {"devices": ()}
TO_HOST = "Memcpy DtoH (Device -> Pinned)"
WAITING = loop(5, product(2), every_us=100, cpu_us=80)


def item(at: float, number: int, *, wait_us: float = 10) -> list[Row]:
    """aten::sum > launch; aten::item [+40, +60] > copy to the host, stream synchronise."""
    return [
        op("aten::sum", at + 10, 20),
        launch(at + 15, 5, correlation=number),
        kernel(ADD, at + 25, 2, correlation=number),
        op("aten::item", at + 40, 10 + wait_us),
        launch(at + 42, 5, correlation=number + 1, name="cudaMemcpyAsync"),
        memcpy(at + 48, 1, name=TO_HOST, correlation=number + 1, bytes=4),
        runtime("cudaStreamSynchronize", at + 48, wait_us),
    ]


def synchronised(at: float, number: int) -> list[Row]:
    """The product, then the program synchronises for 20 us."""
    return [*product(2)(at, number), runtime("cudaDeviceSynchronize", at + 60, 20)]


def free_item(at: float, number: int) -> list[Row]:
    """aten::item of a CPU tensor, besides the product."""
    return [*product(2)(at, number), op("aten::item", at + 70, 2)]


CASES = (
    # --- C5: the last GEMM [430, 525]; the synchronise [485, 530] waits 40 for it and 5 more.
    Case(
        rule="C5",
        state="fired",
        rows=[
            *loop(5, product(95), every_us=100, cpu_us=80),
            runtime("cudaDeviceSynchronize", 485, 45),
        ],
        says=("lasts 45.0 µs", "40.0 µs until the GPU had finished, 5.00 µs more"),
    ),
    # Nothing was pending, and 1,780 us is housekeeping.
    Case(
        rule="C5",
        state="fired",
        rows=[*WAITING, runtime("cudaDeviceSynchronize", 490, 1780)],
        says=("1.78 ms", "already finished", "housekeeping"),
    ),
    Case(rule="C5", state="clear", rows=WAITING),
    Case(rule="C5", state="not_checked", rows=[kernel("k", 0, 5)], says=("no runtime calls",)),
    # --- S1: aten::item takes 20 of 80 us.
    Case(
        rule="S1",
        state="fired",
        rows=loop(5, item, every_us=100, cpu_us=80),
        says=("25.0 % of the step time", "aten::item", "1.0 waits per step", "busy 3.0 %"),
    ),
    Case(
        rule="S1",
        state="clear",
        rows=loop(5, lambda at, number: item(at, number, wait_us=4), every_us=100, cpu_us=80),
    ),  # 14 of 80 is 17.5 %
    Case(
        rule="S1",
        state="clear",
        rows=loop(5, item, every_us=100, cpu_us=80),
        known=own_run(step_us=3.3),
    ),  # 3 of 3.3 us busy: the wait costs nothing
    Case(
        rule="S1",
        state="not_checked",
        rows=loop(1, item, every_us=100, cpu_us=80),
        says=("Too few steps",),
    ),
    # --- S5: 20 of 80 us in a synchronise that no operator made.
    Case(
        rule="S5",
        state="fired",
        rows=loop(5, synchronised, every_us=100, cpu_us=80),
        says=("5 synchronise calls inside 5 steps take 25.0 %",),
    ),
    # 20 of 50 us without the profiler
    Case(
        rule="S5",
        state="fired",
        rows=loop(5, synchronised, every_us=300, cpu_us=290),
        known=own_run(step_us=50),
        says=("5 synchronise calls inside 5 steps take 40.0 %",),
    ),
    # 20 of 290 us is less than a tenth
    Case(rule="S5", state="clear", rows=loop(5, synchronised, every_us=300, cpu_us=290)),
    Case(rule="S5", state="clear", rows=[*WAITING, runtime("cudaDeviceSynchronize", 490, 200)]),
    Case(rule="S5", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- S7
    Case(
        rule="S7",
        state="fired",
        rows=loop(5, free_item, every_us=100, cpu_us=80),
        says=("5 of 5 aten::item wait for nothing",),
    ),
    Case(rule="S7", state="clear", rows=loop(5, item, every_us=100, cpu_us=80)),
    Case(rule="S7", state="not_checked", rows=WAITING, says=("no aten::item",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_s1_leaves_a_cold_first_step_out() -> None:
    # GIVEN four steps without a wait after a cold first one that waits 3,000 us in aten::to
    rows = loop(5, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000)
    cold = [op("aten::to", 1100, 3100), runtime("cudaStreamSynchronize", 1150, 3000)]
    assert Case(rule="S1", state="clear", rows=[*rows, *cold]).finding().state == "clear"


def test_a_wait_inside_an_operator_is_no_explicit_synchronise() -> None:
    def owned(at: float, number: int) -> list[Row]:
        return [
            op("aten::nonzero", at + 10, 60),
            launch(at + 15, 5, correlation=number),
            kernel(NVJET, at + 25, 2, correlation=number),
            runtime("cudaDeviceSynchronize", at + 30, 30),
        ]

    rows = loop(5, owned, every_us=100, cpu_us=80)
    assert Case(rule="S5", state="clear", rows=rows).finding().state == "clear"
    assert Case(rule="S1", state="fired", rows=rows).finding().state == "fired"
