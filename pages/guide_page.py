"""The field guide: how to read a profile, and every observation this app looks for."""

import streamlit as st

from pages._panels.article import article_panel
from pages._panels.guide_text import INTRODUCTION
from pages._panels.history import look_through
from pages._panels.observations import KINDS, kind_badge
from pages._panels.rules_list import rules_list
from pages._panels.runner import get_library
from profcore.rules import RULES

st.title("Field guide", anchor=False)
st.caption("How to read a profile, and every observation this app looks for in one.")

with st.container(gap="xsmall"):
    for position, (heading, text) in enumerate(INTRODUCTION):
        with st.expander(heading, expanded=position == 0):
            st.markdown(text)

st.header("Observations and what they mean", anchor=False)
st.markdown("  \n".join(f"{kind_badge(kind)} {words.about}" for kind, words in KINDS.items()))
slot = st.container()
history = look_through(get_library())
with slot:
    words = "1 recording" if len(history.read) == 1 else f"{len(history.read)} recordings"
    summary = f"{len(RULES)} observations; {words} on this machine were looked through."
    if history.unreadable:
        summary += f" {history.unreadable} could not be read."
    st.caption(summary)
rules_list(history)
article_panel()
