"""The recordings that ship with the program, as cards."""

import streamlit as st

from pages._panels.outcome import verdict_line
from pages._panels.start import open_recording
from pages._panels.text import plain
from profcore import library
from profcore.experiment import describe
from profcore.recording import Recording


@st.cache_resource(show_spinner=False)
def load_samples() -> list[Recording]:
    """Return the samples in order; they do not change while the program runs."""
    return library.samples()


def sample_cards() -> None:
    """Draw one card per sample: its setting, its verdict, and a button that opens it."""
    samples = load_samples()
    if not samples:
        st.caption("No recorded examples are installed with this copy of the program.")
        return
    with st.grid(3, min_column_width=280):
        for sample in samples:
            _card(sample)


def _card(sample: Recording) -> None:
    setting = describe(sample.experiment)
    where = sample.environment.device_name if sample.environment else "unknown device"
    below = f"Recorded on {where}"
    if sample.title != setting:
        below = f"{setting} · {below}"
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{plain(sample.title)}**")
        st.markdown(verdict_line(sample))
        st.space("stretch")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(plain(below))
            st.button(
                "Open",
                key=f"open_{sample.id}",
                on_click=open_recording,
                args=(sample.id,),
                help=f"Open the recorded example {plain(sample.title)}",
            )
