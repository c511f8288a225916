"""Trust in the file: what the reader left out, mended, or found twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.trust_model import Outcome, counted, fine, look, reasons
from profcore.trace.columns import UNKNOWN_PHASE
from profcore.trace.model import GPU_WORK
from profcore.units import percent_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

OPERATOR_COPIES_FRACTION: Final = 0.10
"""Of operators that have an equal twin. Short ones may share a start in whole microseconds."""


def set_aside(analysis: Analysis) -> Outcome:
    """Rows left out of every count and sum."""
    source = analysis.trace.source
    if not source.set_aside:
        return fine(f"All {len(analysis.trace):,} timed rows of the file are counted.")
    total = sum(source.set_aside.values())
    share = percent_text(total / source.events) if source.events else "all"
    return look(
        f"{counted(total, 'row is', 'rows are')} in no count and no sum, {share} of the file: "
        f"{reasons(source.set_aside)}."
    )


def repaired(analysis: Analysis) -> Outcome:
    """Places that were no valid JSON and could be mended."""
    found = analysis.trace.source.repaired
    if not found:
        return fine("Nothing had to be mended.")
    return look(f"Mended while reading: {reasons(found)}.")


def untimed(analysis: Analysis) -> Outcome:
    """Elements of the event list that carry no duration by their nature."""
    found = analysis.trace.source.untimed
    if not found:
        return fine("Every element of the event list is a timed row.")
    text = (
        f"{counted(sum(found.values()), 'element')} without a duration by nature: {reasons(found)}."
    )
    return look(text) if found.get(UNKNOWN_PHASE) else fine(text)


def duplicates(analysis: Analysis) -> Outcome:
    """Rows equal to another one in thread, name, start, duration and correlation."""
    trace = analysis.trace
    linked = copies(analysis, trace.is_kind("runtime", *GPU_WORK))
    operators = trace.is_kind("operator")
    twins, markers = copies(analysis, operators), analysis.markers.doubled
    many = twins >= OPERATOR_COPIES_FRACTION * max(int(operators.sum()), 1)
    if linked or markers or (twins and many):
        total = linked + twins + markers
        return look(
            f"{counted(total, 'row is', 'rows are')} an exact copy of another one. Rows count as "
            "they stand, so sums may be too high; busy times count them once, and a step that is "
            "marked twice is one step."
        )
    return fine("No GPU row, launch call or step marker is there twice.")


def copies(analysis: Analysis, mask: NDArray[np.bool_]) -> int:
    """Return how many rows of a mask are exact copies of another row of it."""
    trace = analysis.trace
    row = np.flatnonzero(mask & (trace.duration_ns > 0))
    columns = [
        column[row]
        for column in (
            trace.correlation,
            trace.lane,
            trace.name,
            trace.duration_ns,
            trace.start_ns,
        )
    ]
    order = np.lexsort(columns)
    same = [column[order][1:] == column[order][:-1] for column in columns]
    return int(np.logical_and.reduce(same).sum())
