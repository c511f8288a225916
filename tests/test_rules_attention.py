from __future__ import annotations

import pytest

from tests.rule_traces import DTOD, NVJET, SGEMM, Case, cpu_only, hold, loop, own_run, product
from tests.trace_bytes import Row, kernel, launch, memcpy, op

CPU = {"devices": ()}
PLAIN = loop(3, product(50))
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Params)"


def masked(at: float, number: int, *, copy_us: float = 127) -> list[Row]:
    """The product of 873 us; aten::masked_fill > clone > copy_ > a copy inside the device."""
    return [
        *product(873)(at, number),
        op("aten::masked_fill", at + 100, 60),
        op("aten::clone", at + 105, 50),
        op("aten::copy_", at + 110, 40),
        launch(at + 115, 5, correlation=number + 1, name="cudaMemcpyAsync"),
        memcpy(at + 905, copy_us, name=DTOD, correlation=number + 1, bytes=1),
    ]


def asked_copy(at: float, number: int) -> list[Row]:
    """The same copy, but outside of aten::masked_fill."""
    return [
        *product(873)(at, number),
        op("aten::masked_fill", at + 65, 10),
        op("aten::copy_", at + 110, 40),
        launch(at + 115, 5, correlation=number + 1, name="cudaMemcpyAsync"),
        memcpy(at + 905, 127, name=DTOD, correlation=number + 1, bytes=1),
    ]


def attention(at: float, number: int, *, inner: str, name: str, turned: int = 0) -> list[Row]:
    """aten::scaled_dot_product_attention > inner > launch; `turned` transposes beside it."""
    return [
        op("aten::scaled_dot_product_attention", at + 5, 200),
        *(op("aten::transpose", at + 6 + 3 * turn, 2) for turn in range(turned)),
        op(inner, at + 50, 100),
        launch(at + 60, 5, correlation=number),
        kernel(name, at + 80, 90, correlation=number),
    ]


def math(at: float, number: int) -> list[Row]:
    return attention(
        at, number, inner="aten::_scaled_dot_product_attention_math", name="sgemm_mask"
    )


def flash(at: float, number: int) -> list[Row]:
    return attention(
        at, number, inner="aten::_scaled_dot_product_flash_attention", name=FLASH, turned=4
    )


CASES = (
    # --- A1: 127 of 1,000 us; with 90 it is 9.3 %.
    Case(
        rule="A1",
        state="fired",
        rows=loop(3, masked, every_us=1100),
        says=("127 µs per step, 12.7 % of the GPU time",),
        kind="warning",
    ),
    Case(
        rule="A1",
        state="fired",
        rows=loop(3, masked, every_us=3000),
        known=own_run(step_us=3000),
        kind="fact",
    ),
    Case(
        rule="A1",
        state="clear",
        rows=loop(3, lambda at, number: masked(at, number, copy_us=90), every_us=1100),
    ),
    Case(rule="A1", state="clear", rows=loop(3, asked_copy, every_us=1100)),
    Case(rule="A1", state="not_checked", rows=PLAIN, says=("did not call aten::masked_fill",)),
    # --- A2
    Case(
        rule="A2",
        state="fired",
        rows=loop(3, math),
        says=("3 kernels of 90.0 µs per step, 100.0 % of the GPU time",),
    ),
    Case(rule="A2", state="clear", rows=loop(3, flash)),
    Case(rule="A2", state="not_checked", rows=PLAIN, says=("did not call scaled_dot",)),
    # --- A3: 50 of 50, 60 of 60 and 30 of 30 us.
    Case(rule="A3", state="fired", rows=PLAIN, says=("100.0 % on tensor cores",)),
    Case(
        rule="A3",
        state="fired",
        rows=loop(3, product(60, name=SGEMM)),
        says=("100.0 % on the ordinary cores",),
    ),
    Case(
        rule="A3",
        state="fired",
        rows=[kernel(NVJET, 0, 30), kernel("mystery_gemm", 50, 10)],
        says=("75.0 % on tensor cores, 25.0 % unknown by name",),
    ),
    Case(rule="A3", state="not_checked", rows=[kernel("k", 0, 5)], says=("multiply matrices",)),
    # --- A4, A7, A9
    Case(
        rule="A4",
        state="fired",
        rows=loop(3, flash),
        says=("flash_fwd_kernel: flash attention, forward", "3 times, 90.0 µs each"),
    ),
    Case(rule="A4", state="not_checked", rows=PLAIN, says=("no attention kernel",)),
    Case(
        rule="A7",
        state="fired",
        rows=loop(3, flash),
        says=("12 aten::transpose inside 3 calls of attention",),
    ),
    Case(rule="A7", state="clear", rows=loop(3, math)),
    Case(rule="A7", state="not_checked", rows=PLAIN, says=("did not call scaled_dot",)),
    Case(
        rule="A9", state="fired", rows=PLAIN, says=("Launch calls by spelling: cuLaunchKernelEx 3",)
    ),
    Case(rule="A9", state="clear", rows=loop(3, flash)),
    Case(rule="A9", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)
