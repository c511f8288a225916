"""After how many steps has compiling paid for itself? Rule R7 of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from profcore.comparison.noise import StepDifference, step_difference
from profcore.comparison.points import varies
from profcore.comparison.runs import same_work
from profcore.comparison.turns import turns_difference
from profcore.comparison.verdict import chance_text
from profcore.experiment import SIZE_MIN
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.experiment import Experiment
    from profcore.recording import Recording, Timings

_CACHES: Final[dict[str, str]] = {
    "fresh": "with an empty cache, so all of it was compiled",
    "shared": "with what an earlier point of the sweep had compiled in another mode in its cache: "
    "alone it can take longer",
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
    is_least: bool
    """Parts were found compiled already: the steps and `compile_ns` are the least there can be."""
    compile_ns: int
    """What the first compiled call took more than the first eager one; at least 0."""
    gain_ns: float
    """Step time saved; negative: compiled is slower."""
    sentence: str
    arithmetic: tuple[str, ...]


def break_even(
    eager: Timings,
    compiled: Timings,
    *,
    mode: str,
    where: str,
    turns: StepDifference | None = None,
) -> BreakEven:
    """Weigh the cost of compiling against what it saves per step.

    Args:
        eager: Times of the eager run.
        compiled: Times of the same experiment, compiled.
        mode: The compile mode, for the sentence.
        where: The setting, for the sentence: "size 64".
        turns: Eager against compiled, timed by turns in one process, where that was done: it then
            decides in the place of the two times.
    """
    compile_ns = max(0, compiled.first_call_ns - eager.first_call_ns)
    is_least = compiled.compile_cache == "shared"
    difference = step_difference([eager], [compiled]) if turns is None else turns
    eager_ns, compiled_ns = eager.step_ns_median, compiled.step_ns_median
    if turns is not None:
        eager_ns, compiled_ns = turns.a_ns, turns.a_ns * turns.ratio
    gain_ns = eager_ns - compiled_ns
    how = "A step" if turns is None else "Timed by turns in one process, a step"
    arithmetic = [
        (
            f"The first call took {time_text(compiled.first_call_ns)} compiled and "
            f"{time_text(eager.first_call_ns)} eager: {time_text(compile_ns)} more, "
            f"{_CACHES[compiled.compile_cache]}."
        ),
        (
            f"{how} takes {time_text(compiled_ns)} compiled and {time_text(eager_ns)} eager; such "
            f"times may differ {chance_text(difference)} by chance."
        ),
    ]
    state: Literal["pays", "never", "no difference"]
    steps = None
    if not difference.is_real:
        state = "no difference"
        apart = f"{time_text(abs(gain_ns))} {'less' if gain_ns > 0 else 'longer'}"
        sentence = (
            f"compile {mode} at {where}: cannot be told; a compiled step takes {apart}, which is "
            "not beyond noise."
        )
    elif gain_ns <= 0:
        state = "never"
        sentence = (
            f"compile {mode} at {where}: never, a compiled step takes {time_text(-gain_ns)} longer."
        )
    else:
        state, steps = "pays", compile_ns / gain_ns
        took_ns = steps * compiled_ns
        or_more = " or more" if is_least else ""
        arithmetic.append(
            f"{time_text(compile_ns)} ÷ {time_text(gain_ns)} = {steps:,.0f} steps, which take "
            f"{time_text(took_ns)}."
        )
        arithmetic.append(_range_text(compile_ns, eager_ns, difference))
        sentence = (
            f"compile {mode} at {where}: pays for itself after {steps:,.0f} steps{or_more}, "
            f"because each saves {time_text(gain_ns)}."
        )
    return BreakEven(
        state=state,
        steps=steps,
        is_least=is_least,
        compile_ns=compile_ns,
        gain_ns=gain_ns,
        sentence=sentence,
        arithmetic=tuple(arithmetic),
    )


def _range_text(compile_ns: int, eager_ns: float, difference: StepDifference) -> str:
    """Say how far the number of steps is known: the gain lies within the interval of the ratio."""
    soonest = compile_ns / (eager_ns * (1 - difference.low_ratio))
    latest = compile_ns / (eager_ns * (1 - difference.high_ratio))
    return f"Within the noise: {_two_digits(soonest)} to {_two_digits(latest)} steps."


def _two_digits(steps: float) -> str:
    return f"{float(f'{steps:.2g}'):,.0f}"


def break_evens(points: Sequence[Recording]) -> tuple[tuple[Recording, BreakEven], ...]:
    """Return the break-even of every compiled point that has an eager one beside it.

    Args:
        points: Of one sweep, or recordings of one machine.

    Returns:
        Row by row, and in a row by size.
    """
    eager = {
        _but_mode(point): point.timings
        for point in points
        if point.experiment.compile == "eager" and point.timings is not None
    }
    experiments = [point.experiment for point in points]
    varying = [
        (word, knob)
        for word, knob in (("batch", "batch"), ("", "dtype"), ("warm-up", "warmup"))
        if varies(knob, experiments)
    ]
    rows: dict[Experiment, int] = {}
    for experiment in experiments:
        rows.setdefault(_row_of(experiment), len(rows))
    # Sizes that were added where the GPU begins to be busy come last in a sweep.
    in_order = sorted(
        points, key=lambda each: (rows[_row_of(each.experiment)], each.experiment.size)
    )
    found = []
    for point in in_order:
        twin = eager.get(_but_mode(point))
        mode = point.experiment.compile
        if mode == "eager" or twin is None or point.timings is None:
            continue
        where = ", ".join(
            [f"size {point.experiment.size:,}"]
            + [f"{word} {getattr(point.experiment, knob)}".strip() for word, knob in varying]
        )
        even = break_even(twin, point.timings, mode=mode, where=where, turns=_turns(point))
        found.append((point, even))
    return tuple(found)


def _turns(point: Recording) -> StepDifference | None:
    """Return what a compiled point took by turns with its eager twin, if it was timed so."""
    beside = point.beside
    if beside is None or not same_work(
        beside.experiment, msgspec.structs.replace(point.experiment, compile="eager")
    ):
        return None
    return turns_difference([], [beside])


def _row_of(experiment: Experiment) -> Experiment:
    """Return the same for every size of a row."""
    return msgspec.structs.replace(experiment, size=SIZE_MIN)


def _but_mode(point: Recording) -> tuple[object, ...]:
    return tuple(
        getattr(point.experiment, knob)
        for knob in ("workload", "size", "batch", "dtype", "bias", "warmup", "device")
    )
