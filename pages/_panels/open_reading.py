"""A file is read: progress, a choice in an archive, or the sentence that refuses it."""

import time

import streamlit as st

from pages._panels import open_state
from pages._panels.text import plain
from profcore.errors import TraceError
from profcore.opened.arrivals import Arrival
from profcore.opened.reading import Choice, open_trace
from profcore.units import bytes_text

_SAY_EVERY_S = 0.5
_MEMBER_BOX = "open_member_box"


def reading_panel(arrival: Arrival) -> None:
    """Read the file that arrived, and show it; or say why not."""
    if open_state.offered() and not open_state.chosen_member():
        _choice(arrival, open_state.offered())
        return
    settings = open_state.SETTINGS
    place = st.empty()
    progress = _Progress(place, arrival)
    try:
        found = open_trace(
            arrival,
            open_state.get_shelf(),
            member=open_state.chosen_member(),
            on_tick=progress.tick,
        )
    except TraceError as error:
        place.empty()
        open_state.forget()
        st.error(f"This file cannot be opened. {plain(str(error))}", icon=":material/block:")
        st.caption(
            f"At most {bytes_text(settings.memory_max_bytes)} of memory and "
            f"{settings.wall_time_max_s:,.0f} s are spent on one file here; "
            "python -m profcore analyze reads larger ones."
        )
        return
    place.empty()
    if isinstance(found, Choice):
        open_state.offer(found.members)
        _choice(arrival, found.members)
        return
    open_state.show(found.id)
    st.rerun()


class _Progress:
    """Words that change twice a second; a bar would have to guess."""

    def __init__(self, place: st.delta_generator.DeltaGenerator, arrival: Arrival) -> None:
        self._place = place
        self._words = f"Reading {plain(arrival.name)} ({bytes_text(arrival.size_bytes)})"
        self._began_s = self._said_s = time.monotonic()
        self._say(self._began_s)

    def tick(self) -> None:
        now_s = time.monotonic()
        if now_s - self._said_s >= _SAY_EVERY_S:
            self._said_s = now_s
            self._say(now_s)

    def _say(self, now_s: float) -> None:
        elapsed_s = now_s - self._began_s
        share = min(elapsed_s / open_state.SETTINGS.wall_time_max_s, 1.0)
        self._place.progress(share, text=f"{self._words} … {elapsed_s:.0f} s of the time allowed")


def _choice(arrival: Arrival, members: tuple[str, ...]) -> None:
    st.info(
        f"{plain(arrival.name)} is an archive of {len(members):,} traces: choose one.",
        icon=":material/folder_zip:",
    )
    words, button = st.columns([4, 1], vertical_alignment="bottom")
    with words:
        st.selectbox("Trace in the archive", members, key=_MEMBER_BOX)
    with button:
        st.button("Open it", key="open_member_button", type="primary", on_click=_take_member)


def _take_member() -> None:
    open_state.choose(str(st.session_state[_MEMBER_BOX]))
