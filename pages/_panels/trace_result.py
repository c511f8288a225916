"""What the analysis of a trace shows, the same for a recording and an opened file."""

from collections.abc import Callable

import streamlit as st

from pages._panels.figures import figure_panel
from pages._panels.highlight import highlighted_figures
from pages._panels.kernel_names import kernel_names_panel
from pages._panels.observations import observations_panel
from pages._panels.results import Result
from pages._panels.timeline_link import RowLink
from pages._panels.trust import something_matters, trust_panel
from profcore.rules import Finding
from profcore.rules.capture_snippet import capture_snippet


def result_panels(
    result: Result,
    *,
    verdict: Callable[[], None],
    numbers: Callable[[], None],
    follow: Callable[[Finding], None] | None = None,
    row_link: RowLink | None = None,
) -> None:
    """Draw trust, verdict, numbers, charts with their tables, and the observations.

    Args:
        result: What to show.
        verdict: Draws the verdict; a recording has more to say there than a bare trace.
        numbers: Draws the four numbers.
        follow: Draws what can be done about a finding that was seen: confirm it, see it.
        row_link: Draws the way to a row of the trace, for tables whose lines have one.
    """
    on_top = something_matters(result)
    if on_top:
        trust_panel(result)
    verdict()
    numbers()
    for position, figure in enumerate(highlighted_figures(result)):
        figure_panel(figure, key=str(position), row_link=row_link)
    for remark in result.remarks:
        st.caption(remark)
    kernel_names_panel(result)
    observations_panel(result.findings, snippet=capture_snippet(result.analysis), follow=follow)
    if not on_top:
        trust_panel(result)
