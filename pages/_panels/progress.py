"""A run that waits or is under way: its phases, how long each took, and Cancel."""

import streamlit as st

from pages._panels.charts_first import draw_charts_first
from pages._panels.into_view import RESULT, bring_into_view
from pages._panels.start import RESULT_ANCHOR
from pages._panels.text import plain
from profcore.jobs import JobRunner, JobView
from profcore.recording import ACTIVE

LOOK_EVERY_S = 0.25


@st.fragment(run_every=LOOK_EVERY_S)
def watch(runner: JobRunner, run_id: str, title: str) -> None:
    """Draw an active run four times a second; when it ends, rerun the page once for its result."""
    view = runner.view(run_id)
    if view is None or view.state not in ACTIVE:
        bring_into_view(RESULT)
        if view is not None and view.state == "done":
            draw_charts_first()
        st.rerun()
    with st.container(border=True, key="progress"):
        st.header(plain(title), anchor=RESULT_ANCHOR)
        if view.state == "queued":
            _waiting(view)
        else:
            _phases(view)
        st.button(
            "Cancel",
            icon=":material/stop_circle:",
            key="cancel",
            on_click=runner.cancel,
            args=(run_id,),
        )


def _waiting(view: JobView) -> None:
    place = f"place {view.position} in the queue" if view.position else "another run goes first"
    st.markdown(f":material/hourglass_empty: Waiting, {place} · {view.elapsed_s:.0f} s")
    st.caption("One run at a time: two at once would bend each other's times.")


def _phases(view: JobView) -> None:
    """Finished phases with how long they took, the present one with the time so far."""
    lines = []
    for position, phase in enumerate(view.phases):
        is_last = position + 1 == len(view.phases)
        until_s = view.elapsed_s if is_last else view.phases[position + 1].began_s
        took_s = max(0.0, until_s - phase.began_s)
        name = plain(phase.name)
        if is_last:
            # Whole seconds: what does not change is not drawn anew, and drawing on the machine
            # that is measured would take a part of it.
            lines.append(f":material/arrow_forward: **{name}** · {int(took_s)} s")
        else:
            lines.append(f":material/check: {name} · {took_s:.1f} s")
    st.markdown("  \n".join(lines))
    st.caption(f"{int(view.elapsed_s)} s so far")
