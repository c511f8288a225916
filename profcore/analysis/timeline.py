"""What happened when, lane by lane, in one window of time?

A lane is a thread of the CPU or a stream of a GPU. Nothing is hidden: bars that would cover each
other stand on levels of their own, and whatever is not drawn is counted, with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import pandas as pd

from profcore.analysis import columns, lanes, levels, stacks
from profcore.trace.model import CPU_SIDE, GPU_WORK, KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Ints = NDArray[np.int64]

Side = Literal["cpu", "python", "gpu", "labels", "waits", "device"]
"""cpu: operators, annotations, runtime calls, overhead of a thread. python: its Python frames.
gpu: kernels, copies and fills of a stream. labels: copies of annotations over GPU work. waits:
synchronisation records on the GPU side. device: rows of accelerators that are no kernels by name.
"""

MARKS: Final[dict[str, str]] = {
    "row": "position in the trace; -1 for a block of several rows",
    "lane": "position in the table of lanes",
    "level": "0 for the uppermost bar of the lane",
    "kind": "as in trace.model.KINDS; of a block the kind with most time",
    "name": "full name; of a block the name with most time",
    "start_ns": "where the bar begins: start of the row, or of the window",
    "end_ns": "where it ends: end of the row, or of the window",
    "sum_ns": "time inside the window; of a block the sum over its rows, without the space between",
    "self_ns": "of rows on the CPU side: time inside the window in which the row was the innermost "
    "of its thread; 0 for all others",
    "rows": "how many rows it stands for: 1, or those of a block",
}

LANES: Final[dict[str, str]] = {
    "side": "cpu, python, gpu, labels, waits or device",
    "pid": "process, or device",
    "tid": "thread, or stream",
    "title": "for people",
    "levels": "how many levels of bars it has",
    "rows": "rows of the trace that are drawn in it",
    "drawn_ns": "cpu: time covered, which is the sum of self_ns; else the sum of sum_ns",
}

LANES_MAX: Final = 32
"""Threads drawn at most, and as many streams: those with the most rows."""
LEVELS_MAX: Final = 40
"""Deeper rows are counted, not drawn: a picture of a thousand levels helps nobody."""

_SIDES: Final[tuple[Side, ...]] = ("cpu", "python", "gpu", "labels", "waits", "device")
_KIND_SIDES: Final[dict[str, Side]] = {
    **dict.fromkeys(CPU_SIDE, "cpu"),
    "python": "python",
    **dict.fromkeys(GPU_WORK, "gpu"),
    "gpu_annotation": "labels",
    "gpu_sync": "waits",
    "accelerator": "device",
}
_ORDER: Final[tuple[Side, ...]] = ("python", "cpu", "labels", "gpu", "device", "waits")
"""From top to bottom: from the Python call down to the kernel."""

HELPERS: Final = "helper rows that PyTorch's own table leaves out too"
UNKNOWN: Final = "rows that the exporter added, or of a kind that is not known here"
DEEP: Final = f"rows more than {LEVELS_MAX} levels deep"
CROWDED: Final = "rows of further threads and streams, those with the fewest rows"


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The bars of one window."""

    start_ns: int
    end_ns: int
    """The window is [start_ns, end_ns)."""
    marks: pd.DataFrame
    """Columns MARKS; in order of lane, level, start."""
    lanes: pd.DataFrame
    """Columns LANES; from top to bottom."""
    left_out: dict[str, int]
    """Rows of the window that are not drawn, by reason in words."""


def timeline(analysis: Analysis, *, start_ns: int, end_ns: int) -> Timeline:
    """Return every row that lies in [start_ns, end_ns), cut at its edges.

    Raises:
        ValueError: the window has no length.
    """
    if end_ns <= start_ns:
        msg = f"The window ends at {end_ns} ns, at or before its start at {start_ns} ns."
        raise ValueError(msg)
    trace = analysis.trace
    row, side, lane = _rows(trace, start_ns, end_ns)
    left_out = _left_out(trace, start_ns, end_ns)
    kept = _in_few_lanes(lane, is_cpu=side <= _SIDES.index("python"))
    if not kept.all():
        left_out[CROWDED] = int((~kept).sum())
        row, side, lane = row[kept], side[kept], lane[kept]
    start = np.maximum(trace.start_ns[row], start_ns)
    end = np.minimum(trace.start_ns[row] + trace.duration_ns[row], end_ns)
    # One number per lane and side: what shares it must not overlap.
    group = lane * len(_SIDES) + side
    order = np.lexsort((-end, start, group))
    row, side, group, start, end = (each[order] for each in (row, side, group, start, end))
    level = _levels(start, end, group=group, side=side)
    deep = level >= LEVELS_MAX
    if deep.any():
        left_out[DEEP] = int(deep.sum())
    table, index = _lanes(trace, group)
    marks = pd.DataFrame(
        {
            "row": row,
            "lane": index,
            "level": level,
            "kind": columns.text(np.array(KINDS, dtype=object)[trace.kind[row]]),
            "name": columns.names_of(trace, row),
            "start_ns": start,
            "end_ns": end,
            "sum_ns": end - start,
            "self_ns": _self_ns(start, end, group=group, is_cpu=side == _SIDES.index("cpu")),
            "rows": np.ones(len(row), np.int64),
        }
    )
    marks = marks[~deep].sort_values(["lane", "level", "start_ns"], kind="stable")
    marks = marks.reset_index(drop=True)
    return Timeline(
        start_ns=start_ns,
        end_ns=end_ns,
        marks=marks,
        lanes=_summed(table, marks),
        left_out=left_out,
    )


def _rows(trace: Trace, start_ns: int, end_ns: int) -> tuple[Ints, Ints, Ints]:
    """Return the rows that reach into the window, their sides and lanes."""
    side_of_kind = np.array(
        [_SIDES.index(_KIND_SIDES[kind]) if kind in _KIND_SIDES else -1 for kind in KINDS]
    )
    side = side_of_kind[trace.kind]
    lane = trace.lane.astype(np.int64)
    cpu = lanes.cpu_rows(trace)
    listed = np.zeros(len(trace), bool)
    listed[cpu.row] = True
    lane[cpu.row] = cpu.lane
    shown = (side >= 0) & (listed | (side != _SIDES.index("cpu")))
    row = np.flatnonzero(shown & _inside(trace, start_ns, end_ns))
    return row, side[row], lane[row]


def _in_few_lanes(lane: Ints, *, is_cpu: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the rows of the LANES_MAX fullest lanes of the CPU, and of as many of the GPU."""
    kept = np.ones(len(lane), bool)
    for half in (is_cpu, ~is_cpu):
        known, counts = np.unique(lane[half], return_counts=True)
        if len(known) > LANES_MAX:
            fullest = known[np.argsort(-counts, kind="stable")[:LANES_MAX]]
            kept[half] = np.isin(lane[half], fullest)
    return kept


def _inside(trace: Trace, start_ns: int, end_ns: int) -> NDArray[np.bool_]:
    """Return the rows that overlap the window; one of no length counts where it stands."""
    end = trace.start_ns + trace.duration_ns
    reaches = (end > start_ns) | ((trace.duration_ns == 0) & (end >= start_ns))
    inside: NDArray[np.bool_] = (trace.start_ns < end_ns) & reaches
    return inside


def _left_out(trace: Trace, start_ns: int, end_ns: int) -> dict[str, int]:
    inside = _inside(trace, start_ns, end_ns)
    helpers = inside & trace.is_kind(*CPU_SIDE) & ~lanes.is_listed(trace)
    counts = {HELPERS: helpers, UNKNOWN: inside & trace.is_kind("other")}
    return {reason: int(rows.sum()) for reason, rows in counts.items() if rows.any()}


def _levels(start: Ints, end: Ints, *, group: Ints, side: Ints) -> Ints:
    level = np.zeros(len(start), np.int64)
    nests = np.isin(side, [_SIDES.index("cpu"), _SIDES.index("python"), _SIDES.index("labels")])
    level[nests] = levels.nested_levels(start[nests], end[nests], group[nests])
    level[~nests] = levels.free_levels(start[~nests], end[~nests], group[~nests])
    return level


def _self_ns(start: Ints, end: Ints, *, group: Ints, is_cpu: NDArray[np.bool_]) -> Ints:
    own = np.zeros(len(start), np.int64)
    begun, ended, lane = start[is_cpu], end[is_cpu], group[is_cpu]
    parent = stacks.parents(begun, ended, lane)
    own[is_cpu] = stacks.self_ns(begun, ended, parent, lane=lane)
    return own


def _lanes(trace: Trace, group: Ints) -> tuple[pd.DataFrame, Ints]:
    """Return the lanes from top to bottom, and the lane of each row."""
    known, index, counts = np.unique(group, return_inverse=True, return_counts=True)
    lane, side = known // len(_SIDES), known % len(_SIDES)
    sides = [_SIDES[code] for code in side.tolist()]
    of = [trace.lanes[code] for code in lane.tolist()]
    rank = np.array([_ORDER.index(name) for name in sides], np.int64)
    # Python frames stand above the operators of their thread; then the busier thread first.
    is_gpu = rank >= _ORDER.index("labels")
    busiest: dict[int, int] = {}
    for code, count in zip(lane.tolist(), counts.tolist(), strict=True):
        busiest[code] = busiest.get(code, 0) + count
    weight = np.array([-busiest[code] for code in lane.tolist()], np.int64)
    order = np.lexsort((rank, lane, np.where(is_gpu, 0, weight), is_gpu))
    place = np.empty(len(known), np.int64)
    place[order] = np.arange(len(known))
    table = pd.DataFrame(
        {
            "side": columns.text(sides),
            "pid": columns.text(str(one.pid) for one in of),
            "tid": columns.text(str(one.tid) for one in of),
            "title": columns.text(
                _title(trace, code, name) for code, name in zip(lane.tolist(), sides, strict=True)
            ),
        }
    )
    return table.iloc[order].reset_index(drop=True), place[index]


def _title(trace: Trace, lane: int, side: Side) -> str:
    one = trace.lanes[lane]
    if side in {"cpu", "python"}:
        if (one.pid, one.tid) == (-1, 0):
            return "Profiler, outside any thread"
        what = "CPU thread" if side == "cpu" else "Python calls, thread"
        return f"{what} {one.tid}"
    stream = str(one.tid).removeprefix("stream ").strip()
    place = f"GPU {one.pid}, stream {stream}"
    words = {"labels": "labels over its work", "waits": "synchronisation", "device": "device rows"}
    return place if side == "gpu" else f"{place}: {words[side]}"


def _summed(table: pd.DataFrame, marks: pd.DataFrame) -> pd.DataFrame:
    lane, count = marks["lane"].to_numpy(), len(table)
    is_cpu = (table["side"] == "cpu").to_numpy()
    depth = np.zeros(count, np.int64)
    np.maximum.at(depth, lane, marks["level"].to_numpy() + 1)
    own = columns.sums(marks["self_ns"].to_numpy(), lane, groups=count)
    whole = columns.sums(marks["sum_ns"].to_numpy(), lane, groups=count)
    return table.assign(
        levels=depth,
        rows=columns.sums(marks["rows"].to_numpy(), lane, groups=count),
        drawn_ns=np.where(is_cpu, own, whole),
    )
