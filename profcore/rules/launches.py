"""How kernels are launched: their length, the depth of the queue, unexplained CPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    KERNEL_SHORT_NS,
    QUEUE_EMPTY_MAX_NS,
    QUEUE_FULL_MIN_NS,
    UNRECORDED_SHARE_FRACTION,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, evidence, per_step_text
from profcore.rules.sources import H200
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- E1 -----------------------------------------------------------------------------------------


def _e1(quantities: Quantities) -> Observation | None:
    if quantities.limit != "cpu":
        return None
    activities = quantities.activities
    is_kernel = quantities.activity_kind("kernel") & quantities.counted
    durations_ns = column(activities, "duration_ns")[is_kernel]
    if not len(durations_ns) or np.median(durations_ns) >= KERNEL_SHORT_NS:
        return None
    calls = np.asarray(quantities.launches["is_kernel_launch"], np.bool_)
    call_ns = column(quantities.launches, "duration_ns")[calls]
    per_step = per_step_text(len(durations_ns), quantities.counted_steps, "kernel")
    text = f"{per_step} per step, {time_text(float(np.median(durations_ns)))} each (median)"
    if len(call_ns):
        text += f"; one launch call takes {time_text(float(np.median(call_ns)))} of CPU time"
    return Observation(
        text=text + ".",
        evidence=evidence(quantities, column(activities, "row")[is_kernel]),
    )


E1 = Rule(
    id="E1",
    title="Kernels too short for their launches",
    family="launches and dispatch",
    kind="warning",
    missing=needs.all_of(needs.kernels, needs.limit),
    observe=_e1,
    meaning="Each kernel is done before the CPU has launched the next one, so the GPU waits.",
    advice="Give each kernel more work (larger size or batch), or launch fewer: fuse with "
    "torch.compile, or replay them as a CUDA graph.",
    source=f"TraceLens: short below 10 µs; {H200}: a launch call takes 5 to 20 µs profiled",
)

# --- E3 -----------------------------------------------------------------------------------------


def _e3_missing(quantities: Quantities) -> str | None:
    if reason := needs.launch_calls(quantities):
        return reason
    if quantities.analysis.totals.launch_delay_median_ns is not None:
        return None
    return "No kernel can be matched to one launch call of its own (CUDA graphs share one)."


def _e3(quantities: Quantities) -> Observation | None:
    delay_ns = quantities.analysis.totals.launch_delay_median_ns
    if delay_ns is None:
        return None
    text = f"A kernel starts {time_text(delay_ns)} after its launch call (median)"
    if delay_ns < QUEUE_EMPTY_MAX_NS:
        text += ": the queue is empty and the GPU starts at once."
    elif delay_ns >= QUEUE_FULL_MIN_NS:
        text += ": launches queue up behind earlier work, so the GPU always has something to do."
    else:
        text += ": neither an empty nor a full queue."
    return Observation(text=text)


E3 = Rule(
    id="E3",
    title="How long launches wait in the queue",
    family="launches and dispatch",
    kind="fact",
    missing=_e3_missing,
    observe=_e3,
    meaning="Below 40 µs the GPU waits for launches; from 100 µs on it has work waiting. This "
    "tells only what happened while the profiler was on.",
    advice="",
    source=f"{H200}: 7 to 33 µs when the GPU waits, 107 to 11,176 µs when it is behind",
)

# --- E12 ----------------------------------------------------------------------------------------


def _e12(quantities: Quantities) -> Observation | None:
    unrecorded = quantities.unrecorded_fraction
    if quantities.limit != "cpu" or unrecorded is None or unrecorded < UNRECORDED_SHARE_FRACTION:
        return None
    return Observation(
        text=f"{percent_text(unrecorded)} of the step time on the launching thread lies outside "
        "any operator or call."
    )


E12 = Rule(
    id="E12",
    title="CPU time that nothing explains",
    family="launches and dispatch",
    kind="note",
    missing=needs.all_of(needs.steps, needs.operators, needs.limit),
    observe=_e12,
    meaning="Python itself, other libraries, or the profiler.",
    advice="Record a short run with with_stack=True to see which Python code runs there.",
    source=f"{H200}: 22 to 41 % in five traces; half is the project's own limit",
)
