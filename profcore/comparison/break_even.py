"""After how many steps has compiling paid for itself? Rule R7 of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from profcore.comparison.noise import step_difference
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.recording import Recording, Timings

_CACHES: Final[dict[str, str]] = {
    "fresh": "with an empty cache, so all of it was compiled",
    "kept": "with the machine's cache on disk, so it may have found parts of it there: a first "
    "compilation can take much longer",
    "": "and it was not noted what its cache held",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakEven:
    """Whether and when compiling pays."""

    state: Literal["pays", "never", "no difference"]
    steps: float | None
    """None unless it pays."""
    compile_ns: int
    """What the first compiled call took more than the first eager one; at least 0."""
    gain_ns: float
    """Step time saved; negative: compiled is slower."""
    sentence: str
    arithmetic: tuple[str, ...]


def break_even(eager: Timings, compiled: Timings, *, mode: str, where: str) -> BreakEven:
    """Weigh the cost of compiling against what it saves per step.

    Args:
        eager: Times of the eager run.
        compiled: Times of the same experiment, compiled.
        mode: The compile mode, for the sentence.
        where: The setting, for the sentence: "size 64".
    """
    compile_ns = max(0, compiled.first_call_ns - eager.first_call_ns)
    gain_ns = eager.step_ns_median - compiled.step_ns_median
    difference = step_difference([eager], [compiled])
    arithmetic = [
        (
            f"The first call took {time_text(compiled.first_call_ns)} compiled and "
            f"{time_text(eager.first_call_ns)} eager: {time_text(compile_ns)} more, "
            f"{_CACHES[compiled.compile_cache]}."
        ),
        (
            f"A step takes {time_text(compiled.step_ns_median)} compiled and "
            f"{time_text(eager.step_ns_median)} eager."
        ),
    ]
    state: Literal["pays", "never", "no difference"]
    steps = None
    if not difference.is_real:
        state = "no difference"
        sentence = (
            f"compile {mode} at {where}: the step times do not differ by more than the noise, so "
            "compiling never pays for itself as far as this run can tell."
        )
    elif gain_ns <= 0:
        state = "never"
        sentence = (
            f"compile {mode} at {where}: never, a compiled step takes {time_text(-gain_ns)} longer."
        )
    else:
        state, steps = "pays", compile_ns / gain_ns
        arithmetic.append(f"{time_text(compile_ns)} ÷ {time_text(gain_ns)} = {steps:,.0f} steps.")
        sentence = (
            f"compile {mode} at {where}: pays for itself after {steps:,.0f} steps, because each "
            f"saves {time_text(gain_ns)}."
        )
    return BreakEven(
        state=state,
        steps=steps,
        compile_ns=compile_ns,
        gain_ns=gain_ns,
        sentence=sentence,
        arithmetic=tuple(arithmetic),
    )


def break_evens(points: Sequence[Recording]) -> tuple[tuple[Recording, BreakEven], ...]:
    """Return the break-even of every compiled point that has an eager one beside it.

    Args:
        points: Of one sweep, or recordings of one machine.
    """
    eager = {
        _but_mode(point): point.timings
        for point in points
        if point.experiment.compile == "eager" and point.timings is not None
    }
    found = []
    for point in points:
        twin = eager.get(_but_mode(point))
        mode = point.experiment.compile
        if mode == "eager" or twin is None or point.timings is None:
            continue
        where = f"size {point.experiment.size:,}"
        found.append((point, break_even(twin, point.timings, mode=mode, where=where)))
    return tuple(found)


def _but_mode(point: Recording) -> tuple[object, ...]:
    return tuple(
        getattr(point.experiment, knob)
        for knob in ("workload", "size", "batch", "dtype", "bias", "warmup", "device")
    )
