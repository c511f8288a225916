"""The timeline itself: steps above, the lanes of the chosen stretch, what to look at, the chain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from pages._panels.figures import TABLE_PX
from pages._panels.results import Result
from pages._panels.text import plain
from pages._panels.timeline_chain import chain_panel, variation_panel
from pages._panels.timeline_controls import asked_finding, controls_panel
from pages._panels.timeline_link import guide_link
from pages._panels.timeline_state import (
    PART_PARAMETER,
    WHOLE,
    View,
    asked_row,
    asked_view,
    forget,
    show,
)
from pages._panels.timeline_strip import selected, strip_panel
from profcore.analysis.blocks import blocks
from profcore.analysis.gaps import gaps
from profcore.analysis.timeline import Timeline, timeline
from profcore.charts import timeline as chart
from profcore.charts.timeline_words import numeral
from profcore.rules import Finding
from profcore.rules.landmarks import Landmark, landmarks

PICTURE, TABLE = "timeline_picture", "timeline_table"
"""Keys of the widgets."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """The bars of one stretch. Shared by all visitors: nobody writes into it."""

    line: Timeline
    marks: pd.DataFrame
    gaps: pd.DataFrame
    landmarks: tuple[Landmark, ...]


@st.cache_resource(show_spinner="Laying out the timeline ...", max_entries=16)
def _picture(_result: Result, trace_key: str, start_ns: int, end_ns: int) -> Picture:
    del trace_key  # it is the key
    analysis = _result.analysis
    line = timeline(analysis, start_ns=start_ns, end_ns=end_ns)
    return Picture(
        line=line,
        marks=blocks(line),
        gaps=gaps(analysis, start_ns=start_ns, end_ns=end_ns),
        landmarks=landmarks(analysis, _result.findings, start_ns=start_ns, end_ns=end_ns),
    )


@st.fragment
def picture_panel(held: Callable[[], Result], stamp: str) -> None:
    """Draw everything that changes with the chosen step, row or finding.

    Args:
        held: Gives what is shown; the session keeps this instead of the tables.
        stamp: Another one for another trace, and when a trace changes.
    """
    result = held()
    view, row = asked_view(result), asked_row(result)
    finding = asked_finding(result)
    st.header(chart.QUESTION, anchor=False)
    strip_panel(result, view)
    controls_panel(result, view, finding)
    picture = _picture(result, stamp, view.start_ns, view.end_ns)
    sheet = _chart(picture, finding=finding, row=row)
    if finding is not None:
        _finding(finding, view)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if row is None:
            st.info(
                "Click a bar, or choose a row of the table below, to see how it came about: from "
                "the Python call down to the kernel.",
                icon=":material/touch_app:",
            )
        else:
            chain_panel(result, row, from_ns=view.start_ns)
    with right:
        _landmarks(picture.landmarks)
    if row is not None:
        variation_panel(result, row)
    with st.expander("Every bar of the picture as a table", icon=":material/table_rows:"):
        _table(sheet)


def _chart(picture: Picture, *, finding: Finding | None, row: int | None) -> pd.DataFrame:
    rows = [one.row for one in finding.evidence if one.row is not None] if finding else []
    # The browser outlines what was clicked in it; drawing it anew would take the zoom back.
    if row is not None and row != selected(PICTURE, chart.SELECTION, "row"):
        rows.append(row)
    figure = chart.timeline_figure(
        picture.line,
        picture.marks,
        picture.gaps,
        landmarks=picture.landmarks,
        outlined=rows,
    )
    with st.container(key="timeline"):
        st.altair_chart(
            figure.chart,
            alt=figure.takeaway,
            key=PICTURE,
            on_select=_choose_mark,
            selection_mode=chart.SELECTION,
        )
    st.caption(
        "Turn the wheel to zoom, drag to move, double-click to see all again. A bar inside "
        f"another was called by it. {figure.note}"
    )
    return figure.sheet


def _choose_mark() -> None:
    row = selected(PICTURE, chart.SELECTION, "row")
    if row is not None and row >= 0:
        show(row=row)


def _table(sheet: pd.DataFrame) -> None:
    st.session_state["timeline_rows"] = sheet["row"].tolist()
    st.dataframe(
        sheet.drop(columns="row"),
        hide_index=True,
        height=TABLE_PX,
        column_config={
            column: st.column_config.NumberColumn(format="%.2f")
            for column in sheet.columns
            if column.endswith(")")
        },
        alt="Every bar of the picture in order of time; choose a row to see how it came about",
        key=TABLE,
        on_select=_choose_table_row,
        selection_mode="single-row",
    )


def _choose_table_row() -> None:
    state = st.session_state.get(TABLE)
    places = state.get("selection", {}).get("rows", []) if isinstance(state, Mapping) else []
    rows = st.session_state["timeline_rows"]
    if places and places[0] < len(rows) and rows[places[0]] >= 0:
        show(row=rows[places[0]])


def _finding(finding: Finding, view: View) -> None:
    inside = [
        one
        for one in finding.evidence
        if one.start_ns is not None and view.start_ns <= one.start_ns < view.end_ns
    ]
    st.markdown(f"**{plain(finding.title)}:** {plain(finding.observation)}")
    total = sum(one.row is not None for one in finding.evidence)
    words = f"{len(inside)} of its {total} events lie in this picture, outlined."
    elsewhere = next((one.step for one in finding.evidence if one.step is not None), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words)
        if not inside:
            st.button(
                "Go to the first of them",
                key="go_to_event",
                on_click=_go_to,
                args=(WHOLE if elsewhere is None else str(elsewhere),),
            )
        guide_link(finding.rule, "In the Field guide")


def _go_to(step: str) -> None:
    show(step=step)
    forget(PART_PARAMETER)


def _landmarks(marks: tuple[Landmark, ...]) -> None:
    """List what the numbers in the picture stand for, each with its rule."""
    if not marks:
        return
    with st.container(key="landmarks", gap="xxsmall"):
        st.subheader("What to look at", anchor=False)
        st.caption("The numbers in the picture; each leads to its rule in the Field guide.")
        for number, mark in enumerate(marks, start=1):
            guide_link(mark.rule, f"{numeral(number)} {plain(mark.text)} ({mark.rule})")
