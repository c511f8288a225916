"""The two runs in numbers: per step, per kernel, per operator."""

import pandas as pd
import streamlit as st

from pages._panels.figures import ROWS_LISTED_MAX, choosable_sheet, say_hidden, short_label
from pages._panels.text import plain
from pages._panels.timeline_link import RowLink
from profcore.analysis import Analysis
from profcore.comparison import Comparison
from profcore.comparison.figures import Figures
from profcore.comparison.tables import kernel_rows, operator_rows
from profcore.units import (
    NS_PER_US,
    bytes_rate_text,
    flops_rate_text,
    percent_text,
    ratio_text,
    time_text,
)

_UNKNOWN = "not known"
_ALL = "all"


def numbers_table(comparison: Comparison) -> None:
    """Draw what one step takes on both sides; what no side has is left out."""
    a, b = comparison.figures
    rows = [
        _times("Step time, no profiler", a.step_ns, b.step_ns),
        ("its middle half", _half(a), _half(b), ""),
        _times("CPU time to issue a step", a.cpu_ns, b.cpu_ns),
        _times("GPU work", a.gpu_busy_ns, b.gpu_busy_ns),
        ("GPU busy", _share(a.busy_fraction), _share(b.busy_fraction), ""),
        _counts("Launches", a.launches, b.launches),
        _counts("Kernels", a.kernels, b.kernels),
        ("Achieved", _rate(a), _rate(b), _ratio(a.achieved_per_s, b.achieved_per_s)),
        _times("First call, compilation included", a.first_call_ns, b.first_call_ns),
    ]
    shown = [row for row in rows if (row[1], row[2]) != (_UNKNOWN, _UNKNOWN)]
    name_a, name_b = (plain(name) for name in comparison.names)
    lines = [f"| Per step | {name_a} | {name_b} | change |", "|:--|--:|--:|--:|"]
    lines += [f"| {' | '.join(plain(cell) for cell in row)} |" for row in shown]
    with st.container(key="compare_numbers"):
        st.subheader("What does one step take?", anchor=False)
        st.markdown("\n".join(lines))


def _times(label: str, a: float | None, b: float | None) -> tuple[str, str, str, str]:
    return label, _time(a), _time(b), _ratio(a, b)


def _counts(label: str, a: float | None, b: float | None) -> tuple[str, str, str, str]:
    change = "" if a is None or b is None or a == b else f"{b - a:+g}"
    return label, _count(a), _count(b), change


def _time(duration_ns: float | None) -> str:
    return _UNKNOWN if duration_ns is None else time_text(duration_ns)


def _count(count: float | None) -> str:
    return _UNKNOWN if count is None else f"{count:g}"


def _share(fraction: float | None) -> str:
    return _UNKNOWN if fraction is None else percent_text(fraction)


def _half(figures: Figures) -> str:
    if figures.step_p25_ns is None or figures.step_p75_ns is None:
        return _UNKNOWN
    return f"{time_text(figures.step_p25_ns)} to {time_text(figures.step_p75_ns)}"


def _rate(figures: Figures) -> str:
    if figures.achieved_per_s is None:
        return _UNKNOWN
    text = flops_rate_text if figures.is_flops else bytes_rate_text
    return text(figures.achieved_per_s)


def _ratio(a: float | None, b: float | None) -> str:
    return ratio_text(b / a) if a and b else ""


@st.fragment
def kernels_panel(comparison: Comparison, links: tuple[RowLink, ...]) -> None:
    """Draw kernels, copies and fills, matched by name; `links` are those of both sides."""
    st.subheader("Which GPU work is only in one, and which in both?", anchor=False)
    table = comparison.kernels
    if table.empty:
        st.caption("Neither side has GPU work: a run on the CPU launches nothing.")
        return
    shown = _matched(table, comparison.names, "kernels", "Time")
    if shown is not None:
        _ways(shown, comparison.names, [kernel_rows(one) for one in _analyses(comparison)], links)
    st.caption(
        "Per step: how often, and the sum of the durations. One kernel may have two names where "
        "only its ending differs (how cuBLAS adds a bias, how Inductor counts); the full names "
        "stand at the right."
    )


@st.fragment
def operators_panel(comparison: Comparison, links: tuple[RowLink, ...]) -> None:
    """Draw operators, annotations and calls of the CPU side; `links` are those of both sides."""
    st.subheader("Which operators are only in one, and which in both?", anchor=False)
    table = comparison.operators
    if table.empty:
        st.caption("Neither side recorded operators: record with the CPU activity.")
        return
    shown = _matched(table, comparison.names, "operators", "Self CPU")
    if shown is not None:
        _ways(shown, comparison.names, [operator_rows(one) for one in _analyses(comparison)], links)
    st.caption(
        "Per step: how often, and the CPU time inside the operator itself. The profiler slows "
        "each of them, so read them against each other only."
    )


def _analyses(comparison: Comparison) -> tuple[Analysis, Analysis]:
    return comparison.a.analysis, comparison.b.analysis


def _ways(
    line: pd.Series,
    names: tuple[str, str],
    rows: list[dict[str, int]],
    links: tuple[RowLink, ...],
) -> None:
    """Draw for each side that has what stands in a line the way to how it comes about."""
    with st.container(horizontal=True):
        for name, side, known, link in zip(("name_a", "name_b"), names, rows, links, strict=True):
            row = known.get(str(line[name]))
            if row is not None:
                link.draw(row, f"{plain(side)}: how {short_label(str(line['name']))} comes about")


def _matched(table: pd.DataFrame, names: tuple[str, str], key: str, time: str) -> pd.Series | None:
    """Draw the table; return its chosen line."""
    counts = table["where"].value_counts()
    labels = {
        _ALL: f"all ({len(table)})",
        "A": f"only {names[0]} ({counts.get('A', 0)})",
        "B": f"only {names[1]} ({counts.get('B', 0)})",
        "both": f"both ({counts.get('both', 0)})",
    }
    chosen = st.segmented_control(
        "Show",
        list(labels),
        default=_ALL,
        required=True,
        format_func=labels.__getitem__,
        key=f"compare_{key}_where",
    )
    shown = table if chosen == _ALL else table[table["where"] == chosen]
    if shown.empty:
        st.caption("There is none.")
        return None
    words = {"both": "both", "A": f"only {names[0]}", "B": f"only {names[1]}"}
    a, b = names
    columns = {
        "Name": shown["name"],
        "Where": shown["where"].map(words),
        f"Calls, {a}": whole_numbers(shown["calls_a"]),
        f"Calls, {b}": whole_numbers(shown["calls_b"]),
        f"{time}, {a} (µs)": shown["a_ns"] / NS_PER_US,
        f"{time}, {b} (µs)": shown["b_ns"] / NS_PER_US,
        "Change (µs)": shown["change_ns"] / NS_PER_US,
        f"Full name, {a}": shown["name_a"],
        f"Full name, {b}": shown["name_b"],
    }
    drawn = pd.DataFrame(columns).head(ROWS_LISTED_MAX)
    line = choosable_sheet(drawn, name=f"Matched {key} of both runs", key=f"compare_{key}_{chosen}")
    say_hidden(len(shown) - ROWS_LISTED_MAX)
    return None if line is None else shown.iloc[line]


def whole_numbers(counts: pd.Series) -> pd.Series:
    """Return whole numbers where none has decimals, so that "1" is shown and not "1.00"."""
    return counts.astype("Int64") if (counts.dropna() % 1 == 0).all() else counts
