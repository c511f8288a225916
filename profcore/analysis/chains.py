"""How did one piece of work come about, from the Python call to the kernel?

A chain is a ladder of rows. Above the launch call it follows the nesting of the CPU side, from the
outermost row (ProfilerStep#N) to the launch call; below it, the number that a launch call and its
GPU work share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import columns, matching, rungs
from profcore.trace.model import CPU_SIDE, GPU_WORK, KINDS, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

RUNGS_MAX: Final = 100
"""Rows shown above a call; recursive programs nest thousands deep."""
WORK_MAX: Final = 50
"""GPU rows listed for one launch call; a graph can own thousands."""
CALLS_MAX: Final = 100
"""Launch calls of an operator that are named; a step can hold thousands."""

NO_LAUNCH: Final = (
    "The call that launched this is not in the file: it was made before the recording began, or "
    "the profiler did not record it. So nothing is known above this rung."
)
BY_NUMBER: Final = (
    "The launch call is not in the file; the operator was found by the number it shares with the "
    "GPU row."
)
SEVERAL: Final = "Several launch calls carry the number of this row; the first of them is shown."
NO_WORK: Final = "Nothing on the GPU belongs to this call in the file."
NO_WORK_BELOW: Final = "No GPU work was launched inside this row."
NO_CHAIN: Final = "This row belongs to no call: the profiler wrote it beside the program's own."


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """One row of a chain."""

    row: int
    name: str
    kind: Kind
    start_ns: int
    duration_ns: int
    self_ns: int | None
    """Time in which it was the innermost row of its thread; None on the GPU side."""
    delay_ns: int | None
    """Of GPU work: its start minus the start of its launch call; None where no call is known."""
    purpose: str
    """What this rung is for, in one sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """The way from the outermost row to the GPU."""

    row: int
    """The row that was asked for."""
    rungs: tuple[Rung, ...]
    """From the outermost to the innermost; the GPU work of one launch call stands at the end, in
    order of start."""
    calls: tuple[int, ...]
    """Rows of all calls that started GPU work at or below the row asked for, in order of start; the
    one with the longest work is followed. At most CALLS_MAX."""
    calls_count: int
    work_count: int
    """GPU rows that the followed call owns; at most WORK_MAX of them are rungs."""
    remarks: tuple[str, ...]
    """What is missing or was chosen, in sentences."""


def ancestors(parent: Ints, row: int) -> list[int]:
    """Return the rows round a row of the CPU side, the outermost first, itself last.

    Of more than RUNGS_MAX the innermost are kept. -1 has none.
    """
    rows: list[int] = []
    while row >= 0 and len(rows) < RUNGS_MAX:
        rows.append(row)
        row = int(parent[row])
    return rows[::-1]


def chain_of(analysis: Analysis, row: int) -> Chain:
    """Return the chain of any row of the trace.

    For GPU work: from the outermost row to its launch call, and itself. For a call: down to all
    work that it started. For an operator or a label: down to the call inside it whose work took
    longest.

    Raises:
        ValueError: there is no such row.
    """
    trace = analysis.trace
    if not 0 <= row < len(trace):
        msg = f"There is no row {row}: the trace has {len(trace):,} rows, counted from 0."
        raise ValueError(msg)
    kind = KINDS[trace.kind[row]]
    if kind in GPU_WORK:
        return _of_work(analysis, row)
    if kind in CPU_SIDE:
        return _of_cpu_row(analysis, row)
    return _chain(analysis, row, above=[row], remarks=[NO_CHAIN])


def _of_work(analysis: Analysis, row: int) -> Chain:
    found, remarks = analysis.matching, []
    place = int(np.searchsorted(found.activity_row, row))
    call = int(found.first_call[place])
    if int(found.call[place]) == matching.SEVERAL_LAUNCHES:
        remarks.append(SEVERAL)
    if call < 0:
        operator = int(analysis.activities["operator_row"].iloc[place])
        above = ancestors(analysis.nesting.parent, operator)
        remarks.append(BY_NUMBER if above else NO_LAUNCH)
        return _chain(analysis, row, above=[*above, row], remarks=remarks)
    call_row = int(found.call_row[call])
    count = len(_work_of(analysis, call))
    if count > 1:
        remarks.append(f"This call started {count:,} pieces of GPU work; only this one is shown.")
    above = [*ancestors(analysis.nesting.parent, call_row), row]
    return _chain(analysis, row, above=above, calls=[call_row], work_count=count, remarks=remarks)


def _of_cpu_row(analysis: Analysis, row: int) -> Chain:
    found, parent = analysis.matching, analysis.nesting.parent
    inside = _calls_inside(analysis, row)
    if not len(inside):
        is_call = KINDS[analysis.trace.kind[row]] == "runtime"
        is_launch = is_call and row in found.call_row
        remarks = [NO_WORK if is_launch else NO_WORK_BELOW]
        return _chain(analysis, row, above=ancestors(parent, row), remarks=remarks)
    best = int(np.argmax(_work_sums(analysis)[inside]))
    remarks = []
    if len(inside) > 1:
        remarks.append(
            f"{len(inside):,} calls inside this row started GPU work; the one with the longest "
            "work is followed."
        )
    rows = _work_of(analysis, int(inside[best]))
    if len(rows) > WORK_MAX:
        remarks.append(f"The first {WORK_MAX} of {len(rows):,} pieces of GPU work are listed.")
    call_row = int(found.call_row[inside[best]])
    return _chain(
        analysis,
        row,
        above=[*ancestors(parent, call_row), *rows[:WORK_MAX].tolist()],
        calls=found.call_row[inside].tolist(),
        work_count=len(rows),
        remarks=remarks,
    )


def _calls_inside(analysis: Analysis, row: int) -> Ints:
    """Return the positions of calls with GPU work that the nesting puts at or below a row."""
    found, trace = analysis.matching, analysis.trace
    owned = np.unique(found.first_call[found.first_call >= 0])
    rows = found.call_row[owned]
    wanted = np.zeros(len(trace), bool)
    wanted[row] = True
    inside: Ints = owned[analysis.nesting.nearest(wanted)[rows] == row]
    return inside


def _work_of(analysis: Analysis, call: int) -> Ints:
    found = analysis.matching
    rows: Ints = found.activity_row[found.first_call == call]
    return rows


def _work_sums(analysis: Analysis) -> Ints:
    """Return per call the sum of the durations of its GPU work."""
    found = analysis.matching
    owned = found.first_call >= 0
    duration = analysis.trace.duration_ns[found.activity_row[owned]]
    return columns.sums(duration, found.first_call[owned], groups=len(found.call_row))


def _chain(
    analysis: Analysis,
    row: int,
    *,
    above: list[int],
    remarks: list[str],
    calls: list[int] | None = None,
    work_count: int = 0,
) -> Chain:
    listed = calls or []
    if int(analysis.nesting.parent[above[0]]) >= 0:
        remarks = [*remarks, f"Only the innermost {RUNGS_MAX} rows on the CPU are shown."]
    return Chain(
        row=row,
        rungs=tuple(_rung(analysis, each) for each in above),
        calls=tuple(listed[:CALLS_MAX]),
        calls_count=len(listed),
        work_count=work_count,
        remarks=tuple(remarks),
    )


def _rung(analysis: Analysis, row: int) -> Rung:
    trace, found = analysis.trace, analysis.matching
    kind, name = KINDS[trace.kind[row]], trace.name_of(row)
    start_ns, delay_ns = int(trace.start_ns[row]), None
    if kind in GPU_WORK:
        call = int(found.first_call[np.searchsorted(found.activity_row, row)])
        if call >= 0:
            delay_ns = start_ns - int(trace.start_ns[found.call_row[call]])
    return Rung(
        row=row,
        name=name,
        kind=kind,
        start_ns=start_ns,
        duration_ns=int(trace.duration_ns[row]),
        self_ns=int(analysis.nesting.self_ns[row]) if kind in CPU_SIDE else None,
        delay_ns=delay_ns,
        purpose=rungs.purpose(name, kind),
    )
