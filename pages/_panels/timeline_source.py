"""Whose timeline is shown: a recording or an opened file, from the address or chosen in a list."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages._panels.compare_sides import told_apart
from pages._panels.open_result import TITLE_MAX
from pages._panels.open_sources import serves_this_machine_alone
from pages._panels.open_state import TRACE_PARAMETER, get_shelf
from pages._panels.origin import made_where
from pages._panels.results import Result, held_lightly, load, load_opened
from pages._panels.samples import load_samples
from pages._panels.start import RUN_PARAMETER
from pages._panels.text import plain
from pages._panels.timeline_perfetto import HandOver, of_opened, of_recording
from pages._panels.timeline_state import PARAMETERS, forget
from profcore.analysis import Analysis
from profcore.library import Library
from profcore.opened.shelf import OpenedTrace
from profcore.recording import Recording
from profcore.trace import read
from profcore.units import bytes_text

CHOICE = "timeline_recording"
"""Key of the list."""
OPENED_MAX = 8
"""Opened files in the list, the ones used last."""

Source = Recording | OpenedTrace


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What the page needs of the trace on show."""

    held: Callable[[], Result]
    """Gives its tables; kept instead of them."""
    stamp: str
    """Changes when the trace does."""
    made: str
    """Where it comes from, in words; Markdown."""
    page: str
    parameter: str
    """Where its result stands, and the parameter of the address that names it there."""
    hand_over: HandOver
    download: Callable[[], bytes] | None
    """Gives its file; None when it is not kept here."""


def known_sources(library: Library) -> dict[str, Source]:
    """Return what can be chosen, by id: own recordings, examples, opened files.

    Opened files of others are private to those who have the link, unless only this machine asks.
    """
    own = [recording for recording in library.list() if recording.status.state == "done"]
    opened = get_shelf().newest_first()[:OPENED_MAX] if serves_this_machine_alone() else ()
    return {source.id: source for source in (*own, *load_samples(), *opened)}


def asked_source(known: dict[str, Source], library: Library) -> Source | None:
    """Return what the address names, else the first one known; None when there is none.

    Raises:
        ProfcoreError: the address names one that is not there.
    """
    if trace_id := st.query_params.get(TRACE_PARAMETER, ""):
        return get_shelf().get(trace_id)
    asked = st.query_params.get(RUN_PARAMETER, "")
    if not asked:
        return next(iter(known.values()), None)
    found = known.get(asked)
    return found if isinstance(found, Recording) else library.open(asked)


def choice_panel(known: dict[str, Source], source: Source | None) -> None:
    """Draw the list."""
    if source is not None:
        known = known | {source.id: source}
    st.session_state["timeline_opened"] = [
        name for name, one in known.items() if isinstance(one, OpenedTrace)
    ]
    recordings = {name: one for name, one in known.items() if isinstance(one, Recording)}
    labels = told_apart({name: _label(one) for name, one in known.items()}, recordings)
    st.session_state[CHOICE] = source.id if source is not None else None
    st.selectbox(
        "Recording or opened file",
        list(known),
        format_func=lambda name: labels.get(name, name),
        key=CHOICE,
        on_change=_choose,
        placeholder="Choose a recording",
    )


def _label(source: Source) -> str:
    if isinstance(source, OpenedTrace):
        return f"{source.title[:TITLE_MAX]} (opened file)"
    return source.title


def _choose() -> None:
    """Put what was chosen into the address; steps and rows of the old one go."""
    chosen = str(st.session_state[CHOICE])
    is_opened = chosen in st.session_state["timeline_opened"]
    forget(RUN_PARAMETER, TRACE_PARAMETER, *PARAMETERS)
    st.query_params[TRACE_PARAMETER if is_opened else RUN_PARAMETER] = chosen


def load_source(source: Source) -> Shown:
    """Read a trace, unless it is in memory.

    Raises:
        ProfcoreError: it cannot be read.
    """
    return _opened(source) if isinstance(source, OpenedTrace) else _recording(source)


def _recording(recording: Recording) -> Shown:
    result = load(recording)
    hand_over = of_recording(recording)
    return Shown(
        held=held_lightly(
            result, lambda: Analysis.of_recording(recording, read(recording.trace_path))
        ),
        stamp=f"{recording.id} {hand_over.stamp}",
        made=made_where(recording),
        page="pages/run_page.py",
        parameter=RUN_PARAMETER,
        hand_over=hand_over,
        download=recording.trace_path.read_bytes,
    )


def _opened(opened: OpenedTrace) -> Shown:
    result = load_opened(opened)
    about = opened.about
    return Shown(
        held=held_lightly(result, lambda: Analysis(opened.load())),
        stamp=f"{opened.id} {about.opened_at}",
        made=plain(
            f"Opened {about.opened_at[:16].replace('T', ' ')} UTC · {bytes_text(about.size_bytes)}"
        ),
        page="pages/open_page.py",
        parameter=TRACE_PARAMETER,
        hand_over=of_opened(opened, rows=len(result.analysis.trace)),
        download=None,
    )
