"""Highlight in the charts what an observation rests on: chosen in its row, seen above, undone."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages._panels.into_view import bring_into_view, do_as_asked, is_asked
from pages._panels.results import Result, figures_with
from pages._panels.start import EVENT_PARAMETER, RULE_PARAMETER, forget_highlight
from pages._panels.text import plain
from profcore.charts import Figure
from profcore.charts.highlight import highlight
from profcore.rules import Evidence, Finding
from profcore.rules.rows import count_text

_ANCHOR = "highlighted-observation"

_KEY = "highlight"
_FIRST_FIGURE_KEY = "figure_0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What is highlighted."""

    finding: Finding
    place: int | None
    """Of one piece of evidence, from 0; None: all of them."""

    @property
    def evidence(self) -> Sequence[Evidence]:
        """Return the events whose bars are meant."""
        if self.place is None:
            return self.finding.evidence
        return self.finding.evidence[self.place : self.place + 1]


def can_be_highlighted(finding: Finding) -> bool:
    """Tell whether an observation rests on events that have a place in the recording."""
    return any(one.row is not None or one.start_ns is not None for one in finding.evidence)


def chosen(findings: Sequence[Finding]) -> Chosen | None:
    """Return what the address asks to highlight; it may ask for anything."""
    rule = st.query_params.get(RULE_PARAMETER, "")
    finding = next((one for one in findings if one.rule == rule and one.state == "fired"), None)
    if finding is None or not can_be_highlighted(finding):
        return None
    asked = st.query_params.get(EVENT_PARAMETER, "")
    places = [str(number) for number in range(1, len(finding.evidence) + 1)]
    return Chosen(finding=finding, place=places.index(asked) if asked in places else None)


def choose(rule: str, place: int | None = None) -> None:
    """Highlight an observation, or one piece of its evidence. Only in a callback."""
    st.query_params[RULE_PARAMETER] = rule
    if place is None:
        st.query_params.pop(EVENT_PARAMETER, None)
    else:
        st.query_params[EVENT_PARAMETER] = str(place + 1)
    # The charts stand far above: without this a choice would seem to do nothing.
    bring_into_view(f".st-key-{_KEY}")


def choose_evidence(rule: str) -> None:
    """Highlight the piece of evidence that was just picked in the list of a rule."""
    place = st.session_state.get(evidence_key(rule))
    if isinstance(place, int):
        choose(rule, place)


def clear(key: str = _FIRST_FIGURE_KEY) -> None:
    """Highlight nothing, and stay at the container of this key. Only in a callback."""
    forget_highlight()
    bring_into_view(f".st-key-{key}")


def evidence_key(rule: str) -> str:
    """Return the key of the list of evidence of a rule."""
    return f"evidence_{rule}"


def place_to_come_back_to() -> None:
    """Mark the row of the observation that is highlighted, for the way back from the charts."""
    st.html(f'<div id="{_ANCHOR}" style="scroll-margin-top: 6rem"></div>')


def redraw_if_new() -> None:
    """Draw the whole page anew when a choice was made in a part that is drawn by itself."""
    if is_asked():
        st.rerun()


def highlighted_figures(result: Result) -> tuple[Figure, ...]:
    """Draw the line that says what is highlighted; return the figures with their bars marked."""
    do_as_asked()
    now = chosen(result.findings)
    if now is None:
        return result.figures
    figures = figures_with(result, highlight(result.analysis, now.evidence))
    with st.container(key=_KEY, border=True, gap="xsmall"):
        st.markdown(f":material/ink_highlighter: {_words(now, figures)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Clear the highlight", icon=":material/close:", key="clear_charts", on_click=clear
            )
            st.markdown(f"[Back to the observation](#{_ANCHOR})")
    return figures


def _words(now: Chosen, figures: Sequence[Figure]) -> str:
    title = plain(now.finding.title)
    if now.place is None:
        events = count_text(len(now.finding.evidence), "event")
        what = f"the evidence of the observation **{title}** ({events})"
    else:
        what = f"{plain(now.evidence[0].text)}, evidence of the observation **{title}**"
    if any(figure.outlined for figure in figures):
        return f"Highlighted in the charts below: {what}. The other bars are faded."
    return f"No bar of the charts below shows {what}."
