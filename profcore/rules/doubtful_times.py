"""Can this trace be trusted? Times that overlap, cannot be, or are the profiler's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    IMPOSSIBLE_COUNT,
    IMPOSSIBLE_FRACTION,
    OVERHEAD_SHARE_FRACTION,
    OVERLAP_MIN_NS,
    OVERLAP_SHARE_FRACTION,
    PROFILED_PACE_MIN_RATIO,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import H200
from profcore.trace.model import MISSING
from profcore.units import NS_PER_US, percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- Q4 -----------------------------------------------------------------------------------------


def _overlaps(quantities: Quantities) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows that run into the next start on their stream, and by how much."""
    activities = quantities.activities
    device, stream = column(activities, "device"), column(activities, "stream")
    start_ns, rows = column(activities, "start_ns"), column(activities, "row")
    end_ns = start_ns + column(activities, "duration_ns")
    order = np.lexsort((start_ns, stream, device))
    order = order[stream[order] != MISSING]
    same = (device[order][1:] == device[order][:-1]) & (stream[order][1:] == stream[order][:-1])
    over_ns = np.where(same, end_ns[order][:-1] - start_ns[order][1:], 0)
    hit = over_ns > 0
    return rows[order][:-1][hit], over_ns[hit]


def _q4(quantities: Quantities) -> Observation | None:
    rows, over_ns = _overlaps(quantities)
    if not len(rows):
        return None
    long = over_ns >= OVERLAP_MIN_NS
    clipped_ns = int(over_ns[long].sum())
    share = clipped_ns / max(quantities.analysis.totals.gpu_work_sum_ns, 1)
    text = (
        f"{count_text(len(rows), 'activity runs', 'activities run')} into the next one on the same "
        f"stream, by {time_text(int(over_ns.max()))} at most"
    )
    if share < OVERLAP_SHARE_FRACTION:
        return Observation(
            text=text + ".",
            evidence=evidence(quantities, rows),
            kind="fact",
            meaning="Short overlaps happen by design: a kernel may start while the one before it "
            "drains.",
            advice="",
        )
    return Observation(
        text=f"{text}: {time_text(clipped_ns)} together, {percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, rows),
    )


Q4 = Rule(
    id="Q4",
    title="Overlong or overlapping kernels",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu,
    observe=_q4,
    meaning="Work on one stream runs one after the other, so these durations cannot all be true. "
    "Sums and rankings by such rows mislead; busy times count overlaps once.",
    advice="Record again. If a single row is to blame, leave it out of the comparison.",
    source="a report where 7 of 55,423 events made 62 % of the GPU time",
)

# --- Q5 -----------------------------------------------------------------------------------------


def _q5(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    empty = column(activities, "duration_ns") == 0
    early = quantities.analysis.totals.negative_delays
    count = int(empty.sum()) + early
    if count < IMPOSSIBLE_COUNT and count < IMPOSSIBLE_FRACTION * len(activities):
        return None
    parts = []
    if empty.any():
        parts.append(f"{empty.sum():,} {'lasts' if empty.sum() == 1 else 'last'} no time")
    if early:
        parts.append(f"{early:,} {'starts' if early == 1 else 'start'} before the launch call")
    text = (
        f"Of {count_text(len(activities), 'GPU activity', 'GPU activities')} {' and '.join(parts)}."
    )
    rows = column(activities, "row")[empty]
    if empty.any() and _in_whole_microseconds(quantities):
        return Observation(
            text=f"{text} This file gives times in whole microseconds.",
            evidence=evidence(quantities, rows),
            meaning="Short kernels lose their time to rounding, so sums of GPU time are too low.",
            advice="Export with a current version of torch, which writes nanoseconds.",
        )
    return Observation(text=text, evidence=evidence(quantities, rows))


def _in_whole_microseconds(quantities: Quantities) -> bool:
    """Say whether no duration in the file has a part below the microsecond."""
    return not bool(np.any(quantities.trace.duration_ns % NS_PER_US))


Q5 = Rule(
    id="Q5",
    title="Impossible times",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu,
    observe=_q5,
    meaning="The clocks of CPU and GPU disagree, or the recorder was at fault. Delays between "
    "launch and start are doubtful.",
    advice="Record again, with a newer CUDA version if it comes back.",
    source=f"Kineto reports 109 and 1380; {H200}: 0 of 1,065 pairs",
)

# --- Q9 -----------------------------------------------------------------------------------------


def _q9(quantities: Quantities) -> Observation | None:
    rows = quantities.in_steps(quantities.overhead_rows)
    share = int(quantities.trace.duration_ns[rows].sum()) / max(quantities.steps_cpu_ns, 1)
    if share < OVERHEAD_SHARE_FRACTION:
        return None
    total_ns = int(quantities.trace.duration_ns[rows].sum())
    return Observation(
        text=f"Work of the profiler and first-use loading take {time_text(total_ns)} inside the "
        f"recorded steps, {percent_text(share)} of their time.",
        evidence=evidence(quantities, rows),
    )


Q9 = Rule(
    id="Q9",
    title="Profiler overhead inside the steps",
    family="measurement quality",
    kind="trust",
    missing=needs.all_of(needs.gpu, needs.steps),
    observe=_q9,
    meaning="A part of the step time belongs to the profiler (or to code that was loaded for the "
    "first time), not to the program.",
    advice="Use warm-up calls and a schedule with a warm-up phase; do not count the first step.",
    source=f"{H200}: 31 and 1.8 % cold, nothing in 35 warm traces",
)

# --- Q20, Q21 -----------------------------------------------------------------------------------


def _q20(quantities: Quantities) -> Observation | None:
    labels = {
        quantities.trace.name_of(int(row))
        for row in np.flatnonzero(quantities.trace.is_kind("annotation"))
    }
    posing = quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: name.startswith("ProfilerStep") or name in labels
    )
    doubled = quantities.analysis.markers.doubled
    if not posing.any() and not doubled:
        return None
    parts = []
    if posing.any():
        stand = "stands" if posing.sum() == 1 else "stand"
        parts.append(f"{count_text(int(posing.sum()), 'label')} {stand} among the kernels")
    if doubled:
        were = "was" if doubled == 1 else "were"
        parts.append(f"{count_text(doubled, 'step row')} came twice and {were} left out")
    rows = column(quantities.activities, "row")[posing]
    return Observation(text=f"{'; '.join(parts)}.", evidence=evidence(quantities, rows))


Q20 = Rule(
    id="Q20",
    title="Labels counted as work",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu,
    observe=_q20,
    meaning="Ranges that only mark time were written as if they were kernels, or steps were "
    "written twice. Sums that contain them are too high.",
    advice="Do not trust the sum of kernels in this file.",
    source="PyTorch reports 144613 and 148314",
)


def _q21(quantities: Quantities) -> Observation | None:
    gpu_ns, timings = quantities.gpu_ns, quantities.timings
    if gpu_ns is None or timings is None or timings.step_ns_median <= 0:
        return None
    ratio = gpu_ns / timings.step_ns_median
    if ratio <= PROFILED_PACE_MIN_RATIO:
        return None
    return Observation(
        text=f"The GPU works {time_text(gpu_ns)} per recorded step, but a step takes only "
        f"{time_text(timings.step_ns_median)} without the profiler: {ratio_text(ratio)}."
    )


Q21 = Rule(
    id="Q21",
    title="More GPU time than step time",
    family="measurement quality",
    kind="trust",
    missing=needs.all_of(needs.gpu_steps, needs.timings),
    observe=_q21,
    meaning="Both cannot be true of the same work: the clocks of the GPU changed between the two "
    "measurements, another program used it, or work of other steps slipped in.",
    advice="Run it again on a quiet machine.",
    source=f"{H200}: at most 0.1 % above in valid runs; the limit is 5 %",
)
