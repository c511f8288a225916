"""Hand a trace over to Perfetto: what is handed over, and what the visitor reads about it."""

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from pages._panels.text import plain
from pages._panels.timeline_perfetto_button import COMPONENT
from profcore.errors import ProfcoreError
from profcore.opened.shelf import OpenedTrace
from profcore.recording import Recording
from profcore.trace import perfetto
from profcore.trace.perfetto import Relaned
from profcore.trace.writing import chrome_text
from profcore.units import bytes_text

ORIGIN_VARIABLE = "PROFCORE_PERFETTO_ORIGIN"
DEFAULT_ORIGIN = "https://ui.perfetto.dev"
STORED_MAX_BYTES = 64 * 1024**2
"""Compressed bytes that are sent through the page's connection; larger files are downloaded."""
ROWS_MAX = 1_000_000
"""Rows of an opened trace that are written anew; more text than that nobody's browser wants."""
KEY = "perfetto"
_WANTED, _REMARK = "perfetto_wanted", "perfetto_remark"
_ANEW = (
    "The opened file is not kept here, so its rows are written anew for Perfetto: names, times, "
    "threads and which call launched which work; not shapes and stacks."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HandOver:
    """A trace that can be handed over; small, because the session keeps it."""

    id: str
    stamp: str
    """Changes when the trace does."""
    title: str
    pack: Callable[[], Relaned]
    """Gives the text; may raise ProfcoreError."""
    too_large: str
    """Why it cannot be handed over, in a sentence; empty when it can."""
    words: str = ""
    """What is special about this text."""


def of_recording(recording: Recording) -> HandOver:
    """Return what hands over the trace of a recording: its file."""
    try:
        stored_bytes = recording.trace_path.stat().st_size
    except OSError:
        stored_bytes = 0  # opening it says what is wrong
    too_large = ""
    if stored_bytes > STORED_MAX_BYTES:
        too_large = (
            f"This trace has {bytes_text(stored_bytes)}; up to {bytes_text(STORED_MAX_BYTES)} can "
            "be handed over. Download it and drop it on Perfetto's page."
        )
    return HandOver(
        id=recording.id,
        stamp=str(stored_bytes),
        title=recording.title,
        pack=partial(perfetto.for_perfetto, recording.trace_path),
        too_large=too_large,
    )


def of_opened(opened: OpenedTrace, *, rows: int) -> HandOver:
    """Return what hands over an opened trace of so many rows: a text made from its columns."""
    too_large = ""
    if rows > ROWS_MAX:
        too_large = (
            f"This trace has {rows:,} rows; up to {ROWS_MAX:,} can be handed over. Drop the file "
            "itself on Perfetto's page."
        )
    return HandOver(
        id=opened.id,
        stamp=opened.about.opened_at,
        title=opened.title,
        pack=lambda: perfetto.for_perfetto(chrome_text(opened.load())),
        too_large=too_large,
        words=_ANEW,
    )


def origin() -> str:
    """Return where Perfetto lives: PROFCORE_PERFETTO_ORIGIN, else its public page.

    What is not an http address is passed over.
    """
    asked = urlsplit(os.environ.get(ORIGIN_VARIABLE, ""))
    if asked.scheme in {"http", "https"} and asked.netloc:
        return f"{asked.scheme}://{asked.netloc}"
    return DEFAULT_ORIGIN


@st.fragment
def perfetto_panel(given: HandOver, *, beside: Callable[[], None] | None = None) -> None:
    """Draw the button that hands the trace over, and what `beside` draws next to it."""
    payload, problem = b"", ""
    if st.session_state.pop(_WANTED, None) == given.id and not given.too_large:
        try:
            payload, remark = _packed(given, given.id, given.stamp)
            st.session_state[_REMARK] = (given.id, remark)
        except ProfcoreError as error:
            problem = str(error)
    header = {
        "origin": origin(),
        "label": "Open in Perfetto",
        "title": f"{given.title} (profcore)",
        "file": f"profcore-{given.id[:12]}.json.gz",
        "disabled": bool(given.too_large),
        "problem": problem,
    }
    with st.container(horizontal=True, vertical_alignment="top"):
        COMPONENT(
            key=KEY,
            data=json.dumps(header).encode() + b"\n" + payload,
            width="content",
            on_asked_change=lambda: st.session_state.update({_WANTED: given.id}),
        )
        if beside is not None:
            beside()
    host = urlsplit(origin()).netloc
    st.caption(
        f"Opens {plain(host)} in a new tab and gives it the trace inside your browser: it is "
        "uploaded nowhere. Rows that overlap on one thread get a thread of their own first, "
        "because Perfetto would leave them out."
    )
    asked_id, remark = st.session_state.get(_REMARK, ("", ""))
    for words in (given.words, given.too_large, remark if asked_id == given.id else ""):
        if words:
            st.caption(words)


@st.cache_data(show_spinner="Getting the trace ready ...", max_entries=2)
def _packed(_given: HandOver, trace_id: str, stamp: str) -> tuple[bytes, str]:
    """Return the compressed text, and why it was left as it is, if it was."""
    del trace_id, stamp  # they are the key
    made = _given.pack()
    return gzip.compress(made.text, compresslevel=1), made.remark
