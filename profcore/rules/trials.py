"""Which experiment puts a rule to the test on a run at hand, and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from profcore.errors import ExperimentError
from profcore.experiment import Experiment
from profcore.rules import knob_changes as changes
from profcore.rules.claims import CLAIMS, VERDICT_CLAIMS, Claim, Expectation
from profcore.rules.predictions import Prediction
from profcore.rules.quantities import Quantities
from profcore.rules.verdict import judge

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from profcore.rules.model import Bound

VERDICT_RULES: Final = frozenset({"B1", "B2"})
"""Their prediction depends on the verdict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """An experiment that can prove a rule wrong."""

    rule: str
    before: Experiment
    after: Experiment
    is_example: bool
    """`before` is not the run at hand, which is an opened trace, but one that shows the same."""
    label: str
    """What changes, for a button: "size 4,096"."""
    predictions: tuple[Prediction, ...]


def trial_of(rule: str, analysis: Analysis) -> Trial | None:
    """Return the experiment that tests a rule on this run; None: no knob can.

    Whether the rule has fired is not asked: the caller knows.
    """
    if rule in VERDICT_RULES:
        return verdict_trial(rule, judge(analysis).bound, analysis)
    return _first(rule, CLAIMS.get(rule, ()), analysis)


def verdict_trial(rule: str, bound: Bound, analysis: Analysis) -> Trial | None:
    """Return the experiment that tests a verdict."""
    return _first(rule, VERDICT_CLAIMS.get(bound, ()), analysis)


def _first(rule: str, claims: tuple[Claim, ...], analysis: Analysis) -> Trial | None:
    quantities = Quantities.of(analysis)
    made = quantities.experiment
    for claim in claims:
        before = claim.example if made is None else made
        knobs = claim.change(before)
        if knobs is None or not claim.when(quantities):
            continue
        try:
            # `replace` does not check bounds: building one does.
            after = Experiment(**msgspec.structs.asdict(before) | knobs)
        except ExperimentError:
            continue
        return Trial(
            rule=rule,
            before=before,
            after=after,
            is_example=made is None,
            label=changes.changes_label(knobs),
            predictions=tuple(_prediction(rule, one, knobs) for one in claim.expects),
        )
    return None


def _prediction(rule: str, expected: Expectation, knobs: dict[str, Any]) -> Prediction:
    return Prediction(
        rule=rule,
        sentence=f"{changes.changes_text(knobs)} {expected.words}",
        knobs=knobs,
        measure=expected.measure,
        relation=expected.relation,
        value=expected.value,
    )
