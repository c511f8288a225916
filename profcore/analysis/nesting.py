"""Who lies in whom on the CPU side of a trace, thread by thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import lanes, stacks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.trace import Trace

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Nesting:
    """One entry per row of the trace, (n,) each; rows that are not on the CPU side read -1 or 0.

    CPU side: operators, annotations, runtime calls and overhead; Python frames take no part, nor
    do the few helper rows that torch hides (`lanes.UNLISTED`).
    """

    parent: Ints
    """Row of the innermost row still open at this row's start on the same thread, -1 for none.
    A row that ends after its parent is counted there only up to the parent's end."""
    operator: Ints
    """Row of the innermost operator or annotation around this one, itself included; -1 for none."""
    self_ns: Ints
    """Time in which this row is the innermost of its thread: never negative, and over a thread it
    adds up to the union of the rows. Runtime calls and overhead are rows of their own here."""

    def nearest(self, wanted: NDArray[np.bool_]) -> Ints:
        """Return per row the innermost row with `wanted` around it, itself included, or -1."""
        return stacks.nearest(wanted, self.parent)


def nest(trace: Trace) -> Nesting:
    """Return who lies in whom."""
    cpu = lanes.cpu_rows(trace)
    start = trace.start_ns[cpu.row]
    end = start + trace.duration_ns[cpu.row]
    above = stacks.parents(start, end, cpu.lane)
    count = len(trace)
    parent = np.full(count, -1, np.int64)
    parent[cpu.row] = _rows(cpu.row, above)
    wanted = trace.is_kind("operator", "annotation")[cpu.row]
    operator = np.full(count, -1, np.int64)
    operator[cpu.row] = _rows(cpu.row, stacks.nearest(wanted, above))
    own = np.zeros(count, np.int64)
    own[cpu.row] = stacks.self_ns(start, end, above, lane=cpu.lane)
    return Nesting(parent=parent, operator=operator, self_ns=own)


def _rows(row: Ints, position: Ints) -> Ints:
    """Turn positions among the CPU rows into rows of the trace; -1 stays -1."""
    return np.where(position >= 0, row[position], -1) if len(row) else position
