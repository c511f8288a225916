from __future__ import annotations

import pytest

from tests.rule_traces import (
    ADD,
    NVJET,
    Case,
    copy_before_product,
    cpu_only,
    hold,
    loop,
    own_run,
    product,
)
from tests.trace_bytes import Row, annotation, kernel, launch, op

CPU = {"devices": ()}


def batched(at: float, number: int) -> list[Row]:
    """aten::matmul > expand, reshape, bmm > launch, _unsafe_view."""
    return [
        op("aten::matmul", at + 10, 80),
        op("aten::expand", at + 12, 5),
        op("aten::reshape", at + 20, 5),
        op("aten::bmm", at + 30, 40),
        launch(at + 40, 5, correlation=number),
        kernel(NVJET, at + 60, 5, correlation=number),
        op("aten::_unsafe_view", at + 75, 5),
    ]


def linear(
    at: float, number: int, *, kernel_name: str = "nvjet_sm90_tst_64x8_bias_TNT"
) -> list[Row]:
    """aten::linear > aten::t > aten::transpose; aten::addmm > launch."""
    return [
        op("aten::linear", at + 5, 80),
        op("aten::t", at + 8, 10),
        op("aten::transpose", at + 10, 5),
        op("aten::addmm", at + 30, 40),
        launch(at + 40, 5, correlation=number),
        kernel(kernel_name, at + 60, 5, correlation=number),
    ]


def linear_with_add(at: float, number: int) -> list[Row]:
    """aten::linear > aten::addmm and aten::add."""
    return [*linear(at, number), op("aten::add", at + 75, 5)]


def by_hand(at: float, number: int) -> list[Row]:
    """aten::addmm called by the program itself."""
    return linear(at, number)[3:]


def copying_reshape(at: float, number: int) -> list[Row]:
    """aten::reshape > aten::clone > aten::copy_ > launch."""
    return [
        op("aten::reshape", at + 5, 80),
        op("aten::clone", at + 10, 70),
        op("aten::copy_", at + 15, 60),
        launch(at + 20, 5, correlation=number),
        kernel(ADD, at + 40, 5, correlation=number),
    ]


CASES = (
    Case(
        rule="D1",
        state="fired",
        rows=[annotation("work", 1, 95), *loop(1, product(2), cpu_us=100)],
        says=(f"ProfilerStep#2 → work → aten::matmul → aten::mm → cuLaunchKernelEx → {NVJET}.",),
    ),
    Case(
        rule="D1",
        state="not_checked",
        rows=[
            op("aten::mm", 0, 20),
            launch(1, 5, correlation=1, name="cudaGraphLaunch"),
            kernel("k", 9, 5, correlation=1),
        ],
        says=("Kernels of a CUDA graph share one call",),
    ),
    Case(rule="D1", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- D2, D3
    Case(rule="D2", state="fired", rows=loop(3, product(2)), says=("3 of 3 calls", "aten::mm.")),
    Case(rule="D2", state="clear", rows=loop(3, batched)),
    Case(rule="D2", state="not_checked", rows=cpu_only(), says=("did not call aten::matmul",)),
    Case(
        rule="D3",
        state="fired",
        rows=loop(3, batched),
        says=("3 of 3 calls", "aten::bmm, with aten::expand, aten::reshape, aten::_unsafe_view"),
    ),
    Case(rule="D3", state="clear", rows=loop(3, product(2))),
    Case(rule="D3", state="not_checked", rows=cpu_only(), says=("did not call aten::matmul",)),
    # --- D4
    Case(
        rule="D4",
        state="fired",
        rows=loop(3, copy_before_product(5, 20)),
        known=own_run(step_us=100, compile="default"),
        says=("3 calls of aten::addmm inside compiled code", "the program wrote matmul and add"),
    ),
    Case(rule="D4", state="fired", rows=loop(3, linear), says=("inside aten::linear",)),
    Case(rule="D4", state="clear", rows=loop(3, by_hand)),
    Case(rule="D4", state="not_checked", rows=cpu_only(), says=("did not call aten::addmm",)),
    # --- L1: t and transpose, three times each.
    Case(
        rule="L1",
        state="fired",
        rows=loop(3, linear),
        says=("6 calls of aten::t, aten::transpose start no GPU work",),
    ),
    Case(rule="L1", state="clear", rows=loop(3, copying_reshape)),
    Case(
        rule="L1",
        state="not_checked",
        rows=[op("aten::t", 0, 5), kernel("gemm", 0, 5)],
        says=("no launch calls",),
    ),
    # --- L2
    Case(
        rule="L2",
        state="fired",
        rows=loop(3, linear),
        says=("3 calls of aten::addmm inside aten::linear, no aten::add", "64x8_bias_TNT"),
    ),
    Case(rule="L2", state="clear", rows=loop(3, linear_with_add)),
    Case(rule="L2", state="not_checked", rows=cpu_only(), says=("did not call aten::linear",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


def test_the_chain_is_evidence_from_the_step_to_the_kernel() -> None:
    case = Case(rule="D1", state="fired", rows=loop(1, product(2), cpu_us=100))
    durations_us = [event.duration_ns / 1000 for event in case.finding().evidence]
    assert durations_us == [100, 50, 35, 10, 2]


def test_l1_counts_the_views_that_copy() -> None:
    def both(at: float, number: int) -> list[Row]:
        return [*copying_reshape(at, number), op("aten::view", at + 90, 2)]

    finding = Case(rule="L1", state="fired", rows=loop(3, both)).finding()
    assert "3 of the same kind do, because they copy" in finding.observation
