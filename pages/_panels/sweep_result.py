"""A sweep on show: under way, ended early, or complete."""

import streamlit as st

from pages._panels.downloads import download
from pages._panels.origin import RECORDED_WORDS, made_where
from pages._panels.sweep_charts import crossover_panel, warmup_panel, work_charts
from pages._panels.sweep_data import full_data
from pages._panels.sweep_modes import settings_panel
from pages._panels.sweep_points import points_panel
from pages._panels.sweep_progress import watch_sweep
from pages._panels.sweep_start import SWEEP_PARAMETER, resume_sweep
from pages._panels.text import plain
from profcore.comparison.crossover import WORK_AXES
from profcore.errors import ProfcoreError
from profcore.jobs import JobRunner
from profcore.library import Library
from profcore.recording import ACTIVE
from profcore.sweep import describe
from profcore.sweeps import Sweep, open_sweep

_ENDED = {
    "failed": "This sweep failed",
    "cancelled": "This sweep was cancelled",
    "timeout": "This sweep took too long",
}


def show_sweep(sweep_id: str, runner: JobRunner, library: Library) -> None:
    """Draw whatever there is under this id; ids come from the URL and may be anything."""
    try:
        sweep = open_sweep(library, sweep_id)
        if not sweep.is_sample:
            view = runner.view(sweep_id)
            if view is not None and view.state in ACTIVE:
                watch_sweep(runner, library, sweep_id, sweep.title)
                return
            sweep = open_sweep(library, sweep_id)  # it may have ended between the two looks
    except ProfcoreError as error:
        st.warning(plain(str(error)))
        return
    _header(sweep)
    if not sweep.is_sample and (sweep.status.state != "done" or sweep.missing()):
        _ended_early(sweep)
    if not sweep.timed:
        st.info(
            "No point was timed before the sweep ended, so there is nothing to draw yet.",
            icon=":material/info:",
        )
        return
    _charts(sweep, library)


def _header(sweep: Sweep) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left, st.container(gap="xxsmall"):
        st.header(plain(sweep.title), anchor=False)
        if sweep.is_sample:
            st.markdown(f":blue-badge[{RECORDED_WORDS}]")
        if sweep.points:
            setting = describe(sweep.plan)
            what = "" if setting == sweep.title else f"{plain(setting)} · "
            st.caption(f"{what}{made_where(sweep.points[0])}")
    with (
        right,
        st.container(horizontal=True, horizontal_alignment="right"),
        st.popover("Link", icon=":material/link:", key="sweep_link"),
    ):
        address = (st.context.url or "").partition("?")[0]
        st.code(f"{address}?{SWEEP_PARAMETER}={sweep.id}", language=None, wrap_lines=True)


def _ended_early(sweep: Sweep) -> None:
    status, missing = sweep.status, sweep.missing()
    with st.container(border=True, key="sweep_ended"):
        st.subheader(_ENDED.get(status.state, "Some points are missing"), anchor=False)
        message = status.message or "Not every point was recorded."
        (st.info if status.state in {"cancelled", "done"} else st.error)(plain(message))
        st.caption(
            f"{len(sweep.done)} points are recorded and stay; {len(missing)} of the plan are "
            "missing."
        )
        if status.log_tail:
            st.caption("The last lines:")
            st.code(status.log_tail, language=None, wrap_lines=True)
        st.button(
            "Make the rest",
            icon=":material/resume:",
            key="sweep_resume",
            type="primary",
            on_click=resume_sweep,
            args=(sweep.id,),
        )


def _charts(sweep: Sweep, library: Library) -> None:
    data = full_data(sweep, library)
    for sentence in data.unreadable:
        st.warning(plain(sentence))
    if data.has_course and data.axis in WORK_AXES:
        crossover_panel(sweep, data)
        work_charts(data)
    elif data.has_course:
        warmup_panel(data)
    has_modes, has_rows = (len(set(data.points[name])) > 1 for name in ("compile", "row"))
    if has_modes or (has_rows and not data.has_course):
        settings_panel(data)
    points_panel(sweep)
    if data.ceilings is not None:
        st.caption(f"Ceilings of this device: {plain(data.ceilings.source_text)}")
    st.subheader("Take it with you", anchor=False)
    with st.container(horizontal=True):
        download(
            "Points (CSV)",
            f"profcore-{sweep.id}.points.csv",
            lambda: data.points.to_csv(index=False).encode(),
        )
