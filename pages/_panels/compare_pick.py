"""Choose the two sides; both stand in the address."""

import streamlit as st

from pages._panels.compare_link import A_PARAMETER, B_PARAMETER
from pages._panels.compare_sides import (
    TITLE_MAX,
    differing,
    label_of,
    nearest_first,
    pairs,
    points_beside,
    recordings_by_id,
    told_apart,
)
from pages._panels.open_sources import serves_this_machine_alone
from pages._panels.open_state import get_shelf
from pages._panels.samples import load_samples
from pages._panels.text import plain
from profcore.library import Library
from profcore.recording import Recording

A, B = "compare_a", "compare_b"
"""Keys of the two choices."""
PAIRS_MAX = 6
_PLACEHOLDER = "Choose a run"
_KNOB_WORDS = {
    "workload": "Another workload",
    "size": "Small against large",
    "batch": "Another batch",
    "dtype": "Another number format",
    "bias": "Another bias",
    "compile": "Eager against compiled",
    "warmup": "Cold against warm",
}


def pick(library: Library) -> tuple[str, str]:
    """Draw both choices; return the ids, empty for a side that is not chosen yet."""
    a, b = st.query_params.get(A_PARAMETER, ""), st.query_params.get(B_PARAMETER, "")
    known = recordings_by_id(library, load_samples())
    known |= points_beside(a, library) | points_beside(b, library)
    traces = _opened_titles()
    if not known and not traces and not a:
        _nothing_yet()
        return a, b
    beside = known.get(a)
    others = list(known.values()) if beside is None else nearest_first(beside, known.values())
    left, right = st.columns(2, gap="medium")
    with left:
        labels = {one.id: label_of(one) for one in known.values()} | traces
        _choice("A", A, A_PARAMETER, told_apart(labels, known))
    with right:
        labels = {one.id: label_of(one, beside) for one in others} | traces
        _choice("B", B, B_PARAMETER, told_apart(labels, known))
    if a and b:
        st.button(
            "Swap A and B",
            icon=":material/swap_horiz:",
            key="compare_swap",
            on_click=_show,
            args=(b, a),
        )
    return a, b


def _choice(label: str, key: str, parameter: str, labels: dict[str, str]) -> None:
    asked = st.query_params.get(parameter, "")
    if asked and asked not in labels:
        labels = labels | {asked: asked[:TITLE_MAX]}  # a link may name what the list leaves out
    # The address alone says what is chosen: a link, a button and this list all write it.
    st.session_state[key] = asked or None
    st.selectbox(
        label,
        list(labels),
        format_func=lambda choice: labels.get(choice, choice),
        key=key,
        index=None,
        on_change=_put,
        args=(key, parameter),
        placeholder=_PLACEHOLDER,
    )


def _put(key: str, parameter: str) -> None:
    if chosen := st.session_state[key]:
        st.query_params[parameter] = chosen
    elif parameter in st.query_params:
        del st.query_params[parameter]


def _show(a: str, b: str) -> None:
    st.query_params[A_PARAMETER], st.query_params[B_PARAMETER] = a, b


def _opened_titles() -> dict[str, str]:
    """Opened traces by id; behind a public address only who has the link may see one."""
    if not serves_this_machine_alone():
        return {}
    return {
        opened.id: f"{opened.title[:TITLE_MAX]} · opened trace"
        for opened in get_shelf().newest_first()
    }


def _nothing_yet() -> None:
    st.info(
        "There is nothing to compare yet: nothing was recorded on this machine, and no recorded "
        "examples are installed. Run an experiment twice with one setting changed, then choose "
        "the two here.",
        icon=":material/info:",
    )
    st.page_link("pages/run_page.py", label="Run an experiment", icon=":material/play_arrow:")


def suggestions(a: str, library: Library) -> None:
    """Draw a button for comparisons that teach something: pairs with one difference."""
    known = recordings_by_id(library, load_samples()) | points_beside(a, library)
    if a in known:
        chosen = known[a]
        near = [
            (chosen, other, differing(chosen.experiment, other.experiment)[0])
            for other in nearest_first(chosen, known.values())
            if len(differing(chosen.experiment, other.experiment)) == 1
        ]
    else:
        near = pairs(load_samples())
    if not near:
        return
    st.subheader("Worth comparing", anchor=False)
    st.caption("Made on one device, and different in one setting alone.")
    with st.grid(3, min_column_width=280):
        for mine, other, knob in near[:PAIRS_MAX]:
            _card(mine, other, knob)


def _card(a: Recording, b: Recording, knob: str) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.markdown(f"**{_KNOB_WORDS[knob]}**")
        st.caption(f"A: {plain(a.title[:TITLE_MAX])}")
        st.caption(f"B: {plain(b.title[:TITLE_MAX])}")
        st.space("stretch")
        # A button: a link to the page that it stands on leaves the browser's address as it was.
        st.button(
            "Compare",
            icon=":material/compare_arrows:",
            key=f"compare_{a.id}_{b.id}",
            on_click=_show,
            args=(a.id, b.id),
        )
