"""Start a run, open a recording, set the knobs: what buttons do."""

import streamlit as st

from pages._panels.notices import leave_notice
from pages._panels.runner import get_runner
from profcore import workloads
from profcore.errors import ProfcoreError
from profcore.experiment import Experiment

RUN_PARAMETER = "run"
"""Name of the URL parameter that holds the id of the recording on show."""

RESULT_ANCHOR = "result"
"""Where the recording on show begins: on a phone the knobs fill two screens above it."""

_EXTRA_SIZE = "extra_size"


def start(experiment: Experiment) -> None:
    """Queue a run and put its id into the URL; a refusal is left for the page to show."""
    try:
        run_id = get_runner().submit(experiment)
    except ProfcoreError as error:
        leave_notice(f"Not started. {error}")
        return
    st.query_params[RUN_PARAMETER] = run_id


def open_recording(recording_id: str) -> None:
    """Show a recording or a sample on the Run page."""
    st.query_params[RUN_PARAMETER] = recording_id


def set_knobs(experiment: Experiment) -> None:
    """Move the knobs to an experiment. Only in a callback: it must come before the widgets."""
    workload = workloads.find(experiment.workload)
    for name in Experiment.__struct_fields__:
        # A knob that this workload does not show keeps its value.
        if (name == "batch" and not workload.uses_batch) or (
            name == "bias" and not workload.uses_bias
        ):
            continue
        st.session_state[name] = getattr(experiment, name)
    st.session_state[_EXTRA_SIZE] = experiment.size


def set_knobs_and_start(experiment: Experiment) -> None:
    """Move the knobs and run at once."""
    set_knobs(experiment)
    start(experiment)


def extra_size() -> int | None:
    """Return a size from a link or a button that may lie between the slider's stops."""
    if isinstance(kept := st.session_state.get(_EXTRA_SIZE), int):
        return kept
    text = st.query_params.get("size", "")
    if not (text.isascii() and text.isdigit()):
        return None
    st.session_state[_EXTRA_SIZE] = int(text)
    return int(text)
