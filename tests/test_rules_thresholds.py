"""Every threshold from both sides: a little below it, and at it or a little above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from profcore.recording import Clocks
from profcore.rules import judge
from tests.rule_traces import (
    ADD,
    NVJET,
    SGEMM,
    Case,
    copy_before_product,
    finding_of,
    loop,
    own_run,
    product,
    runtime,
)
from tests.trace_bytes import annotation, kernel, launch, memcpy, memset, op

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.trace_bytes import Row

CONVOLUTION = "implicit_convolve_sgemm"
LAYOUT = "nchwToNhwcKernel"
NCCL = "ncclDevKernel_AllReduce_Sum"


def mix(*parts: tuple[str, float], every_us: float = 1000, **facts: Any) -> list[Row]:
    """Return five steps with these kernels one after another, each (name, duration in us)."""

    def body(at: float, number: int) -> list[Row]:
        rows = [op("aten::mm", at + 1, 90)]
        start = at + 100
        for turn, (name, length) in enumerate(parts):
            rows += [
                launch(at + 5 + 20 * turn, 5, correlation=number + turn),
                kernel(name, start, length, correlation=number + turn, **facts),
            ]
            start += length + 1
        return rows

    return loop(5, body, every_us=every_us)


def cold(first_us: float, others_us: float) -> list[Row]:
    return loop(4, product(2), every_us=10_000, cpu_us=others_us, first_cpu_us=first_us)


def annotated(first_us: float, others_us: float) -> list[Row]:
    return loop(
        3,
        lambda at, _: [
            annotation("work", at + 1, 890),
            op("aten::mm", at + 1 + (first_us if at == 0 else others_us), 50),
        ],
    )


def uploading(copy_us: float, kernel_us: float = 10) -> list[Row]:
    """A copy from pinned memory that no kernel hides, every 100 us."""

    def body(at: float, number: int) -> list[Row]:
        return [
            op("aten::copy_", at + 1, 30),
            launch(at + 3, 2, correlation=number + 50, name="cudaMemcpyAsync"),
            memcpy(at + 6, copy_us, name="Memcpy HtoD (Pinned -> Device)", correlation=number + 50),
            *product(kernel_us, delay_us=copy_us)(at, number),
        ]

    return loop(5, body, every_us=100, cpu_us=90)


def leaking(leaked_us: float) -> list[Row]:
    """Five products of 2 us, and a kernel of which the file has no launch."""
    return [kernel("leaked", 10, leaked_us), *loop(5, product(2), every_us=100, cpu_us=80)]


def losing(launches: int) -> list[Row]:
    """One step with many launches, the first of which left no kernel."""
    rows = [op("aten::mm", 1, 20 * launches)]
    for turn in range(launches):
        rows.append(launch(2 + 20 * turn, 5, correlation=turn + 1))
        if turn:
            rows.append(kernel(ADD, 10 + 20 * turn, 2, correlation=turn + 1))
    return [annotation("ProfilerStep#1", 0, 20 * launches + 5), *rows]


def zero_long(count: int, of: int) -> list[Row]:
    """`of` kernels, `count` of which last no time."""
    return [kernel("k", 10 + 5 * turn, 0 if turn < count else 1.5) for turn in range(of)]


def from_elsewhere(foreign_us: float, own_us: float) -> list[Row]:
    return [
        op("aten::mm", 0, 20),
        launch(5, 5, correlation=1),
        kernel("a", 20, own_us, correlation=1),
        launch(8, 5, correlation=2, tid=999),
        kernel("b", 500, foreign_us, correlation=2),
    ]


def casting(cast_us: float, other_us: float) -> list[Row]:
    return mix(("bfloat16_copy_kernel_cuda", cast_us), (ADD, other_us))


def slow_call(slow_us: float, usual_us: float) -> list[Row]:
    rows = [op("aten::mm", 0, 4000)]
    for turn in range(5):
        length = slow_us if turn == 2 else usual_us
        rows += [
            launch(700 * turn + 1, length, correlation=turn + 1),
            kernel(ADD, 700 * turn + 690, 1, correlation=turn + 1),
        ]
    return rows


def closing(rest_us: float) -> list[Row]:
    return [
        *loop(3, product(2), every_us=100, cpu_us=80),
        runtime("cudaDeviceSynchronize", 290, rest_us),
    ]


def cleared(size_bytes: int) -> list[Row]:
    return [
        launch(0, 2, correlation=1, name="cudaMemsetAsync"),
        memset(10, 1, correlation=1, bytes=size_bytes),
    ]


def fixed_ratio(cpu_us: float) -> list[Row]:
    """Return steps whose CPU side is `cpu_us` long and whose GPU work is 100 us."""
    return loop(5, product(100), every_us=1000, cpu_us=cpu_us)


def with_waiting(cpu_us: float) -> list[Row]:
    """Return steps of 80 us with 110 us of GPU work; waiting fills up `cpu_us` per step."""
    rows = loop(5, product(110), every_us=115, cpu_us=80)
    return [*rows, runtime("cudaDeviceSynchronize", 600, 5 * cpu_us - 400)]


def small_grid(small_us: float) -> list[Row]:
    """Return steps with a GEMM on half of the chip and an add on all of it, 100 us in all."""
    small = mix((NVJET, small_us), **{"blocks per SM": 0.5})
    large = [
        kernel(
            ADD, 1000 * turn + 500, 100 - small_us, correlation=9000 + turn, **{"blocks per SM": 8}
        )
        for turn in range(5)
    ]
    calls = [launch(1000 * turn + 60, 5, correlation=9000 + turn) for turn in range(5)]
    return [*small, *large, *calls]


def occupied(blocks: float) -> list[Row]:
    facts = {"est. achieved occupancy %": 0, "shared memory": 0, "blocks per SM": blocks}
    return [kernel(NVJET, 0, 50, grid=[9, 1, 1], block=[128, 1, 1], **facts)]


CHAIN = {"workload": "elementwise_chain", "size": 8192}  # 2.82 GB a step in bf16
QUIET: dict[str, Any] = {}

# rule, what it is about, rows below and at the threshold, what is known beside them.
BOTH_SIDES: tuple[tuple[str, str, list[Row], list[Row], dict[str, Any]], ...] = (
    ("C1", "3 times the others", cold(5900, 2000), cold(6100, 2000), QUIET),
    ("C1", "1 ms more", cold(1070, 80), cold(1090, 80), QUIET),
    ("C2", "100 µs", annotated(95, 5), annotated(105, 5), QUIET),
    ("C2", "5 times the others", annotated(240, 50), annotated(260, 50), QUIET),
    ("E1", "10 µs", mix((ADD, 10.5)), mix((ADD, 9.5)), own_run(step_us=900)),
    ("T1", "5 times", fixed_ratio(490), fixed_ratio(510), QUIET),
    ("T2", "0.8", with_waiting(87), with_waiting(89), QUIET),
    ("T2", "1.25", with_waiting(139), with_waiting(136), QUIET),
    ("S3", "20 µs a step", uploading(19), uploading(21), QUIET),
    ("C6", "5 µs a step", *(loop(5, copy_before_product(us, 20)) for us in (4.9, 5.1)), QUIET),
    ("C6", "5 %", *(loop(5, copy_before_product(us, 200)) for us in (10.3, 10.8)), QUIET),
    ("Q2", "1 % of the launches", losing(110), losing(90), QUIET),
    ("Q5", "1 %", zero_long(4, of=500), zero_long(6, of=500), QUIET),
    ("Q5", "10 of them", zero_long(9, of=2000), zero_long(10, of=2000), QUIET),
    ("Q13", "5 %", from_elsewhere(4.9, 95.1), from_elsewhere(5.1, 94.9), QUIET),
    ("N1", "10 %", mix((SGEMM, 9), (ADD, 91)), mix((SGEMM, 11), (ADD, 89)), QUIET),
    ("N2", "20 % matrix work", mix((SGEMM, 19), (ADD, 81)), mix((SGEMM, 21), (ADD, 79)), QUIET),
    (
        "N3",
        "5 %",
        mix((NVJET, 4), (ADD, 96)),
        mix((NVJET, 6), (ADD, 94)),
        own_run(step_us=110, size=63),
    ),
    ("N4", "10 %", mix((SGEMM, 9), (ADD, 91)), mix((SGEMM, 11), (ADD, 89)), own_run(step_us=110)),
    ("N5", "10 %", casting(9.5, 90.5), casting(10.5, 89.5), QUIET),
    ("N5", "5 µs", casting(4.9, 10), casting(5.1, 10), QUIET),
    ("E2", "10 %", mix((LAYOUT, 9), (ADD, 91)), mix((LAYOUT, 11), (ADD, 89)), QUIET),
    ("E2", "5 µs", mix((LAYOUT, 4.9), (ADD, 10)), mix((LAYOUT, 5.1), (ADD, 10)), QUIET),
    ("E4", "100 µs", slow_call(95, 5), slow_call(105, 5), QUIET),
    ("E4", "10 times the others", slow_call(290, 30), slow_call(310, 30), QUIET),
    ("E7", "20 % of the GPU time", small_grid(19), small_grid(21), QUIET),
    ("A6", "a tiny grid", occupied(0.11), occupied(0.09), QUIET),
    ("E10", "16 bytes", cleared(17), cleared(16), QUIET),
    ("L7", "no threshold, a control", mix((ADD, 5)), mix(("triton_red_fused_sum_0", 5)), QUIET),
)


@pytest.mark.parametrize(
    ("rule", "below", "at", "known"),
    [(rule, below, at, known) for rule, _, below, at, known in BOTH_SIDES],
    ids=[f"{rule}: {what}" for rule, what, *_ in BOTH_SIDES],
)
def test_a_threshold_parts_clear_from_fired(
    rule: str, below: list[Row], at: list[Row], known: dict[str, Any]
) -> None:
    states = [
        Case(rule=rule, state="fired", rows=rows, known=known).finding().state
        for rows in (below, at)
    ]
    assert states == ["clear", "fired"]


WORDS: tuple[tuple[str, str, Callable[[float], list[Row]], float, float, str], ...] = (
    # rule, what, rows of a value, a value below, one at it, words that only the latter brings
    ("G6", "1 ms", lambda us: loop(1, product(2, delay_us=us), cpu_us=5000), 900, 1100, ""),
    ("E3", "40 µs", lambda us: loop(3, product(2, delay_us=us)), 39, 41, "neither"),
    ("E3", "100 µs", lambda us: loop(3, product(2, delay_us=us)), 99, 101, "queue up"),
    ("C5", "1 ms", closing, 990, 1010, "housekeeping"),
    ("Q16", "10 %", lambda us: mix((NCCL, us), (ADD, 100 - us)), 9, 11, "which is much"),
)


@pytest.mark.parametrize(
    ("rule", "rows", "below", "at", "words"),
    [(rule, rows, below, at, words) for rule, _, rows, below, at, words in WORDS],
    ids=[f"{rule}: {what}" for rule, what, *_ in WORDS],
)
def test_a_threshold_changes_the_words(
    rule: str, rows: Callable[[float], list[Row]], below: float, at: float, words: str
) -> None:
    before, after = (
        Case(rule=rule, state="fired", rows=rows(value)).finding() for value in (below, at)
    )
    if words:
        assert words not in before.observation
        assert words in after.observation
    else:
        assert before.meaning != after.meaning


@pytest.mark.parametrize(("leaked_us", "kind"), [(0.45, "fact"), (0.55, "trust")])
def test_q3_is_a_matter_of_trust_from_5_percent_on(leaked_us: float, kind: str) -> None:
    # 10 us are assigned
    assert Case(rule="Q3", state="fired", rows=leaking(leaked_us)).finding().kind == kind


@pytest.mark.parametrize(("over_us", "kind"), [(18, "fact"), (22, "trust")])
def test_q4_is_a_matter_of_trust_from_1_percent_on(over_us: float, kind: str) -> None:
    rows = [kernel("a", 0, 1000), kernel("b", 1000 - over_us, 1000)]
    assert Case(rule="Q4", state="fired", rows=rows).finding().kind == kind


@pytest.mark.parametrize(("over_us", "kind"), [(4.9, "fact"), (5.1, "trust")])
def test_q4_does_not_count_overlaps_below_5_microseconds(over_us: float, kind: str) -> None:
    rows = [kernel("a", 0, 100), kernel("b", 100 - over_us, 100)]
    assert Case(rule="Q4", state="fired", rows=rows).finding().kind == kind


@pytest.mark.parametrize(("copy_us", "kind"), [(4.9, "fact"), (5.1, "note")])
def test_g5_is_a_note_from_5_microseconds_on(copy_us: float, kind: str) -> None:
    rows = loop(5, copy_before_product(copy_us, 20))
    assert Case(rule="G5", state="fired", rows=rows).finding().kind == kind


@pytest.mark.parametrize(("unknown_us", "state"), [(19, "clear"), (21, "not_checked")])
def test_n2_makes_no_claim_from_20_percent_unknown_on(unknown_us: float, state: str) -> None:
    rows = mix(("mystery_gemm", unknown_us), (NVJET, 100 - unknown_us))
    assert Case(rule="N2", state="clear", rows=rows).finding().state == state


@pytest.mark.parametrize(("kernel_us", "limited"), [(1000, False), (970, True)])
def test_e6_calls_memory_the_limit_from_60_percent_on(kernel_us: float, *, limited: bool) -> None:
    # 2.818 GB in 1,000 us is 58.7 % of 4.8 TB/s, in 970 us 60.5 %
    rows = loop(5, product(kernel_us, name=ADD), every_us=2000)
    finding = Case(
        rule="E6", state="fired", rows=rows, known=own_run(step_us=1100, **CHAIN)
    ).finding()
    assert ("limited by memory" in finding.observation) == limited


@pytest.mark.parametrize(("sm_mhz", "said"), [(1900, False), (1870, True)])
def test_a_clock_below_95_percent_is_worth_a_line(sm_mhz: int, *, said: bool) -> None:
    known = own_run(step_us=100)
    clocks = Clocks(
        sm_mhz=sm_mhz, sm_max_mhz=1980, memory_mhz=1, temperature_c=1, power_w=1, other_processes=0
    )
    known["environment"] = msgspec.structs.replace(known["environment"], clocks=clocks)
    rows = loop(5, product(95), every_us=100, cpu_us=80)
    verdict = judge(Case(rule="B1", state="fired", rows=rows, known=known).analysis())
    assert any("lowers its clock" in line.text for line in verdict.arithmetic) == said


def test_evidence_is_the_longest_five() -> None:
    rows = [
        kernel(ADD, 100 * turn, 10 + turn, grid=[1, 1, 1], block=[1, 1, 1]) for turn in range(9)
    ]
    evidence = finding_of("T3", Case(rule="T3", state="fired", rows=rows).analysis()).evidence
    assert [event.duration_ns for event in evidence] == [18_000, 17_000, 16_000, 15_000, 14_000]
