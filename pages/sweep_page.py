"""One experiment over a range of sizes, or in every compile mode."""

import streamlit as st

from pages._panels.machine import machine_line
from pages._panels.notices import show_notice
from pages._panels.runner import get_library, get_runner
from pages._panels.sweep_list import examples_panel, own_panel
from pages._panels.sweep_result import show_sweep
from pages._panels.sweep_setup import sweep_setup
from pages._panels.sweep_start import SWEEP_PARAMETER

runner, library = get_runner(), get_library()
sweep_id = st.query_params.get(SWEEP_PARAMETER, "")

st.title("Sweep", anchor=False)
st.caption(
    "Run one experiment over many sizes, batches, number formats or compile modes, and see where "
    "its behaviour changes."
)
machine = machine_line(runner)
has_gpu = machine is not None and machine.gpu is not None

if not sweep_id and machine is not None and not has_gpu:
    st.header("Open an example recorded on a GPU", anchor=False)
    if not examples_panel(library):
        st.caption("No recorded sweep is installed with this copy of the program.")
    st.header("Or sweep on this CPU", anchor=False)

show_notice()
if sweep_id:
    with st.expander("Make another sweep", icon=":material/tune:"):
        sweep_setup(runner)
    show_sweep(sweep_id, runner, library)
else:
    sweep_setup(runner)
    own_panel(library)
    if has_gpu or machine is None:
        st.header("Examples recorded on a GPU", anchor=False)
        if not examples_panel(library):
            st.caption("No recorded sweep is installed with this copy of the program.")
