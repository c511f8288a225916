"""What the timeline shows: a step or everything, a part of it, the events of an observation."""

import streamlit as st

from pages._panels.results import Result
from pages._panels.timeline_link import ROW_PARAMETER, RULE_PARAMETER
from pages._panels.timeline_state import (
    PART_MAX,
    PART_PARAMETER,
    WHOLE,
    View,
    forget,
    show,
    step_numbers,
)
from profcore.rules import Finding
from profcore.units import time_text

STEP, RULE, PART = "timeline_step", "timeline_rule", "timeline_part"
"""Keys of the widgets."""
LISTED_MAX = 300
"""Steps in the list; others are typed."""


def asked_finding(result: Result) -> Finding | None:
    """Return the observation of the address; None when there is none or it was not seen."""
    asked = st.query_params.get(RULE_PARAMETER, "")
    return next(
        (one for one in result.findings if one.rule == asked and one.state == "fired"), None
    )


def controls_panel(result: Result, view: View, finding: Finding | None) -> None:
    """Draw the choices above the picture."""
    numbers = step_numbers(result)
    st.session_state["timeline_numbers"] = numbers
    st.session_state[STEP] = view.choice
    st.session_state[RULE] = finding.rule if finding is not None else None
    st.session_state[PART] = view.part
    left, middle, right = st.columns([3, 4, 4], vertical_alignment="top", gap="medium")
    with left:
        _step(result, numbers, view)
    with middle:
        _rule(result)
    with right:
        _part(view)


def _step(result: Result, numbers: list[str], view: View) -> None:
    word = "Step #" if result.analysis.windows.source == "steps" else "Repeat "
    listed = numbers[:LISTED_MAX]
    is_long = len(numbers) > LISTED_MAX
    st.selectbox(
        "Stretch",
        [WHOLE, *listed, *([] if view.choice in {WHOLE, *listed} else [view.choice])],
        format_func=lambda choice: "The whole recording" if choice == WHOLE else word + choice,
        key=STEP,
        on_change=_choose_step,
        accept_new_options=is_long,
        help=f"The first {LISTED_MAX} of {len(numbers):,} are listed; type the number of another."
        if is_long
        else None,
    )


def _choose_step() -> None:
    show(step=str(st.session_state[STEP]))
    forget(ROW_PARAMETER, PART_PARAMETER)


def _rule(result: Result) -> None:
    fired = {
        one.rule: f"{one.title} ({one.rule})"
        for one in result.findings
        if one.state == "fired" and any(evidence.row is not None for evidence in one.evidence)
    }
    st.selectbox(
        "Outline the events of an observation",
        list(fired),
        index=None,
        format_func=lambda rule: fired.get(rule, rule),
        key=RULE,
        on_change=_choose_rule,
        placeholder="None",
    )


def _choose_rule() -> None:
    rule = st.session_state[RULE]
    if rule is None:
        forget(RULE_PARAMETER)
    else:
        show(rule=str(rule))


def _part(view: View) -> None:
    """Let a part of the stretch be drawn: what was one block there comes apart."""
    st.slider(
        f"Part of the {time_text(view.whole_end_ns - view.whole_start_ns)}",
        0,
        PART_MAX,
        step=1,
        format="%d %%",
        key=PART,
        on_change=_choose_part,
        help="Draws only this part, so that events that were drawn together come apart. For a "
        "quick look the wheel of the mouse is enough.",
    )


def _choose_part() -> None:
    low, high = st.session_state[PART]
    if (low, high) == (0, PART_MAX) or low == high:
        forget(PART_PARAMETER)
    else:
        show(part=f"{low}-{high}")
