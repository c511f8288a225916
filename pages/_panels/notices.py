"""A sentence for the visitor that a button's callback leaves for the page to show."""

import streamlit as st

from pages._panels.text import plain

_KEY = "notice"


def leave_notice(text: str) -> None:
    """Keep a sentence until the page is drawn again."""
    st.session_state[_KEY] = text


def show_notice() -> None:
    """Draw the sentence, once."""
    if text := st.session_state.pop(_KEY, ""):
        st.warning(plain(str(text)))
