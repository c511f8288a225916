from __future__ import annotations

import pytest

from profcore.rules.arithmetic import gpu_work_line
from tests.handmade import leaked_rows, plain_rows, skewed_rows
from tests.rule_traces import (
    NVJET,
    Case,
    cpu_only,
    environment,
    hold,
    loop,
    own_run,
    product,
    runtime,
)
from tests.trace_bytes import GPU, Row, kernel, launch, memcpy, memory, op, overhead, row, step

CPU = {"devices": ()}
PLAIN = loop(5, product(2), every_us=100, cpu_us=80)
GEMM_ROWS = 5
"""Rows of one step of PLAIN: the step, two operators, the launch, the GEMM."""


def without_kernels(rows: list[Row], *steps: int) -> list[Row]:
    """Return rows of PLAIN without the GEMMs of these steps, counted from 0."""
    lost = {GEMM_ROWS * place + 4 for place in steps}
    return [one for place, one in enumerate(rows) if place not in lost]


def captured(rows: list[Row]) -> list[Row]:
    """Put the first step's launch between the two ends of a stream capture."""
    first = next(event for event in rows if event["cat"] == "cuda_runtime")
    begin, end = float(first["ts"]) - 2, float(first["ts"]) + float(first["dur"]) + 1
    return [
        *rows,
        runtime("cudaStreamBeginCapture", begin, 1),
        runtime("cudaStreamEndCapture", end, 1),
    ]


def overlapping(over_us: float) -> list[Row]:
    """Return two GEMMs of 100 us on one stream; the first runs into the second."""
    return [kernel(NVJET, 0, 100), kernel(NVJET, 100 - over_us, 100)]


def copies_ahead() -> list[Row]:
    """Return five steps whose copies run ahead, beside the GEMMs of earlier steps.

    GEMMs of 60 us from 100 to 400, copies of 30 us from 100 to 250: the steps' own work lasts 60
    and four times 90 us, 420 together, of which 300 pass: 28.6 % are shared.
    """
    rows: list[Row] = []
    for place in range(5):
        at, number = 10 * place, 10 * (place + 1)
        rows += [
            step(place + 2, at, 9),
            op("aten::mm", at + 1, 3),
            launch(at + 2, 1, correlation=number, name="cuLaunchKernelEx"),
            kernel(NVJET, 100 + 60 * place, 60, correlation=number),
            launch(at + 5, 1, correlation=number + 1, name="cudaMemcpyAsync"),
            memcpy(100 + 30 * place, 30, correlation=number + 1, stream=8),
        ]
    return rows


CASES = (
    # --- Q1
    Case(
        rule="Q1",
        state="fired",
        rows=[step(1, 0, 50), op("aten::mm", 5, 20)],
        says=("the file lists NVIDIA H200",),
    ),
    Case(
        rule="Q1",
        state="fired",
        rows=[op("aten::mm", 5, 20), launch(10, 5, correlation=1)],
        known=CPU,
        says=("it has 1 launch call",),
    ),
    Case(
        rule="Q1",
        state="fired",
        rows=cpu_only(),
        known=own_run(step_us=900),
        says=("the run was made on NVIDIA H200",),
    ),
    Case(rule="Q1", state="clear", rows=PLAIN),
    Case(rule="Q1", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    Case(
        rule="Q1",
        state="not_checked",
        rows=cpu_only(),
        known=own_run(step_us=900, device="cpu"),
        says=("CPU run",),
    ),
    # --- Q2: the first of five GEMMs is lost.
    Case(
        rule="Q2",
        state="fired",
        rows=without_kernels(PLAIN, 0),
        says=("1 of 5 kernel launches left no GPU work", "step #2 lost all of it"),
    ),
    Case(rule="Q2", state="clear", rows=PLAIN),
    # A launch between the begin and the end of a capture goes into a CUDA graph.
    Case(rule="Q2", state="clear", rows=captured(without_kernels(PLAIN, 0))),
    # The last launch may have been cut off by the end of the recording.
    Case(rule="Q2", state="clear", rows=without_kernels(PLAIN, 4)),
    Case(
        rule="Q2",
        state="not_checked",
        rows=[kernel("k", 0, 5), op("aten::mm", 0, 5)],
        says=("no launch calls",),
    ),
    # --- Q3: 50 us leaked against 3 x 40.
    Case(
        rule="Q3",
        state="fired",
        rows=leaked_rows(),
        says=("1 GPU activity has no launch call", "50.0 µs, 41.7 %"),
        kind="trust",
    ),
    Case(
        rule="Q3",
        state="fired",
        rows=[kernel("k", 2, 0.1, **{"External id": 4}), *plain_rows()],
        says=("launched by calls that were not recorded", "100 ns"),
        kind="fact",
    ),
    Case(rule="Q3", state="clear", rows=PLAIN),
    Case(rule="Q3", state="not_checked", rows=[kernel("k", 0, 5)], says=("no launch calls",)),
    # --- Q4: 50 of 200 us; 4 us are by design.
    Case(
        rule="Q4",
        state="fired",
        rows=overlapping(50),
        says=("1 activity runs into the next one", "50.0 µs together, 25.0 %"),
        kind="trust",
    ),
    Case(rule="Q4", state="fired", rows=overlapping(4), says=("by 4.00 µs at most",), kind="fact"),
    Case(rule="Q4", state="clear", rows=overlapping(0)),
    Case(rule="Q4", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q5
    Case(
        rule="Q5",
        state="fired",
        rows=skewed_rows(),
        says=("Of 2 GPU activities 1 starts before the launch call",),
    ),
    Case(
        rule="Q5",
        state="fired",
        rows=[kernel("k", 1, 0), kernel("k", 5, 3)],
        says=("1 lasts no time", "whole microseconds"),
    ),
    Case(rule="Q5", state="clear", rows=PLAIN),
    Case(rule="Q5", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q6, Q7, Q15
    Case(rule="Q6", state="fired", rows=[op("aten::mm", 0, 5)], says=("no ProfilerStep rows",)),
    Case(rule="Q6", state="clear", rows=PLAIN),
    Case(
        rule="Q7",
        state="fired",
        rows=[*PLAIN, step(7, 500, 10)],
        says=("1 empty step at the end (#7) was left out",),
    ),
    Case(rule="Q7", state="clear", rows=PLAIN),
    Case(rule="Q7", state="not_checked", rows=[op("aten::mm", 0, 5)], says=("no ProfilerStep",)),
    Case(rule="Q15", state="fired", rows=PLAIN[:5], says=("Only 1 step was", "no medians")),
    Case(rule="Q15", state="fired", rows=PLAIN[:15], says=("Only 3 steps", "no spread")),
    Case(rule="Q15", state="clear", rows=PLAIN),
    Case(rule="Q15", state="not_checked", rows=[op("aten::mm", 0, 5)], says=("no ProfilerStep",)),
    # --- Q8, Q11
    Case(
        rule="Q8",
        state="fired",
        rows=without_kernels(PLAIN, 0, 2),
        says=("2 steps of 5 have no GPU work: #2, #4.",),
    ),
    Case(rule="Q8", state="clear", rows=PLAIN),
    Case(rule="Q8", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    Case(
        rule="Q11",
        state="fired",
        rows=without_kernels(PLAIN, 3, 4),
        says=("The last 2 steps with launches (#5, #6) have no GPU work",),
    ),
    Case(rule="Q11", state="clear", rows=without_kernels(PLAIN, 0)),
    Case(rule="Q11", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q9: 40 of 5 x 80 us is 10 %; 10 is 2.5 %.
    Case(rule="Q9", state="fired", rows=[*PLAIN, overhead(1, 40)], says=("40.0 µs", "10.0 %")),
    Case(rule="Q9", state="clear", rows=[*PLAIN, overhead(1, 10)]),
    Case(rule="Q9", state="clear", rows=[*PLAIN, overhead(90, 400)]),  # between steps
    Case(rule="Q9", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q10: 80 us profiled, 20 unprofiled; steps come every 100 us, 40 unprofiled.
    Case(
        rule="Q10",
        state="fired",
        rows=PLAIN,
        known=own_run(step_us=40, cpu_us=20),
        says=("80.0 µs per step, without it 20.0 µs: 4.00×", "100 µs with it and 40.0 µs without"),
    ),
    Case(rule="Q10", state="not_checked", rows=PLAIN, says=("not timed",)),
    # --- Q12
    Case(
        rule="Q12",
        state="fired",
        rows=[*PLAIN, op("aten::mm", 300, -5)],
        says=("Rows left out: 1 × duration is negative",),
    ),
    Case(rule="Q12", state="clear", rows=PLAIN),
    # --- Q13: 3 of 5 us launched from a thread without operators.
    Case(
        rule="Q13",
        state="fired",
        rows=[
            op("aten::mm", 0, 20),
            launch(5, 5, correlation=1),
            kernel("a", 20, 2, correlation=1),
            launch(8, 5, correlation=2, tid=999),
            kernel("b", 30, 3, correlation=2),
        ],
        says=("60.0 % of the GPU time",),
    ),
    Case(rule="Q13", state="clear", rows=PLAIN),
    Case(rule="Q13", state="not_checked", rows=[kernel("k", 0, 5)], says=("no operators",)),
    # --- Q14 checks the program itself, so no trace makes it fire.
    Case(rule="Q14", state="clear", rows=PLAIN),
    Case(rule="Q14", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q16
    Case(
        rule="Q16",
        state="fired",
        rows=[kernel("a", 0, 5), kernel("b", 0, 5, device=1)],
        says=("2 devices",),
    ),
    Case(
        rule="Q16",
        state="fired",
        rows=[kernel("gemm", 0, 15), kernel("ncclDevKernel_AllReduce", 20, 5)],
        says=("1 device, 25.0 % of it communication", "which is much"),
    ),
    Case(rule="Q16", state="clear", rows=PLAIN),
    Case(rule="Q16", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q18, Q19
    Case(
        rule="Q18",
        state="fired",
        rows=PLAIN,
        known={"record_shapes": 1, "with_stack": 1},
        says=("with input shapes, Python stacks",),
    ),
    Case(rule="Q18", state="clear", rows=PLAIN),
    Case(rule="Q19", state="fired", rows=PLAIN, known={"profile_memory": 1}),
    Case(
        rule="Q19",
        state="clear",
        rows=[*PLAIN, memory(5, 512, allocated=512, reserved=1024)],
        known={"profile_memory": 1},
    ),
    Case(rule="Q19", state="not_checked", rows=PLAIN, says=("Memory was not recorded",)),
    # --- Q20
    Case(
        rule="Q20",
        state="fired",
        rows=[*PLAIN, kernel("ProfilerStep#2", 700, 80)],
        says=("1 label stands among the kernels",),
    ),
    Case(
        rule="Q20",
        state="fired",
        rows=[step(2, 0, 80), *PLAIN],
        says=("1 step row came twice and was left out",),
    ),
    Case(rule="Q20", state="clear", rows=PLAIN),
    Case(rule="Q20", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- Q21: 2 us of GPU work in steps of 1.8 us.
    Case(
        rule="Q21",
        state="fired",
        rows=PLAIN,
        known=own_run(step_us=1.8),
        says=("2.00 µs per recorded step", "1.80 µs", "1.11×"),
    ),
    Case(rule="Q21", state="clear", rows=PLAIN, known=own_run(step_us=1.95)),
    # 90 us a step, less 28.6 %: 64.3 us, and not 1.45 times the step
    Case(rule="Q21", state="clear", rows=copies_ahead(), known=own_run(step_us=62)),
    Case(rule="Q21", state="not_checked", rows=PLAIN, says=("not timed",)),
    # --- G1
    Case(
        rule="G1",
        state="fired",
        rows=[*PLAIN, overhead(2, 1), overhead(600, 2)],
        says=("2 Activity Buffer Requests, 3.00 µs together; inside step #2.",),
    ),
    Case(rule="G1", state="clear", rows=PLAIN, known={"cupti_version": "130001"}),
    Case(rule="G1", state="not_checked", rows=PLAIN, known={"cupti_version": "22"}, says=("12.7",)),
    Case(rule="G1", state="not_checked", rows=PLAIN, says=("which version of CUPTI",)),
    Case(
        rule="G1",
        state="not_checked",
        rows=[kernel("k", 0, 5)],
        known={"devices": ({**GPU, "name": "AMD Instinct MI300X"},)},
        says=("ROCm",),
    ),
    # --- G2: a request in the gap [32, 330].
    Case(
        rule="G2",
        state="fired",
        rows=[*loop(3, product(2), every_us=300, cpu_us=80), overhead(100, 150)],
        says=("1 gap on the GPU lane, 298 µs together, falls on",),
    ),
    Case(rule="G2", state="clear", rows=[*PLAIN, overhead(40, 20)]),  # gaps of 98 us
    Case(rule="G2", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- S6: 300 of 900 us; 100 is a note; 50 is nothing.
    *(
        Case(
            rule="S6",
            state=state,
            rows=loop(
                3,
                lambda at, number, length=length: [
                    op("enumerate(DataLoader)#_SingleProcess.__next__", at + 100, length),
                    *product(2)(at, number),
                ],
            ),
            says=says,
            kind=kind,
        )
        for length, state, says, kind in (
            (300, "fired", ("300 µs (median)", "33.3 %"), "warning"),
            (100, "fired", ("11.1 %",), "note"),
            (50, "clear", (), "warning"),
        )
    ),
    Case(rule="S6", state="not_checked", rows=PLAIN, says=("no PyTorch DataLoader",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_no_gpu_rule_is_clear_when_the_gpu_was_not_recorded() -> None:
    finding = Case(rule="E1", state="not_checked", rows=[op("aten::mm", 0, 5)]).finding()
    assert "GPU activity was not recorded (see Q1)" in finding.reason


def test_another_accelerator_is_named_as_such() -> None:
    rows = [
        op("aten::mm", 0, 5),
        row("mtia kernel", 2, 3, cat="mtia_ccp_events", pid=0, tid=1),
    ]
    finding = Case(rule="Q1", state="not_checked", rows=rows, known=CPU).finding()
    assert "accelerator that profcore does not read" in finding.reason


def test_the_environment_outweighs_the_file() -> None:
    # GIVEN a run on the CPU of a machine whose file lists a GPU all the same
    case = Case(
        rule="Q1", state="not_checked", rows=cpu_only(), known={"environment": environment("cpu")}
    )
    assert case.finding().state == "not_checked"


def test_waiting_rows_alone_are_no_launches() -> None:
    rows = [*PLAIN, runtime("cudaDeviceSynchronize", 600, 5)]
    assert Case(rule="Q2", state="clear", rows=rows).finding().state == "clear"


def test_work_beside_that_of_other_steps_counts_once() -> None:
    case = Case(rule="B1", state="fired", rows=copies_ahead(), known=own_run(step_us=80))
    quantities = case.quantities()
    assert quantities.shared_fraction == pytest.approx(1 - 300 / 420)
    assert quantities.gpu_ns == pytest.approx(90_000 * 300 / 420)
    assert "less 28.6 % that runs beside other steps' work" in gpu_work_line(quantities).text


def test_steps_one_after_the_other_share_nothing() -> None:
    quantities = Case(rule="B1", state="fired", rows=PLAIN).quantities()
    assert quantities.shared_fraction == 0
    assert quantities.gpu_ns == 2_000
