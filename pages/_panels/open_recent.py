"""The traces opened before. Only for an app that serves one machine: links are private else."""

import streamlit as st

from pages._panels.open_state import TRACE_PARAMETER, get_shelf
from pages._panels.text import plain
from profcore.units import bytes_text

SHOWN_MAX = 8
_NAME_MAX = 120


def recent_panel() -> None:
    """Draw a link per trace, the one used last first; a second look reads no file again."""
    known = get_shelf().newest_first()
    if not known:
        return
    st.subheader("Opened before", anchor=False)
    with st.container(gap="xxsmall"):
        for opened in known[:SHOWN_MAX]:
            # A link to the page it stands on would leave the address as it is; this changes it.
            st.button(
                f"{plain(opened.title[:_NAME_MAX])} ({bytes_text(opened.about.size_bytes)})",
                icon=":material/history:",
                key=f"recent_{opened.id}",
                type="tertiary",
                on_click=_show,
                args=(opened.id,),
            )


def _show(trace_id: str) -> None:
    st.query_params[TRACE_PARAMETER] = trace_id
