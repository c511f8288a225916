"""How the work of one step came about, on both sides: add and mm against addmm."""

import streamlit as st

from pages._panels.text import code_span, plain
from profcore.comparison import Comparison
from profcore.comparison.chains import Chain

SHOWN_MAX = 40
"""Chains of one side; a training step has thousands."""


def chains_panel(comparison: Comparison) -> None:
    """Draw the dispatch chains of the last step side by side."""
    a, b = comparison.chains
    st.subheader("How did a step's work come about?", anchor=False)
    if not a and not b:
        st.caption("Neither side marks steps, so there is no step whose work could be followed.")
        return
    st.caption(
        "From the outermost operator down to the kernel, in the order in which the work began; "
        "one step of each side."
    )
    seen = ({_mark(chain) for chain in a}, {_mark(chain) for chain in b})
    for column, chains, name, others, key in zip(
        st.columns(2, gap="medium"), (a, b), comparison.names, seen[::-1], "ab", strict=True
    ):
        with column, st.container(border=True, height="stretch", key=f"chains_{key}"):
            st.markdown(f"**{plain(name)}**")
            _chains(chains, others)


def _chains(chains: tuple[Chain, ...], others: set[tuple[tuple[str, ...], str]]) -> None:
    if not chains:
        st.caption("No step is marked here, so there is nothing to follow.")
        return
    lines = []
    for chain in chains[:SHOWN_MAX]:
        times = f" × {chain.times}" if chain.times > 1 else ""
        only = "" if _mark(chain) in others else " :blue-badge[only here]"
        lines.append(f"1. {code_span(chain.text)}{times}{only}")
    st.markdown("\n".join(lines))
    if len(chains) > SHOWN_MAX:
        st.caption(f"The first {SHOWN_MAX}; {len(chains) - SHOWN_MAX:,} more follow.")


def _mark(chain: Chain) -> tuple[tuple[str, ...], str]:
    return chain.operators, chain.stem
