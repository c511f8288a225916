"""Finding rows of a trace: by name, by what encloses them, and as evidence for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.names import short_name
from profcore.rules.constants import EVIDENCE_MAX
from profcore.rules.model import Evidence
from profcore.trace.model import kind_code
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pandas as pd
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities
    from profcore.trace import Trace
    from profcore.trace.model import Kind


def column(table: pd.DataFrame, name: str) -> NDArray[np.int64]:
    """Return one integer column of an analysis table."""
    return table[name].to_numpy()


def named(trace: Trace, kinds: Collection[Kind], match: Callable[[str], bool]) -> NDArray[np.int64]:
    """Return the rows of these kinds whose name matches, in the order of the trace."""
    codes = [code for code, name in enumerate(trace.names) if match(name)]
    if not codes:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.isin(trace.name, codes) & trace.is_kind(*kinds))


def mask_of(trace: Trace, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return an (n,) mask over all rows of the trace."""
    mask = np.zeros(len(trace), np.bool_)
    mask[rows] = True
    return mask


def climb(parent: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the parent of each row; -1 stays -1."""
    return np.where(rows >= 0, parent[rows], -1)


def inside(
    quantities: Quantities, rows: NDArray[np.int64], enclosing: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Say for each row whether one of its ancestors is in the mask `enclosing` (not itself)."""
    parent = quantities.nesting.parent
    found = np.zeros(len(rows), np.bool_)
    current = climb(parent, rows)
    while np.any(current >= 0):
        found |= (current >= 0) & enclosing[current]
        current = climb(parent, np.where(found, -1, current))
    return found


def outermost_operator(quantities: Quantities, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each row the outermost operator round it, itself included; -1: none.

    Labels are looked through: they are no operators.
    """
    is_operator = quantities.is_operator
    parent = quantities.nesting.parent
    result = np.full(len(rows), -1, np.int64)
    current = rows.astype(np.int64)
    while np.any(current >= 0):
        result = np.where((current >= 0) & is_operator[current], current, result)
        current = climb(parent, current)
    return result


def with_gpu_work_below(quantities: Quantities) -> NDArray[np.bool_]:
    """Return an (n,) mask: rows of the CPU side that enclose the launch of some GPU work."""
    mask = np.zeros(len(quantities.trace), np.bool_)
    launch_rows = column(quantities.activities, "launch_row")
    current = np.unique(launch_rows[launch_rows >= 0])
    while len(current):
        mask[current] = True
        parents = climb(quantities.nesting.parent, current)
        current = np.unique(parents[parents >= 0])
        current = current[~mask[current]]
    return mask


def chain(quantities: Quantities, row: int) -> list[int]:
    """Return the rows that enclose a row of the CPU side, outermost first, itself last."""
    rows: list[int] = []
    while row >= 0:
        rows.append(row)
        row = int(quantities.nesting.parent[row])
    return rows[::-1]


def evidence(
    quantities: Quantities, rows: NDArray[np.int64], *, limit: int = EVIDENCE_MAX
) -> tuple[Evidence, ...]:
    """Return a few rows: the longest of each name first, then the longest of the others."""
    longest = rows[np.argsort(-quantities.trace.duration_ns[rows], kind="stable")]
    _, first = np.unique(quantities.trace.name[longest], return_index=True)
    is_first = np.zeros(len(longest), np.bool_)
    is_first[first] = True
    chosen = np.concatenate((longest[is_first], longest[~is_first]))[:limit]
    return tuple(evidence_of(quantities, int(row)) for row in chosen)


def evidence_of(quantities: Quantities, row: int) -> Evidence:
    """Return one row as evidence."""
    trace = quantities.trace
    start_ns, duration_ns = int(trace.start_ns[row]), int(trace.duration_ns[row])
    return Evidence(
        text=f"{label(trace, row)}, {time_text(duration_ns)}",
        row=row,
        start_ns=start_ns,
        duration_ns=duration_ns,
        step=quantities.step_number_of(row),
    )


_KERNEL: Final = kind_code("kernel")


def label(trace: Trace, row: int) -> str:
    """Return a name short enough for a sentence."""
    name = trace.name_of(row)
    return short_name(name) if int(trace.kind[row]) == _KERNEL else shorten(name)


def shorten(name: str, *, length: int = 60) -> str:
    """Cut a long name in its middle: both ends tell names apart."""
    if len(name) <= length:
        return name
    half = (length - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def per_step_text(count: int, steps: int, noun: str, plural: str = "") -> str:
    """Return for instance "1 kernel", "2.5 kernels": a count divided by steps."""
    each = count / steps
    if each == round(each):
        return count_text(round(each), noun, plural)
    return f"{each:,.1f} {plural or noun + 's'}"


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Return for instance "1 kernel", "3 kernels", "1,040 launches"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
