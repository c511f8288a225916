"""Occupancy: an estimate from a kernel's launch facts, never a measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.names import short_name
from profcore.rules import needs
from profcore.rules.constants import OCCUPANCY_LOW_PERCENT, TINY_GRID_BLOCKS
from profcore.rules.gpu_work import of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, evidence_of
from profcore.rules.sources import ARTICLE_3, H200
from profcore.units import bytes_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities
    from profcore.trace.model import DeviceProperties

WARP: Final = 32
REGISTER_UNIT: Final = 256
"""Registers are given to a warp in this many at once (CUDA occupancy calculator, 7.0 and later)."""
SHARED_RESERVED_BYTES: Final = 1024
"""Taken by the system per block on compute capability 8.0 and later."""
BLOCKS_MAX: Final = 32
"""Blocks per multiprocessor on compute capability 8.0 and 9.0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Occupancy:
    """How much of a multiprocessor a kernel can fill."""

    blocks: int
    """Per multiprocessor."""
    fraction: float
    """Of the multiprocessor's threads."""
    limit: str
    """In words: what runs out first."""


def occupancy(
    device: DeviceProperties, *, threads: int, registers: int, shared_bytes: int
) -> Occupancy | None:
    """Return what fits on one multiprocessor; None when the device's figures are missing.

    Source: CUDA's occupancy calculation with the largest shared memory a block may ask for,
    where the profiler's own estimate takes the default limit and reads 0 above it.
    """
    registers_all, threads_all = (
        device.registers_per_multiprocessor,
        device.threads_per_multiprocessor,
    )
    shared_all = device.shared_memory_per_multiprocessor_bytes
    if not registers_all or not threads_all or not shared_all or threads <= 0:
        return None
    warps = -(-threads // WARP)
    per_warp = -(-max(registers, 1) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    fits = {  # of resources that run out together the first counts
        "threads run": threads_all // (warps * WARP),
        "blocks run": BLOCKS_MAX,
        "registers run": registers_all // (per_warp * warps),
        "shared memory runs": shared_all // (shared_bytes + SHARED_RESERVED_BYTES),
    }
    limit = min(fits, key=lambda resource: fits[resource])
    return Occupancy(
        blocks=fits[limit], fraction=fits[limit] * warps * WARP / threads_all, limit=limit
    )


def _longest(quantities: Quantities) -> int | None:
    """Return the place in the kernel details of the longest counted kernel, or None."""
    chosen = quantities.activity_kind("kernel") & quantities.counted
    chosen &= ~of_family(quantities, "communication")  # waits for other devices on purpose
    rows = column(quantities.activities, "row")[chosen]
    places = np.flatnonzero(np.isin(quantities.trace.kernel_details.row, rows))
    if not len(places):
        return None
    durations_ns = quantities.trace.duration_ns[quantities.trace.kernel_details.row[places]]
    return int(places[np.argmax(durations_ns)])


def _device_of(quantities: Quantities, row: int) -> DeviceProperties | None:
    number = int(quantities.trace.device[row])
    return next((device for device in quantities.trace.devices if device.id == number), None)


def _of_place(quantities: Quantities, place: int) -> Occupancy | None:
    details = quantities.trace.kernel_details
    device = _device_of(quantities, int(details.row[place]))
    if device is None:
        return None
    return occupancy(
        device,
        threads=int(np.prod(np.maximum(details.block[place], 1))),
        registers=int(details.registers_per_thread[place]),
        shared_bytes=max(0, int(details.shared_memory_bytes[place])),
    )


def _no_estimate(quantities: Quantities) -> str | None:
    if reason := needs.details(quantities):
        return reason
    if quantities.is_amd:
        return "ROCm does not record an occupancy estimate."
    if np.isfinite(quantities.trace.kernel_details.occupancy_percent).any():
        return None
    return "The trace has no occupancy estimate."


# --- A5 -----------------------------------------------------------------------------------------


def _a5(quantities: Quantities) -> Observation | None:
    place = _longest(quantities)
    if place is None:
        return None
    details = quantities.trace.kernel_details
    percent = float(details.occupancy_percent[place])
    if not 0 < percent < OCCUPANCY_LOW_PERCENT:
        return None
    row = int(details.row[place])
    return Observation(
        text=f"The longest kernel, {short_name(quantities.trace.name_of(row))}, has an estimated "
        f"occupancy of {percent:.0f} %.",
        evidence=(evidence_of(quantities, row),),
    )


A5 = Rule(
    id="A5",
    title="Low occupancy is not slowness",
    family="kernels and precision",
    kind="fact",
    missing=_no_estimate,
    observe=_a5,
    meaning="A kernel that keeps its data in registers and shared memory fills few threads and is "
    "fast all the same. Do not rank kernels by occupancy.",
    advice="",
    source=f"{ARTICLE_3}; {H200}: flash attention 13 % in 93 µs, efficient 25 % in 177 µs",
)


# --- A6 -----------------------------------------------------------------------------------------


def _a6(quantities: Quantities) -> Observation | None:
    details = quantities.trace.kernel_details
    zero = np.flatnonzero(details.occupancy_percent == 0)
    if not len(zero):
        return None
    rows = details.row[zero]
    shared = details.shared_memory_bytes[zero]
    limits = np.array(
        [_default_shared_bytes(quantities, int(row)) for row in rows.tolist()], np.int64
    )
    large = shared > limits
    tiny = details.blocks_per_multiprocessor[zero] < TINY_GRID_BLOCKS
    parts = []
    if large.any():
        example = int(zero[large][np.argmax(quantities.trace.duration_ns[rows[large]])])
        parts.append(
            f"{count_text(int(large.sum()), 'uses', 'use')} more shared memory than the estimate "
            f"allows for ({bytes_text(int(details.shared_memory_bytes[example]))})"
        )
        if again := _of_place(quantities, example):
            parts[-1] += f"; worked out anew the longest of them fills {again.fraction * 100:.1f} %"
    if (tiny & ~large).any():
        parts.append(f"{int((tiny & ~large).sum()):,} with a tiny grid")
    if not parts:
        return None
    return Observation(
        text=f"{count_text(len(zero), 'kernel')} read 0 % occupancy: {', '.join(parts)}.",
        evidence=evidence(quantities, rows, limit=3),
    )


def _default_shared_bytes(quantities: Quantities, row: int) -> int:
    device = _device_of(quantities, row)
    known = device.shared_memory_per_block_bytes if device is not None else None
    return known if known is not None else 49_152  # the same on every CUDA device so far


A6 = Rule(
    id="A6",
    title="0 % occupancy is no idle GPU",
    family="kernels and precision",
    kind="fact",
    missing=_no_estimate,
    observe=_a6,
    meaning="The profiler's estimate is not valid for kernels with more shared memory than the "
    "default limit of a block, and rounds to 0 for a tiny grid.",
    advice="",
    source=f"{H200}: 246 of 246 large kernels read 0 %, whichever call launched them",
)


# --- E8 -----------------------------------------------------------------------------------------


def _e8_missing(quantities: Quantities) -> str | None:
    if reason := needs.details(quantities):
        return reason
    place = _longest(quantities)
    if place is not None and _of_place(quantities, place) is not None:
        return None
    return "The trace does not say how many registers and how much shared memory its device has."


def _e8(quantities: Quantities) -> Observation | None:
    place = _longest(quantities)
    found = None if place is None else _of_place(quantities, place)
    if place is None or found is None:
        return None
    row = int(quantities.trace.kernel_details.row[place])
    return Observation(
        text=f"{short_name(quantities.trace.name_of(row))}: "
        f"{count_text(found.blocks, 'block')} per multiprocessor, {found.fraction * 100:.1f} % of "
        f"its threads; {found.limit} out first.",
        evidence=(evidence_of(quantities, row),),
    )


E8 = Rule(
    id="E8",
    title="What limits the occupancy",
    family="kernels and precision",
    kind="fact",
    missing=_e8_missing,
    observe=_e8,
    meaning="Registers, shared memory or threads: the first that runs out decides how many blocks "
    "share a multiprocessor. It is no fault by itself.",
    advice="",
    source="CUDA's occupancy calculation from the launch facts in the trace",
)
