"""A recording on the Run page: under way, ended badly, or done."""

import streamlit as st

from pages._panels.compare_link import compare_link
from pages._panels.confirm import VERDICT_RULE, confirm_button
from pages._panels.confirmation import confirmation_panel
from pages._panels.downloads import downloads_panel
from pages._panels.ended import ended
from pages._panels.numbers import numbers_panel
from pages._panels.origin import RECORDED_WORDS, link_popover, made_where, origin_panel
from pages._panels.progress import watch
from pages._panels.results import load
from pages._panels.samples import sample_of, samples_fold
from pages._panels.start import RESULT_ANCHOR, open_recording, show_knobs_of
from pages._panels.text import plain
from pages._panels.timeline_link import RowLink, timeline_link
from pages._panels.trace_result import result_panels
from pages._panels.verdict import verdict_panel
from profcore import workloads
from profcore.errors import ProfcoreError
from profcore.experiment import describe
from profcore.jobs import JobRunner
from profcore.library import Library
from profcore.recording import ACTIVE, Recording
from profcore.rules import Finding
from profcore.rules.trials import VERDICT_RULES


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
        _done(recording, runner, library)
    else:
        ended(recording)


def _done(recording: Recording, runner: JobRunner, library: Library) -> None:
    _header(recording)
    try:
        result = load(recording)
    except ProfcoreError as error:
        st.error(plain(str(error)))
        return

    def verdict() -> None:
        verdict_panel(result.verdict, recording, runner)
        with st.container(key="verdict_test", gap="xsmall"):
            confirm_button(VERDICT_RULE, result.analysis, recording, runner)
        if not result.analysis.totals.gpu_recorded:
            _same_on_a_gpu(recording)

    def follow(finding: Finding) -> None:
        if finding.rule not in VERDICT_RULES:  # the verdict has their button
            confirm_button(finding.rule, result.analysis, recording, runner)
        if any(evidence.row is not None for evidence in finding.evidence):
            timeline_link(recording.id, rule=finding.rule)

    confirmation_panel(recording, result, library)
    result_panels(
        result,
        verdict=verdict,
        numbers=lambda: numbers_panel(result.numbers),
        follow=follow,
        row_link=RowLink(trace_id=recording.id),
    )
    downloads_panel(recording, result)
    origin_panel(recording)
    samples_fold()


def _same_on_a_gpu(recording: Recording) -> None:
    """Lead from a run on a CPU to the example of the same experiment on a GPU, if there is one."""
    if sample_id := sample_of(recording.experiment):
        st.button(
            "See the same experiment on a GPU",
            icon=":material/arrow_forward:",
            key="same_on_a_gpu",
            on_click=open_recording,
            args=(sample_id,),
            help="Opens the recorded example: what bounds this program where there is a GPU.",
        )


def _header(recording: Recording) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left, st.container(gap="xxsmall"):
        st.header(plain(recording.title), anchor=RESULT_ANCHOR)
        if recording.is_sample:
            st.markdown(f":blue-badge[{RECORDED_WORDS}]")
        workload = workloads.find(recording.experiment.workload)
        st.caption(f"{workload.title} · {made_where(recording)}")
    with right, st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Use these settings",
            icon=":material/tune:",
            key="use_settings",
            on_click=show_knobs_of,
            args=(recording.experiment,),
            help="Moves the knobs to the settings of this recording and shows them.",
        )
        link_popover(recording)
    with st.container(horizontal=True):
        timeline_link(recording.id, label="See its timeline")
        compare_link(recording.id)
