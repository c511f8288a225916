"""The dispatch chain of one row, as a ladder from the Python call to the kernel."""

import streamlit as st

from pages._panels.figures import sheet
from pages._panels.results import Result
from pages._panels.text import code_span, plain
from pages._panels.timeline_state import show
from profcore.analysis.chains import Chain, Rung, chain_of
from profcore.analysis.names import short_name
from profcore.charts.figure import shorten
from profcore.charts.kernel_variation import kernel_variation_figure
from profcore.trace.model import GPU_WORK
from profcore.units import time_text

RUNGS_MAX = 16
"""Rungs drawn; the rest of a large graph is counted."""
NAME_CHARS = 70
OTHER_CALL = "timeline_other_call"

_BADGES = {
    "operator": ":blue-badge[operator]",
    "annotation": ":gray-badge[label]",
    "python": ":gray-badge[Python]",
    "runtime": ":green-badge[driver call]",
    "overhead": ":violet-badge[profiler]",
    "kernel": ":orange-badge[GPU kernel]",
    "memcpy": ":orange-badge[GPU copy]",
    "memset": ":orange-badge[GPU fill]",
}


def chain_panel(result: Result, row: int, *, from_ns: int) -> None:
    """Draw the ladder of a row; times count from the left edge of the picture."""
    chain = chain_of(result.analysis, row)
    # A chain that began before the picture is timed from its own first rung.
    from_ns = min(from_ns, chain.rungs[0].start_ns)
    with st.container(key="chain", gap="small"):
        st.subheader("From the Python call to the kernel", anchor=False)
        with st.container(gap="xxsmall"):
            for position, rung in enumerate(chain.rungs[:RUNGS_MAX]):
                _rung(rung, position, is_asked=rung.row == row, from_ns=from_ns)
            if len(chain.rungs) > RUNGS_MAX:
                st.caption(f"… and {len(chain.rungs) - RUNGS_MAX} more.")
        for remark in chain.remarks:
            st.caption(remark)
        _other_calls(result, chain)


def _rung(rung: Rung, position: int, *, is_asked: bool, from_ns: int) -> None:
    name = short_name(rung.name) if rung.kind == "kernel" else rung.name
    badge = _BADGES.get(rung.kind, f":gray-badge[{rung.kind.replace('_', ' ')}]")
    arrow = ":material/subdirectory_arrow_right: " if position else ""
    title = f"{arrow}{code_span(shorten(name, NAME_CHARS))} {badge}"
    if is_asked:
        title += " :primary-badge[chosen]"
    with st.container(key=f"rung_{position}"):
        st.markdown(f"{title} :small[{_times(rung, from_ns)}]  \n:small[{plain(rung.purpose)}]")


def _times(rung: Rung, from_ns: int) -> str:
    parts = [f"starts at {time_text(rung.start_ns - from_ns)}"]
    parts.append(f"takes **{time_text(rung.duration_ns)}**")
    if rung.self_ns is not None:
        parts.append(f"{time_text(rung.self_ns)} of it its own")
    if rung.delay_ns is not None:
        parts.append(f"{time_text(rung.delay_ns)} after its launch call began")
    return " · ".join(parts)


def _other_calls(result: Result, chain: Chain) -> None:
    """Let another launch inside the row be followed."""
    if chain.calls_count < 2:  # noqa: PLR2004 - nothing to choose from
        return
    trace = result.analysis.trace
    # Numbered: the browser sends back the words of a choice, so no two may be alike.
    works = {
        call: f"{number}. {shorten(trace.name_of(call), 30)} "
        f"at {time_text(int(trace.start_ns[call]))}"
        for number, call in enumerate(chain.calls, start=1)
    }
    st.selectbox(
        "Follow another call",
        list(works),
        index=None,
        format_func=works.__getitem__,
        key=OTHER_CALL,
        on_change=_follow,
        placeholder=f"{chain.calls_count:,} calls started GPU work here",
    )


def _follow() -> None:
    call = st.session_state.get(OTHER_CALL)
    if isinstance(call, int):
        show(row=call)


def variation_panel(result: Result, row: int) -> None:
    """Draw how the times of the first kernel of the ladder vary over the steps."""
    chain = chain_of(result.analysis, row)
    work = [rung for rung in chain.rungs if rung.kind in GPU_WORK]
    if not work:
        return
    chosen = next((rung for rung in work if rung.row == chain.row), work[0])
    analysis = result.analysis
    figure = kernel_variation_figure(
        analysis.activities, analysis.steps, name=chosen.name, row=chosen.row
    )
    st.subheader(figure.question, anchor=False)
    st.caption(plain(figure.takeaway))
    left, right = st.columns([3, 2], gap="medium")
    left.altair_chart(figure.chart, alt=figure.takeaway, key="kernel_variation")
    with right:
        sheet(figure.sheet, name="The time of each call of this kernel", key="kernel_times")
    if figure.note:
        st.caption(figure.note)
