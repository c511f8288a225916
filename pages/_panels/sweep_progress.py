"""A sweep that waits or is under way: how far it is, what it has so far, and Cancel."""

import streamlit as st

from pages._panels.figures import figure_panel
from pages._panels.sweep_data import timed_data
from pages._panels.text import plain
from profcore.charts import sweep_times_figure
from profcore.errors import ProfcoreError
from profcore.jobs import JobRunner, JobView
from profcore.library import Library
from profcore.recording import ACTIVE
from profcore.sweeps import open_sweep

LOOK_EVERY_S = 1.0


@st.fragment(run_every=LOOK_EVERY_S)
def watch_sweep(runner: JobRunner, library: Library, sweep_id: str, title: str) -> None:
    """Draw an active sweep once a second; when it ends, rerun the page once for its result."""
    view = runner.view(sweep_id)
    if view is None or view.state not in ACTIVE:
        st.rerun()
    with st.container(border=True, key="sweep_progress"):
        st.header(plain(title), anchor=False)
        if view.state == "queued":
            place = f"place {view.position} in the queue" if view.position else "another goes first"
            st.markdown(f":material/hourglass_empty: Waiting, {place} · {view.elapsed_s:.0f} s")
        else:
            _how_far(view)
        st.button(
            "Cancel",
            icon=":material/stop_circle:",
            key="sweep_cancel",
            on_click=runner.cancel,
            args=(sweep_id,),
            help="The points that are done stay, and the rest can be made later.",
        )
    _so_far(library, sweep_id)


def _how_far(view: JobView) -> None:
    phase = plain(view.phases[-1].name) if view.phases else "starting"
    point = view.point
    if point is None:
        st.markdown(f":material/arrow_forward: **{phase}** · {view.elapsed_s:.0f} s")
        return
    st.progress(
        min(1.0, max(0.0, (point.number - 1) / max(1, point.count))),
        text=f"**{phase}**, point {point.number} of {point.count}: {plain(point.text)} · "
        f"{view.elapsed_s:.0f} s",
    )


def _so_far(library: Library, sweep_id: str) -> None:
    try:
        data = timed_data(open_sweep(library, sweep_id), library)
    except ProfcoreError:
        return  # deleted meanwhile: the next look says so
    if data.points.empty:
        st.caption("The first point will stand here as soon as it is timed.")
        return
    figure_panel(sweep_times_figure(data.points, data.crossings), key="sweep_live")
