"""Every rule with its meaning, its source, and the recordings that showed it."""

import streamlit as st

from pages._panels.history import History
from pages._panels.observations import NO_ADVICE, kind_badge
from pages._panels.start import RUN_PARAMETER
from pages._panels.text import plain
from profcore.rules import FAMILIES, RULES, Rule

LINKS_MAX = 6
"""Recordings linked per rule; more are counted."""


@st.fragment
def rules_list(history: History) -> None:
    """Draw the rules by family, with a search and a filter above them."""
    search, only = st.columns([3, 2], vertical_alignment="bottom")
    with search:
        words = st.text_input(
            "Search",
            key="guide_search",
            bind="query-params",
            icon=":material/search:",
            placeholder="for instance: warm-up, memcpy, E1",
        )
    with only:
        only_seen = st.toggle("Only what was seen on this machine", key="guide_seen")
    shown = [
        rule
        for rule in RULES
        if _matches(rule, words or "") and (not only_seen or history.showing(rule.id))
    ]
    if not shown:
        st.caption("No observation matches. Search for another word, or show all.")
    for family in FAMILIES:
        rules = [rule for rule in shown if rule.family == family]
        if not rules:
            continue
        st.subheader(family[:1].upper() + family[1:], anchor=False)
        with st.container(gap="xsmall"):
            for rule in rules:
                _rule(rule, history)


def _matches(rule: Rule, words: str) -> bool:
    text = f"{rule.id} {rule.title} {rule.family} {rule.meaning} {rule.advice}".casefold()
    return all(word in text for word in words.casefold().split())


def _rule(rule: Rule, history: History) -> None:
    showing = history.showing(rule.id)
    seen = f" · seen in {len(showing)}" if showing else ""
    with st.expander(f"{kind_badge(rule.kind)} {plain(rule.title)}{seen}", key=f"rule_{rule.id}"):
        meaning, advice = st.columns(2, gap="medium")
        with meaning, st.container(gap="xxsmall"):
            st.caption("Likely meaning")
            st.text(rule.meaning)
        with advice, st.container(gap="xxsmall"):
            st.caption("What to try")
            st.text(rule.advice or NO_ADVICE)
        st.caption(f"Rule {plain(rule.id)} · Source: {plain(rule.source)}")
        if not showing:
            st.caption("No recording on this machine has shown it.")
            return
        st.caption("Seen in:")
        with st.container(horizontal=True):
            for recording in showing[:LINKS_MAX]:
                st.page_link(
                    "pages/run_page.py",
                    label=plain(recording.title),
                    icon=":material/open_in_new:",
                    query_params={RUN_PARAMETER: recording.id},
                )
        if len(showing) > LINKS_MAX:
            st.caption(f"and in {len(showing) - LINKS_MAX} more.")
