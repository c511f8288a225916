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
