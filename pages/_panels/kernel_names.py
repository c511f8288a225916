"""The full name of a kernel, when somebody wants it: names run to thousands of characters."""

import streamlit as st

from pages._panels.results import Result
from pages._panels.text import plain
from profcore.analysis.names import reading

KERNELS_MAX = 200
"""Kernels to choose from, those with the most time."""
NAME_MAX = 20_000
"""Characters shown."""


def kernel_names_panel(result: Result) -> None:
    """Draw a choice of kernels and what is known from the name of the chosen one."""
    kernels = result.analysis.kernels.head(KERNELS_MAX)
    if len(kernels):
        # Only names: what a fragment is given stays in memory as long as the session.
        names = [(name[:NAME_MAX], len(name)) for name in kernels["name"].tolist()]
        _choice(kernels["short_name"].tolist(), names)


@st.fragment
def _choice(short_names: list[str], names: list[tuple[str, int]]) -> None:
    shown = [f"{place + 1}. {name}" for place, name in enumerate(short_names)]
    with st.expander("What does a kernel's name say?", icon=":material/label:"):
        place = st.selectbox(
            "Kernel",
            range(len(shown)),
            format_func=shown.__getitem__,
            key="kernel_name",
            help="In order of their time; the name as the file has it stands below.",
        )
        if place is None or place >= len(shown):
            return
        name, length = names[place]
        st.markdown(f"**In words:** {plain(reading(name))}")
        st.code(name, language=None, wrap_lines=True)
        if length > NAME_MAX:
            st.caption(f"The first {NAME_MAX:,} of {length:,} characters.")
