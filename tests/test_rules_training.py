from __future__ import annotations

import pytest

from tests.rule_traces import ADD, NVJET, Case, cpu_only, hold, loop, own_run, product, runtime
from tests.trace_bytes import GPU, Row, annotation, kernel, launch, memory, op

CPU = {"devices": ()}
PLAIN = loop(5, product(2), every_us=100, cpu_us=80)
GIB = 1024**3


def optimizer(at: float, number: int, *, launches: int = 25, merged: bool = False) -> list[Row]:
    """Optimizer.step > one launch per tensor, inside aten::_foreach_add_ or aten::add_."""
    name = "aten::_foreach_add_" if merged else "aten::add_"
    rows = [annotation("Optimizer.step#AdamW.step", at + 5, 600)]
    for turn in range(launches):
        start = at + 10 + 20 * turn
        rows += [
            op(name, start, 15),
            launch(start + 2, 5, correlation=100 * number + turn),
            kernel(ADD, start + 10, 2, correlation=100 * number + turn),
        ]
    return rows


def zeroed(at: float, number: int, *, name: str = "aten::zero_") -> list[Row]:
    return [
        annotation("Optimizer.zero_grad#AdamW.zero_grad", at + 65, 10),
        op(name, at + 66, 5),
        *product(2)(at, number),
    ]


def picking(at: float, number: int, *, repeats: int = 12) -> list[Row]:
    """The product, then aten::select and aten::mul again and again."""
    rows = product(2)(at, number)
    for turn in range(repeats):
        start = at + 100 + 20 * turn
        rows += [op("aten::select", start, 5), op("aten::mul", start + 6, 5)]
    return rows


def backward(at: float, number: int, *, tid: int = 201) -> list[Row]:
    """The product, and a backward call on another thread."""
    return [
        *product(2)(at, number),
        op("autograd::engine::evaluate_function: MmBackward0", at + 65, 10, tid=tid),
    ]


def with_memory(reserved: int) -> list[Row]:
    return [*PLAIN, memory(5, 512, allocated=512, reserved=reserved)]


CASES = (
    # --- O1
    Case(
        rule="O1",
        state="fired",
        rows=loop(3, optimizer),
        known=own_run(step_us=51),  # 50 us of GPU work: the GPU is the limit
        says=("Each optimizer step makes 25 kernel launches",),
        kind="note",
    ),
    Case(
        rule="O1",
        state="fired",
        rows=loop(3, optimizer),
        known=own_run(step_us=900),
        kind="warning",
    ),
    Case(
        rule="O1",
        state="clear",
        rows=loop(3, lambda at, number: optimizer(at, number, merged=True)),
    ),
    Case(
        rule="O1",
        state="clear",
        rows=loop(3, lambda at, number: optimizer(at, number, launches=8)),
    ),
    Case(rule="O1", state="not_checked", rows=PLAIN, says=("no Optimizer.step",)),
    # --- O2
    Case(
        rule="O2",
        state="fired",
        rows=loop(3, zeroed),
        says=("3 calls of aten::zero_ inside zero_grad",),
    ),
    Case(
        rule="O2",
        state="clear",
        rows=loop(3, lambda at, number: zeroed(at, number, name="aten::detach")),
    ),
    Case(rule="O2", state="not_checked", rows=PLAIN, says=("no Optimizer.zero_grad",)),
    # --- O4: twelve groups, the last of which is followed by no other.
    Case(
        rule="O4",
        state="fired",
        rows=loop(3, picking),
        known=own_run(step_us=900),
        says=("(aten::select, aten::mul) repeats 11 times",),
    ),
    Case(
        rule="O4",
        state="clear",
        rows=loop(3, lambda at, number: picking(at, number, repeats=5)),
        known=own_run(step_us=900),
    ),
    Case(rule="O4", state="clear", rows=loop(3, picking), known=own_run(step_us=2.1)),
    Case(rule="O4", state="not_checked", rows=loop(5, product(30), every_us=100, cpu_us=80)),
    # --- O5
    Case(
        rule="O5",
        state="fired",
        rows=loop(3, backward),
        says=("3 backward calls run on a thread of their own",),
    ),
    Case(
        rule="O5",
        state="clear",
        rows=loop(3, lambda at, number: backward(at, number, tid=200)),
    ),
    Case(rule="O5", state="not_checked", rows=PLAIN, says=("no backward pass",)),
    # --- E9: in the second step, not in the first.
    Case(
        rule="E9",
        state="fired",
        rows=[*PLAIN, runtime("cudaMalloc", 170, 5)],
        says=("1 call of cudaMalloc after the first step, 5.00 µs together",),
    ),
    Case(rule="E9", state="clear", rows=[*PLAIN, runtime("cudaMalloc", 70, 5)]),
    Case(rule="E9", state="not_checked", rows=[kernel(NVJET, 0, 5)], says=("no ProfilerStep",)),
    # --- M1: 95 of 100 GiB.
    Case(
        rule="M1",
        state="fired",
        rows=with_memory(95 * GIB),
        known={"devices": ({**GPU, "totalGlobalMem": 100 * GIB},)},
        says=("95.0 GiB of 100 GiB were reserved on NVIDIA H200: 95.0 %",),
    ),
    Case(
        rule="M1",
        state="clear",
        rows=with_memory(50 * GIB),
        known={"devices": ({**GPU, "totalGlobalMem": 100 * GIB},)},
    ),
    Case(rule="M1", state="not_checked", rows=PLAIN, says=("profile_memory=True",)),
    Case(rule="E9", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)
