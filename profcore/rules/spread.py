"""Spread of the step times, and whether two runs can be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    IQR_TO_DECILES,
    STEP_SPREAD_FRACTION,
    STEP_SPREAD_REPEATS_MIN,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column
from profcore.rules.sources import H200
from profcore.rules.twins import differences, noise_fraction, pair_of, timed
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- V1 to V4 -----------------------------------------------------------------------------------


def _v1_missing(quantities: Quantities) -> str | None:
    if reason := needs.timings(quantities):
        return reason
    if quantities.timings is not None and quantities.timings.repeats >= STEP_SPREAD_REPEATS_MIN:
        return None
    return f"The step was timed fewer than {STEP_SPREAD_REPEATS_MIN} times."


def _v1(quantities: Quantities) -> Observation | None:
    timings = quantities.timings
    if timings is None or timings.step_ns_median <= 0:
        return None
    iqr_ns = timings.step_ns_p75 - timings.step_ns_p25
    if IQR_TO_DECILES * iqr_ns / timings.step_ns_median < STEP_SPREAD_FRACTION:
        return None
    return Observation(
        text=f"Without the profiler the middle half of {timings.repeats:,} repeats lies between "
        f"{time_text(timings.step_ns_p25)} and {time_text(timings.step_ns_p75)}: "
        f"{percent_text(iqr_ns / timings.step_ns_median)} of the median."
    )


V1 = Rule(
    id="V1",
    title="Step times vary",
    family="measurement quality",
    kind="note",
    missing=_v1_missing,
    observe=_v1,
    meaning="A shared machine, changing clocks, or work that depends on the data.",
    advice="Run it again on a quiet machine before comparing.",
    source="the 20 % between the 10th and the 90th percentile is the project's own limit",
)


def _any_twin(quantities: Quantities) -> str | None:
    if reason := needs.own_run(quantities):
        return reason
    if quantities.twin is not None:
        return None
    return "No other run stands beside this one. Run the same experiment in another compile mode."


def _v2(quantities: Quantities) -> Observation | None:
    pair = pair_of(quantities)
    if pair is None:
        return None
    mine, other = pair
    noise = noise_fraction(quantities)
    short_ns, long_ns = sorted((mine.step_ns_median, other.step_ns_median))
    difference = long_ns / short_ns - 1
    if difference > noise:
        return None
    return Observation(
        text=f"{time_text(mine.step_ns_median)} against {time_text(other.step_ns_median)} per "
        f"step: they differ by {percent_text(difference)}, and anything up to "
        f"{percent_text(noise)} is noise here."
    )


V2 = Rule(
    id="V2",
    title="No difference shown",
    family="measurement quality",
    kind="fact",
    missing=timed(_any_twin),
    observe=_v2,
    meaning="The two runs are as fast as each other, as far as these measurements can tell.",
    advice="",
    source="nsys-ai: 2 % floor, 5 % gate; the noise from process to process, measured on an "
    "NVIDIA H200, is in profcore/analysis/run_noise.py",
)


def _v3(quantities: Quantities) -> Observation | None:
    found = differences(quantities)
    if not found:
        return None
    return Observation(text=f"The two runs also differ in: {', '.join(found)}.")


V3 = Rule(
    id="V3",
    title="Not comparable",
    family="measurement quality",
    kind="trust",
    missing=_any_twin,
    observe=_v3,
    meaning="More than the compile mode changed, so a difference in time has no single cause.",
    advice="Change one knob at a time.",
    source="nsys-ai's comparability gate",
)


def _v4(quantities: Quantities) -> Observation | None:
    if quantities.first_step_is_cold:
        return None  # C1 says more
    cpu_ns = column(quantities.steps, "cpu_ns")
    typical_ns = float(np.median(cpu_ns[1:]))
    return Observation(
        text=f"The first recorded step took {time_text(int(cpu_ns[0]))} on the CPU, the others "
        f"{time_text(typical_ns)} (median): {ratio_text(int(cpu_ns[0]) / max(typical_ns, 1.0))}."
    )


V4 = Rule(
    id="V4",
    title="The first recorded step is left out of CPU medians",
    family="measurement quality",
    kind="fact",
    missing=needs.steps_for_spread,
    observe=_v4,
    meaning="Even after warm-up the first step under the profiler usually takes longer than the "
    "others, so it is left out of the CPU median of five and more steps.",
    advice="",
    source=f"{H200}: 1.1 to 2.65 times the others in 33 of 35 warm traces, 3.0 in a later one",
)
