"""Open a trace that any profiler run wrote, and read it like a recording of this program."""

import streamlit as st

from pages._panels.notices import show_notice
from pages._panels.open_reading import reading_panel
from pages._panels.open_recent import recent_panel
from pages._panels.open_result import show_opened
from pages._panels.open_sources import serves_this_machine_alone, sources_panel
from pages._panels.open_state import TRACE_PARAMETER, expected

st.title("Open a trace", anchor=False)
st.caption(
    "Any trace of torch.profiler, whatever device and version wrote it: its numbers, what they "
    "likely mean, and what in it cannot be trusted."
)
trace_id = st.query_params.get(TRACE_PARAMETER, "")
arrival = expected()

show_notice()
with st.expander(
    "Open another file" if trace_id else "Choose a file",
    expanded=not trace_id,
    icon=":material/upload_file:",
):
    sources_panel()

if arrival is not None:
    reading_panel(arrival)
elif trace_id:
    show_opened(trace_id)
elif serves_this_machine_alone():
    recent_panel()
