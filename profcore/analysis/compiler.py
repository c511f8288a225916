"""Which rows are torch.compile at work, and not a call of compiled code?

Matched by name: their categories differ between versions of torch and capture options.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import columns, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

_DATA: Final = re.compile(r"_data: .*compile_id=")
_WORK: Final = re.compile(r"entire_frame_compile|backend_compile|.*\(dynamo_timed\)")
_NAME_READ_MAX: Final = 400
"""Characters of a name that are looked at."""


def is_compiler_work(name: str) -> bool:
    """Say whether a row of this name is the compiler at work."""
    start = name[:_NAME_READ_MAX]
    return _WORK.fullmatch(start) is not None or bool(_DATA.search(start))


def rows_in_steps(analysis: Analysis) -> Ints:
    """Return the outermost rows of the compiler at work that begin inside a recorded step."""
    trace = analysis.trace
    names = [index for index, name in enumerate(trace.names) if is_compiler_work(name)]
    if not names:
        return np.empty(0, np.int64)
    mask = trace.is_kind("operator", "annotation") & columns.is_named(trace, names)
    row = np.flatnonzero(mask)
    parent = analysis.nesting.parent[row]
    inside = columns.taken(analysis.nesting.nearest(mask), parent, missing=-1) >= 0
    return in_steps(analysis, row[~inside])


def in_steps(analysis: Analysis, row: Ints) -> Ints:
    """Keep the CPU-side rows that begin inside a recorded step."""
    trace = analysis.trace
    process = steps.processes(trace)[trace.lane[row]]
    return row[steps.step_of(analysis.markers, trace.start_ns[row], process) >= 0]
