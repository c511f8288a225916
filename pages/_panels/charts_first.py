"""Of a result that has just come, the charts are on the screen before the long list below them.

A browser draws what came together only when all of it is ready: the list of observations alone
takes a small machine half a second.
"""

import time

import streamlit as st

PAUSE_S = 0.4
"""What a browser on two cores takes to draw verdict and charts."""
_KEY = "charts_first"


def draw_charts_first() -> None:
    """Ask for a pause after the charts of the next result."""
    st.session_state[_KEY] = True


def pause_if_asked() -> None:
    """Let the browser draw what it has been sent; once."""
    if st.session_state.pop(_KEY, False):
        time.sleep(PAUSE_S)
