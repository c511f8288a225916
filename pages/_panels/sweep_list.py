"""The sweeps that ship with the program and those made on this machine."""

import streamlit as st

from pages._panels.sweep_data import environment_of
from pages._panels.sweep_start import delete_sweep, open_sweep_button
from pages._panels.text import plain
from profcore.library import Library
from profcore.sweep import describe
from profcore.sweeps import Sweep, list_sweeps, sample_sweeps

OWN_MAX = 20
TITLE_MAX = 120


def examples_panel(library: Library) -> bool:
    """Draw a card per recorded sweep; False when none is installed."""
    examples = sample_sweeps(library)
    if not examples:
        return False
    with st.grid(2, min_column_width=280):
        for sweep in examples:
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.markdown(f"**{plain(sweep.title[:TITLE_MAX])}**")
                st.caption(_where(sweep))
                open_sweep_button(sweep.id)
    return True


def own_panel(library: Library) -> None:
    """Draw a row per sweep made here, newest first."""
    own = list_sweeps(library)
    st.header("Made on this machine", anchor=False)
    if not own:
        st.caption(
            "No sweep was made on this machine yet. Choose a range above and run it; it will "
            "stand here."
        )
        return
    with st.container(gap="xsmall"):
        for sweep in own[:OWN_MAX]:
            _row(sweep)


def _row(sweep: Sweep) -> None:
    with st.container(border=True, key=f"sweep_row_{sweep.id}", horizontal=True):
        with st.container(gap="xxsmall"):
            st.markdown(f"**{plain(sweep.title[:TITLE_MAX])}**")
            st.caption(f"{_where(sweep)} · {sweep.status.created_at[:16].replace('T', ' ')} UTC")
        open_sweep_button(sweep.id)
        if not sweep.is_active:
            with st.popover("Delete", icon=":material/delete:", key=f"delete_{sweep.id}"):
                st.text("This deletes the sweep and all its points.")
                st.button(
                    "Delete it",
                    key=f"sure_{sweep.id}",
                    type="primary",
                    on_click=delete_sweep,
                    args=(sweep.id,),
                )


def _where(sweep: Sweep) -> str:
    place = environment_of(sweep)
    device = plain(place.device_name) if place else "not begun"
    state = "" if sweep.status.state == "done" else f" · {sweep.status.state}"
    setting = plain(describe(sweep.plan))
    what = "" if setting == plain(sweep.title) else f"{setting} · "
    return f"{what}{len(sweep.done)} points · {device}{state}"
