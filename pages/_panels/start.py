"""Start a run, open a recording, set the knobs: what buttons do."""

import streamlit as st

from pages._panels.into_view import KNOBS, bring_into_view
from pages._panels.notices import leave_notice
from pages._panels.runner import get_runner
from profcore import workloads
from profcore.errors import ProfcoreError
from profcore.experiment import Experiment

RUN_PARAMETER = "run"
"""Name of the URL parameter that holds the id of the recording on show."""

RULE_PARAMETER = "rule"
"""Id of a rule that fired: the bars of its evidence are highlighted in the charts."""
EVENT_PARAMETER = "event"
"""Place of one piece of that evidence in its list, from 1; without it all of them are meant."""

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
    open_recording(run_id)


def open_recording(recording_id: str) -> None:
    """Show a recording or a sample on the Run page."""
    forget_highlight()
    st.query_params[RUN_PARAMETER] = recording_id


def forget_highlight() -> None:
    """Take out of the address what was highlighted: it belongs to one recording."""
    for name in (RULE_PARAMETER, EVENT_PARAMETER):
        st.query_params.pop(name, None)


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


def show_knobs_of(experiment: Experiment) -> None:
    """Move the knobs to an experiment and show them: they stand far above a result."""
    set_knobs(experiment)
    bring_into_view(KNOBS)


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
