"""How to wait for a device and how to read its own clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import torch

from profcore.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """How long to do what, so that a device shows its lasting speed and a visitor need not wait."""

    settle_ns: int
    """Unmeasured calls before the timing."""
    budget_ns: int
    """Timing repeats end when this much time has passed."""
    keep_busy_ns: int
    """Unmeasured calls in each of the profiler's unrecorded steps."""


CPU_PACE: Final = Pace(
    settle_ns=50 * NS_PER_MS, budget_ns=400 * NS_PER_MS, keep_busy_ns=10 * NS_PER_MS
)
GPU_PACE: Final = Pace(
    settle_ns=500 * NS_PER_MS, budget_ns=1000 * NS_PER_MS, keep_busy_ns=100 * NS_PER_MS
)
"""An idle GPU raises its clocks within some 0.1 s; one that reaches its power limit has lowered
them again after 0.5 s and then wavers with a period of about 1 s (seen on an H200)."""

SWEEP_CPU_PACE: Final = Pace(
    settle_ns=30 * NS_PER_MS, budget_ns=150 * NS_PER_MS, keep_busy_ns=5 * NS_PER_MS
)
SWEEP_GPU_PACE: Final = Pace(
    settle_ns=60 * NS_PER_MS, budget_ns=150 * NS_PER_MS, keep_busy_ns=20 * NS_PER_MS
)
"""For one of many points: some twenty of them are to be done in half a minute."""
SWEEP_GPU_HEAVY_PACE: Final = Pace(
    settle_ns=400 * NS_PER_MS, budget_ns=300 * NS_PER_MS, keep_busy_ns=100 * NS_PER_MS
)
"""For a point with so much arithmetic that the GPU may reach its power limit: see GPU_PACE."""
HEAVY_FLOPS: Final = 30_000_000_000
"""A step with more is heavy: 17 GFLOP are a product of 2048×2048 matrices, 137 of 4096×4096."""


def sweep_pace(device: torch.device, step_flops: int) -> Pace:
    """Return the pace of one point of a sweep."""
    if device.type != "cuda":
        return SWEEP_CPU_PACE
    return SWEEP_GPU_HEAVY_PACE if step_flops > HEAVY_FLOPS else SWEEP_GPU_PACE


class Clock(Protocol):
    """What the timing needs to know of a device."""

    @property
    def pace(self) -> Pace:
        """How long to keep it busy and to time it."""

    def synchronise(self) -> None:
        """Return when the device has done all it was asked for."""

    def device_ns(self, step: Callable[[], object], calls: int) -> float | None:
        """Call `step` that often; return the device's time per call, None without such a clock."""


class CpuClock:
    """The CPU is done when a call returns."""

    def __init__(self, pace: Pace = CPU_PACE) -> None:
        self.pace = pace

    def synchronise(self) -> None:
        """Nothing to wait for."""

    def device_ns(self, step: Callable[[], object], calls: int) -> float | None:  # noqa: ARG002
        """A CPU has no clock apart from the one that times the calls."""
        return None


class CudaClock:
    """One CUDA device."""

    def __init__(self, device: torch.device, pace: Pace = GPU_PACE) -> None:
        self._device = device
        self.pace = pace

    def synchronise(self) -> None:
        """Wait for every stream of the device."""
        torch.cuda.synchronize(self._device)

    def device_ns(self, step: Callable[[], object], calls: int) -> float | None:
        """Put an event before and after the calls; the device stamps both."""
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(calls):
            step()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * NS_PER_MS / calls


def clock_of(device: torch.device, pace: Pace | None = None) -> Clock:
    """Return the clock of a device; without a pace, the one for a run of its own."""
    if device.type == "cuda":
        return CudaClock(device, pace or GPU_PACE)
    return CpuClock(pace or CPU_PACE)
