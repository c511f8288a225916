"""Copies between host and device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    COPY_MIN_NS,
    COPY_SHARE_FRACTION,
    D2D_SHARE_FRACTION,
    PAGEABLE_MIN_BYTES,
)
from profcore.rules.gpu_work import copies
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import (
    column,
    evidence,
)
from profcore.rules.sources import H200
from profcore.units import bytes_rate_text, percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


def _timed_copies(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu_steps_for_median, needs.copies)(quantities):
        return reason
    return None if quantities.period_ns else "The GPU-side step time is not known."


def _s2(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    rows = column(activities, "row")
    large = quantities.trace.size_bytes[rows] >= PAGEABLE_MIN_BYTES
    pageable = quantities.activity_names(lambda name: "Pageable" in name)
    mask = quantities.activity_kind("memcpy") & pageable & large & quantities.counted
    per_step_ns = quantities.per_step_ns(mask)
    share = per_step_ns / (quantities.period_ns or 1.0)
    if share < COPY_SHARE_FRACTION:
        return None
    moved_bytes = int(quantities.trace.size_bytes[rows[mask]].sum())
    rate = bytes_rate_text(moved_bytes / max(quantities.sum_ns(mask), 1) * 1e9)
    return Observation(
        text=f"Copies from or to pageable memory take {time_text(per_step_ns)} per step, "
        f"{percent_text(share)} of the step, at {rate}.",
        evidence=evidence(quantities, rows[mask]),
    )


S2 = Rule(
    id="S2",
    title="Copies from pageable memory",
    family="memory copies",
    kind="warning",
    missing=_timed_copies,
    observe=_s2,
    meaning="The driver moves pageable memory through a buffer of its own, and the CPU is held "
    "inside the copy call meanwhile.",
    advice="Use pinned memory (pin_memory=True) and non_blocking=True.",
    source=f"{H200}: 64 MiB in 11.4 ms (5.9 GB/s) pageable, 1.2 ms (55 GB/s) pinned",
)


def _without_kernels_ns(quantities: Quantities, mask: NDArray[np.bool_]) -> int:
    """Return the time in which these copies run and no kernel does."""
    kernels = quantities.activity_kind("kernel")
    return quantities.union_ns(mask | kernels) - quantities.union_ns(kernels)


def _s3(quantities: Quantities) -> Observation | None:
    mask = copies(quantities, "HtoD", "DtoH") & quantities.counted
    per_step_ns = _without_kernels_ns(quantities, mask) / quantities.counted_steps
    share = per_step_ns / (quantities.period_ns or 1.0)
    if share < COPY_SHARE_FRACTION or per_step_ns < COPY_MIN_NS:
        return None
    return Observation(
        text=f"Copies between host and GPU that no kernel hides take {time_text(per_step_ns)} per "
        f"step, {percent_text(share)} of the step.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask]),
    )


S3 = Rule(
    id="S3",
    title="Host copies take much of the step",
    family="memory copies",
    kind="warning",
    missing=_timed_copies,
    observe=_s3,
    meaning="The link between host and GPU is the limit while nothing is computed.",
    advice="Keep data on the GPU, use a smaller number format, or fetch the next batch early.",
    source="Perfessor, gpu-idle, TraceML (10 %), fournex (15 %); the floor of 20 µs per step is "
    "the project's own",
)


def _s4(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    pinned = quantities.activity_names(lambda name: "Pinned" in name)
    mask = copies(quantities, "HtoD", "DtoH") & pinned & quantities.counted
    kernel_streams = np.unique(column(activities, "stream")[quantities.activity_kind("kernel")])
    mask &= np.isin(column(activities, "stream"), kernel_streams)
    window_ns = quantities.gpu_window_ns
    if window_ns is None:
        return None
    share = quantities.sum_ns(mask) / (window_ns[1] - window_ns[0])
    if share < D2D_SHARE_FRACTION:
        return None
    return Observation(
        text=f"Copies from or to pinned memory run on the stream of the kernels and take "
        f"{percent_text(share)} of the time.",
        evidence=evidence(quantities, column(activities, "row")[mask]),
    )


S4 = Rule(
    id="S4",
    title="Copies that could run beside the kernels",
    family="memory copies",
    kind="note",
    missing=_timed_copies,
    observe=_s4,
    meaning="Pinned copies can run while kernels run, but only on a stream of their own.",
    advice="Copy on a second stream, or prefetch, unless the next kernel needs the data.",
    source="the 5 % limit is the project's own",
)
