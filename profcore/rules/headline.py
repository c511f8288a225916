"""The four numbers of a run: step time, the GPU's share of it, launches, and the achieved rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore import workloads
from profcore.devices import ceilings_with
from profcore.rules.quantities import Quantities
from profcore.units import NS_PER_S

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from profcore.devices import Ceilings
    from profcore.experiment import Experiment


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """What was achieved per second of unprofiled step time."""

    per_s: float
    """FLOP/s, or bytes/s where the step is not about arithmetic."""
    is_flops: bool
    peak_per_s: float | None
    """None: neither measured nor listed, or not for this number format."""
    peak_of: str
    """Name of the device whose peak it is; empty without one."""
    peak_is_measured: bool
    """On that very device, else it is the vendor's figure."""
    peak_source: str

    @property
    def peak_fraction(self) -> float | None:
        """Share of the peak; above 1: see `rules.beyond`."""
        return None if self.peak_per_s is None else self.per_s / self.peak_per_s


def peak_words(rate: Rate) -> str:
    """Say what the share of the peak is a share of."""
    if rate.peak_is_measured and rate.is_flops:
        return "what this device was measured to do"
    if rate.peak_is_measured:
        return "what a large copy here was measured to move"
    return f"the peak of an {rate.peak_of}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Headline:
    """Each is None when the recording does not hold what it needs."""

    step_ns: float | None
    """Median step time without the profiler, device-synchronised."""
    step_p25_ns: float | None
    step_p75_ns: float | None
    taken_after: bool
    """The step time was taken after profiling (cold start), so it may be too long."""
    gpu_busy_ns: float | None
    """GPU work of one step: median of the recorded steps' busy times."""
    busy_fraction: float | None
    """The same over the step time without the profiler; over the profiled window where that is
    not known."""
    busy_is_unprofiled: bool
    launches: float | None
    """Median of the steps: calls that launch a kernel or a graph."""
    kernels: float | None
    """Median of the steps."""
    rate: Rate | None


def headline(analysis: Analysis) -> Headline:
    """Return the four numbers of a run, each with what it rests on."""
    quantities = Quantities.of(analysis)
    timings, steps = analysis.timings, analysis.steps
    has_gpu = analysis.totals.gpu_recorded and len(steps) > 0
    return Headline(
        step_ns=timings.step_ns_median if timings else None,
        step_p25_ns=timings.step_ns_p25 if timings else None,
        step_p75_ns=timings.step_ns_p75 if timings else None,
        taken_after=timings is not None and timings.taken == "after",
        gpu_busy_ns=quantities.gpu_ns,
        busy_fraction=quantities.busy_fraction,
        busy_is_unprofiled=quantities.busy_unprofiled_fraction is not None,
        launches=float(steps["launches"].median()) if has_gpu else None,
        kernels=float(steps["kernels"].median()) if has_gpu else None,
        rate=_rate(analysis),
    )


def _rate(analysis: Analysis) -> Rate | None:
    experiment, timings = analysis.experiment, analysis.timings
    if experiment is None or timings is None or timings.step_ns_median <= 0:
        return None
    workload = workloads.find(experiment.workload)
    amount = workload.step_flops if workload.is_matmul else workload.step_bytes
    peaks = ceilings_with(
        analysis.ceilings,
        analysis.environment.device_name if analysis.environment else None,
        experiment.dtype if workload.is_matmul else None,
    )
    return Rate(
        per_s=amount(experiment) / timings.step_ns_median * NS_PER_S,
        is_flops=workload.is_matmul,
        peak_per_s=_peak_per_s(peaks, experiment, is_flops=workload.is_matmul),
        peak_of=peaks.device_name if peaks else "",
        peak_is_measured=peaks is not None and peaks.is_measured,
        peak_source=peaks.source_text if peaks else "",
    )


def _peak_per_s(peaks: Ceilings | None, experiment: Experiment, *, is_flops: bool) -> float | None:
    if peaks is None:
        return None
    return peaks.flops_per_s[experiment.dtype] if is_flops else peaks.memory_bytes_per_s
