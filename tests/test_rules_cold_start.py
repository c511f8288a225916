from __future__ import annotations

import pytest

from tests.rule_traces import Case, cpu_only, hold, loop, own_run, product, runtime
from tests.trace_bytes import Row, annotation, kernel, launch, op, overhead, step

# Steps of 80 us every 5,000 us after a first one of 4,000 us [900, 4900].
COLD = loop(4, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000)
WARM = loop(4, product(2), every_us=100, cpu_us=80)


def annotated(gap_first_us: float, gap_us: float) -> list[Row]:
    """Return three steps with an annotation at +1 and a first operator `gap` later."""
    return loop(
        3,
        lambda at, _: [
            annotation("work", at + 1, 800),
            op("aten::mm", at + 1 + (gap_first_us if at == 0 else gap_us), 50),
        ],
    )


CASES = (
    # --- C1: 4,000 us is 50 times the median of 80.
    Case(
        rule="C1",
        state="fired",
        rows=[*COLD, runtime("cudaMalloc", 1000, 100), runtime("cudaMalloc", 5100, 1)],
        says=("4.00 ms", "80.0 µs (median)", "50×", "first-use calls: cudaMalloc."),
    ),
    # A CPU run that had warm-up calls: the machine was busy.
    Case(
        rule="C1",
        state="fired",
        rows=loop(4, lambda *_: [], every_us=5000, cpu_us=80, first_cpu_us=4000),
        known={**own_run(step_us=80, device="cpu"), "devices": ()},
        kind="note",
    ),
    # 2.5 times the median is a warm first step; 800 us against 80 us differ by less than 1 ms.
    Case(rule="C1", state="clear", rows=loop(3, product(2), cpu_us=900, first_cpu_us=2250)),
    Case(rule="C1", state="clear", rows=loop(3, product(2), cpu_us=80, first_cpu_us=800)),
    # Of 4,000 us the first step waits 3,900 for work launched before it: it is long, not cold.
    Case(rule="C1", state="clear", rows=[*COLD, runtime("cudaDeviceSynchronize", 950, 3900)]),
    Case(rule="C1", state="not_checked", rows=WARM[:10], says=("Only 2 steps were recorded",)),
    # --- C2: 227.8 against 5 us.
    Case(rule="C2", state="fired", rows=annotated(227.8, 5), says=("228 µs", "“work”", "5.00 µs")),
    Case(rule="C2", state="clear", rows=annotated(64, 5)),
    Case(rule="C2", state="clear", rows=annotated(120, 40)),
    Case(rule="C2", state="not_checked", rows=WARM, says=("no annotation of the program's own",)),
    # --- E4: one call of 2,640 us among four of 10 us.
    Case(
        rule="E4",
        state="fired",
        rows=[*WARM, launch(900, 2640, correlation=9), kernel("gemm", 4000, 2, correlation=9)],
        says=("1 kernel launch call took 2.64 ms", "the median is 10.0 µs"),
    ),
    # The same with a GPU that is the limit: the queue was full.
    Case(
        rule="E4",
        state="fired",
        rows=[*WARM, launch(900, 2640, correlation=9), kernel("gemm", 4000, 2, correlation=9)],
        known=own_run(step_us=2.1),
        kind="fact",
    ),
    Case(rule="E4", state="clear", rows=WARM),
    Case(rule="E4", state="not_checked", rows=[kernel("gemm", 0, 5)], says=("no launch calls",)),
    # --- G6: the first GEMM starts 30 us into the step.
    Case(rule="G6", state="fired", rows=WARM, says=("step #2 starts 30.0 µs after",)),
    # A buffer request of 2,500 us comes before it.
    Case(
        rule="G6",
        state="fired",
        rows=[
            step(2, 0, 4000),
            op("aten::mm", 10, 3900),
            overhead(20, 2500),
            launch(3000, 10, correlation=1),
            kernel("gemm", 3010, 5, correlation=1),
        ],
        says=("3.01 ms", "2.50 ms of it are the profiler's buffer request"),
    ),
    Case(
        rule="G6",
        state="not_checked",
        rows=[kernel("gemm", 0, 5), *cpu_only()],
        says=("No recorded step has GPU work",),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_a_cold_first_step_is_in_no_median() -> None:
    # GIVEN a first step of 4,000 us whose GEMM of 2 us is like the others
    quantities = Case(rule="C1", state="fired", rows=COLD).quantities()
    # THEN medians are over steps #3 to #5: 80 us of CPU, 5,000 us apart
    assert quantities.first_step_is_cold
    assert quantities.cpu_ns == 80_000
    assert quantities.gpu_steps.tolist() == [1, 2, 3]
    assert quantities.period_ns == 5_000_000


def test_a_warm_first_step_is_left_out_of_cpu_medians_of_five_steps() -> None:
    # GIVEN bars of 200, 80, 80, 80, 80 us
    rows = loop(5, product(2), every_us=1000, cpu_us=80, first_cpu_us=200)
    quantities = Case(rule="C1", state="clear", rows=rows).quantities()
    # THEN the CPU median is over four of them, the GPU median over all
    assert quantities.cpu_steps.tolist() == [1, 2, 3, 4]
    assert len(quantities.gpu_steps) == 5


def test_evidence_of_c1_is_the_bar_and_the_first_use_calls() -> None:
    rows = [*COLD, runtime("cudaMalloc", 1000, 100)]
    bar, call = Case(rule="C1", state="fired", rows=rows).finding().evidence
    assert (bar.step, bar.duration_ns) == (2, 4_000_000)
    assert call.text == "cudaMalloc, 100 µs"
    assert call.start_ns == 1_000_000 - 900_000  # times count from the first row
