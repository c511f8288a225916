"""The twin of a run: what a comparison needs, and what stands in its way."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from profcore.analysis.run_noise import assumed_half_width, same_session
from profcore.rules import needs
from profcore.rules.constants import COMPARISON_NOISE_FRACTION

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.recording import Timings
    from profcore.rules.quantities import Quantities

_EPILOGUE: Final = re.compile(r"_(bz|bias|badd)(?=_)")


def differences(quantities: Quantities) -> list[str]:
    """Return in words what differs between a run and its twin, the compile mode left out."""
    twin = quantities.twin
    if twin is None:
        return []
    found = []
    here, there = quantities.environment, twin.environment
    if here is not None and there is not None:
        if here.device_name != there.device_name:
            found.append(f"the device ({here.device_name}, {there.device_name})")
        if here.torch != there.torch:
            found.append(f"the torch version ({here.torch}, {there.torch})")
    if quantities.trace.options != twin.trace.options:
        found.append("what was recorded (shapes, stacks, memory)")
    mine, other = quantities.experiment, twin.experiment
    if mine is not None and other is not None:
        knobs = ("workload", "size", "batch", "dtype", "bias", "warmup", "steps")
        found += [knob for knob in knobs if getattr(mine, knob) != getattr(other, knob)]
    return found


def twin_in(mode: str) -> Callable[[Quantities], str | None]:
    """Return a need: a compiled run, and its comparable twin in this mode."""

    def missing(quantities: Quantities) -> str | None:
        if reason := needs.compile_rows(quantities) or needs.own_run(quantities):
            return reason
        twin = quantities.twin
        if twin is None or twin.experiment is None or twin.experiment.compile != mode:
            return (
                f"This compares with the same experiment in compile mode {mode}. Run that too, "
                "and open the two side by side."
            )
        if differences(quantities):
            return "The two runs differ in more than the compile mode (see V3)."
        return None

    return missing


EAGER = twin_in("eager")
DEFAULT = twin_in("default")


def timed(need: Callable[[Quantities], str | None]) -> Callable[[Quantities], str | None]:
    """Return a need: another one, and unprofiled times of both runs."""

    def missing(quantities: Quantities) -> str | None:
        if reason := need(quantities) or needs.timings(quantities):
            return reason
        if quantities.twin is not None and quantities.twin.timings is not None:
            return None
        return "The other run was not timed without the profiler."

    return missing


def pair_of(quantities: Quantities) -> tuple[Timings, Timings] | None:
    """Return the timings of this run and of its twin; None without a step time on both sides."""
    twin = quantities.twin
    if quantities.timings is None or twin is None or twin.timings is None:
        return None
    if min(quantities.timings.step_ns_median, twin.timings.step_ns_median) <= 0:
        return None
    return quantities.timings, twin.timings


def noise_fraction(quantities: Quantities) -> float:
    """Return how far the step times of a run and its twin must differ before that counts.

    As a share of the shorter one; by the noise that a comparison of two single runs assumes.
    """
    pair, twin = pair_of(quantities), quantities.twin
    if pair is None or twin is None:
        return COMPARISON_NOISE_FRACTION
    mine, other = pair
    half = assumed_half_width(
        [mine], [other], same_session=same_session(quantities.environment, twin.environment)
    )
    return max(COMPARISON_NOISE_FRACTION, math.expm1(half))


def stems(quantities: Quantities) -> set[str]:
    """Return the names of the kernels without what is added to the product at its end."""
    return {_EPILOGUE.sub("", name) for name in quantities.analysis.kernels["name"]}
