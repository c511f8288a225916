"""How near the kernels come to what the device can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore import workloads
from profcore.devices import ceilings_with, vendor_peaks
from profcore.rules import needs
from profcore.rules.beyond import CACHE_FRACTION, beyond_arithmetic
from profcore.rules.constants import (
    KERNEL_SHORT_NS,
    MEASURED_SHARE_HIGH_FRACTION,
    PEAK_SHARE_HIGH_FRACTION,
    SMALL_GRID_BLOCKS,
    SMALL_GRID_SHARE_FRACTION,
)
from profcore.rules.gpu_work import matrix_products, of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import H200
from profcore.units import (
    NS_PER_S,
    bytes_rate_text,
    bytes_text,
    flops_rate_text,
    flops_text,
    percent_text,
    time_text,
)

if TYPE_CHECKING:
    from profcore.devices import Ceilings
    from profcore.rules.quantities import Quantities


def known_ceilings(quantities: Quantities, dtype: str | None = None) -> Ceilings | None:
    """Return what the device can do: as it was measured, else the vendor's figures, else None.

    Args:
        quantities: Of a run.
        dtype: Only ceilings that have a rate for this number format count.
    """
    return ceilings_with(quantities.analysis.ceilings, quantities.device_name, dtype)


def listed_peaks(quantities: Quantities) -> Ceilings | None:
    """Return the vendor's figures of the device that worked, or None when it is not listed."""
    return vendor_peaks(quantities.device_name) if quantities.device_name else None


def unknown_peak_text(quantities: Quantities) -> str:
    """Say that a device has no ceilings, and how to get them."""
    name = quantities.device_name or "unknown"
    return f"The peak of this device ({name}) is not known; {MEASURE_FIRST}."


MEASURE_FIRST: Final = "a sweep measures that for the runs made after it"


# --- E5 -----------------------------------------------------------------------------------------


def _e5_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.own_run, needs.gpu_steps)(quantities):
        return reason
    experiment = quantities.experiment
    if experiment is None or not workloads.find(experiment.workload).is_matmul:
        return "This workload has no matrix product."
    if not matrix_products(quantities).any():
        return "No kernel of this run is known by its name to be a matrix product."
    ceilings = known_ceilings(quantities)
    if ceilings is None:
        return unknown_peak_text(quantities)
    if not any(experiment.dtype in each.flops_per_s for each in _both(quantities)):
        return f"{ceilings.device_name} has no matrix rate for {experiment.dtype}."
    return None


def _both(quantities: Quantities) -> list[Ceilings]:
    """Return the vendor's figures and what was measured, as far as they are known."""
    both = (listed_peaks(quantities), quantities.analysis.ceilings)
    return [ceilings for ceilings in both if ceilings is not None]


def _e5(quantities: Quantities) -> Observation | None:
    experiment = quantities.experiment
    mask = matrix_products(quantities)
    per_step_ns = quantities.per_step_ns(mask)
    if experiment is None or per_step_ns <= 0:
        return None
    flops = workloads.find(experiment.workload).step_flops(experiment)
    rate = flops / per_step_ns * NS_PER_S
    shares = []
    for ceilings in _both(quantities):
        peak = ceilings.flops_per_s.get(experiment.dtype)
        if peak is None:
            continue
        share, most = percent_text(rate / peak), flops_rate_text(peak)
        if ceilings.is_measured:
            beyond = beyond_arithmetic(rate / peak)
            shares.append(f"{share} of the {most} that this device was measured to keep up{beyond}")
        else:
            shares.append(
                f"{share} of the {experiment.dtype} peak of {ceilings.device_name} ({most})"
            )
    return Observation(
        text=f"{flops_text(flops)} in {time_text(per_step_ns)} of matrix kernels is "
        f"{flops_rate_text(rate)}, {' and '.join(shares)}.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask], limit=2),
    )


E5 = Rule(
    id="E5",
    title="Matrix product against the peak",
    family="kernels and precision",
    kind="fact",
    missing=_e5_missing,
    observe=_e5,
    meaning="How much of the device's arithmetic the product uses while it runs. Large products "
    "reach 70 to 80 % of the vendor's figure and all of what a sweep measured; small ones cannot "
    "fill the chip.",
    advice="",
    source=f"{H200}: 4096² bf16 785 TFLOP/s, fp32 51 TFLOP/s; vendor's dense peaks",
)

# --- E6 -----------------------------------------------------------------------------------------


def _e6_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.own_run, needs.gpu_steps)(quantities):
        return reason
    experiment = quantities.experiment
    if experiment is None or workloads.find(experiment.workload).is_matmul:
        return "Only for a workload of pointwise operators is it known what each kernel moves."
    if known_ceilings(quantities) is None:
        return unknown_peak_text(quantities)
    return None


def _e6(quantities: Quantities) -> Observation | None:
    experiment, both = quantities.experiment, _both(quantities)
    kernels = quantities.activity_kind("kernel")
    per_step_ns = quantities.per_step_ns(kernels)
    if experiment is None or not both or per_step_ns <= 0:
        return None
    moved = workloads.find(experiment.workload).step_bytes(experiment)
    rate = moved / per_step_ns * NS_PER_S
    shares = []
    for ceilings in both:
        share = percent_text(rate / ceilings.memory_bytes_per_s)
        most = bytes_rate_text(ceilings.memory_bytes_per_s)
        if ceilings.is_measured:
            shares.append(f"{share} of the {most} that a copy on this device was measured to move")
        else:
            shares.append(f"{share} of the memory peak of {ceilings.device_name} ({most})")
    text = (
        f"{bytes_text(moved)} in {time_text(per_step_ns)} of kernels is {bytes_rate_text(rate)}, "
        f"{' and '.join(shares)}."
    )
    first = both[0]
    high = MEASURED_SHARE_HIGH_FRACTION if first.is_measured else PEAK_SHARE_HIGH_FRACTION
    if rate >= CACHE_FRACTION * max(ceilings.memory_bytes_per_s for ceilings in both):
        text += " More than the peak: the data stays in the cache."
    elif rate >= high * first.memory_bytes_per_s:
        text += " The kernels are limited by memory."
    return Observation(text=text)


E6 = Rule(
    id="E6",
    title="Bytes against the peak",
    family="kernels and precision",
    kind="fact",
    missing=_e6_missing,
    observe=_e6,
    meaning=f"From {PEAK_SHARE_HIGH_FRACTION * 100:.0f} % of the vendor's memory peak on, or "
    f"{MEASURED_SHARE_HIGH_FRACTION * 100:.0f} % of what a copy was measured to move, pointwise "
    "kernels are limited by memory: only fewer bytes help, by a smaller number format or by fusing "
    "operators.",
    advice="",
    source=f"{H200}: GeLU 3.1, multiply 4.1, fused 3.9 of 4.8 TB/s",
)

# --- E7 -----------------------------------------------------------------------------------------


def _e7(quantities: Quantities) -> Observation | None:
    details = quantities.trace.kernel_details
    small = np.zeros(len(quantities.trace), np.bool_)
    blocks = details.blocks_per_multiprocessor
    small[details.row[np.isfinite(blocks) & (blocks < SMALL_GRID_BLOCKS)]] = True
    rows = column(quantities.activities, "row")
    long = column(quantities.activities, "duration_ns") >= KERNEL_SHORT_NS
    mask = quantities.activity_kind("kernel") & small[rows] & long & quantities.counted
    mask &= ~of_family(quantities, "communication")
    share = quantities.share(mask)
    if not mask.any() or share < SMALL_GRID_SHARE_FRACTION:
        return None
    chosen = rows[mask]
    place = np.searchsorted(details.row, chosen)
    return Observation(
        text=f"{count_text(len(chosen), 'kernel')} with {percent_text(share)} of the GPU time "
        f"{'has' if len(chosen) == 1 else 'have'} fewer blocks than the GPU has multiprocessors "
        f"({float(blocks[place].min()):.2f} per multiprocessor).",
        evidence=evidence(quantities, chosen),
    )


E7 = Rule(
    id="E7",
    title="Grid too small for the chip",
    family="kernels and precision",
    kind="note",
    missing=needs.details,
    observe=_e7,
    meaning="A part of the multiprocessors gets no block and idles while this kernel runs.",
    advice="A larger size or batch.",
    source=f"{H200}; the limits are the project's own",
)
