"""What an experiment will cost, before it runs and without torch; and what a machine refuses.

The time estimate only has to tell minutes from hours: it uses the rates that the probe measured on
this CPU, and the run has a time limit of its own for everything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore import workloads
from profcore.experiment import DTYPE_BYTES, describe
from profcore.units import NS_PER_S, bytes_text, flops_text, time_text
from profcore.workloads.model import LIBRARY_BYTES

if TYPE_CHECKING:
    from profcore.experiment import Dtype, Experiment
    from profcore.machine import Device, Machine
    from profcore.sweep import SweepPlan

MEMORY_FRACTION_MAX: Final = 0.9
"""Share of a device's memory one run may plan to use: the driver and torch's caching take some."""

GPU_CONTEXT_BYTES: Final = 600 * 1024**2
"""What a CUDA context with loaded libraries takes on the device (about 0.5 GiB on an H200)."""

CPU_RATE_FRACTION: Final = 0.5
"""Share of the probe's small-matrix rate to count on: 16-bit formats without special instructions
fall to a third of it once the matrices leave the cache."""
CPU_FLOPS_PER_S_UNKNOWN: Final = 1e9
"""Counted on for a format that the probe did not measure."""
CPU_BYTES_PER_S: Final = 5e9
"""Cautious memory rate of a small shared machine."""

UNRECORDED_CALLS: Final = 6
"""Calls besides warm-up and recorded steps that every run makes at least: one to
settle, one in each of three timing repeats, and two before the recording starts."""

_COMPUTE_DTYPE_TEXT: Final[dict[Dtype, str]] = {
    "bf16": "bf16",
    "fp16": "fp16",
    "tf32": "TF32",
    "fp32": "fp32",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """Cost of one step and memory of the whole run."""

    step_flops: int
    step_bytes: int
    """Moved per step; see the workload's `cost_source`."""
    memory_bytes: int
    """Held on the device at the worst moment, libraries included, context excluded."""


def estimate(experiment: Experiment) -> Estimate:
    """Return what the workload's formulas give for these knobs."""
    workload = workloads.find(experiment.workload)
    elements = workload.temporaries(experiment)
    for shape in workload.shapes(experiment):
        count = 1
        for length in shape:
            count *= length
        elements += count
    return Estimate(
        step_flops=workload.step_flops(experiment),
        step_bytes=workload.step_bytes(experiment),
        memory_bytes=elements * DTYPE_BYTES[experiment.dtype] + LIBRARY_BYTES,
    )


def least_cpu_run_ns(experiment: Experiment, machine: Machine) -> float:
    """Return a cautious guess of the shortest possible run on a CPU, in nanoseconds."""
    cost = estimate(experiment)
    measured = machine.cpu_flops_per_s.get(experiment.dtype, CPU_FLOPS_PER_S_UNKNOWN)
    flops_per_s = max(measured * CPU_RATE_FRACTION, 1.0)
    step_s = max(cost.step_flops / flops_per_s, cost.step_bytes / CPU_BYTES_PER_S)
    calls = experiment.warmup + UNRECORDED_CALLS + experiment.steps
    return step_s * calls * NS_PER_S


def refusal(experiment: Experiment, machine: Machine | None, *, run_time_s: float) -> str | None:
    """Say in one sentence why this machine should not start the experiment, or return None.

    Args:
        experiment: The knobs; their bounds are already checked.
        machine: None while it is not known: then nothing is refused, the child checks again.
        run_time_s: Time limit of one run.
    """
    if machine is None:
        return None
    device = machine.resolve(experiment.device)
    if device is None:
        there = ", ".join(known.id for known in machine.devices)
        return f"This machine has no device {experiment.device}; choose one of {there}."
    return (
        _memory_refusal(experiment, device)
        or _mode_refusal(experiment, device, machine)
        or _time_refusal(experiment, device, machine, run_time_s)
    )


def sweep_refusal(
    plan: SweepPlan, machine: Machine | None, *, run_time_s: float, sweep_time_s: float
) -> str | None:
    """Say in one sentence why this machine should not start a sweep, or return None.

    Args:
        plan: Its own bounds are already checked.
        machine: None while it is not known: then nothing is refused.
        run_time_s: What one point may take.
        sweep_time_s: What all of them may take.
    """
    least_ns = 0.0
    for experiment in plan.experiments():
        if reason := refusal(experiment, machine, run_time_s=run_time_s):
            return f"{describe(experiment)}: {reason}"
        device = machine.resolve(experiment.device) if machine else None
        if machine is not None and device is not None and not device.is_gpu:
            least_ns += least_cpu_run_ns(experiment, machine)
    if least_ns <= sweep_time_s * NS_PER_S:
        return None
    return (
        f"On this CPU the sweep would take about {time_text(least_ns)} and the limit is "
        f"{sweep_time_s:,.0f} s: leave out the largest sizes."
    )


def _memory_refusal(experiment: Experiment, device: Device) -> str | None:
    if device.memory_bytes is None:
        return None
    need_bytes = estimate(experiment).memory_bytes + (GPU_CONTEXT_BYTES if device.is_gpu else 0)
    if need_bytes <= MEMORY_FRACTION_MAX * device.memory_bytes:
        return None
    return (
        f"This needs about {bytes_text(need_bytes)} and {device.name} has "
        f"{bytes_text(device.memory_bytes)}; choose a smaller size or batch."
    )


def _mode_refusal(experiment: Experiment, device: Device, machine: Machine) -> str | None:
    if device.is_gpu or experiment.compile == "eager" or machine.can_compile_cpu:
        return None
    return (
        "torch.compile needs a C++ compiler to run on the CPU and none was found; install g++ or "
        "choose eager."
    )


def _time_refusal(
    experiment: Experiment, device: Device, machine: Machine, run_time_s: float
) -> str | None:
    if device.is_gpu:
        return None  # the largest experiment takes seconds there
    least_ns = least_cpu_run_ns(experiment, machine)
    if least_ns <= run_time_s * NS_PER_S:
        return None
    cost = estimate(experiment)
    dtype = _COMPUTE_DTYPE_TEXT[experiment.dtype]
    advice = "choose a smaller size"
    if experiment.dtype in {"bf16", "fp16"}:
        advice += " or fp32, which CPUs multiply faster"
    return (
        f"One step is {flops_text(cost.step_flops)} in {dtype}; on this CPU the run would take "
        f"about {time_text(least_ns)} and the limit is {run_time_s:,.0f} s: {advice}."
    )
