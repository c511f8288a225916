"""A link to the comparison, for every page that shows a run."""

import streamlit as st

PAGE = "pages/compare_page.py"
A_PARAMETER, B_PARAMETER = "a", "b"
"""Names of the URL parameters that hold the ids of the two sides."""


def compare_link(a: str, b: str = "", *, label: str = "Compare with ...") -> None:
    """Draw a link to the comparison of a run with another one; without one it is chosen there.

    Args:
        a: Id of a recording, a sample, a point of a sweep or an opened trace.
        b: The same of the other side.
        label: Read as Markdown: names from files go through `text.plain` first.
    """
    query = {A_PARAMETER: a} | ({B_PARAMETER: b} if b else {})
    st.page_link(PAGE, label=label, icon=":material/compare_arrows:", query_params=query)
