"""What the page that opens traces remembers between two runs: one small note, never the file."""

import streamlit as st

from profcore.library import default_root
from profcore.opened.arrivals import Arrival
from profcore.opened.settings import OpenSettings
from profcore.opened.shelf import Shelf

TRACE_PARAMETER = "trace"
"""Name of the URL parameter that holds the id of the trace on show."""
SETTINGS = OpenSettings()

_ARRIVAL, _MEMBER, MEMBERS = "open_arrival", "open_member", "open_members"


@st.cache_resource(show_spinner=False)
def get_shelf() -> Shelf:
    """Return the folder of opened traces of this server."""
    return Shelf(default_root(), settings=SETTINGS)


def expect(arrival: Arrival) -> None:
    """Leave a file for the page to read; what was on show goes."""
    forget()
    st.session_state[_ARRIVAL] = arrival
    if TRACE_PARAMETER in st.query_params:
        del st.query_params[TRACE_PARAMETER]


def choose(member: str) -> None:
    """Say which trace of the archive is to be read."""
    st.session_state[_MEMBER] = member


def expected() -> Arrival | None:
    """Return the file that waits to be read."""
    arrival: Arrival | None = st.session_state.get(_ARRIVAL)
    return arrival


def chosen_member() -> str:
    """Return which trace of an archive was chosen; empty for none."""
    return str(st.session_state.get(_MEMBER, ""))


def offered() -> tuple[str, ...]:
    """Return the traces of the archive, once it has been looked into."""
    members: tuple[str, ...] = st.session_state.get(MEMBERS, ())
    return members


def offer(members: tuple[str, ...]) -> None:
    """Remember the traces of the archive."""
    st.session_state[MEMBERS] = members


def forget() -> None:
    """Nothing waits any more."""
    for key in (_ARRIVAL, _MEMBER, MEMBERS):
        st.session_state.pop(key, None)


def show(trace_id: str) -> None:
    """Put a trace that was read into the address."""
    forget()
    st.query_params[TRACE_PARAMETER] = trace_id
