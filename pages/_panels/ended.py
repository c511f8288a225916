"""A run that ended without a recording: what happened, its last lines, and how to go on."""

import streamlit as st

from pages._panels.start import RESULT_ANCHOR, set_knobs_and_start, show_knobs_of
from pages._panels.text import plain
from profcore.experiment import describe
from profcore.recording import Recording

_HEADINGS = {
    "failed": "This run failed",
    "cancelled": "This run was cancelled",
    "timeout": "This run took too long",
}
_NO_REASON = "It ended without saying why. Its last lines may tell; else run it again."


def ended(recording: Recording) -> None:
    """Draw the end of a run that is not done."""
    status = recording.status
    with st.container(border=True, key="ended"):
        st.header(_HEADINGS.get(status.state, "This run has no result"), anchor=RESULT_ANCHOR)
        st.caption(f"{plain(describe(recording.experiment))} · after {status.run_s:.1f} s")
        message = plain(status.message or _NO_REASON)
        if status.state == "cancelled":
            st.info(message)
        else:
            st.error(message)
        if status.log_tail:
            st.caption("The last lines of the run:")
            st.code(status.log_tail, language=None, wrap_lines=True)
        with st.container(horizontal=True):
            st.button(
                "Run it again",
                icon=":material/replay:",
                key="again",
                on_click=set_knobs_and_start,
                args=(recording.experiment,),
            )
            st.button(
                "Use these settings",
                icon=":material/tune:",
                key="use_settings",
                on_click=show_knobs_of,
                args=(recording.experiment,),
                help="Moves the knobs to this run's settings and shows them.",
            )
