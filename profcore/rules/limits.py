"""The thresholds of the verdict as pure functions: from fractions to what bounds a run.

Kept apart so that a calibration on a real GPU can be decided again from its recorded fractions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from profcore.rules.constants import BUSY_HIGH_FRACTION, BUSY_LOW_FRACTION

if TYPE_CHECKING:
    from profcore.rules.model import Bound

Limit = Literal["gpu", "cpu", "both", "undecided"]


def limit_unprofiled(busy_fraction: float, busy_profiled_fraction: float | None) -> Limit:
    """Return what bounds a run by B1.

    Args:
        busy_fraction: GPU work over the unprofiled step time.
        busy_profiled_fraction: Share of the profiled window in which the GPU works; None: not
            known. It is a floor: profiling adds waiting and takes none away. It counts where a
            clock that changed between the two measurements has made the first one too small.
    """
    if max(busy_fraction, busy_profiled_fraction or 0.0) >= BUSY_HIGH_FRACTION:
        return "gpu"
    return "cpu" if busy_fraction < BUSY_LOW_FRACTION else "both"


def limit_profiled(busy_fraction: float, busy_at_most_fraction: float) -> Limit:
    """Return what bounds a run by B2: from the trace alone.

    Args:
        busy_fraction: Share of the profiled window in which the GPU works.
        busy_at_most_fraction: The same, had the profiler slowed the CPU as much as it ever does.
    """
    if busy_fraction >= BUSY_HIGH_FRACTION:
        return "gpu"
    return "cpu" if busy_at_most_fraction < BUSY_LOW_FRACTION else "undecided"


def gpu_bound(
    *, copying: float | None, flops_fraction: float | None, bytes_fraction: float | None
) -> Bound:
    """Return what bounds a run whose GPU is the limit.

    Args:
        copying: Share of the window in which the GPU does nothing but copy.
        flops_fraction: Of the arithmetic peak; None: not known.
        bytes_fraction: Of the memory peak; None: not known.
    """
    if copying is not None and copying >= BUSY_LOW_FRACTION:
        return "copy-bound"
    if flops_fraction is None or bytes_fraction is None or bytes_fraction <= flops_fraction:
        return "compute-bound"
    return "memory-bound"
