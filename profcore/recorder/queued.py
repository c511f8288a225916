"""About how long the GPU works on one step, without a profiler."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

import torch

from profcore.units import NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS: Final = 10
REPEATS: Final = 3
HEAD_START: Final = 3.0
"""The GPU is held up for this many times what the CPU needs to issue the calls."""
CYCLES_PER_NS: Final = 2.0
"""At most: current GPUs run at up to 2 GHz; a slower one is held up for longer."""


def gpu_ns(step: Callable[[], object], *, cpu_ns: float) -> float | None:
    """Return the GPU time per step: the calls wait in a queue, then run back to back.

    Gaps of about 1 µs between kernels are in it, so it is a little more than what a profiler sees.

    Args:
        step: One step of a program that is warm.
        cpu_ns: What the CPU needs to issue it.

    Returns:
        None where this torch cannot hold up a GPU.
    """
    hold = getattr(torch.cuda, "_sleep", None)  # what torch's own tests use
    if hold is None:
        return None
    results: list[float] = []
    for _ in range(REPEATS):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        hold(int(HEAD_START * CALLS * cpu_ns * CYCLES_PER_NS))
        begin.record()
        for _ in range(CALLS):
            step()
        end.record()
        end.synchronize()
        results.append(float(begin.elapsed_time(end)) * NS_PER_MS / CALLS)
    return float(statistics.median(results))
