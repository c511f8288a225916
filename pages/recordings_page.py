"""The recordings made on this machine and the examples that ship with the program."""

import math

import streamlit as st

from pages._panels.notices import show_notice
from pages._panels.recording_row import damaged_row, recording_row
from pages._panels.runner import get_library
from pages._panels.samples import load_samples

ROWS_PER_PAGE = 15
"""Each row with a verdict costs a read of its trace, once."""

st.title("Recordings", anchor=False)
library = get_library()
show_notice()

own, examples = library.list(), load_samples()
st.header("Made on this machine", anchor=False)
if own:
    pages = math.ceil(len(own) / ROWS_PER_PAGE)
    page = st.pagination(pages, key="recordings_page") if pages > 1 else 1
    first = (min(page, pages) - 1) * ROWS_PER_PAGE
    with st.container(gap="xsmall"):
        for recording in own[first : first + ROWS_PER_PAGE]:
            recording_row(recording)
else:
    st.info(
        "Nothing was recorded on this machine yet. Run an experiment, and it will stand here, so "
        "that you can open it again, name it, or send its link to a colleague.",
        icon=":material/info:",
    )
    st.page_link("pages/run_page.py", label="Run an experiment", icon=":material/play_arrow:")
for recording_id, sentence in library.damaged():
    damaged_row(recording_id, sentence)

st.header("Recorded examples", anchor=False)
if examples:
    st.caption("They were made by this program on a real GPU and are part of it.")
    with st.container(gap="xsmall"):
        for recording in examples:
            recording_row(recording)
else:
    st.caption("No recorded examples are installed with this copy of the program.")
