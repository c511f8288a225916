"""Every point of a sweep: how it ended, and the way to its full recording."""

import streamlit as st

from pages._panels.compare_link import compare_link
from pages._panels.start import RUN_PARAMETER
from pages._panels.text import plain
from profcore.experiment import describe
from profcore.recording import Recording
from profcore.sweeps import Sweep
from profcore.units import time_text

_SHOWN_MAX = 20


def points_panel(sweep: Sweep) -> None:
    """Draw the choice of a point with its links, and the points that are not done."""
    st.subheader("Open a point as a full recording", anchor=False)
    done = {point.id: point for point in sweep.done}
    if done:
        _open_one(done)
    else:
        st.caption("No point was recorded in full yet.")
    _not_done([point for point in sweep.points if point.id not in done])


@st.fragment
def _open_one(done: dict[str, Recording]) -> None:
    chosen = st.selectbox(
        "Point",
        list(done),
        format_func=lambda name: _label(done[name]) if name in done else name,
        key="sweep_point",
    )
    if chosen in done:
        with st.container(horizontal=True):
            st.page_link(
                "pages/run_page.py",
                label="Open it",
                icon=":material/open_in_new:",
                query_params={RUN_PARAMETER: chosen},
            )
            compare_link(chosen, label="Compare it with another point")


def _label(point: Recording) -> str:
    took = f" · {time_text(point.timings.step_ns_median)} a step" if point.timings else ""
    return f"{describe(point.experiment)}{took}"


def _not_done(points: list[Recording]) -> None:
    for point in points[:_SHOWN_MAX]:
        timed = "timed, but not recorded" if point.timings else "not made"
        st.caption(f"{plain(describe(point.experiment))}: {timed}. {plain(point.status.message)}")
    if len(points) > _SHOWN_MAX:
        st.caption(f"And {len(points) - _SHOWN_MAX} more.")
