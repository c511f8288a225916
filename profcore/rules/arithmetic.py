"""The verdict's derivation, line by line, each number with the table it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore import workloads
from profcore.rules.beyond import beyond_arithmetic, beyond_memory
from profcore.rules.boundness import clean_cpu_over_gpu, raw_cpu_over_gpu
from profcore.rules.constants import (
    ABOUT_EQUAL_MAX_RATIO,
    BUSY_HIGH_FRACTION,
    BUSY_LOW_FRACTION,
    CLOCK_FULL_FRACTION,
    CPU_OVER_GPU_RATIO,
    INFLATION,
)
from profcore.rules.model import Line
from profcore.rules.peaks import known_ceilings
from profcore.rules.rows import count_text
from profcore.units import (
    NS_PER_S,
    bytes_rate_text,
    bytes_text,
    flops_rate_text,
    flops_text,
    percent_text,
    ratio_text,
    time_text,
)

if TYPE_CHECKING:
    from profcore.devices import Ceilings
    from profcore.rules.quantities import Quantities


@dataclass(frozen=True, kw_only=True, slots=True)
class Roofline:
    """How near one step comes to the two ceilings of its device."""

    flops: int
    moved_bytes: int
    arithmetic: Ceilings | None
    """Where the arithmetic peak comes from; None: there is none for this number format."""
    peak_flops_per_s: float | None
    flops_fraction: float | None
    """Of that; above 1: see `rules.beyond`."""
    memory: Ceilings
    """Where the memory peak comes from."""
    bytes_fraction: float
    """Of that; above 1: see `rules.beyond`."""


def roofline(quantities: Quantities) -> Roofline | None:
    """Compare one step's arithmetic and bytes with the peaks; None when either is unknown.

    Over the time the GPU works, so that waiting does not count. Source of FLOPs and bytes: the
    workload's formulas; of the peaks: measured on the device, else the vendor's dense figures.
    """
    memory, experiment = known_ceilings(quantities), quantities.experiment
    gpu_ns = quantities.gpu_ns
    if memory is None or experiment is None or not gpu_ns:
        return None
    workload = workloads.find(experiment.workload)
    flops, moved_bytes = workload.step_flops(experiment), workload.step_bytes(experiment)
    # Pointwise arithmetic runs on the ordinary cores whatever the number format.
    dtype = experiment.dtype if workload.is_matmul else "fp32"
    arithmetic = known_ceilings(quantities, dtype)
    peak_flops = arithmetic.flops_per_s[dtype] if arithmetic else None
    gpu_s = gpu_ns / NS_PER_S
    return Roofline(
        flops=flops,
        moved_bytes=moved_bytes,
        arithmetic=arithmetic,
        peak_flops_per_s=peak_flops,
        memory=memory,
        flops_fraction=None if peak_flops is None else flops / gpu_s / peak_flops,
        bytes_fraction=moved_bytes / gpu_s / memory.memory_bytes_per_s,
    )


def gpu_work_line(quantities: Quantities) -> Line:
    """Say how long the GPU works per step."""
    steps = len(quantities.gpu_steps)
    of = f"median of {steps} steps" if steps > 1 else "one step"
    if quantities.first_step_is_cold and steps:
        of += ", the cold first one left out"
    if quantities.shared_fraction:
        of += (
            f", less {percent_text(quantities.shared_fraction)} that runs beside other steps' work"
        )
    return Line(
        text=f"GPU work per step: {time_text(quantities.gpu_ns or 0)} ({of}; work that overlaps "
        "counts once).",
        table="steps",
    )


def unprofiled_lines(quantities: Quantities) -> list[Line]:
    """Derive the busy share from the unprofiled step time (B1)."""
    timings, busy, gpu_ns = (
        quantities.timings,
        quantities.busy_unprofiled_fraction,
        quantities.gpu_ns,
    )
    if timings is None or busy is None or gpu_ns is None:
        return []
    lines = [gpu_work_line(quantities)]
    spread = f"{time_text(timings.step_ns_p25)} to {time_text(timings.step_ns_p75)}"
    text = (
        f"One step without the profiler: {time_text(timings.step_ns_median)} (median of "
        f"{count_text(timings.repeats, 'repeat')}; the middle half: {spread})."
    )
    if timings.taken == "after":
        text += (
            " It was timed after profiling, because timing it before would have warmed up a cold "
            "start; such times can be too long for short steps."
        )
    lines.append(Line(text=text, table="timings"))
    capped = gpu_ns > timings.step_ns_median
    result = "a little more than 1: 100 % busy" if capped else f"{percent_text(busy)} busy"
    divided = f"{time_text(gpu_ns)} ÷ {time_text(timings.step_ns_median)}"
    lines.append(Line(text=f"{divided} = {result}.", table="timings"))
    lines.append(Line(text=_threshold_text(quantities), table="timings"))
    if quantities.limit == "gpu" and (clock := _clock_line(quantities)):
        lines.append(clock)
    if quantities.limit != "gpu":
        lines.append(
            Line(
                text=f"The CPU needs {time_text(timings.cpu_ns_median)} of the "
                f"{time_text(timings.step_ns_median)} to issue one step.",
                table="timings",
            )
        )
    return lines


def _clock_line(quantities: Quantities) -> Line | None:
    """Say that the GPU lowered its clock under the load of the timing, if it did."""
    clocks = quantities.environment.clocks if quantities.environment else None
    if clocks is None or clocks.sm_mhz >= CLOCK_FULL_FRACTION * clocks.sm_max_mhz:
        return None
    return Line(
        text=f"While it was timed the GPU ran at {clocks.sm_mhz:,} of {clocks.sm_max_mhz:,} MHz "
        f"({clocks.power_w:.0f} W): under full load it lowers its clock, so the few recorded steps "
        "and the many timed ones can differ by some percent.",
        table="device",
    )


def _threshold_text(quantities: Quantities) -> str:
    low, high = f"{BUSY_LOW_FRACTION * 100:.0f} %", f"{BUSY_HIGH_FRACTION * 100:.0f} %"
    if quantities.recording_decides:
        profiled = percent_text(quantities.busy_profiled_fraction or 0.0)
        return (
            f"That is less than {high}, but in the recording the GPU was busy {profiled}, and "
            "profiling only adds waiting: the GPU is the limit, and its clock differed between the "
            "two."
        )
    if quantities.limit == "gpu":
        return f"{high} or more: the GPU is the limit."
    if quantities.limit == "cpu":
        return f"Below {low}: the GPU waits for the CPU."
    return f"Between {low} and {high}: both the CPU and the GPU matter."


def trace_only_lines(quantities: Quantities) -> list[Line]:
    """Derive the verdict from the trace alone (B2)."""
    busy, at_most = quantities.busy_profiled_fraction, quantities.busy_at_most_fraction
    gpu_ns, period_ns = quantities.gpu_ns, quantities.period_ns
    if busy is None or at_most is None or gpu_ns is None or period_ns is None:
        return []
    lines = [
        gpu_work_line(quantities),
        Line(
            text="This trace cannot say how long a step takes without the profiler.",
            table="trace",
        ),
        Line(
            text=f"From the end of one step's GPU work to the next: {time_text(period_ns)} "
            f"(median, profiled); in that window the GPU was busy {percent_text(busy)}.",
            table="steps",
        ),
    ]
    if quantities.limit == "gpu":
        lines.append(
            Line(
                text=f"{BUSY_HIGH_FRACTION * 100:.0f} % or more even while profiled: the GPU is "
                "the limit.",
                table="steps",
            )
        )
        return lines
    lines.append(
        Line(
            text=f"Had the profiler made the CPU {INFLATION} times slower (the most that was "
            f"ever measured), the GPU would be busy up to {percent_text(at_most)} without it.",
            table="steps",
        )
    )
    low = f"{BUSY_LOW_FRACTION * 100:.0f} %"
    lines.append(
        Line(
            text=f"Below {low} even then: the GPU waits for the CPU."
            if quantities.limit == "cpu"
            else f"That is {low} or more, so the profiler itself may be what keeps the GPU "
            "waiting: undecided.",
            table="steps",
        )
    )
    return lines


def roofline_lines(quantities: Quantities, roof: Roofline) -> list[Line]:
    """Say how near a step comes to the peaks."""
    gpu_ns = quantities.gpu_ns
    if gpu_ns is None:
        return []
    gpu_s = gpu_ns / NS_PER_S
    lines = []
    if roof.arithmetic and roof.flops_fraction is not None and roof.peak_flops_per_s is not None:
        of = f"the peak of {roof.arithmetic.device_name}"
        if roof.arithmetic.is_measured:
            of = (
                f"the {flops_rate_text(roof.peak_flops_per_s)} that this device was measured to "
                f"keep up{beyond_arithmetic(roof.flops_fraction)}"
            )
        lines.append(
            Line(
                text=f"Arithmetic: {flops_text(roof.flops)} in {time_text(gpu_ns)} is "
                f"{flops_rate_text(roof.flops / gpu_s)}, {percent_text(roof.flops_fraction)} of "
                f"{of}.",
                table="device",
            )
        )
    of = "the peak"
    if roof.memory.is_measured:
        most = bytes_rate_text(roof.memory.memory_bytes_per_s)
        of = f"the {most} that a copy was measured to move{beyond_memory(roof.bytes_fraction)}"
    lines.append(
        Line(
            text=f"Memory: at least {bytes_text(roof.moved_bytes)} in {time_text(gpu_ns)} is "
            f"{bytes_rate_text(roof.moved_bytes / gpu_s)}, {percent_text(roof.bytes_fraction)} of "
            f"{of}.",
            table="device",
        )
    )
    return lines


def guide_line(quantities: Quantities) -> Line | None:
    """Show the guide's comparison of Self CPU and Self CUDA beside the verdict."""
    totals = quantities.analysis.totals
    if not quantities.has_operators or not quantities.gpu_sum_ns or not totals.gpu_work_sum_ns:
        return None
    raw, clean = raw_cpu_over_gpu(quantities), clean_cpu_over_gpu(quantities)
    text = (
        f"The guide compares Self CPU with Self CUDA: {time_text(totals.self_cpu_ns)} against "
        f"{time_text(totals.gpu_work_sum_ns)}, {ratio_text(raw)}; without waiting and the "
        f"profiler's own rows {ratio_text(clean)}."
    )
    return Line(text=f"{text} {_guide_says(quantities, clean)}", table="operators")


def _guide_says(quantities: Quantities, clean: float) -> str:
    limit = quantities.limit
    looks_overhead = clean >= CPU_OVER_GPU_RATIO
    looks_compute = clean <= ABOUT_EQUAL_MAX_RATIO
    if limit == "cpu" and looks_overhead:
        return "Far above 1 means overhead-bound: both agree."
    if limit == "gpu" and looks_compute:
        return "Not far above 1 means compute-bound: both agree."
    if limit == "gpu":
        return (
            "That looks overhead-bound, but the CPU side is stretched by the profiler: the busy "
            "share counts."
        )
    if limit == "cpu" and looks_compute:
        return "That looks compute-bound, but the GPU was mostly idle: the busy share counts."
    return "That points to overhead-bound." if looks_overhead else "That alone decides nothing."
