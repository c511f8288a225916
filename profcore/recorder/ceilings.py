"""What this device can do at most: large matrix products, a large copy, an empty launch.

A short calibration of some seconds, made before anything is profiled in the process.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Final

import torch

from profcore.ceilings import Ceilings
from profcore.owner import now_text
from profcore.recorder.clock import clock_of
from profcore.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.experiment import Dtype
    from profcore.recorder.clock import Clock
    from profcore.recording import Environment

GPU_SIZE: Final = 8192
"""Rows of the matrices: 1.1 TFLOP, more than any kernel needs to fill a GPU."""
CPU_SIZE: Final = 512
"""0.3 GFLOP: some ten milliseconds, in a format without special instructions a second."""
GPU_COPY_BYTES: Final = 1024**3
"""Far more than the largest cache of a GPU (50 MiB on an H200)."""
CPU_COPY_BYTES: Final = 64 * 1024**2
MEMORY_FRACTION: Final = 0.25
"""Of the device's memory that the calibration may take; the size is halved until it fits."""

GPU_SETTLE_NS: Final = 400 * NS_PER_MS
"""A GPU that reaches its power limit has lowered its clocks by then."""
CPU_SETTLE_NS: Final = 20 * NS_PER_MS
BUDGET_NS: Final = 150 * NS_PER_MS
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
        Medians of repeats; a number format that the device cannot multiply is left out.
    """
    is_gpu = device.type == "cuda"
    clock = clock_of(device)
    size = _size(environment.device_memory_bytes, GPU_SIZE if is_gpu else CPU_SIZE)
    formats: tuple[Dtype, ...] = GPU_FORMATS if is_gpu else CPU_FORMATS
    rates: dict[str, float] = {}
    for name in formats:
        try:
            step = _product(name, size, device)
            step()
        except (RuntimeError, NotImplementedError):
            continue  # a format that this device does not know
        rates[name] = 2 * size**3 * NS_PER_S / _call_ns(step, clock, is_gpu=is_gpu)
    copied = GPU_COPY_BYTES if is_gpu else CPU_COPY_BYTES
    memory = 2 * copied * NS_PER_S / _call_ns(_copy(copied, device), clock, is_gpu=is_gpu)
    launch_ns = _launch_ns(device, clock) if is_gpu else None
    launch = ", launches of an empty kernel" if is_gpu else ""
    return Ceilings(
        source="measured",
        source_text=f"Measured on this device: products of {size:,}×{size:,} matrices, a copy of "
        f"{copied // 1024**2:,} MiB{launch}; medians, after the clocks had settled.",
        device_name=environment.device_name,
        driver=environment.driver,
        torch=environment.torch,
        flops_per_s=rates,
        memory_bytes_per_s=memory,
        launch_ns=launch_ns,
        measured_at=now_text(),
    )


def _size(memory_bytes: int | None, size: int) -> int:
    """Halve the size until three fp32 matrices fit the share of the memory."""
    while memory_bytes is not None and 3 * 4 * size**2 > MEMORY_FRACTION * memory_bytes:
        size //= 2
    return size


def _product(name: Dtype, size: int, device: torch.device) -> Callable[[], object]:
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    # Random values: a GPU multiplies zeros at less power, so faster.
    x, w = (torch.randn(size, size, device=device).to(_DTYPES[name]) for _ in range(2))
    out = torch.empty_like(x)
    return lambda: torch.mm(x, w, out=out)  # (size, size)


def _copy(size_bytes: int, device: torch.device) -> Callable[[], object]:
    source = torch.randint(0, 255, (size_bytes,), dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def _call_ns(step: Callable[[], object], clock: Clock, *, is_gpu: bool) -> float:
    """Return the median time of a call, each until the device is done."""
    clock.synchronise()
    start_ns = time.perf_counter_ns()
    step()
    clock.synchronise()
    first_ns = time.perf_counter_ns() - start_ns
    if first_ns > BUDGET_NS:
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
    return max(1.0, statistics.median(elapsed_ns))


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
