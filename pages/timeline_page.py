"""When and why: the timeline of a trace, from the Python call to the kernel."""

import streamlit as st

from pages._panels.runner import get_library
from pages._panels.text import plain
from pages._panels.timeline_perfetto import perfetto_panel
from pages._panels.timeline_picture import picture_panel
from pages._panels.timeline_source import (
    Shown,
    Source,
    asked_source,
    choice_panel,
    known_sources,
    load_source,
)
from profcore.errors import ProfcoreError


def show_source(source: Source, shown: Shown) -> None:
    """Draw the timeline of a trace, and the way to Perfetto."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(shown.made)
        st.page_link(
            shown.page,
            label="Its result",
            icon=":material/open_in_new:",
            query_params={shown.parameter: source.id},
        )
    picture_panel(shown.held, shown.stamp)
    st.subheader("Every event, in Perfetto", anchor=False)
    perfetto_panel(shown.hand_over, beside=lambda: download_button(source, shown))


def download_button(source: Source, shown: Shown) -> None:
    """Draw the button that downloads the file, if it is kept here."""
    if shown.download is not None:
        st.download_button(
            "Download the trace",
            shown.download,
            f"profcore-{source.id}.trace.json.gz",
            key="perfetto_download",
            on_click="ignore",
            icon=":material/download:",
        )


st.title("Timeline", anchor=False)
st.caption("What happened when, why the GPU waited, and how a Python call becomes a kernel.")

library = get_library()
known = known_sources(library)
source, shown = None, None
try:
    source = asked_source(known, library)
    shown = None if source is None else load_source(source)
except ProfcoreError as error:
    st.warning(plain(str(error)))

if known or source is not None:
    choice_panel(known, source if shown is not None else None)
else:
    st.info(
        "Nothing was recorded yet. Run an experiment, or open a trace you have, and its timeline "
        "will stand here.",
        icon=":material/info:",
    )
    st.page_link("pages/run_page.py", label="Run an experiment", icon=":material/play_arrow:")
    st.page_link("pages/open_page.py", label="Open a trace", icon=":material/upload_file:")

if source is not None and shown is not None:
    show_source(source, shown)
