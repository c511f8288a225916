from __future__ import annotations

import pytest

from tests.rule_traces import (
    DTOD,
    NVJET,
    Case,
    copy_before_product,
    cpu_only,
    hold,
    loop,
    own_run,
    product,
    product_and_add,
    runtime,
)
from tests.trace_bytes import kernel, launch, memcpy, op, overhead, step

# Five steps of 80 us every 100 us, each with a GEMM of 2 us that ends at +32.
WAITING = loop(5, product(2), every_us=100, cpu_us=80)
# The same with a GEMM of 95 us: [30, 125], [130, 225] ... every 100 us.
BUSY = loop(5, product(95), every_us=100, cpu_us=80)
# GEMMs of 30 us: 30 of 100 us busy; at most 30 / max(30, 100 / 4.5) = 100 %.
HALF = loop(5, product(30), every_us=100, cpu_us=80)

CPU = {"devices": ()}

CASES = (
    # --- B1: 2 of 40 us is 5 %, 30 of 40 us 75 %, 95 of 100 us 95 %.
    Case(
        rule="B1",
        state="fired",
        rows=WAITING,
        known=own_run(step_us=40),
        says=("2.00 µs of a step that takes 40.0 µs", "5.0 % busy", "waits for the CPU"),
    ),
    Case(
        rule="B1",
        state="fired",
        rows=HALF,
        known=own_run(step_us=40),
        says=("75.0 % busy", "both the CPU and the GPU matter"),
    ),
    Case(
        rule="B1",
        state="fired",
        rows=BUSY,
        known=own_run(step_us=100),
        says=("95.0 % busy", "the GPU is the limit"),
    ),
    Case(rule="B1", state="not_checked", rows=WAITING, says=("not timed without the profiler",)),
    Case(rule="B1", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- B2: window [32, 432] holds 4 x 2 us: 2 %; at most 2 / (100 / 4.5) = 9 %.
    Case(rule="B2", state="fired", rows=WAITING, says=("2.0 %", "9.0 %", "waits for the CPU")),
    # Window [125, 525] holds 4 x 95 us.
    Case(
        rule="B2",
        state="fired",
        rows=WAITING,
        known=own_run(step_us=40),
        # A newcomer does not know the rules by their letters.
        says=("The step time without the profiler is known here too", "How busy the GPU really is"),
    ),
    Case(rule="B2", state="fired", rows=BUSY, says=("95.0 %", "the GPU is the limit")),
    Case(rule="B2", state="fired", rows=HALF, says=("30.0 %", "100.0 %", "cannot be told")),
    Case(rule="B2", state="not_checked", rows=WAITING[:10], says=("Only 2 steps",)),
    # --- B5: 30 of 32 us without the profiler, 30 of 100 us with it.
    Case(rule="B5", state="fired", rows=HALF, known=own_run(step_us=32), says=("93.8 %", "30.0 %")),
    Case(rule="B5", state="clear", rows=BUSY, known=own_run(step_us=100)),
    Case(rule="B5", state="not_checked", rows=HALF, says=("not timed without the profiler",)),
    # --- B3: window [112, 512]: in each 100 us a copy of 60 and a GEMM of 30, 2 us apart.
    Case(
        rule="B3",
        state="fired",
        rows=loop(5, copy_before_product(60, 30), every_us=100, cpu_us=90),
        says=("Of 400 µs", "60.0 % copying", "30.0 % computing", "8.0 % idle", "2.0 % switching"),
    ),
    Case(rule="B3", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- B4: gaps [32, 130] ...: aten::mm is under way in each of them.
    Case(
        rule="B4",
        state="fired",
        rows=WAITING,
        says=("392 µs in 4 gaps", "100.0 % while an operator or a launch call was under way"),
    ),
    # A synchronise at +62 in each step comes first.
    Case(
        rule="B4",
        state="fired",
        rows=loop(
            5,
            lambda at, number: [
                *product(2)(at, number),
                runtime("cudaStreamSynchronize", at + 62, 10),
            ],
            every_us=100,
            cpu_us=80,
        ),
        says=("100.0 % while the CPU waited for the GPU's results",),
    ),
    Case(rule="B4", state="clear", rows=loop(3, product(97), every_us=100, cpu_us=80)),
    Case(
        rule="B4",
        state="not_checked",
        rows=[kernel(NVJET, 0, 10), kernel(NVJET, 100, 10)],
        says=("No thread of this trace launches",),
    ),
    # --- T1: 5 x 80 us of CPU over 5 x 2 us.
    Case(rule="T1", state="fired", rows=WAITING, says=("400 µs", "10.0 µs", "40×")),
    # 1,000 us of waiting and 50 of the profiler come off: 400 again; with them 1,450 over 10.
    Case(
        rule="T1",
        state="fired",
        rows=[*WAITING, runtime("cudaDeviceSynchronize", 600, 1000), overhead(1700, 50)],
        says=("400 µs", "40×", "gives 145×"),
    ),
    Case(rule="T1", state="clear", rows=BUSY),  # 400 over 475
    Case(rule="T1", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- T2: 400 + 75 of waiting against 475.
    Case(
        rule="T2",
        state="fired",
        rows=[*BUSY, runtime("cudaDeviceSynchronize", 485, 75)],
        says=("475 µs", "about equal", "75.0 µs is waiting"),
    ),
    Case(rule="T2", state="clear", rows=WAITING),
    Case(rule="T2", state="not_checked", rows=HALF, says=("not decided",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_t1_says_why_it_differs_when_the_gpu_is_the_limit() -> None:
    # GIVEN 400 us of CPU over 5 x 10 us of GPU work, and a step of 10.5 us without the profiler
    case = Case(
        rule="T1",
        state="fired",
        rows=loop(5, product(10), every_us=100, cpu_us=80),
        known=own_run(step_us=10.5),
    )
    # THEN 8x stays a fact and the meaning is turned round
    finding = case.finding()
    assert finding.kind == "fact"
    assert "8.00×" in finding.observation
    assert "It is not" in finding.meaning


def test_b3_calls_copies_the_limit_from_half_of_the_window_on() -> None:
    case = Case(
        rule="B3",
        state="fired",
        rows=loop(5, copy_before_product(60, 30), every_us=100, cpu_us=90),
    )
    assert "they are the limit" in case.finding().meaning


def test_b4_looks_only_at_the_launching_thread() -> None:
    # GIVEN a synchronise on another thread during the only gap, [60, 130]
    rows = [
        step(2, 0, 200),
        op("aten::mm", 10, 20),
        launch(12, 5, correlation=1),
        kernel(NVJET, 40, 20, correlation=1),
        runtime("cudaStreamSynchronize", 70, 20) | {"tid": 999},
        launch(105, 5, correlation=2),
        memcpy(130, 5, name=DTOD, correlation=2),
    ]
    # THEN the gap goes to the launch call
    finding = Case(rule="B4", state="fired", rows=rows).finding()
    assert "100.0 % while an operator or a launch call was under way" in finding.observation


def test_product_and_add_is_two_activities_a_step() -> None:
    # The body that other files build on: GEMM [30, 32], add [85, 86.5].
    case = Case(rule="B1", state="fired", rows=loop(3, product_and_add(2, 1.5)))
    assert case.analysis().steps["gpu_busy_ns"].tolist() == [3500, 3500, 3500]
