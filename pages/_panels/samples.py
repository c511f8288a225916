"""The recordings that ship with the program, as cards."""

import msgspec
import streamlit as st

from pages._panels.outcome import verdict_line
from pages._panels.start import open_recording
from pages._panels.text import plain
from profcore import library
from profcore.experiment import Experiment, describe
from profcore.recording import Recording

CARDS_OPEN = 3
"""Examples that are seen without unfolding: one row beside each other."""


@st.cache_resource(show_spinner=False)
def load_samples() -> list[Recording]:
    """Return the samples in order; they do not change while the program runs."""
    return library.samples()


def sample_cards() -> None:
    """Draw the first few samples, and the others in a fold: what comes below stays in reach."""
    samples = load_samples()
    if not samples:
        st.caption("No recorded examples are installed with this copy of the program.")
        return
    _cards(samples[:CARDS_OPEN])
    others = samples[CARDS_OPEN:]
    if others:
        with st.expander(f"{len(others)} more examples", icon=":material/expand_more:"):
            _cards(others)


def samples_fold() -> None:
    """Draw all samples in a fold, for a page that shows something else."""
    samples = load_samples()
    if samples:
        with st.expander("Examples recorded on a GPU", icon=":material/view_module:"):
            _cards(samples)


def sample_of(experiment: Experiment) -> str:
    """Return the id of the sample of this experiment, wherever it was made, or an empty text."""
    wanted = msgspec.structs.replace(experiment, device="auto")
    for sample in load_samples():
        if msgspec.structs.replace(sample.experiment, device="auto") == wanted:
            return sample.id
    return ""


def _cards(samples: list[Recording]) -> None:
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
