"""The words of the timeline: tooltips, kinds, causes of gaps, the takeaway, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from profcore.analysis.names import short_name
from profcore.charts.figure import Unit, shorten
from profcore.rules.rows import count_text
from profcore.units import time_text

if TYPE_CHECKING:
    from profcore.analysis.timeline import Timeline

_WORDS: Final = {
    "operator": "operator",
    "annotation": "label",
    "python": "Python function",
    "runtime": "call to the GPU's driver",
    "overhead": "the profiler's own work",
    "kernel": "kernel on the GPU",
    "memcpy": "copy on the GPU",
    "memset": "fill on the GPU",
    "gpu_annotation": "label over GPU work",
    "gpu_sync": "synchronisation",
    "accelerator": "device row",
}
CAUSES: Final = {
    "profiler": "GPU idle while the profiler works for itself",
    "launch": "Launch gap: work is launched and has not started yet",
    "waiting": "GPU idle while the CPU waits for it (synchronise)",
    "host": "Host-bound: the CPU has not launched the next work yet",
    "start": "Before the first GPU work: the GPU's lane begins later than the CPU's",
}
CAUSES_SHORT: Final = {
    "profiler": "profiler",
    "launch": "launch gap",
    "waiting": "synchronise",
    "host": "host-bound",
    "start": "not begun",
}

GAPS_MAX: Final = 400
"""Gaps drawn, the longest ones; the sum in the title is of all."""
NUMERALS: Final = "❶❷❸❹❺❻❼❽❾❿"


def numeral(number: int) -> str:
    """Return a number as it stands in the picture: a filled circle up to ten."""
    return NUMERALS[number - 1] if 0 < number <= len(NUMERALS) else f"({number})"


def label(kind: str, name: str) -> str:
    """Return a name short enough for a picture."""
    return short_name(name) if kind == "kernel" else shorten(name, 60)


def tip(mark: dict[Any, Any], *, from_ns: int) -> str:
    """Return what a bar is, in one plain sentence; times count from the left edge."""
    name = label(mark["kind"], mark["name"])
    length, at = time_text(mark["sum_ns"]), time_text(mark["start_ns"] - from_ns)
    if mark["rows"] > 1:
        return (
            f"{mark['rows']:,} rows drawn as one block, {length} together, from {at}; the "
            f"longest is {name}. Choose a shorter stretch to see each."
        )
    own = ""
    if mark["self_ns"] and mark["self_ns"] != mark["sum_ns"]:
        own = f", {time_text(mark['self_ns'])} of it its own"
    return f"{name}: {_WORDS[mark['kind']]}, {length}{own}, starts at {at}"


def takeaway(line: Timeline, gaps: pd.DataFrame) -> str:
    """Return what the picture shows, for people who do not see it."""
    rows = int(line.marks["rows"].sum())
    counts = count_text(rows, "row"), count_text(len(line.lanes), "lane")
    text = f"{counts[0]} in {counts[1]} over {time_text(line.end_ns - line.start_ns)}."
    if len(gaps):
        by_cause = gaps.groupby("cause")["duration_ns"].sum().sort_values(ascending=False)
        cause, ns = str(by_cause.index[0]), float(by_cause.iloc[0])
        text += (
            f" The GPU is idle for {time_text(float(gaps['duration_ns'].sum()))} of it, most of "
            f"that ({time_text(ns)}) because: {CAUSES[cause]}."
        )
    return text


def note(line: Timeline, marks: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """Return what is drawn together and what is not drawn."""
    rows = int(line.marks["rows"].sum())
    parts = []
    if len(marks) < rows:
        parts.append(
            f"{rows:,} events drawn as {len(marks):,} blocks: what is narrower than a column of "
            "the picture is drawn together. Choose a shorter stretch to see every one."
        )
    if len(gaps) > GAPS_MAX:
        parts.append(f"The {GAPS_MAX} longest of {len(gaps):,} gaps are drawn.")
    if line.left_out:
        listed = ", ".join(
            f"{count:,} {reason if count > 1 else reason.replace('rows', 'row', 1)}"
            for reason, count in line.left_out.items()
        )
        parts.append(f"Not drawn: {listed}.")
    return " ".join(parts)


def sheet(marks: pd.DataFrame, line: Timeline, unit: Unit) -> pd.DataFrame:
    """Return the bars as a table in order of time; the last column is the row of the trace."""
    titles = line.lanes["title"].to_numpy()
    table = pd.DataFrame(
        {
            "Name": marks["name"],
            f"Start ({unit.name})": (marks["start_ns"] - line.start_ns) / unit.ns,
            f"Time ({unit.name})": marks["sum_ns"] / unit.ns,
            f"Self ({unit.name})": marks["self_ns"] / unit.ns,
            "What": [_WORDS[kind] for kind in marks["kind"]],
            "Lane": titles[marks["lane"].to_numpy()],
            "Rows": marks["rows"],
            "row": marks["row"],
        }
    )
    return table.sort_values(table.columns[1], kind="stable", ignore_index=True)
