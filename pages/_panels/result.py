"""A recording on the Run page: under way, ended badly, or done."""

import streamlit as st

from pages._panels.downloads import downloads_panel
from pages._panels.ended import ended
from pages._panels.figures import figure_panel
from pages._panels.numbers import numbers_panel
from pages._panels.observations import observations_panel
from pages._panels.origin import RECORDED_WORDS, link_popover, made_where, origin_panel
from pages._panels.progress import watch
from pages._panels.results import load
from pages._panels.start import RESULT_ANCHOR, set_knobs
from pages._panels.text import plain
from pages._panels.verdict import verdict_panel
from profcore.errors import ProfcoreError
from profcore.experiment import describe
from profcore.jobs import JobRunner
from profcore.library import Library
from profcore.recording import ACTIVE, Recording


def show_recording(recording_id: str, runner: JobRunner, library: Library) -> None:
    """Draw whatever there is under this id; ids come from the URL and may be anything."""
    try:
        recording = library.open(recording_id)
    except ProfcoreError as error:
        st.warning(plain(str(error)))
        st.page_link(
            "pages/recordings_page.py",
            label="See the recordings on this machine",
            icon=":material/folder_open:",
        )
        return
    if not recording.is_sample:
        view = runner.view(recording_id)
        if view is not None and view.state in ACTIVE:
            watch(runner, recording_id, describe(recording.experiment))
            return
        recording = library.open(recording_id)  # it may have ended between the two looks
    if recording.status.state == "done":
        _done(recording, runner)
    else:
        ended(recording)


def _done(recording: Recording, runner: JobRunner) -> None:
    _header(recording)
    try:
        result = load(recording)
    except ProfcoreError as error:
        st.error(plain(str(error)))
        return
    verdict_panel(result.verdict, recording, runner)
    numbers_panel(result.numbers)
    for position, figure in enumerate(result.figures):
        figure_panel(figure, key=str(position))
    if not result.analysis.totals.gpu_recorded:
        st.caption(
            "A run on a GPU has one more chart here: which kernels fill the GPU's time. The "
            "recorded examples show it."
        )
    observations_panel(result.findings)
    downloads_panel(recording, result)
    origin_panel(recording)


def _header(recording: Recording) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left, st.container(gap="xxsmall"):
        st.header(plain(recording.title), anchor=RESULT_ANCHOR)
        if recording.is_sample:
            st.markdown(f":blue-badge[{RECORDED_WORDS}]")
        st.caption(made_where(recording))
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Use these settings",
            icon=":material/tune:",
            key="use_settings",
            on_click=set_knobs,
            args=(recording.experiment,),
            help="Moves the knobs above to the settings of this recording.",
        )
        link_popover(recording)
