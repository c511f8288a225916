"""Findings that came with the change, and findings that went."""

import streamlit as st

from pages._panels.observations import KINDS, kind_badge
from pages._panels.text import plain
from pages._panels.timeline_link import guide_link
from profcore.comparison import Comparison
from profcore.comparison.changes import FindingChange

_WORDS = {
    "appeared": ("Appeared", "seen in {b}, not in {a}"),
    "vanished": ("Vanished", "seen in {a}, not in {b}"),
}


def changes_panel(comparison: Comparison) -> None:
    """Draw what appeared beside what vanished, from A to B."""
    st.subheader("Which observations came and went?", anchor=False)
    changes = comparison.changes
    if not changes:
        st.caption("None: the same observations were made on both sides.")
        return
    a, b = comparison.names
    for column, (change, (title, about)) in zip(
        st.columns(2, gap="medium"), _WORDS.items(), strict=True
    ):
        with column, st.container(gap="xsmall", key=f"changes_{change}"):
            found = [one for one in changes if one.change == change]
            st.markdown(f"**{title} ({len(found)})**: {plain(about.format(a=a, b=b))}")
            for one in sorted(found, key=lambda one: list(KINDS).index(one.kind)):
                _change(one)
            if not found:
                st.caption("None.")


def _change(one: FindingChange) -> None:
    with st.container(border=True, gap="xxsmall"):
        st.markdown(f"{kind_badge(one.kind)} **{plain(one.title)}**")
        st.markdown(f":small[{plain(one.observation)}]")
        if one.other_state == "not_checked":
            st.caption(f"Not checked on the other side: {plain(one.other_reason)}")
        guide_link(one.rule, "What it means")
