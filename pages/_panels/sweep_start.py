"""Start, resume, cancel, delete a sweep: what buttons do."""

import streamlit as st

from pages._panels.notices import leave_notice
from pages._panels.runner import get_library, get_runner
from profcore.errors import ProfcoreError
from profcore.sweep import SweepPlan

SWEEP_PARAMETER = "sweep"
"""Name of the URL parameter that holds the id of the sweep on show."""


def start_sweep(plan: SweepPlan) -> None:
    """Queue a sweep and put its id into the URL; a refusal is left for the page to show."""
    try:
        sweep_id = get_runner().submit_sweep(plan)
    except ProfcoreError as error:
        leave_notice(f"Not started. {error}")
        return
    st.query_params[SWEEP_PARAMETER] = sweep_id


def resume_sweep(sweep_id: str) -> None:
    """Queue the points that are missing."""
    try:
        get_runner().resume_sweep(sweep_id)
    except ProfcoreError as error:
        leave_notice(f"Not resumed. {error}")


def delete_sweep(sweep_id: str) -> None:
    """Delete a sweep with all its points."""
    try:
        get_library().delete(sweep_id)
    except ProfcoreError as error:
        leave_notice(str(error))
    if st.query_params.get(SWEEP_PARAMETER) == sweep_id:
        del st.query_params[SWEEP_PARAMETER]


def open_sweep_button(sweep_id: str) -> None:
    """Draw a button that shows a sweep on this page.

    A button: a link to the page that it stands on leaves the browser's address as it was.
    """
    st.button(
        "Open",
        icon=":material/show_chart:",
        key=f"open_{sweep_id}",
        on_click=_show,
        args=(sweep_id,),
    )


def _show(sweep_id: str) -> None:
    st.query_params[SWEEP_PARAMETER] = sweep_id
