"""Run one experiment and read its result; the default page."""

import streamlit as st

from pages._panels.cost import setup
from pages._panels.into_view import bring_new_recording_into_view, do_as_asked
from pages._panels.machine import likely_has_gpu, machine_line
from pages._panels.notices import show_notice
from pages._panels.result import show_recording
from pages._panels.runner import get_library, get_runner
from pages._panels.samples import sample_cards
from pages._panels.start import RESULT_ANCHOR, RUN_PARAMETER

runner, library = get_runner(), get_library()
recording_id = st.query_params.get(RUN_PARAMETER, "")

st.title("Where does the time go?", anchor=False)
st.caption(
    "Choose a small PyTorch experiment, run it under the profiler, and read what its times mean."
)
if recording_id:
    st.markdown(f":small[:material/arrow_downward: [To the result](#{RESULT_ANCHOR})]")
machine = machine_line(runner)
# The order of the page must not change under the visitor when the machine becomes known.
has_gpu = likely_has_gpu() if machine is None else machine.gpu is not None

bring_new_recording_into_view(recording_id)
if not recording_id and not has_gpu:
    st.header("Open an example recorded on a GPU", anchor=False)
    sample_cards()
    st.header("Or run an experiment on this CPU", anchor=False)

setup(runner)
show_notice()

if recording_id:
    show_recording(recording_id, runner, library)
elif has_gpu:
    st.caption("Nothing is on show yet: press Run, or open an example.")
    st.header("Examples recorded on a GPU", anchor=False)
    sample_cards()
do_as_asked()
