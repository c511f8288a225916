"""When and why: the timeline of a recording, from the Python call to the kernel."""

import streamlit as st

from pages._panels.origin import made_where
from pages._panels.results import load
from pages._panels.runner import get_library
from pages._panels.samples import load_samples
from pages._panels.start import RUN_PARAMETER
from pages._panels.text import plain
from pages._panels.timeline_perfetto import perfetto_panel
from pages._panels.timeline_picture import picture_panel
from pages._panels.timeline_state import PARAMETERS, asked_recording, choices, forget
from profcore.errors import ProfcoreError

RECORDING = "timeline_recording"


def choose() -> None:
    """Put the chosen recording into the address; steps and rows of the old one go."""
    st.query_params[RUN_PARAMETER] = st.session_state[RECORDING]
    forget(*PARAMETERS)


st.title("Timeline", anchor=False)
st.caption("What happened when, why the GPU waited, and how a Python call becomes a kernel.")

library = get_library()
known = choices(library, load_samples())
try:
    recording = asked_recording(known, library)
    result = None if recording is None else load(recording)
except ProfcoreError as error:
    recording, result = None, None
    st.warning(plain(str(error)))

if known:
    st.session_state[RECORDING] = recording.id if recording is not None else None
    st.selectbox(
        "Recording",
        list(known),
        format_func=lambda name: known[name].title if name in known else name,
        key=RECORDING,
        on_change=choose,
        placeholder="Choose a recording",
    )
else:
    st.info(
        "Nothing was recorded yet. Run an experiment, and its timeline will stand here.",
        icon=":material/info:",
    )
    st.page_link("pages/run_page.py", label="Run an experiment", icon=":material/play_arrow:")

if recording is not None and result is not None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(made_where(recording))
        st.page_link(
            "pages/run_page.py",
            label="Its result",
            icon=":material/open_in_new:",
            query_params={RUN_PARAMETER: recording.id},
        )
    picture_panel(recording, result)
    perfetto_panel(recording)
