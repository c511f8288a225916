"""The article's claims beside what another GPU showed, for the Field guide."""

import streamlit as st

from pages._panels.text import plain
from profcore.rules.article import article_table

_BADGES = {
    "holds": ":green-badge[:material/check: holds]",
    "differs": ":orange-badge[:material/compare_arrows: differs]",
    "not applicable": ":gray-badge[not tested here]",
}


def article_panel() -> None:
    """Draw every claim with its numbers, what was measured, and whether it holds."""
    table = article_table()
    differing = sum(row.answer == "differs" for row in table.rows)
    st.header("The article's claims, tested again", anchor=False)
    st.caption(
        "“Profiling in PyTorch” was written on an NVIDIA A100. Its claims were put to the test on "
        f"an {plain(table.device)} with PyTorch {plain(table.torch)}: of {len(table.rows)} claims "
        f"{differing} read differently there. A profile is a measurement of one machine."
    )
    with st.expander("See them row by row"):
        rows = [
            f"| {_BADGES[row.answer]} | {plain(row.statement)} | {plain(row.article) or '–'} "
            f"| {plain(row.measured)} | {plain(' '.join(row.rules))} |"
            for row in table.rows
        ]
        head = ["| | The article says | Its numbers | Measured | Rules |", "|:--|:--|:--|:--|:--|"]
        st.markdown("\n".join([*head, *rows]))
