"""The observation table: what was seen, what it likely means, what to try."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from pages._panels.charts_first import pause_if_asked
from pages._panels.highlight import (
    Chosen,
    can_be_highlighted,
    choose,
    choose_evidence,
    chosen,
    clear,
    evidence_key,
    place_to_come_back_to,
    redraw_if_new,
)
from pages._panels.text import plain
from profcore.rules import FAMILIES, Evidence, Finding
from profcore.units import time_text


@dataclass(frozen=True, kw_only=True, slots=True)
class KindWords:
    """How a kind of rule is named on the screen."""

    label: str
    icon: str
    color: str
    about: str


KINDS = {
    "trust": KindWords(
        label="Can mislead",
        icon=":material/gpp_maybe:",
        color="red",
        about="The numbers may not be what they seem; read this first.",
    ),
    "warning": KindWords(
        label="Time is lost",
        icon=":material/warning:",
        color="orange",
        about="Something can be gained, and it says how.",
    ),
    "note": KindWords(
        label="Unusual",
        icon=":material/visibility:",
        color="blue",
        about="Worth a look; nothing need be wrong.",
    ),
    "fact": KindWords(
        label="Explains",
        icon=":material/info:",
        color="gray",
        about="How to understand what is there.",
    ),
}
"""In the order in which findings are shown."""

_STATES = {"fired": "Seen", "clear": "Not seen", "not_checked": "Not checked"}
ALL_SHOWN = "observations_all"
"""Key of the visitor's wish to see all observations; it holds for every result."""
FIRST_MAX = 6
"""Observations drawn at first, if not more of them matter."""
FEW = 2
"""So many more are not worth a button."""
NO_ADVICE = "Nothing: this only explains."
_EMPTY = {
    "fired": "Nothing was seen that has a row here.",
    "clear": "Everything that could be checked was seen.",
    "not_checked": "Everything could be checked.",
}


def kind_badge(kind: str) -> str:
    """Return Markdown of a badge that names a kind of rule in words."""
    words = KINDS[kind]
    return f":{words.color}-badge[{words.icon} {words.label}]"


def finding_key(finding: Finding) -> str:
    """Return the key of the row of a finding."""
    return f"finding_{finding.rule}"


@st.fragment
def observations_panel(
    findings: tuple[Finding, ...],
    *,
    snippet: str,
    follow: Callable[[Finding], None] | None = None,
) -> None:
    """Draw the findings of one state, chosen above the table; the seen ones first.

    Args:
        findings: All of them.
        snippet: Python that records what this trace lacks.
        follow: Draws what can be done about one that was seen, below its advice.
    """
    redraw_if_new()
    st.subheader("What was seen, and what it likely means", anchor=False)
    pause_if_asked()
    by_state = {
        state: [finding for finding in findings if finding.state == state] for state in _STATES
    }
    labels = {state: f"{words} ({len(by_state[state])})" for state, words in _STATES.items()}
    state = st.segmented_control(
        "Show",
        list(_STATES),
        default="fired",
        required=True,
        format_func=labels.__getitem__,
        key="observation_state",
    )
    shown = by_state.get(str(state), [])
    if not shown:
        st.caption(_EMPTY.get(str(state), ""))
    elif state == "fired":
        now = chosen(findings)
        in_order = sorted(shown, key=lambda finding: list(KINDS).index(finding.kind))
        count = first_count(in_order)
        if now is not None and now.finding in in_order[count:]:
            st.session_state[ALL_SHOWN] = True  # and it stays when the highlight is cleared
        if st.session_state.get(ALL_SHOWN, False):
            count = len(in_order)
        with st.container(gap="xsmall"):
            for finding in in_order[:count]:
                mine = now if now is not None and now.finding is finding else None
                _seen(finding, follow, mine)
        if count < len(in_order):
            _more_button(len(in_order) - count)
    else:
        if state == "not_checked":
            _cannot_tell(snippet)
        _unseen(shown, is_checked=state == "clear")


def first_count(in_order: list[Finding]) -> int:
    """Return how many of the observations are drawn at first; those that only explain can wait.

    Args:
        in_order: Those that only explain stand at the end.
    """
    matter = sum(finding.kind != "fact" for finding in in_order)
    count = max(matter, FIRST_MAX)
    return len(in_order) if len(in_order) - count <= FEW else count


def _more_button(count: int) -> None:
    def show_all() -> None:
        st.session_state[ALL_SHOWN] = True

    st.button(
        f"{count} more that only explain",
        icon=":material/expand_more:",
        key="observations_more",
        on_click=show_all,
    )


def _seen(
    finding: Finding, follow: Callable[[Finding], None] | None, highlighted: Chosen | None
) -> None:
    with st.container(border=True, key=finding_key(finding)):
        observation, meaning, advice = st.columns([5, 5, 4], gap="medium")
        with observation:
            with st.container(gap="xxsmall"):
                if highlighted is not None:
                    place_to_come_back_to()
                st.markdown(f"{kind_badge(finding.kind)} **{plain(finding.title)}**")
                st.markdown(_small(finding.observation))
            if can_be_highlighted(finding):
                _highlight_button(finding, highlighted)
            # Drawing the page anew would close the list in which something was picked.
            is_picked = highlighted is not None and highlighted.place is not None
            with st.expander("Evidence and source", type="compact", expanded=is_picked):
                _evidence(finding, highlighted)
        with meaning, st.container(gap="xxsmall"):
            st.caption("Likely meaning")
            st.markdown(_small(finding.meaning))
        with advice, st.container(gap="xxsmall"):
            st.caption("What to try")
            st.markdown(_small(finding.advice or NO_ADVICE))
            if follow is not None:
                follow(finding)


def _small(text: str) -> str:
    return f":small[{plain(text)}]"


def _highlight_button(finding: Finding, highlighted: Chosen | None) -> None:
    if highlighted is None:
        st.button(
            "Highlight in the charts",
            icon=":material/ink_highlighter:",
            type="tertiary",
            key=f"highlight_{finding.rule}",
            on_click=choose,
            args=(finding.rule,),
            help="Outlines the bars that this observation speaks of in the charts above, and "
            "fades the others.",
        )
    else:
        st.button(
            "Clear the highlight",
            icon=":material/close:",
            type="tertiary",
            key=f"unhighlight_{finding.rule}",
            on_click=clear,
            args=(finding_key(finding),),
        )


def _evidence(finding: Finding, highlighted: Chosen | None) -> None:
    words = [_words(one) for one in finding.evidence]
    if can_be_highlighted(finding):
        # The address says what is picked: a choice elsewhere lets go of this one.
        key = evidence_key(finding.rule)
        st.session_state[key] = None if highlighted is None else highlighted.place
        st.radio(
            "The events it rests on; choose one to see its bars in the charts",
            range(len(words)),
            index=None,
            format_func=lambda place: _small(words[place]),
            key=key,
            on_change=choose_evidence,
            args=(finding.rule,),
        )
    elif words:
        st.markdown("\n".join(f"- {_small(text)}" for text in words))
    st.caption(f"Rule {plain(finding.rule)} · {plain(finding.family)}")
    st.caption(f"Source: {plain(finding.source)}")


def _words(evidence: Evidence) -> str:
    place = [] if evidence.step is None else [f"step {evidence.step}"]
    if evidence.start_ns is not None:
        place.append(f"at {time_text(evidence.start_ns)}")
    return evidence.text + (f" ({', '.join(place)})" if place else "")


def _cannot_tell(snippet: str) -> None:
    st.markdown("**What this recording cannot tell you**")
    with st.expander("How to record what is missing", icon=":material/code:"):
        st.caption(
            "Where an experiment of this page cannot show it, profile your own program like this "
            "and open the file with “Open a trace”. Each line below says what it needs."
        )
        st.code(snippet, language="python")


def _unseen(findings: list[Finding], *, is_checked: bool) -> None:
    """Rows in short, by family: what would have been seen, or why it could not be looked for."""
    last = "what it would mean" if is_checked else "why it was not checked"
    st.caption(f"In bold what was looked for, then {last}.")
    # A list and not a table: three columns of sentences do not fit a phone.
    for family in FAMILIES:
        lines = [
            f"- **{plain(row.title)}:** {plain(row.meaning if is_checked else row.reason)}"
            for row in findings
            if row.family == family
        ]
        if lines:
            st.markdown(f"**{family[:1].upper()}{family[1:]}**\n" + "\n".join(lines))
