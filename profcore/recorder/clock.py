"""How to wait for a device and how to read its own clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

_NS_PER_MS: Final = 1_000_000


class Clock(Protocol):
    """What the timing needs to know of a device."""

    def synchronise(self) -> None:
        """Return when the device has done all it was asked for."""

    def device_ns(self, step: Callable[[], object], calls: int) -> float | None:
        """Call `step` that often; return the device's time per call, None without such a clock."""


class CpuClock:
    """The CPU is done when a call returns."""

    def synchronise(self) -> None:
        """Nothing to wait for."""

    def device_ns(self, step: Callable[[], object], calls: int) -> float | None:  # noqa: ARG002
        """A CPU has no clock apart from the one that times the calls."""
        return None


class CudaClock:
    """One CUDA device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

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
        return float(begin.elapsed_time(end)) * _NS_PER_MS / calls


def clock_of(device: torch.device) -> Clock:
    """Return the clock of a device."""
    return CudaClock(device) if device.type == "cuda" else CpuClock()
