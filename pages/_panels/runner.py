"""The one job runner and the one library of this server; every page takes them from here."""

import streamlit as st

from profcore.jobs import JobRunner, Limits
from profcore.library import Library, default_root

LIMITS = Limits()


@st.cache_resource(show_spinner=False)
def get_library() -> Library:
    """Return the recordings of this machine; PROFCORE_DATA names their folder."""
    return Library(default_root())


@st.cache_resource(show_spinner=False, on_release=JobRunner.close)
def get_runner() -> JobRunner:
    """Return the queue; making it starts the child that looks at the machine."""
    return JobRunner(get_library(), limits=LIMITS)
