from __future__ import annotations

import pytest

from tests.rule_traces import DTOD, NVJET, Case, copy_before_product, hold, loop, own_run, product
from tests.trace_bytes import Row, kernel, launch, memcpy, memset, op

PLAIN = loop(5, product(50))
PAGEABLE = "Memcpy HtoD (Pageable -> Device)"
PINNED = "Memcpy HtoD (Pinned -> Device)"


def asked_for(at: float, number: int) -> list[Row]:
    """aten::clone [+10, +40] > aten::copy_ > a copy of 20 us, then the product at +100."""
    return [
        op("aten::clone", at + 10, 30),
        op("aten::copy_", at + 12, 25),
        launch(at + 15, 5, correlation=number + 50, name="cudaMemcpyAsync"),
        memcpy(at + 30, 20, name=DTOD, correlation=number + 50, bytes=8192),
        *product(50)(at + 100, number),
    ]


def upload(copy_us: float, *, name: str, size_bytes: int = 2_000_000, stream: int = 7) -> list[Row]:
    """Return five steps, 1,000 us apart: a copy from the host, then the product 10 us after it."""

    def body(at: float, number: int) -> list[Row]:
        return [
            op("aten::copy_", at + 5, 30),
            launch(at + 10, 5, correlation=number + 50, name="cudaMemcpyAsync"),
            memcpy(
                at + 20,
                copy_us,
                name=name,
                correlation=number + 50,
                bytes=size_bytes,
                stream=stream,
            ),
            *product(50, delay_us=copy_us + 10)(at, number),
        ]

    return loop(5, body)


def hidden_upload() -> list[Row]:
    """Return steps whose copy of 300 us on stream 8 runs wholly beside a GEMM of 400 us."""

    def body(at: float, number: int) -> list[Row]:
        return [
            *product(400)(at, number),
            launch(at + 40, 5, correlation=number + 50, name="cudaMemcpyAsync"),
            memcpy(at + 60, 300, name=PINNED, correlation=number + 50, bytes=1, stream=8),
        ]

    return loop(5, body)


def graph_copy(at: float, number: int) -> list[Row]:
    """A CUDA graph whose copy runs as a kernel named memcpy128, then the GEMM."""
    return [
        op("Torch-Compiled Region: 0/0", at + 5, 75),
        launch(at + 20, 10, correlation=number, name="cudaGraphLaunch"),
        kernel("memcpy128", at + 40, 16, correlation=number),
        kernel(NVJET, at + 60, 184, correlation=number),
    ]


def counter(at: float, number: int, *, size_bytes: int = 4) -> list[Row]:
    """A fill of 0.7 us before the product."""
    return [
        launch(at + 5, 2, correlation=number + 50, name="cudaMemsetAsync"),
        memset(at + 10, 0.7, correlation=number + 50, bytes=size_bytes),
        *product(50)(at, number),
    ]


CASES = (
    # --- C6: 16 of 200 us are copies that compiled code makes.
    Case(
        rule="C6",
        state="fired",
        rows=loop(5, copy_before_product(16, 184)),
        says=("16.0 µs per step, 8.0 % of the GPU time", "Torch-Compiled Region: 0/0"),
    ),
    Case(
        rule="C6",
        state="fired",
        rows=loop(5, graph_copy),
        says=("16.0 µs per step, 8.0 %",),
    ),
    Case(rule="C6", state="clear", rows=loop(5, asked_for)),
    # 0.8 of 2.8 us is 29 %, but below the floor of 5 us.
    Case(rule="C6", state="clear", rows=loop(5, copy_before_product(0.8, 2))),
    Case(rule="C6", state="not_checked", rows=PLAIN, says=("no copies",)),
    # --- G5
    Case(
        rule="G5",
        state="fired",
        rows=loop(5, copy_before_product(16, 184)),
        says=("5 copies of 8.00 KiB inside the GPU right before nvjet", "16.0 µs per step, 8.0 %"),
        kind="note",
    ),
    Case(
        rule="G5",
        state="fired",
        rows=loop(5, copy_before_product(0.8, 2)),
        says=("800 ns per step, 28.6 %",),
        kind="fact",
    ),
    Case(rule="G5", state="clear", rows=loop(5, asked_for)),
    Case(rule="G5", state="not_checked", rows=PLAIN, says=("no copies",)),
    # --- S2: 400 of 1,000 us; 2 MB in 400 us is 5 GB/s.
    Case(
        rule="S2",
        state="fired",
        rows=upload(400, name=PAGEABLE),
        says=("400 µs per step, 40.0 % of the step, at 5.00 GB/s",),
    ),
    Case(rule="S2", state="clear", rows=upload(400, name=PINNED)),
    Case(rule="S2", state="clear", rows=upload(400, name=PAGEABLE, size_bytes=999_999)),
    Case(rule="S2", state="not_checked", rows=PLAIN, says=("no copies",)),
    # --- S3: the same copies; a GEMM of 400 us hides them; 2 us are below the floor.
    Case(
        rule="S3",
        state="fired",
        rows=upload(400, name=PINNED),
        says=("400 µs per step, 40.0 % of the step",),
    ),
    Case(rule="S3", state="clear", rows=hidden_upload()),
    Case(rule="S3", state="not_checked", rows=PLAIN, says=("no copies",)),
    # --- S4: 5 x 100 us in a window of 4,000 us is 12.5 %; a stream of its own is clear.
    Case(rule="S4", state="fired", rows=upload(100, name=PINNED), says=("12.5 % of the time",)),
    Case(rule="S4", state="clear", rows=upload(100, name=PINNED, stream=8)),
    Case(rule="S4", state="not_checked", rows=PLAIN, says=("no copies",)),
    # --- E10
    Case(
        rule="E10",
        state="fired",
        rows=loop(5, counter),
        says=("1 fill of at most 4 B per step, 700 ns each",),
    ),
    Case(
        rule="E10",
        state="clear",
        rows=loop(5, lambda at, number: counter(at, number, size_bytes=4096)),
    ),
    Case(rule="E10", state="not_checked", rows=PLAIN, says=("no fills",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_a_matrix_product_without_a_known_name_cannot_be_judged() -> None:
    rows = [
        op("aten::copy_", 0, 20),
        launch(2, 5, correlation=1, name="cudaMemcpyAsync"),
        memcpy(10, 5, name=DTOD, correlation=1, bytes=64),
        kernel("mystery", 30, 5),
    ]
    finding = Case(rule="G5", state="not_checked", rows=rows).finding()
    assert "no matrix product" in finding.reason


def test_copies_count_only_in_steps_that_count() -> None:
    # GIVEN copies as in C6's first case, of a run whose first step is cold
    rows = loop(4, copy_before_product(16, 184), every_us=5000, cpu_us=80, first_cpu_us=4000)
    finding = Case(rule="C6", state="fired", rows=rows, known=own_run(step_us=210)).finding()
    # THEN the three warm steps are left: 48 us over three steps
    assert "16.0 µs per step" in finding.observation
    assert len(finding.evidence) == 3
