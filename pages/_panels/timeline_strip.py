"""All steps above the timeline; a click shows one."""

from collections.abc import Mapping

import streamlit as st

from pages._panels.results import Result
from pages._panels.timeline_link import ROW_PARAMETER
from pages._panels.timeline_state import PART_PARAMETER, View, forget, show
from profcore.charts import step_strip

STRIP = "timeline_strip"
"""Key of the chart."""


def strip_panel(result: Result, view: View) -> None:
    """Draw the steps of a recording, if it has several."""
    analysis = result.analysis
    if len(analysis.steps) < 2:  # noqa: PLR2004 - nothing to choose from
        return
    figure = step_strip.step_strip_figure(
        analysis.steps,
        unprofiled_ns=analysis.timings.step_ns_median if analysis.timings else None,
        gpu_recorded=analysis.totals.gpu_recorded,
        chosen=view.position,
    )
    with st.container(key="strip", gap="xxsmall"):
        if figure.first is None:
            _clickable(figure.chart, alt=figure.takeaway, key=STRIP)
        else:
            apart, rest = st.columns([1, 5], vertical_alignment="bottom")
            with apart:
                _clickable(figure.first, alt=figure.first_takeaway, key=f"{STRIP}_first")
            with rest:
                _clickable(figure.chart, alt=figure.takeaway, key=STRIP)
        st.caption(
            f"{figure.takeaway} Wide bar: the CPU. Narrow bar: the GPU busy. Dashed: the real "
            f"time of a step. Click a step to see it. {figure.note}"
        )


def _clickable(picture: object, *, alt: str, key: str) -> None:
    st.altair_chart(
        picture,  # type: ignore[arg-type]
        alt=alt,
        key=key,
        on_select=lambda: _go_to_step(key),
        selection_mode=step_strip.SELECTION,
    )


def _go_to_step(key: str) -> None:
    position = selected(key, step_strip.SELECTION, "position")
    if position is not None:
        show(step=st.session_state["timeline_numbers"][position])
        forget(ROW_PARAMETER, PART_PARAMETER)


def selected(key: str, selection: str, field: str) -> int | None:
    """Return the value of a point selection of a chart."""
    state = st.session_state.get(key)
    points = state.get("selection", {}).get(selection, []) if isinstance(state, Mapping) else []
    values = [point.get(field) for point in points]
    return int(values[0]) if values and isinstance(values[0], int | float) else None
