"""Where the time of a CPU run goes, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore import workloads
from profcore.rules.model import Line
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
    from profcore.rules.quantities import Quantities


def cpu_run_lines(quantities: Quantities) -> list[Line]:
    """Say where the time of a CPU run goes."""
    lines = []
    timings, experiment = quantities.timings, quantities.experiment
    if timings is not None and timings.step_ns_median > 0:
        after = " (timed after profiling, because of the cold start)"
        lines.append(
            Line(
                text=f"One step without the profiler: {time_text(timings.step_ns_median)}"
                f"{after if timings.taken == 'after' else ''}.",
                table="timings",
            )
        )
    if cold := cold_start(quantities):
        left_out = " It is left out of what follows." if quantities.first_step_is_cold else ""
        lines.append(Line(text=f"{cold}{left_out}", table="steps"))
    if largest := largest_operator(quantities):
        name, share = largest
        lines.append(
            Line(
                text=f"{name} itself takes {percent_text(share)} of {share_of(quantities)}.",
                table="operators",
            )
        )
    outside = quantities.unrecorded_fraction
    if outside is not None:
        lines.append(
            Line(
                text=f"{percent_text(outside)} of the recorded step time lies outside any "
                "operator: Python, and the profiler itself.",
                table="steps",
            )
        )
    if timings is not None and experiment is not None and timings.step_ns_median > 0:
        workload = workloads.find(experiment.workload)
        step_s = timings.step_ns_median / NS_PER_S
        if workload.is_matmul:
            flops = workload.step_flops(experiment)
            text = f"{flops_text(flops)} per step: {flops_rate_text(flops / step_s)}."
        else:
            moved = workload.step_bytes(experiment)
            text = f"At least {bytes_text(moved)} per step: {bytes_rate_text(moved / step_s)}."
        lines.append(Line(text=text, table="experiment"))
    return lines


def cold_start(quantities: Quantities) -> str:
    """Say what the first call cost where the run was to begin cold; empty where it was not.

    A trace that somebody opened does not say how it began: there the first step tells.
    """
    experiment, step_ns = quantities.experiment, quantities.worked_ns
    begins_cold = experiment.warmup == 0 if experiment else quantities.first_step_is_cold
    if not begins_cold or not len(step_ns):
        return ""
    compiled = experiment is not None and experiment.compile != "eager"
    took = f"The first recorded step took {time_text(int(step_ns[0]))}"
    took += ", compiling included" if compiled else ""
    if len(step_ns) == 1:
        return f"{took}. That is the cold start; no later step was recorded to compare it with."
    later_ns = float(np.median(step_ns[1:]))
    later = f"the later ones {time_text(later_ns)} (median)"
    times = f": {ratio_text(int(step_ns[0]) / later_ns)} as long" if later_ns else ""
    return f"{took}, {later}{times}. That is the cold start."


def largest_operator(quantities: Quantities) -> tuple[str, float] | None:
    """Return the operator with the largest self time and its share of the step bars.

    Over the kept steps; without steps over the whole recording, of all operators' self time.
    """
    rows = np.flatnonzero(quantities.is_operator)
    if len(quantities.steps):
        rows = quantities.in_kept_steps(rows)
    self_ns, name = quantities.nesting.self_ns[rows], quantities.trace.name[rows]
    whole_ns = quantities.kept_cpu_ns if len(quantities.steps) else int(self_ns.sum())
    if not len(rows) or not whole_ns:
        return None
    codes, place = np.unique(name, return_inverse=True)
    sums_ns = np.bincount(place, weights=self_ns)
    top = int(np.argmax(sums_ns))
    return quantities.trace.names[codes[top]], float(sums_ns[top]) / whole_ns


def share_of(quantities: Quantities) -> str:
    """Say what `largest_operator` is a share of."""
    return "the recorded step time" if len(quantities.steps) else "the operator time"
