"""Applying rules to an analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from profcore.rules.model import Finding
from profcore.rules.quantities import Quantities
from profcore.rules.registry import HIDES, RULES

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from profcore.rules.model import Observation, Rule

CPU_IS_THE_LIMIT = (
    "Here the GPU waits for the CPU, so saving GPU time saves nothing until that has changed."
)


def check(rule: Rule, analysis: Analysis) -> Finding:
    """Apply one rule. Missing input is never a clear result."""
    quantities = Quantities.of(analysis)
    finding = Finding(
        rule=rule.id,
        title=rule.title,
        family=rule.family,
        kind=rule.kind,
        state="clear",
        observation="",
        meaning=rule.meaning,
        advice=rule.advice,
        source=rule.source,
        reason="",
    )
    if reason := rule.missing(quantities):
        return replace(finding, state="not_checked", reason=reason)
    seen = rule.observe(quantities)
    return finding if seen is None else _fired(finding, rule, seen, quantities)


def _fired(finding: Finding, rule: Rule, seen: Observation, quantities: Quantities) -> Finding:
    kind = seen.kind or rule.kind
    meaning = rule.meaning if seen.meaning is None else seen.meaning
    if rule.saves_gpu_time and kind == "warning" and quantities.limit == "cpu":
        kind, meaning = "fact", f"{meaning} {CPU_IS_THE_LIMIT}"
    return replace(
        finding,
        kind=kind,
        state="fired",
        observation=seen.text,
        meaning=meaning,
        advice=rule.advice if seen.advice is None else seen.advice,
        evidence=seen.evidence,
    )


def check_all(analysis: Analysis) -> list[Finding]:
    """Apply every rule, in the order of the registry.

    A rule whose cause another fired rule names more exactly is reported as not checked, with that
    reason, so that one cause gives one warning.
    """
    findings = {rule.id: check(rule, analysis) for rule in RULES}
    for cause, explained in HIDES:
        if cause not in findings or findings[cause].state != "fired":
            continue
        for hidden in explained:
            if hidden in findings and findings[hidden].state == "fired":
                findings[hidden] = _hidden(findings[hidden], by=findings[cause])
    return list(findings.values())


def _hidden(finding: Finding, *, by: Finding) -> Finding:
    return replace(
        finding,
        state="not_checked",
        observation="",
        evidence=(),
        reason=f"{by.rule} ({by.title}) explains it better.",
    )
