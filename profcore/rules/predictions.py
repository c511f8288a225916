"""What a rule claims about a changed experiment, and whether the claim held.

A rule that says "change this knob" says what will be seen then, before it is run. Nothing here
runs anything: the caller brings the run before and the run after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from profcore.rules.check import check
from profcore.rules.measures import MEASURES
from profcore.rules.quantities import Quantities
from profcore.rules.registry import RULES
from profcore.units import ratio_text

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from profcore.rules.measures import MeasureName

Relation = Literal["at least", "at most", "shorter", "not seen"]
"""`at least`, `at most`: of the run after. `shorter`: before ÷ after is at least the value.
`not seen`: the rule itself no longer fires; it has no measure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """One claim, made before the run."""

    rule: str
    sentence: str
    """For people, with the number that can prove it wrong."""
    knobs: dict[str, Any] = field(default_factory=dict)
    """What to change; only the knobs that change."""
    measure: MeasureName | None
    """What is measured; None for `not seen`."""
    relation: Relation
    value: float = 0.0
    """A fraction, a ratio, nanoseconds or a count, as the measure has it."""

    @property
    def needs_gpu(self) -> bool:
        """Whether only a run on a GPU can tell."""
        return self.measure is not None and MEASURES[self.measure].needs_gpu

    @property
    def needs_both(self) -> bool:
        """Whether the run before must be made on the same device as the run after."""
        return self.relation == "shorter"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A prediction held against what was measured."""

    held: bool | None
    """None: it cannot be told."""
    what: str
    """The label of the measure."""
    predicted: str
    before: str
    """The measured number of the run before; empty when it lacks one."""
    after: str
    sentence: str
    """For people: whether it held, with the numbers, or why it cannot be told."""


def judge_prediction(prediction: Prediction, before: Analysis, after: Analysis) -> Outcome:
    """Hold a prediction against the run before and the run after."""
    if prediction.measure is None:
        return _seen_again(prediction, before, after)
    measure = MEASURES[prediction.measure]
    first, second = Quantities.of(before), Quantities.of(after)
    was, now = measure.of(first), measure.of(second)
    before_text = "" if was is None else measure.text(was)
    after_text = "" if now is None else measure.text(now)

    def outcome(held: bool | None, sentence: str) -> Outcome:  # noqa: FBT001 - one of its fields
        return Outcome(
            held=held,
            what=measure.label,
            predicted=_predicted_text(prediction),
            before=before_text,
            after=after_text,
            sentence=sentence,
        )

    if now is None:
        return outcome(None, f"Cannot be told. {measure.missing}")
    if prediction.relation != "shorter":
        holds = (
            now >= prediction.value
            if prediction.relation == "at least"
            else now <= prediction.value
        )
        return outcome(holds, _absolute_sentence(prediction, before_text, after_text, held=holds))
    if was is None or now <= 0:
        return outcome(None, f"Cannot be told. {measure.missing}")
    if first.device_name != second.device_name:
        return outcome(
            None,
            "Cannot be told: the two runs were made on different devices "
            f"({first.device_name or 'unknown'} and {second.device_name or 'unknown'}).",
        )
    ratio = was / now
    holds = ratio >= prediction.value
    return outcome(
        holds,
        f"{_HELD[holds]} Predicted: {_predicted_text(prediction)}; measured: {ratio_text(ratio)} "
        f"({before_text} before, {after_text} after).",
    )


_HELD: Final = {True: "It held.", False: "It did not hold."}


def _predicted_text(prediction: Prediction) -> str:
    if prediction.measure is None:
        return "not seen"
    if prediction.relation == "shorter":
        return f"at least {ratio_text(prediction.value)} shorter"
    if prediction.relation == "at most" and not prediction.value:
        return "none"
    return f"{prediction.relation} {MEASURES[prediction.measure].text(prediction.value)}"


def _absolute_sentence(prediction: Prediction, before: str, after: str, *, held: bool) -> str:
    was = f" (before: {before})" if before else ""
    return f"{_HELD[held]} Predicted: {_predicted_text(prediction)}; measured: {after}{was}."


def _seen_again(prediction: Prediction, before: Analysis, after: Analysis) -> Outcome:
    rule = next(known for known in RULES if known.id == prediction.rule)
    was, now = check(rule, before), check(rule, after)
    texts = {"fired": "seen", "clear": "not seen", "not_checked": "not checked"}
    if now.state == "not_checked":
        held, sentence = None, f"Cannot be told. {now.reason}"
    elif now.state == "clear":
        held, sentence = True, f"{_HELD[True]} “{rule.title}” is not seen any more."
    else:
        held, sentence = False, f"{_HELD[False]} It is still seen: {now.observation}"
    return Outcome(
        held=held,
        what=f"“{rule.title}”",
        predicted=_predicted_text(prediction),
        before=texts[was.state],
        after=texts[now.state],
        sentence=sentence,
    )
