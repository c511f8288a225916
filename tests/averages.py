"""Our operators table against torch's own, for any recording that holds both.

A recording is a folder with `trace.json.gz` and `averages.json` (`profcore.recording`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from profcore.analysis import Analysis
from profcore.recording import AVERAGES_FILE, TRACE_FILE, Average
from profcore.trace import read

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = ("calls", "self_cpu_ns", "total_cpu_ns", "self_gpu_ns", "total_gpu_ns")


@dataclass(frozen=True)
class Difference:
    """One figure that does not agree."""

    name: str
    kind: str
    """Ours (operator, annotation ...); "missing" for a row that only torch has."""
    figure: str
    ours: int
    torch: int


def load(folder: Path) -> tuple[Analysis, list[Average]]:
    """Return the analysis of a recording and torch's table of it."""
    averages = msgspec.json.decode((folder / AVERAGES_FILE).read_bytes(), type=list[Average])
    return Analysis(read(folder / TRACE_FILE)), averages


def figures(average: Average) -> dict[str, int]:
    """Return torch's numbers in our unit; its floats are whole nanoseconds up to rounding."""
    return {
        "calls": average.calls,
        "self_cpu_ns": round(average.self_cpu_us * 1000),
        "total_cpu_ns": round(average.total_cpu_us * 1000),
        "self_gpu_ns": round(average.self_device_us * 1000),
        "total_gpu_ns": round(average.total_device_us * 1000),
    }


def cpu_differences(analysis: Analysis, averages: list[Average]) -> list[Difference]:
    """Compare every CPU-side row, exactly; rows are told apart by name and annotation or not."""
    mine = {(one.name, one.kind == "annotation"): one for one in analysis.operators.itertuples()}
    found = []
    for average in averages:
        if average.device != "cpu":
            continue
        ours = mine.pop((average.name, average.is_annotation), None)
        kind = ours.kind if ours else "missing"
        for figure, stated in figures(average).items():
            value = int(getattr(ours, figure)) if ours else 0
            if value != stated:
                found.append(Difference(average.name, kind, figure, value, stated))
    found += [
        Difference(one.name, one.kind, figure, int(getattr(one, figure)), 0)
        for one in mine.values()
        for figure in FIGURES
        if getattr(one, figure)
    ]
    return found


def device_differences(analysis: Analysis, averages: list[Average]) -> list[Difference]:
    """Compare every kernel, copy and fill by name: calls and sum. Annotations are no work."""
    mine = {
        one.name: (int(one.calls), int(one.sum_ns))
        for table in (analysis.kernels, analysis.copies)
        for one in table.itertuples()
    }
    found = []
    for average in averages:
        if average.device == "cpu" or average.is_annotation:
            continue
        calls, sum_ns = mine.pop(average.name, (0, 0))
        stated = figures(average)
        if calls != stated["calls"]:
            found.append(Difference(average.name, "device", "calls", calls, stated["calls"]))
        if sum_ns != stated["self_gpu_ns"]:
            found.append(
                Difference(average.name, "device", "self_gpu_ns", sum_ns, stated["self_gpu_ns"])
            )
    found += [Difference(name, "device", "calls", calls, 0) for name, (calls, _) in mine.items()]
    return found


def straddle_shifts(analysis: Analysis) -> dict[str, int]:
    """Return by name how much less self time torch gives a row because rows overlap in part.

    Compiling writes annotations that begin inside an operator and end after it. torch makes such a
    row a child of the next row that holds all of it, and then takes the shared part off that row
    twice, once with each child, and off the operator not at all
    (`EventList._populate_cpu_children`). Here the shared part belongs to the row that began last.
    Both ways add up to the same total.
    """
    trace, parent = analysis.trace, analysis.nesting.parent
    end = trace.start_ns + trace.duration_ns
    shifts: dict[str, int] = defaultdict(int)
    for row in np.flatnonzero(parent >= 0):
        at, from_ns, shared = parent[row], trace.start_ns[row], 0
        while at >= 0 and end[at] < end[row]:
            part = max(0, int(end[at] - from_ns))
            shifts[trace.name_of(at)] -= part
            from_ns, shared, at = max(from_ns, end[at]), shared + part, parent[at]
        if at >= 0 and shared:
            shifts[trace.name_of(at)] += shared
    return {name: shift for name, shift in shifts.items() if shift}


def launched_inside_ns(analysis: Analysis, name: str) -> int:
    """Return the GPU time launched inside the rows of a name, found by time and thread alone."""
    trace = analysis.trace
    label = "ProfilerStep#" if name == "ProfilerStep*" else name
    work = analysis.activities[analysis.activities["launch_row"] >= 0]
    call = work["launch_row"].to_numpy()
    duration = work["duration_ns"].to_numpy()
    total = 0
    for row in np.flatnonzero(trace.is_kind("operator", "annotation", "runtime", "overhead")):
        full = trace.name_of(row)
        if full != label and not (label == "ProfilerStep#" and full.startswith(label)):
            continue
        inside = (trace.start_ns[call] >= trace.start_ns[row]) & (
            trace.start_ns[call] < trace.start_ns[row] + trace.duration_ns[row]
        )
        total += int(duration[inside & (trace.lane[call] == trace.lane[row])].sum())
    return total
