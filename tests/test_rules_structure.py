from __future__ import annotations

import pytest

from tests.handmade import plain_rows
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
)
from tests.trace_bytes import Row, kernel, launch, memcpy, op

HTOD = "Memcpy HtoD (Pageable -> Device)"
OTHER_TILE = NVJET.replace("64x8", "128x64")


def convolution(at: float, number: int, *, bias: bool = True, norm: bool = True) -> list[Row]:
    """aten::conv2d [+5, +45] with a GEMM of 30 us and, with a bias, aten::add_ of 10 us inside.

    Then the counter of batch norm (aten::add_, 2 us) and aten::batch_norm with 8 us.
    """
    rows = [
        op("aten::conv2d", at + 5, 40),
        op("aten::_convolution", at + 7, 36),
        launch(at + 10, 5, correlation=number),
        kernel("sm90_xmma_fprop_implicit_gemm", at + 100, 30, correlation=number),
    ]
    if bias:
        rows += [
            op("aten::add_", at + 30, 10),
            launch(at + 32, 5, correlation=number + 1),
            kernel(ADD, at + 132, 10, correlation=number + 1),
        ]
    if norm:
        rows += [
            op("aten::add_", at + 50, 10),
            launch(at + 52, 5, correlation=number + 2),
            kernel(ADD, at + 145, 2, correlation=number + 2),
            op("aten::batch_norm", at + 65, 20),
            launch(at + 70, 5, correlation=number + 3),
            kernel("bn_fw_tr_1C11", at + 150, 8, correlation=number + 3),
        ]
    return rows


def without_bias(at: float, number: int) -> list[Row]:
    return convolution(at, number, bias=False)


def relu_between(at: float, number: int) -> list[Row]:
    return [
        *convolution(at, number, norm=False),
        op("aten::relu", at + 50, 5),
        *convolution(at + 55, number + 10, bias=False)[0:2],
        op("aten::batch_norm", at + 150, 20),
    ]


def made_and_moved(at: float, number: int, *, between: bool = False) -> list[Row]:
    """aten::zeros [+5, +25] on the CPU, then aten::to [+40, +90] with a copy of 8 us."""
    rows = [
        op("aten::zeros", at + 5, 20),
        op("aten::to", at + 40, 50),
        op("aten::copy_", at + 45, 40),
        launch(at + 50, 10, correlation=number, name="cudaMemcpyAsync"),
        memcpy(at + 70, 8, name=HTOD, correlation=number, bytes=4096),
    ]
    if between:
        rows.insert(1, op("aten::relu", at + 28, 5))
    return rows


def made_there(at: float, number: int) -> list[Row]:
    """aten::zeros with a kernel of its own, then a copy of something else."""
    return [
        launch(at + 8, 5, correlation=number + 1),
        kernel("FillFunctor", at + 30, 2, correlation=number + 1),
        *made_and_moved(at, number),
    ]


def not_in_order(at: float, number: int) -> list[Row]:
    return made_and_moved(at, number, between=True)


def changing_tile(at: float, number: int) -> list[Row]:
    """The third step (launch numbers from 300) picks another tile."""
    return product(60 if number < 300 else 50, name=NVJET if number < 300 else OTHER_TILE)(
        at, number
    )


def attention(at: float, number: int, *, inner: int = 1, own_us: float = 60) -> list[Row]:
    """aten::scaled_dot_product_attention of own_us + 10 per inner operator, and one kernel."""
    return [
        op("aten::scaled_dot_product_attention", at + 5, own_us + 10 * inner),
        *(op("aten::transpose", at + 10 + 10 * turn, 10) for turn in range(inner)),
        launch(at + 6, 2, correlation=number),
        kernel("pytorch_flash::flash_fwd_kernel", at + 100, 20, correlation=number),
    ]


def opaque(at: float, number: int) -> list[Row]:
    return attention(at, number, own_us=120)


def spelled_out(at: float, number: int) -> list[Row]:
    return attention(at, number, inner=4)


def compiled_anew(at: float, number: int) -> list[Row]:
    return [
        op("Torch-Compiled Region: 0/1", at + 5, 70),
        op("entire_frame_compile", at + 100, 300),
        *product(5)(at, number),
    ]


def compiled(at: float, number: int) -> list[Row]:
    return [op("Torch-Compiled Region: 0/0", at + 5, 70), *product(5)(at, number)]


SPELLED_OUT = Case(rule="", state="clear", rows=loop(3, spelled_out))
OPAQUE = Case(rule="", state="clear", rows=loop(3, opaque))

CASES = (
    # --- O3: three steps, each with a bias of 10 us.
    Case(
        rule="O3",
        state="fired",
        rows=loop(3, convolution),
        says=("3 convolutions right before a batch norm add a bias: 10.0 µs per step",),
    ),
    Case(rule="O3", state="clear", rows=loop(3, without_bias)),
    Case(rule="O3", state="clear", rows=loop(3, relu_between)),
    Case(rule="O3", state="not_checked", rows=plain_rows(), says=("no batch norm",)),
    Case(
        rule="O3",
        state="not_checked",
        rows=cpu_only(),
        known=own_run(step_us=900, device="cpu"),
        says=("CPU run",),
    ),
    # --- S8: three steps, each with one copy of 8 us.
    Case(
        rule="S8",
        state="fired",
        rows=loop(3, made_and_moved),
        says=("3 tensors made on the CPU (aten::zeros)", "4.00 KiB: 8.00 µs of copying per step"),
    ),
    Case(rule="S8", state="clear", rows=loop(3, made_there)),
    Case(rule="S8", state="clear", rows=loop(3, not_in_order)),
    Case(rule="S8", state="not_checked", rows=plain_rows(), says=("no copies",)),
    # --- L6: two steps with one tile, two with the other.
    Case(
        rule="L6",
        state="fired",
        rows=loop(4, changing_tile),
        known=own_run(step_us=100),
        says=("(2 calls, 60.0 µs)", "(2 calls, 50.0 µs)"),
    ),
    Case(rule="L6", state="clear", rows=loop(4, product(60)), known=own_run(step_us=100)),
    Case(rule="L6", state="not_checked", rows=loop(4, changing_tile), says=("not known",)),
    Case(
        rule="L6",
        state="not_checked",
        rows=loop(4, product_and_add(60, 5)),
        known=own_run(step_us=100, workload="elementwise_chain"),
        says=("no matrix product",),
    ),
    # --- L10: shapes are not read, so it can say no more than where to look.
    Case(
        rule="L10",
        state="not_checked",
        rows=loop(4, compiled_anew),
        says=("input shapes, which profcore does not read",),
    ),
    Case(
        rule="L10",
        state="clear",
        rows=loop(4, compiled_anew),
        known=own_run(step_us=100, compile="default"),
    ),
    Case(rule="L10", state="clear", rows=loop(4, compiled)),
    Case(rule="L10", state="not_checked", rows=plain_rows(), says=("no rows of torch.compile",)),
    # --- A8: 1 operator and 130 us less 2 of the launch, against 4 and 100 less 2.
    Case(
        rule="A8",
        state="fired",
        rows=OPAQUE.rows,
        twin=SPELLED_OUT,
        says=("shows 1 operator inside and 128 µs", "the other run shows 4 operators and 98.0 µs"),
    ),
    Case(rule="A8", state="clear", rows=SPELLED_OUT.rows, twin=OPAQUE),
    Case(rule="A8", state="not_checked", rows=OPAQUE.rows, says=("side by side",)),
    Case(rule="A8", state="not_checked", rows=plain_rows(), says=("did not call",)),
    # --- T6: per step aten::matmul 50 and aten::mm 35: totals 85, covered 50, in three steps.
    Case(
        rule="T6",
        state="fired",
        rows=loop(3, product(5)),
        says=("add up to 255 µs, although they cover only 150 µs: 1.70× as much",),
    ),
    Case(rule="T6", state="clear", rows=plain_rows()),
    Case(rule="T6", state="not_checked", rows=[kernel("a", 0, 5)], says=("no operators",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)
