from __future__ import annotations

from typing import Any

import pytest

from profcore.rules.occupancy import occupancy
from profcore.trace.model import DeviceProperties
from tests.handmade import plain_rows
from tests.rule_traces import NVJET, Case, cpu_only, hold, loop, product
from tests.trace_bytes import GPU, Row, kernel, launch, op

CPU = {"devices": ()}
H200 = DeviceProperties(
    id=0,
    name="NVIDIA H200",
    shared_memory_per_block_bytes=49_152,
    shared_memory_per_multiprocessor_bytes=233_472,
    registers_per_multiprocessor=65_536,
    threads_per_multiprocessor=2048,
)
NVJET_FACTS: dict[str, Any] = {
    "grid": [132, 1, 1],
    "block": [384, 1, 1],
    "registers per thread": 168,
    "shared memory": 200_000,
    "blocks per SM": 1.0,
    "est. achieved occupancy %": 0,
}


def facts(**changed: Any) -> list[Row]:
    """Return a GEMM with the launch facts of an nvjet kernel, some of them changed."""
    changes = {name.replace("_", " "): value for name, value in changed.items()}
    return [kernel(NVJET, 0, 50, **{**NVJET_FACTS, **changes})]


def estimated(percent: float) -> list[Row]:
    return [kernel(NVJET, 0, 50, **{**NVJET_FACTS, "est. achieved occupancy %": percent})]


def by_driver(name: str, *, compiled: bool) -> list[Row]:
    """Return a kernel launched by cuLaunchKernel, inside compiled code or not."""
    return [
        op("Torch-Compiled Region: 0/0" if compiled else "my_operator", 0, 50),
        launch(10, 5, correlation=1, name="cuLaunchKernel"),
        kernel(name, 20, 5, correlation=1),
    ]


CASES = (
    # --- A5
    Case(rule="A5", state="fired", rows=estimated(13), says=("an estimated occupancy of 13 %",)),
    Case(rule="A5", state="clear", rows=estimated(50)),
    Case(rule="A5", state="not_checked", rows=[kernel("k", 0, 5)], says=("grid and block",)),
    # --- A6: 200,000 bytes are more than 48 KiB; 384 of 2,048 threads fit.
    Case(
        rule="A6",
        state="fired",
        rows=facts(),
        says=("1 kernel read 0 % occupancy", "(195 KiB)", "fills 18.8 %"),
    ),
    Case(
        rule="A6",
        state="fired",
        rows=[kernel(NVJET, 0, 50, **{**NVJET_FACTS, "shared memory": 0, "blocks per SM": 0.02})],
        says=("1 with a tiny grid",),
    ),
    Case(rule="A6", state="clear", rows=estimated(13)),
    Case(
        rule="A6",
        state="not_checked",
        rows=facts(),
        known={"devices": ({**GPU, "name": "AMD Instinct MI300X"},)},
        says=("ROCm",),
    ),
    # --- E8: 168 x 32 = 5,376 registers a warp, 12 warps: 64,512 of 65,536.
    Case(
        rule="E8",
        state="fired",
        rows=facts(),
        says=("1 block per multiprocessor, 18.8 % of its threads; registers run out first",),
    ),
    Case(
        rule="E8",
        state="not_checked",
        rows=facts(),
        known=CPU,
        says=("how many registers",),
    ),
    # --- E11: 60 and 50 us on two streams, 20 of them together.
    Case(
        rule="E11",
        state="fired",
        rows=[kernel("a", 0, 60), kernel("b", 40, 50, stream=8)],
        says=("2 streams overlap: 110 µs of work in 90.0 µs",),
    ),
    Case(rule="E11", state="clear", rows=[kernel("a", 0, 60), kernel("b", 70, 50, stream=8)]),
    Case(rule="E11", state="not_checked", rows=cpu_only(), known=CPU, says=("CPU run",)),
    # --- L9
    Case(
        rule="L9",
        state="fired",
        rows=by_driver("_my_softmaxish", compiled=False),
        says=("1 kernel launched through the driver outside of compiled code: _my_softmaxish",),
    ),
    Case(rule="L9", state="clear", rows=by_driver("_my_softmaxish", compiled=True)),
    Case(rule="L9", state="clear", rows=by_driver("triton_poi_fused_add_0", compiled=False)),
    Case(rule="L9", state="clear", rows=loop(3, product(5))),  # nvjet uses the same call
    Case(rule="L9", state="not_checked", rows=plain_rows(), says=("no launch by",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_rule_says_what_the_trace_shows(case: Case) -> None:
    hold(case)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks", "percent", "limit"),
    [
        # 168 x 32 = 5,376 = 21 x 256; 12 warps take 64,512: one block of 12 of 64 warps
        (384, 168, 200_000, 1, 18.75, "registers run"),
        # 16 blocks of 128 threads fill 2,048 threads; registers would allow exactly 16 too
        (128, 32, 0, 16, 100.0, "threads run"),
        # 233,472 // (49,152 + 1,024) = 4 blocks of 128 threads
        (128, 32, 49_152, 4, 25.0, "shared memory runs"),
        # 32 blocks of one warp are all that is allowed
        (32, 16, 0, 32, 50.0, "blocks run"),
    ],
)
def test_occupancy_is_what_runs_out_first(
    threads: int, registers: int, shared: int, blocks: int, percent: float, limit: str
) -> None:
    found = occupancy(H200, threads=threads, registers=registers, shared_bytes=shared)
    assert found is not None
    assert (found.blocks, found.fraction * 100, found.limit) == (blocks, percent, limit)


def test_a_device_without_figures_gives_no_occupancy() -> None:
    device = DeviceProperties(id=0, name="unknown")
    assert occupancy(device, threads=128, registers=32, shared_bytes=0) is None
