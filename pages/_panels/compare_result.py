"""A comparison on show: whether it is fair, what the change did, and where it shows."""

import msgspec
import streamlit as st

from pages._panels.compare_again import again_panel
from pages._panels.compare_chains import chains_panel
from pages._panels.compare_changes import changes_panel
from pages._panels.compare_link import A_PARAMETER, B_PARAMETER
from pages._panels.compare_sides import Side, alike, open_side, run_of
from pages._panels.compare_tables import kernels_panel, numbers_table, operators_panel
from pages._panels.downloads import download
from pages._panels.figures import figure_panel
from pages._panels.runner import get_runner
from pages._panels.samples import load_samples
from pages._panels.text import plain
from pages._panels.timeline_link import RowLink
from profcore.charts import compare_times_figure
from profcore.commands.compare_report import compare_report
from profcore.comparison import Comparison, Run
from profcore.comparison.comparability import Comparability
from profcore.errors import ProfcoreError
from profcore.library import Library
from profcore.recording import Recording


def show_comparison(a_id: str, b_id: str, library: Library) -> None:
    """Draw the comparison of two ids; ids come from the URL and may be anything."""
    try:
        a, b = open_side(a_id, library), open_side(b_id, library)
    except ProfcoreError as error:
        st.warning(plain(str(error)))
        return
    if a.id == b.id:
        st.info(
            "Both sides are the same run, so nothing can differ. Choose another one for B.",
            icon=":material/info:",
        )
        return
    more_a, more_b = _further_runs(a, b, library)
    comparison = _comparison(a, b, more_a, more_b)
    _sides(a, b, comparison)
    _comparability(comparison.comparability)
    _verdict(comparison)
    again_panel(a, b, comparison, get_runner(), library)
    numbers_table(comparison)
    figure_panel(compare_times_figure(*comparison.figures, names=comparison.names), key="compare")
    links = tuple(RowLink(trace_id=one.id, is_opened=one.recording is None) for one in (a, b))
    kernels_panel(comparison, links)
    operators_panel(comparison, links)
    chains_panel(comparison)
    changes_panel(comparison)
    _take_away(a, b, comparison)


def _further_runs(
    a: Side, b: Side, library: Library
) -> tuple[tuple[Recording, ...], tuple[Recording, ...]]:
    """Runs of the same two experiments, where the visitor wants them to count."""
    recordings = [*library.list(), *load_samples()]
    more_a, more_b = alike(a, b, recordings), alike(b, a, recordings)
    if not more_a and not more_b:
        return (), ()
    counts = st.toggle(
        f"Count the other runs of the same settings too ({len(more_a)} for A, {len(more_b)} for B)",
        value=True,
        key="compare_more",
        help="More runs show how much a step time differs from run to run. With four or more on "
        "each side that noise is measured; with fewer it is assumed.",
    )
    return (tuple(more_a), tuple(more_b)) if counts else ((), ())


def _comparison(
    a: Side, b: Side, more_a: tuple[Recording, ...], more_b: tuple[Recording, ...]
) -> Comparison:
    key = (
        *_key_of(a),
        *_key_of(b),
        tuple(one.id for one in more_a),
        tuple(one.id for one in more_b),
    )
    return _kept(run_of(a, more_a), run_of(b, more_b), key)


def _key_of(side: Side) -> tuple[str, str, int]:
    # The points of a sweep can be made again under the same id.
    trace = side.recording.trace_path if side.recording else None
    made_ns = trace.stat().st_mtime_ns if trace is not None and trace.exists() else 0
    return side.id, side.title, made_ns


# Kept, because its parts are computed when first asked for. A leading underscore keeps an
# argument out of the key.
@st.cache_resource(show_spinner=False, max_entries=16)
def _kept(_a: Run, _b: Run, key: tuple[object, ...]) -> Comparison:
    del key  # it is the key
    return Comparison(a=_a, b=_b)


def _sides(a: Side, b: Side, comparison: Comparison) -> None:
    for column, side, letter, name in zip(
        st.columns(2, gap="medium"), (a, b), "AB", comparison.names, strict=True
    ):
        with column, st.container(border=True, height="stretch", gap="xxsmall"):
            called = "" if name == letter else f", called “{plain(name)}” below"
            st.markdown(f"**{letter}**{called}")
            st.markdown(plain(side.title[:200]))
            page, query = side.page
            st.page_link(
                page, label="See it alone", icon=":material/open_in_new:", query_params=query
            )


def _comparability(found: Comparability) -> None:
    with st.container(border=True, key="comparability"):
        st.subheader("Can they be compared?", anchor=False)
        if found.obstacles:
            st.markdown(":orange-badge[:material/warning: with care]")
            st.markdown("\n".join(f"- {plain(text)}" for text in found.obstacles))
        else:
            same, cause = (
                ("All settings but one are the same", "comes from that setting")
                if found.knobs
                else ("All settings are the same", "is noise")
            )
            words = f"{same}." if found.cautions else f"{same}, so what differs {cause}."
            st.markdown(f":green-badge[:material/check: yes] {words}")
        for caution in found.cautions:
            st.caption(f"Mind: {plain(caution)}")
        if found.knobs:
            rows = [
                f"| {plain(knob.knob)} | {plain(knob.a)} | {plain(knob.b)} |"
                for knob in found.knobs
            ]
            st.markdown("\n".join(["| What differs | A | B |", "|:--|:--|:--|", *rows]))


def _verdict(comparison: Comparison) -> None:
    verdict = comparison.verdict
    step = comparison.step
    with st.container(border=True, key="difference"):
        if step is None:
            st.markdown(":gray-badge[not timed]")
        elif not step.is_real:
            st.markdown(":gray-badge[no difference beyond noise]")
        else:
            word = "takes longer" if step.is_slower else "is faster"
            st.markdown(f":blue-badge[{plain(comparison.names[1])} {word}]")
        st.subheader(plain(verdict.sentence), anchor=False)
        left, right = st.columns(2, gap="medium")
        with left:
            st.markdown("**How this follows**")
            st.markdown("\n".join(f"- {plain(line)}" for line in verdict.arithmetic))
        with right:
            if verdict.noise:
                st.markdown("**Is it more than noise?**")
                st.text(verdict.noise)


def _take_away(a: Side, b: Side, comparison: Comparison) -> None:
    st.subheader("Take it with you", anchor=False)
    with st.container(horizontal=True):
        download(
            "Comparison (JSON)",
            f"profcore-{a.id[:12]}-{b.id[:12]}.compare.json",
            lambda: _report(comparison),
        )
        with st.popover("Link", icon=":material/link:", key="compare_link"):
            address = (st.context.url or "").partition("?")[0]
            st.code(
                f"{address}?{A_PARAMETER}={a.id}&{B_PARAMETER}={b.id}",
                language=None,
                wrap_lines=True,
            )


def _report(comparison: Comparison) -> bytes:
    return msgspec.json.format(msgspec.json.encode(compare_report(comparison)), indent=1)
