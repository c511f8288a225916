"""What this device can do at most: large matrix products, a large copy, an empty launch.

A short calibration of some seconds, made before anything is profiled in the process.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING, Final

import torch

from profcore.devices import Ceilings
from profcore.owner import now_text
from profcore.recorder.clock import clock_of
from profcore.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.experiment import Dtype
    from profcore.recorder.clock import Clock
    from profcore.recording import Environment

GPU_SIZES: Final = (8192,)
"""Rows of the matrices: 1.1 TFLOP, more than any kernel needs to fill a GPU."""
CPU_SIZES: Final = (64, 128, 256, 512, 1024, 2048, 4096)
"""The more cores, the larger the product that keeps them busy; but without instructions of its own
a number format is fastest in the caches (bf16 on an AMD EPYC: 2.4 GFLOP/s at 64, 0.8 at 512)."""
LONGEST_NS: Final = 25 * NS_PER_MS
"""After a product that takes this long none of twice the size is tried: it takes eight times as
long."""
GPU_COPY_BYTES: Final = 1024**3
"""Far more than the largest cache of a GPU (50 MiB on an H200)."""
CPU_COPY_BYTES: Final = 256 * 1024**2
"""More than the caches of most CPUs."""
COPY_BLOCK_BYTES: Final = 1024**2
"""Random bytes are slow to make on a CPU, so a block of them is repeated."""
MEMORY_FRACTION: Final = 0.25
"""Of the device's memory that the calibration may take; the size is halved until it fits."""

GPU_SETTLE_NS: Final = 400 * NS_PER_MS
"""A GPU that reaches its power limit has lowered its clocks by then."""
CPU_SETTLE_NS: Final = 20 * NS_PER_MS
BUDGET_NS: Final = 150 * NS_PER_MS
SLOW_NS: Final = NS_PER_S
"""A call that takes this long is made once. Below that the first one does not count: it may have
paid for its memory, seen to take ten times as long."""
REPEATS_MIN: Final = 3
REPEATS_MAX: Final = 100
LAUNCHES: Final = 200
"""Fewer than the 1,024 that the queue of a GPU holds."""

GPU_FORMATS: Final[tuple[Dtype, ...]] = ("bf16", "fp16", "tf32", "fp32")
CPU_FORMATS: Final[tuple[Dtype, ...]] = ("bf16", "fp16", "fp32")
_DTYPES: Final[dict[Dtype, torch.dtype]] = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "tf32": torch.float32,
    "fp32": torch.float32,
}


def measure_ceilings(device: torch.device, environment: Environment) -> Ceilings:
    """Measure the ceilings of a device.

    Returns:
        Of a GPU what it keeps up: medians of repeats after its clocks have settled. Of a CPU the
        fastest repeat, because whatever else runs there only slows it. A number format that the
        device cannot multiply is left out.

    Raises:
        RuntimeError: the memory of the device does not suffice.
    """
    is_gpu = device.type == "cuda"
    clock = clock_of(device)
    sizes = [
        _fitting(environment.device_memory_bytes, size)
        for size in (GPU_SIZES if is_gpu else CPU_SIZES)
    ]
    formats: tuple[Dtype, ...] = GPU_FORMATS if is_gpu else CPU_FORMATS
    rates: dict[str, float] = {}
    for name in formats:
        if rate := _product_flops_per_s(name, sizes, device, clock, is_gpu=is_gpu):
            rates[name] = rate
    copied = GPU_COPY_BYTES if is_gpu else CPU_COPY_BYTES
    while 2 * copied > MEMORY_FRACTION * (environment.device_memory_bytes or math.inf):
        copied //= 2
    memory = 2 * copied * NS_PER_S / _call_ns(_copy(copied, device), clock, is_gpu=is_gpu)
    launch_ns = _launch_ns(device, clock) if is_gpu else None
    launch = ", launches of an empty kernel" if is_gpu else ""
    return Ceilings(
        source="measured",
        source_text=f"Measured on this device: {_products_text(sizes)}, a copy of "
        f"{copied // 1024**2:,} MiB{launch}; "
        + ("medians, after the clocks had settled." if is_gpu else "the fastest of its repeats."),
        device_name=environment.device_name,
        driver=environment.driver,
        torch=environment.torch,
        flops_per_s=rates,
        memory_bytes_per_s=memory,
        launch_ns=launch_ns,
        measured_at=now_text(),
    )


def _fitting(memory_bytes: int | None, size: int) -> int:
    """Halve the size until three fp32 matrices fit the share of the memory."""
    while memory_bytes is not None and 3 * 4 * size**2 > MEMORY_FRACTION * memory_bytes:
        size //= 2
    return size


def _products_text(sizes: list[int]) -> str:
    if len(sizes) == 1:
        return f"products of {sizes[0]:,}×{sizes[0]:,} matrices"
    return f"the best of products of {sizes[0]:,}×{sizes[0]:,} matrices and larger ones"


def _product_flops_per_s(
    name: Dtype, sizes: list[int], device: torch.device, clock: Clock, *, is_gpu: bool
) -> float:
    """Return the best rate of the products; of the larger ones those that do not take long.

    Returns:
        0: the device does not know this number format.
    """
    best = 0.0
    for size in sizes:
        try:
            step = _product(name, size, device)
            step()
        except torch.OutOfMemoryError:
            raise  # another process holds the memory: it says nothing about the format
        except (RuntimeError, NotImplementedError):
            break
        call_ns = _call_ns(step, clock, is_gpu=is_gpu)
        best = max(best, 2 * size**3 * NS_PER_S / call_ns)
        if call_ns > LONGEST_NS:
            break
    return best


def _product(name: Dtype, size: int, device: torch.device) -> Callable[[], object]:
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    # Random values: a GPU multiplies zeros at less power, so faster.
    x, w = (torch.randn(size, size, device=device).to(_DTYPES[name]) for _ in range(2))
    out = torch.empty_like(x)
    return lambda: torch.mm(x, w, out=out)  # (size, size)


def _copy(size_bytes: int, device: torch.device) -> Callable[[], object]:
    block = torch.randint(0, 255, (COPY_BLOCK_BYTES,), dtype=torch.uint8, device=device)
    source = block.repeat(size_bytes // COPY_BLOCK_BYTES)
    target = source.clone()  # its pages are there: the first touch of each costs far more
    return lambda: target.copy_(source)


def _call_ns(step: Callable[[], object], clock: Clock, *, is_gpu: bool) -> float:
    """Return the time of a call until the device is done: see `measure_ceilings`."""
    clock.synchronise()
    start_ns = time.perf_counter_ns()
    step()
    clock.synchronise()
    first_ns = time.perf_counter_ns() - start_ns
    if first_ns > SLOW_NS:
        return float(first_ns)  # so long that nothing around it matters
    settle_ns = GPU_SETTLE_NS if is_gpu else CPU_SETTLE_NS
    begin_ns = time.perf_counter_ns()
    while time.perf_counter_ns() - begin_ns < settle_ns:
        step()
        clock.synchronise()
    elapsed_ns: list[float] = []
    begin_ns = time.perf_counter_ns()
    while len(elapsed_ns) < REPEATS_MAX:
        own_ns = clock.device_ns(step, 1)
        if own_ns is None:
            start_ns = time.perf_counter_ns()
            step()
            own_ns = float(time.perf_counter_ns() - start_ns)
        elapsed_ns.append(own_ns)
        is_over = time.perf_counter_ns() - begin_ns >= BUDGET_NS
        if is_over and len(elapsed_ns) >= REPEATS_MIN:
            break
    return max(1.0, statistics.median(elapsed_ns) if is_gpu else min(elapsed_ns))


def _launch_ns(device: torch.device, clock: Clock) -> float:
    """Return the CPU time to launch a kernel of one element, the way torch does it."""
    tensor = torch.zeros(1, device=device)
    elapsed_ns = []
    for _ in range(REPEATS_MIN + 2):
        clock.synchronise()
        start_ns = time.perf_counter_ns()
        for _ in range(LAUNCHES):
            tensor.zero_()
        elapsed_ns.append((time.perf_counter_ns() - start_ns) / LAUNCHES)
    clock.synchronise()
    return statistics.median(elapsed_ns)
