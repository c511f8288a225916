"""An opened trace on show: the same view as a recording's, without what only a run can know."""

from collections.abc import Callable

import streamlit as st

from pages._panels.compare_link import compare_link
from pages._panels.confirm import confirm_button
from pages._panels.downloads import csv_of, download, report_of
from pages._panels.open_state import TRACE_PARAMETER, get_shelf
from pages._panels.results import Result, held_lightly, load_opened
from pages._panels.runner import get_runner
from pages._panels.text import plain
from pages._panels.timeline_link import RowLink, timeline_link
from pages._panels.timeline_perfetto import of_opened, perfetto_panel
from pages._panels.trace_numbers import trace_numbers_panel
from pages._panels.trace_result import result_panels
from pages._panels.verdict import bare_verdict_panel
from profcore.analysis import Analysis, glance
from profcore.errors import TraceError
from profcore.opened.shelf import OpenedTrace
from profcore.rules import Finding
from profcore.units import bytes_text

TITLE_MAX = 120
"""Characters of a file name in the heading."""


def show_opened(trace_id: str) -> None:
    """Draw the trace of an id; ids come from the URL and may be anything."""
    try:
        opened = get_shelf().get(trace_id)
        result = load_opened(opened)
    except TraceError as error:
        st.warning(plain(str(error)))
        return
    _header(opened, result)
    light = held_lightly(result, lambda: Analysis(opened.load()))

    def follow(finding: Finding) -> None:
        confirm_button(finding.rule, light().analysis, None, get_runner())
        if any(evidence.row is not None for evidence in finding.evidence):
            timeline_link(opened.id, is_opened=True, rule=finding.rule)

    result_panels(
        result,
        verdict=lambda: bare_verdict_panel(result.verdict),
        numbers=lambda: trace_numbers_panel(glance.of(result.analysis)),
        follow=follow,
        row_link=RowLink(trace_id=opened.id, is_opened=True),
    )
    _downloads(opened, light, rows=len(result.analysis.trace))
    _about(opened, result)


def _header(opened: OpenedTrace, result: Result) -> None:
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left, st.container(gap="xxsmall"):
        st.header(plain(_cut(opened.title)), anchor=False)
        source = result.analysis.trace.source
        st.caption(
            f"{source.events:,} events · {bytes_text(opened.about.size_bytes)} · "
            f"opened {opened.about.opened_at[:16].replace('T', ' ')} UTC"
        )
    with left, st.container(horizontal=True):
        timeline_link(opened.id, is_opened=True, label="See its timeline")
        compare_link(opened.id)
    with (
        right,
        st.container(horizontal=True, horizontal_alignment="right"),
        st.popover("Link", icon=":material/link:", key="open_link"),
    ):
        address = (st.context.url or "").partition("?")[0]
        st.code(f"{address}?{TRACE_PARAMETER}={opened.id}", language=None, wrap_lines=True)
        st.caption(
            "Leads here again without reading the file anew, until the trace is cleared away to "
            "make room for others."
        )


def _downloads(opened: OpenedTrace, light: Callable[[], Result], *, rows: int) -> None:
    st.subheader("Take it with you", anchor=False)
    name = f"profcore-{opened.id[:12]}"
    with st.container(horizontal=True):
        for table in ("operators", "kernels", "steps"):
            download(f"{table.capitalize()} (CSV)", f"{name}.{table}.csv", csv_of(light, table))
        download("Report (JSON)", f"{name}.report.json", report_of(light))
    perfetto_panel(of_opened(opened, rows=rows))


def _about(opened: OpenedTrace, result: Result) -> None:
    trace = result.analysis.trace
    devices = list(dict.fromkeys(device.name for device in trace.devices if device.name))
    rows = {
        "File": _cut(opened.title),
        "Timed rows": f"{len(trace):,}",
        "Devices listed": ", ".join(map(_cut, devices[:8])) or "none",
        "Recorded with": ", ".join(sorted(trace.options)) or "no further options",
        **{name: _cut(version) for name, version in sorted(trace.versions.items())},
    }
    with st.expander("About this file", icon=":material/description:"):
        st.table({plain(name): plain(value) for name, value in rows.items()}, border="horizontal")
        st.caption("Only the columns computed from the file are kept here, not the file.")


def _cut(text: str) -> str:
    return text if len(text) <= TITLE_MAX else f"{text[:TITLE_MAX]}…"
