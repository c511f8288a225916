from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.rule_traces import ADD, NVJET, Case, environment, hold, loop, own_run, product
from tests.trace_bytes import Row, kernel, launch, op

FUSED = "triton_poi_fused_add_relu_0"
TEMPLATE = "triton_tem_fused_mm_0"
PLAIN = loop(5, product(2), every_us=100, cpu_us=80)


def compiled(
    at: float, number: int, *, names: tuple[str, ...] = (NVJET,), length_us: float = 2
) -> list[Row]:
    """A region with one launch per kernel name."""
    rows = [op("Torch-Compiled Region: 0/0", at + 5, 70)]
    for turn, name in enumerate(names):
        rows += [
            launch(at + 10 + 10 * turn, 5, correlation=number + turn),
            kernel(name, at + 30 + 40 * turn, length_us, correlation=number + turn),
        ]
    return rows


def run(
    body: Any, *, step_us: float, cpu_us: float = 20, first_ms: float = 100, **knobs: Any
) -> Case:
    """Return a run of five steps."""
    known = own_run(step_us=step_us, cpu_us=cpu_us, **knobs)
    known["timings"] = msgspec.structs.replace(
        known["timings"], first_call_ns=int(first_ms * 1_000_000)
    )
    return Case(rule="", state="clear", rows=loop(5, body, every_us=100, cpu_us=80), known=known)


def pair(
    rule: str, state: Any, mine: Case, other: Case, *says: str, kind: str | None = None
) -> Case:
    """Return a case of one run beside another."""
    return Case(
        rule=rule, state=state, rows=mine.rows, known=mine.known, twin=other, says=says, kind=kind
    )


EAGER = run(product(2), step_us=33, cpu_us=30)
COMPILED = run(compiled, step_us=83, cpu_us=80, first_ms=9400, compile="default")
QUICK = run(compiled, step_us=13, cpu_us=12, first_ms=9400, compile="default")
EQUAL = run(compiled, step_us=34, cpu_us=30, first_ms=9400, compile="default")
LARGER = run(product(2), step_us=33, size=128)


def three_adds(at: float, number: int) -> list[Row]:
    rows: list[Row] = []
    for turn in range(3):
        rows += [
            op("aten::add", at + 5 + 20 * turn, 15),
            launch(at + 8 + 20 * turn, 5, correlation=number + turn),
            kernel(ADD, at + 20 + 25 * turn, 20, correlation=number + turn),
        ]
    return rows


def linear(at: float, number: int) -> list[Row]:
    return [op("aten::t", at + 1, 3), *product(2)(at, number)]


def linear_compiled(at: float, number: int) -> list[Row]:
    return compiled(at, number, names=(NVJET.replace("_bz_", "_bz_bias_"),))


def fused(at: float, number: int) -> list[Row]:
    return compiled(at, number, names=(FUSED,), length_us=30)


def template(at: float, number: int) -> list[Row]:
    return compiled(at, number, names=(TEMPLATE,), length_us=2.4)


NO_TWIN = "Run that too"

CASES = (
    # --- K5 beside an eager run: 80 against 30 us of CPU time.
    pair(
        "K5",
        "fired",
        COMPILED,
        EAGER,
        "80.0 µs per step compiled and 30.0 µs eager: 2.67×",
        kind="note",
    ),
    # The step is faster all the same: 10 us less.
    pair(
        "K5",
        "fired",
        run(compiled, step_us=23, cpu_us=22, compile="default"),
        run(product(2), step_us=33, cpu_us=20),
        "22.0 µs per step compiled and 20.0 µs eager: 1.10×",
        kind="fact",
    ),
    # --- R6: 83 against 33 us; where the CPU sets the pace two runs of the same may differ by 87 %:
    # 2.33 x sqrt(2 x (0.16² + 0.004²)) = 0.527, exp(0.527) = 1.695.
    pair("R6", "fired", COMPILED, EAGER, "83.0 µs compiled and 33.0 µs eager: 2.52× as long"),
    pair("R6", "clear", EQUAL, EAGER),
    pair("R6", "clear", QUICK, EAGER),
    pair("R6", "not_checked", COMPILED, LARGER, "more than the compile mode"),
    Case(rule="R6", state="not_checked", rows=COMPILED.rows, known=COMPILED.known, says=(NO_TWIN,)),
    # --- R7: 9,300 ms more for 20 us a step are 465,000 steps; 23 against 33 us may be chance.
    pair("R7", "fired", QUICK, EAGER, "9.40 s compiled and 100 ms eager", "after 465,000 steps"),
    pair(
        "R7",
        "fired",
        run(compiled, step_us=23, cpu_us=20, compile="default"),
        EAGER,
        "23.0 µs compiled and 33.0 µs eager",
        "differ by 69.5 % by chance",
        "cannot be told",
    ),
    pair("R7", "fired", COMPILED, EAGER, "never pays back"),
    Case(rule="R7", state="not_checked", rows=COMPILED.rows, known=COMPILED.known, says=(NO_TWIN,)),
    # --- R8: 2.4 against 2 us on the GPU.
    pair(
        "R8",
        "fired",
        run(template, step_us=80, compile="max-autotune-no-cudagraphs"),
        COMPILED,
        "2.40 µs per step",
        "2.00 µs in compile mode default",
    ),
    pair("R8", "clear", run(compiled, step_us=80, compile="max-autotune-no-cudagraphs"), COMPILED),
    pair("R8", "not_checked", COMPILED, EAGER, "compile mode default"),
    # --- R9, L3
    pair("R9", "fired", COMPILED, EAGER, "the same 1 kernel name as the eager run"),
    pair("R9", "clear", run(fused, step_us=83, compile="default"), EAGER),
    Case(rule="R9", state="not_checked", rows=COMPILED.rows, known=COMPILED.known, says=(NO_TWIN,)),
    pair(
        "L3",
        "fired",
        run(linear_compiled, step_us=98, workload="linear", compile="default"),
        run(linear, step_us=37, workload="linear"),
        "0 instead of 1 view operators per step",
    ),
    pair(
        "L3",
        "clear",
        run(fused, step_us=98, workload="linear", compile="default"),
        run(linear, step_us=37, workload="linear"),
    ),
    pair("L3", "not_checked", COMPILED, EAGER, "no single linear layer"),
    # --- L8: one kernel of 30 us for three of 20.
    pair(
        "L8",
        "fired",
        run(fused, step_us=60, compile="default"),
        run(three_adds, step_us=70),
        "1 pointwise kernel of 30.0 µs per step in place of 3 of 60.0 µs: 2.00× faster",
    ),
    pair("L8", "clear", COMPILED, EAGER),
    Case(rule="L8", state="not_checked", rows=COMPILED.rows, known=COMPILED.known, says=(NO_TWIN,)),
    # --- V1: a middle half of 20 % of the median; 2 % is quiet.
    Case(
        rule="V1",
        state="fired",
        rows=PLAIN,
        known={
            **own_run(step_us=40),
            "timings": msgspec.structs.replace(
                own_run(step_us=40)["timings"], step_ns_p25=37_000, step_ns_p75=45_000
            ),
        },
        says=("37.0 µs and 45.0 µs: 20.0 % of the median",),
    ),
    Case(rule="V1", state="clear", rows=PLAIN, known=own_run(step_us=40)),
    Case(rule="V1", state="not_checked", rows=PLAIN, says=("not timed",)),
    # --- V2: 34 against 33 us is 3 %, within 69.5 %; within 5 % where the GPU sets the pace, whose
    # own noise is less: 2.33 x sqrt(2) x 0.01 = 3 %.
    pair("V2", "fired", EQUAL, EAGER, "34.0 µs against 33.0 µs", "3.0 %", "up to 69.5 % is noise"),
    pair(
        "V2",
        "fired",
        run(compiled, step_us=34, cpu_us=10, compile="default"),
        run(product(2), step_us=33, cpu_us=10),
        "up to 5.0 % is noise",
    ),
    pair(
        "V2",
        "clear",
        run(compiled, step_us=36, cpu_us=10, compile="default"),
        run(product(2), step_us=33, cpu_us=10),
    ),
    pair("V2", "clear", COMPILED, EAGER),
    Case(rule="V2", state="not_checked", rows=PLAIN, says=("not known which sizes",)),
    # --- V3
    pair("V3", "fired", COMPILED, LARGER, "also differ in: size"),
    pair("V3", "clear", COMPILED, EAGER),
    Case(
        rule="V3",
        state="not_checked",
        rows=COMPILED.rows,
        known=COMPILED.known,
        says=("No other run stands beside this one",),
    ),
    # --- V4: 160 against 80 us.
    Case(
        rule="V4",
        state="fired",
        rows=loop(5, product(2), every_us=500, cpu_us=80, first_cpu_us=160),
        says=("160 µs on the CPU, the others 80.0 µs (median): 2.00×",),
    ),
    Case(
        rule="V4",
        state="clear",
        rows=loop(5, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000),
    ),
    Case(rule="V4", state="not_checked", rows=PLAIN[:15], says=("Only 3 steps",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_a_wide_spread_is_noise() -> None:
    # GIVEN a GPU that sets the pace and a middle half of 100 % of the median over few repeats: an
    # error of 1.2533 x 1 / 1.349 / sqrt(9) = 31 %; 2.33 times that is 72 %, and 38 is 15 % above 33
    wide = run(product(2), step_us=33, cpu_us=10)
    wide.known["timings"] = msgspec.structs.replace(
        wide.known["timings"], step_ns_p25=16_500, step_ns_p75=49_500, repeats=9
    )
    slower = run(compiled, step_us=38, cpu_us=10, compile="default")
    assert pair("R6", "clear", slower, wide).finding().state == "clear"
    assert pair("V2", "fired", slower, wide).finding().state == "fired"


def test_another_device_is_not_comparable() -> None:
    other = run(product(2), step_us=33)
    other.known["environment"] = msgspec.structs.replace(environment(), device_name="GPU 9000")
    finding = pair("V3", "fired", COMPILED, other).finding()
    assert "the device (NVIDIA H200, GPU 9000)" in finding.observation
