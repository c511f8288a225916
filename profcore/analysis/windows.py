"""What stands for steps when a file marks none.

Without ProfilerStep#N rows there is no step table; some questions can still be asked of the
stretches of time that repeat, or of the recording as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from profcore.analysis import columns, steps
from profcore.trace.model import CPU_SIDE, GPU_WORK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.nesting import Nesting
    from profcore.trace import Trace

    Ints = NDArray[np.int64]

REPEATS_MIN = 2
"""An annotation that comes once is no step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Windows:
    """Stretches of time that may be read as steps."""

    marks: steps.Markers
    """Where they lie; numbered from 0 unless they are steps."""
    source: Literal["steps", "annotation", "recording"]
    """`recording`: one window from the first to the last row, of which nothing is typical."""
    name: str
    """Of the annotation; empty otherwise."""


def windows(trace: Trace, nesting: Nesting, markers: steps.Markers) -> Windows:
    """Return the steps; without any the outermost annotation that repeats most; else everything.

    Source: "Step i" in the quantities of the rule catalogue. Only outermost annotations are
    counted: of a loop over batches with a loop over layers inside, the batches are the steps.
    """
    if markers.filled:
        return Windows(marks=markers, source="steps", name="")
    annotation = np.flatnonzero(trace.is_kind("annotation"))
    outside = nesting.nearest(trace.is_kind("annotation"))
    above = columns.taken(outside, nesting.parent[annotation], missing=-1)
    outermost = annotation[above < 0]
    key = trace.lane[outermost].astype(np.int64) * (len(trace.names) + 1) + trace.name[outermost]
    known, first, calls = np.unique(key, return_index=True, return_counts=True)
    if len(known) and calls.max() >= REPEATS_MIN:
        # Of equally frequent ones the first in the file: argmax alone would go by number of name.
        best = np.flatnonzero(calls == calls.max())
        chosen = known[best[np.argmin(first[best])]]
        row = outermost[key == chosen]
        return Windows(marks=_marks(trace, row), source="annotation", name=trace.name_of(row[0]))
    return Windows(marks=_whole(trace), source="recording", name="")


def _marks(trace: Trace, row: Ints) -> steps.Markers:
    start = trace.start_ns[row]
    return steps.Markers(
        row=row,
        number=np.arange(len(row)),
        start_ns=start,
        end_ns=start + trace.duration_ns[row],
        process=steps.processes(trace)[trace.lane[row]],
        filled=len(row),
        doubled=0,
    )


def _whole(trace: Trace) -> steps.Markers:
    """Return one window over all CPU-side rows and all GPU work; none when there are no such."""
    row = np.flatnonzero(trace.is_kind(*CPU_SIDE, *GPU_WORK))
    any_row = row[:1]
    start = trace.start_ns[any_row]
    end = np.array([(trace.start_ns[row] + trace.duration_ns[row]).max()] if len(row) else [])
    return steps.Markers(
        row=np.full(len(any_row), -1),
        number=np.zeros(len(any_row), np.int64),
        start_ns=start,
        end_ns=end.astype(np.int64),
        process=steps.processes(trace)[trace.lane[any_row]],
        filled=len(any_row),
        doubled=0,
    )
