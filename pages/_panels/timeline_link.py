"""Links to the timeline of a recording, for every page that names a step or a row of a trace."""

from dataclasses import dataclass

import streamlit as st

from pages._panels.open_state import TRACE_PARAMETER
from pages._panels.start import RUN_PARAMETER

PAGE = "pages/timeline_page.py"
STEP_PARAMETER = "step"
"""N of ProfilerStep#N, or "all"."""
ROW_PARAMETER = "row"
"""Position of a row in the trace: its dispatch chain is shown."""
RULE_PARAMETER = "rule"
"""Id of a rule that fired: its events are outlined."""
PART_PARAMETER = "part"
"""Hundredths of the stretch, for instance "25-50"."""
SEARCH_PARAMETER = "guide_search"
"""The search of the Field guide."""


def timeline_link(
    trace_id: str,
    *,
    is_opened: bool = False,
    label: str = "See it on the timeline",
    step: int | None = None,
    row: int | None = None,
    rule: str | None = None,
) -> None:
    """Draw a link to the timeline, at a step, a row or the events of a rule if given.

    The id is that of a recording, or of an opened trace when `is_opened` says so. The label is read
    as Markdown: names from files go through `text.plain` first.
    """
    known = {STEP_PARAMETER: step, ROW_PARAMETER: row, RULE_PARAMETER: rule}
    query = {name: str(value) for name, value in known.items() if value is not None}
    st.page_link(
        PAGE,
        label=label,
        icon=":material/view_timeline:",
        query_params={TRACE_PARAMETER if is_opened else RUN_PARAMETER: trace_id, **query},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RowLink:
    """Draws links to rows of one trace. It is small: what draws itself anew keeps it."""

    trace_id: str
    is_opened: bool = False

    def draw(self, row: int, label: str) -> None:
        """Draw a link; the label is Markdown."""
        timeline_link(self.trace_id, is_opened=self.is_opened, label=label, row=row)


def guide_link(rule: str, label: str) -> None:
    """Draw a link to a rule in the Field guide."""
    st.page_link(
        "pages/guide_page.py",
        label=label,
        query_params={SEARCH_PARAMETER: rule},
    )
