"""One row of the list of recordings: what it is, and what can be done with it."""

import streamlit as st

from pages._panels.notices import leave_notice
from pages._panels.outcome import verdict_line
from pages._panels.runner import get_library
from pages._panels.start import RUN_PARAMETER
from pages._panels.text import plain
from profcore.errors import ProfcoreError
from profcore.experiment import describe
from profcore.library import TITLE_MAX
from profcore.recording import ACTIVE, Recording


def recording_row(recording: Recording) -> None:
    """Draw one recording or sample."""
    with st.container(border=True, key=f"row_{recording.id}"):
        words, actions = st.columns([5, 3], vertical_alignment="center")
        with words, st.container(gap="xxsmall"):
            st.markdown(f"**{plain(recording.title)}**")
            st.caption(_details(recording))
            st.markdown(verdict_line(recording))
        with (
            actions,
            st.container(
                horizontal=True, horizontal_alignment="right", vertical_alignment="center"
            ),
        ):
            st.page_link(
                "pages/run_page.py",
                label="Open",
                icon=":material/open_in_new:",
                query_params={RUN_PARAMETER: recording.id},
            )
            if not recording.is_sample:
                _rename(recording)
                _delete(recording)


def _details(recording: Recording) -> str:
    where = recording.environment.device_name if recording.environment else ""
    when = recording.status.created_at or (
        recording.environment.recorded_at if recording.environment else ""
    )
    parts = [where, when[:16].replace("T", " ") + " UTC" if when else ""]
    setting = describe(recording.experiment)
    if setting != recording.title:
        parts.insert(0, setting)
    return " · ".join(plain(part) for part in parts if part)


def _rename(recording: Recording) -> None:
    with st.popover("Rename", icon=":material/edit:", key=f"rename_{recording.id}"):
        st.text_input(
            "Title",
            value=recording.title,
            max_chars=TITLE_MAX,
            key=_title_key(recording.id),
            on_change="ignore",
            help="Empty brings back the description of the experiment.",
        )
        st.button("Save", key=f"save_{recording.id}", on_click=_save, args=(recording.id,))


def _delete(recording: Recording) -> None:
    is_active = recording.status.state in ACTIVE
    with st.popover(
        "Delete",
        icon=":material/delete:",
        key=f"delete_{recording.id}",
        disabled=is_active,
        help="Cancel the run first." if is_active else None,
    ):
        st.text("This deletes the recording and its trace from this machine for good.")
        st.button(
            "Delete for good",
            key=f"sure_{recording.id}",
            type="primary",
            on_click=_delete_for_good,
            args=(recording.id,),
        )


def _title_key(recording_id: str) -> str:
    return f"title_{recording_id}"


def _save(recording_id: str) -> None:
    try:
        get_library().rename(recording_id, str(st.session_state[_title_key(recording_id)]))
    except ProfcoreError as error:
        leave_notice(str(error))


def _delete_for_good(recording_id: str) -> None:
    try:
        get_library().delete(recording_id)
    except ProfcoreError as error:
        leave_notice(str(error))


def damaged_row(recording_id: str, sentence: str) -> None:
    """Draw a recording that cannot be read; deleting it is all that can be done."""
    with st.container(border=True, key=f"row_{recording_id}"):
        st.markdown(f":red-badge[damaged] {plain(sentence)}")
        st.button(
            "Delete",
            icon=":material/delete:",
            key=f"sure_{recording_id}",
            on_click=_delete_for_good,
            args=(recording_id,),
        )
