"""Whether the numbers of a trace can be trusted: the checks that need a look first, then all."""

from collections.abc import Sequence

import streamlit as st

from pages._panels.results import Result
from pages._panels.text import plain
from profcore.analysis.trust import Check
from profcore.rules import Finding

_BADGES = {
    "look": ":orange-badge[:material/search: look]",
    "cannot tell": ":gray-badge[:material/help: cannot tell]",
    "fine": ":green-badge[:material/check: fine]",
}
_RULES_OF_CHECKS = frozenset({"Q1", "Q2", "Q3", "Q4", "Q5", "Q8", "Q9", "Q11", "Q12", "Q20"})
"""Observations that say what a check says too: they are not named twice."""


def something_matters(result: Result) -> bool:
    """Tell whether the panel belongs above the verdict."""
    return bool(_to_look_at(result) or _findings(result))


def trust_panel(result: Result) -> None:
    """Draw the checks; those that can mislead stand open, the others in a fold."""
    doubts, findings = _to_look_at(result), _findings(result)
    if not doubts and not findings:
        _fold(result.analysis.trust)
        return
    with st.container(border=True, key="trust"):
        st.subheader("Before you trust these numbers", anchor=False)
        if doubts:
            st.markdown(
                "\n".join(f"- **{plain(check.title)}:** {plain(check.text)}" for check in doubts)
            )
        if findings:
            titles = ", ".join(plain(finding.title) for finding in findings)
            st.markdown(f"Among the observations below, these can mislead too: {titles}.")
        _fold(result.analysis.trust)


def _to_look_at(result: Result) -> list[Check]:
    return [check for check in result.analysis.trust if check.outcome == "look"]


def _findings(result: Result) -> list[Finding]:
    return [
        finding
        for finding in result.findings
        if finding.state == "fired"
        and finding.kind == "trust"
        and finding.rule not in _RULES_OF_CHECKS
    ]


def _fold(checks: Sequence[Check]) -> None:
    counts = {
        state: sum(check.outcome == state for check in checks)
        for state in ("look", "cannot tell", "fine")
    }
    words = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    with st.expander(
        f"Can this trace be trusted? {len(checks)} checks: {words}", icon=":material/fact_check:"
    ):
        for state in counts:
            for check in checks:
                if check.outcome == state:
                    _check(check)


def _check(check: Check) -> None:
    st.markdown(f"{_BADGES[check.outcome]} **{plain(check.title)}.** {plain(check.text)}")
    if check.snippet:
        st.caption("Would be recorded by:")
        st.code(check.snippet, language="python")
