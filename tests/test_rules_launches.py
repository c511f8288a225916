from __future__ import annotations

import pytest

from tests.rule_traces import (
    ADD,
    NVJET,
    Case,
    cpu_only,
    hold,
    loop,
    own_run,
    product,
    product_and_add,
    runtime,
)
from tests.trace_bytes import Row, annotation, kernel, launch, op

CPU = {"devices": ()}
WAITING = loop(5, product(2), every_us=100, cpu_us=80)
BUSY = loop(5, product(95), every_us=100, cpu_us=80)
HALF = loop(5, product(30), every_us=100, cpu_us=80)


def queried(at: float, number: int) -> list[Row]:
    """Product with an occupancy query at +16 in aten::mm, and an add without one."""
    return [
        *product_and_add(2, 1.5)(at, number),
        runtime("cudaOccupancyMaxActiveClusters", at + 16, 2),
    ]


def late_query(at: float, number: int) -> list[Row]:
    """The query comes after the launch."""
    return [
        *product(2)(at, number),
        runtime("cudaOccupancyMaxActiveClusters", at + 40, 2),
    ]


def linear(at: float, number: int) -> list[Row]:
    """aten::linear > aten::addmm > query, launch; then aten::relu > launch."""
    return [
        op("aten::linear", at + 5, 40),
        op("aten::addmm", at + 10, 30),
        runtime("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", at + 12, 2),
        launch(at + 20, 5, correlation=number),
        kernel(NVJET, at + 40, 5, correlation=number),
        op("aten::relu", at + 50, 20),
        launch(at + 55, 5, correlation=number + 1),
        kernel(ADD, at + 65, 2, correlation=number + 1),
    ]


def many(count: int, name: str, *, kernel_us: float) -> list[Row]:
    """Return three steps in which an operator is called `count` times, a launch in each."""

    def body(at: float, number: int) -> list[Row]:
        rows = []
        for turn in range(count):
            start = at + 1 + 10 * turn
            rows += [
                op(name, start, 8),
                launch(start + 1, 5, correlation=1000 * number + turn),
                kernel(ADD, start + 6, kernel_us, correlation=1000 * number + turn),
            ]
        return rows

    return loop(3, body, every_us=1000, cpu_us=900)


CASES = (
    # --- E1: 2 us kernels, 10 us launch calls.
    Case(
        rule="E1",
        state="fired",
        rows=WAITING,
        says=("1 kernel per step, 2.00 µs each", "one launch call takes 10.0 µs"),
    ),
    Case(rule="E1", state="clear", rows=BUSY),
    Case(rule="E1", state="clear", rows=WAITING, known=own_run(step_us=2.1)),
    Case(rule="E1", state="not_checked", rows=HALF, says=("not decided",)),
    # --- E3: kernels start 10, 60 and 200 us after their launch calls.
    Case(rule="E3", state="fired", rows=WAITING, says=("10.0 µs after", "starts at once")),
    Case(
        rule="E3",
        state="fired",
        rows=loop(3, product(2, delay_us=60)),
        says=("60.0 µs", "neither an empty nor a full queue"),
    ),
    Case(
        rule="E3",
        state="fired",
        rows=loop(3, product(2, delay_us=200)),
        says=("200 µs", "queue up behind earlier work"),
    ),
    Case(
        rule="E3",
        state="not_checked",
        rows=[
            launch(0, 5, correlation=1, name="cudaGraphLaunch"),
            kernel("k", 9, 5, correlation=1),
        ],
        says=("CUDA graphs share one",),
    ),
    # --- T4: 60 calls a step of 2 us kernels; 60 views; 60 kernels of 8 us in 620 of 1,000 us.
    Case(
        rule="T4",
        state="fired",
        rows=many(60, "aten::add", kernel_us=2),
        known=own_run(step_us=1000),
        says=("aten::add is called 60 times per step", "2.00 µs (median)"),
    ),
    Case(
        rule="T4",
        state="clear",
        rows=many(40, "aten::add", kernel_us=2),
        known=own_run(step_us=1000),
    ),
    Case(
        rule="T4",
        state="clear",
        rows=many(60, "aten::as_strided", kernel_us=2),
        known=own_run(step_us=1000),
    ),
    Case(
        rule="T4",
        state="not_checked",
        rows=[kernel("k", 0, 5), op("aten::add", 0, 5)],
        says=("no ProfilerStep rows",),
    ),
    # --- T5: matmul 50 in total, 50 - 35 = 15 itself: 3.3; with aten::mm of 45 it is 50 and 5.
    Case(
        rule="T5",
        state="fired",
        rows=[op("aten::matmul", 0, 50), op("aten::mm", 2, 45)],
        says=("aten::matmul takes 50.0 µs in total, of which 5.00 µs itself (1 call)",),
    ),
    Case(rule="T5", state="clear", rows=WAITING),
    Case(rule="T5", state="not_checked", rows=[kernel("gemm", 0, 5)], says=("has no operators",)),
    # --- E12: of 80 us, aten::mm covers 20: 75 % are the bar and the annotation.
    Case(
        rule="E12",
        state="fired",
        rows=loop(
            5,
            lambda at, number: [
                annotation("work", at + 5, 70),
                op("aten::mm", at + 10, 20),
                launch(at + 12, 5, correlation=number),
                kernel(NVJET, at + 20, 2, correlation=number),
            ],
            every_us=100,
            cpu_us=80,
        ),
        says=("75.0 % of the step time",),
    ),
    Case(rule="E12", state="clear", rows=loop(5, product(2), every_us=100, cpu_us=70)),  # 20 of 70
    Case(rule="E12", state="not_checked", rows=HALF, says=("not decided",)),
    # --- C3: 3 of 6 launches.
    Case(
        rule="C3",
        state="fired",
        rows=loop(3, queried),
        says=("3 of 6 kernel launches come after an occupancy query", "3 queries", NVJET),
    ),
    Case(rule="C3", state="clear", rows=loop(3, late_query)),
    Case(rule="C3", state="not_checked", rows=WAITING, says=("no occupancy query",)),
    # --- C4: the three adds.
    Case(
        rule="C4",
        state="fired",
        rows=loop(3, queried),
        says=("3 kernels started without an occupancy query", "3 are elementwise or reduction"),
    ),
    Case(rule="C4", state="clear", rows=loop(3, late_query)),
    Case(rule="C4", state="not_checked", rows=WAITING, says=("no occupancy query",)),
    # --- L5
    Case(
        rule="L5", state="fired", rows=loop(3, linear), says=("3 launches inside", "3 stand alone")
    ),
    Case(rule="L5", state="clear", rows=loop(3, queried)),
    Case(rule="L5", state="not_checked", rows=WAITING, says=("no occupancy query",)),
    Case(rule="C3", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)
