"""What the change did, in one sentence, and the arithmetic under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore.comparison.noise import MIN_FRACTION, StepDifference
from profcore.experiment import DTYPES
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from profcore.comparison.comparability import Comparability
    from profcore.comparison.figures import Figures

SAME_FRACTION: Final = 0.05
"""GPU work that changes by less is called the same."""
EXPLAINS_FRACTION: Final = 0.5
"""A part that changed by at least this share of the step's change is named as its place."""
_RATIO_WORDS: Final = {
    "assumed": "Their ratio",
    "turns": "The median of the ratios of all rounds",
    "runs": "The middle of all ratios of a run of the one to a run of the other",
}
"""By rank the ratio need not be that of the two medians."""
_RATIO_TEXT_MIN: Final = 1.2
"""Below it a percentage reads better than a ratio."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DifferenceVerdict:
    """The headline of a comparison."""

    sentence: str
    arithmetic: tuple[str, ...]
    """Lines to be read from top to bottom."""
    noise: str
    """How it was decided whether the difference is larger than the noise; empty without times."""


def side_names(found: Comparability) -> tuple[str, str]:
    """Return what to call the two sides: by the one setting that differs, else A and B."""
    if len(found.knobs) != 1:
        return "A", "B"
    knob = found.knobs[0]
    if knob.knob == "compile":
        names = {"eager": "eager", "default": "compiled"}
        return names.get(knob.a, knob.a), names.get(knob.b, knob.b)
    if knob.knob in {"dtype", "workload"}:
        return knob.a, knob.b
    if knob.knob == "bias":
        return f"a {knob.a} bias", f"a {knob.b} bias"
    word = {"warmup": "warm-up"}.get(knob.knob, knob.knob)
    return f"{word} {int(knob.a):,}", f"{word} {int(knob.b):,}"


def verdict_of(
    a: Figures,
    b: Figures,
    step: StepDifference | None,
    *,
    names: tuple[str, str],
) -> DifferenceVerdict:
    """Put the difference into words.

    Args:
        a: Figures of one side.
        b: Figures of the other.
        step: None when a side has no unprofiled step time.
        names: What to call the sides.
    """
    if step is None:
        return _without_times(a, b, names)
    name_a, name_b = names
    arithmetic = [
        (
            f"Step without the profiler: {time_text(step.b_ns)} ({name_b}) against "
            f"{time_text(step.a_ns)} ({name_a})."
        ),
        (
            f"{_RATIO_WORDS[step.method]} is {step.ratio:.3f}; between {step.low_ratio:.3f} and "
            f"{step.high_ratio:.3f} with {step.confidence * 100:.0f} % confidence."
        ),
        *_parts(a, b, names),
    ]
    if not step.is_real:
        change = percent_text(abs(step.ratio - 1))
        sentence = (
            f"No difference beyond noise: {time_text(step.b_ns)} ({name_b}) against "
            f"{time_text(step.a_ns)} ({name_a}) a step, {change} apart."
        )
    else:
        sentence = (
            f"{_claim(a, b, step, names)}: {time_text(step.b_ns)} against {time_text(step.a_ns)} "
            f"a step{_why(a, b, names)}."
        )
    return DifferenceVerdict(
        sentence=sentence, arithmetic=tuple(arithmetic), noise=noise_text(step)
    )


def chance_text(step: StepDifference) -> str:
    """Say how far two such measurements may differ by themselves: "by 5.1 %", "2.4×"."""
    if step.noise_fraction < 1:
        return f"by {percent_text(step.noise_fraction)}"
    return ratio_text(1 + step.noise_fraction)


def noise_text(step: StepDifference) -> str:
    """Say how the decision was made and what it cannot know."""
    floor = percent_text(MIN_FRACTION)
    noise = chance_text(step)
    if step.method == "turns":
        processes = "one process" if step.runs_a == 1 else f"{step.runs_a} processes"
        return (
            f"Decided from turns: in {processes} the two were timed alternately, some 10 ms each, "
            "without the profiler, so that what slows the machine slows both (bootstrap interval "
            f"of the median ratio): such turns may differ {noise} by chance, and less than "
            f"{floor} never counts."
        )
    runs = f"{step.runs_a} and {step.runs_b} runs"
    if step.method == "runs":
        return (
            f"Decided from the medians of {runs} by rank (Hodges-Lehmann shift, exact interval): "
            f"such samples may differ {noise} by chance, and less than {floor} never counts."
        )
    single = step.runs_a == step.runs_b == 1
    text = (
        f"Decided from {'one run each' if single else runs}, so the noise from process to process "
        "is assumed from measurements on an H200, not seen here (the noise inside each run is "
        f"added, by a bootstrap of its median): such runs may differ {noise} by chance, and "
        f"less than {floor} never counts."
    )
    if step.noise_fraction > MIN_FRACTION and not step.is_real:
        text += (
            " Recording both once more, each timed by turns with the other in one process, shows "
            "far smaller differences."
        )
    return text


def _claim(a: Figures, b: Figures, step: StepDifference, names: tuple[str, str]) -> str:
    """Compare the sides; more work is not "slower", it takes longer."""
    name_a, name_b = names
    if a.step_flops and b.step_flops and a.step_flops != b.step_flops:
        work = b.step_flops / a.step_flops
        return (
            f"A step with {name_b} takes {ratio_text(step.ratio)} as long as with {name_a}, for "
            f"{ratio_text(work)} the arithmetic"
        )
    return f"{_capital(name_b)} is {_how_much(step)} than {name_a}"


def _how_much(step: StepDifference) -> str:
    word = "slower" if step.is_slower else "faster"
    ratio = step.ratio if step.is_slower else 1 / step.ratio
    if ratio < _RATIO_TEXT_MIN:
        # Of side A's time, for both words: 110 against 100 is 10 % slower, 90 against 100 10 %
        # faster.
        return f"{percent_text(abs(step.ratio - 1))} {word}"
    return f"{ratio_text(ratio)} {word}"


def _why(a: Figures, b: Figures, names: tuple[str, str]) -> str:
    """Name where the time went or came from."""
    if None in {a.gpu_busy_ns, b.gpu_busy_ns, a.step_ns, b.step_ns, a.cpu_ns, b.cpu_ns}:
        return ""
    gpu_a, gpu_b = a.gpu_busy_ns or 0.0, b.gpu_busy_ns or 0.0
    change = (b.step_ns or 0.0) - (a.step_ns or 0.0)
    same_gpu = abs(gpu_b - gpu_a) <= SAME_FRACTION * max(gpu_a, gpu_b) or abs(
        gpu_b - gpu_a
    ) <= SAME_FRACTION * abs(change)
    work = (
        f"the GPU does about the same {time_text(gpu_b)} of work"
        if same_gpu
        else f"the GPU works {time_text(gpu_b)} against {time_text(gpu_a)}"
    )
    cpu_change = (b.cpu_ns or 0.0) - (a.cpu_ns or 0.0)
    if a.gpu_sets_pace and b.gpu_sets_pace:
        return f"; {work}, and it sets the pace of both"
    if not a.gpu_sets_pace and not b.gpu_sets_pace:
        issue = f"{time_text(b.cpu_ns or 0.0)} against {time_text(a.cpu_ns or 0.0)}"
        if change and cpu_change / change >= EXPLAINS_FRACTION:
            return f"; {work}, the rest is the CPU, which needs {issue} to issue a step"
        return f"; {work}, and the CPU needs {issue} to issue a step"
    waits, works = names if b.gpu_sets_pace else names[::-1]
    return f"; {work}: with {waits} the GPU waits for the CPU, with {works} the GPU sets the pace"


def _parts(a: Figures, b: Figures, names: tuple[str, str]) -> list[str]:
    name_a, name_b = names
    lines = []
    for what, mine, theirs in (
        ("GPU work per step", a.gpu_busy_ns, b.gpu_busy_ns),
        ("CPU time to issue a step", a.cpu_ns, b.cpu_ns),
    ):
        if mine is not None and theirs is not None:
            lines.append(
                f"{what}: {time_text(theirs)} ({name_b}) against {time_text(mine)} ({name_a}), "
                f"{_signed(theirs - mine)}."
            )
    if a.busy_fraction is not None and b.busy_fraction is not None:
        lines.append(
            f"GPU busy: {percent_text(b.busy_fraction)} ({name_b}) against "
            f"{percent_text(a.busy_fraction)} ({name_a})."
        )
    if a.launches is not None and b.launches is not None:
        lines.append(
            f"Launches per step: {b.launches:g} ({name_b}) against {a.launches:g} ({name_a})."
        )
    return lines


def _without_times(a: Figures, b: Figures, names: tuple[str, str]) -> DifferenceVerdict:
    name_a, name_b = names
    if a.gpu_busy_ns is None or b.gpu_busy_ns is None:
        sentence = (
            "At least one side has no step time without the profiler, so nobody can say which is "
            "faster; below is what differs in the traces."
        )
    else:
        sentence = (
            f"The GPU works {time_text(b.gpu_busy_ns)} a step ({name_b}) against "
            f"{time_text(a.gpu_busy_ns)} ({name_a}); which one is faster without the profiler "
            "nobody can say, because at least one side was not timed without it."
        )
    return DifferenceVerdict(sentence=sentence, arithmetic=tuple(_parts(a, b, names)), noise="")


def _signed(duration_ns: float) -> str:
    return f"{'-' if duration_ns < 0 else '+'}{time_text(abs(duration_ns))}"


def _capital(text: str) -> str:
    if text in DTYPES:  # names of their own
        return text
    return text[:1].upper() + text[1:]
