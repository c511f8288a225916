"""Which launches left no GPU work in the file, and which GPU work no launch?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import columns
from profcore.trace.model import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Bools = NDArray[np.bool_]
    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lost:
    """Launch calls, (c,) masks over the launches table."""

    counted: Bools
    """Kernel launches inside a step whose work should be in the file."""
    without_work: Bools
    """Those of them that left none."""
    at_end: Bools
    """Kernel launches after the last one with GPU work: the recording may have ended there."""


def launches(analysis: Analysis) -> Lost:
    """Return the launches without GPU work; those captured into a graph ran nothing and are none.

    Source: rule Q2 of the catalogue.
    """
    table = analysis.launches
    number, start = table["correlation"].to_numpy(), table["start_ns"].to_numpy()
    has_work = np.isin(number, analysis.activities["correlation"].to_numpy()) & (number != MISSING)
    calls = table["is_kernel_launch"].to_numpy() & (number != MISSING)
    calls &= ~_while_capturing(analysis.trace, start)
    last_ns = start[has_work].max() if has_work.any() else np.iinfo(np.int64).max
    at_end = calls & (start > last_ns)
    counted = calls & ~at_end & (table["step"].to_numpy() >= 0)
    return Lost(counted=counted, without_work=counted & ~has_work, at_end=at_end & ~has_work)


def _while_capturing(trace: Trace, start_ns: Ints) -> Bools:
    """Tell which times lie between the begin and the end of a stream capture."""

    def sorted_starts_ns(word: str) -> Ints:
        names = [index for index, name in enumerate(trace.names) if word in name]
        return np.sort(trace.start_ns[trace.is_kind("runtime") & columns.is_named(trace, names)])

    begins, ends = sorted_starts_ns("StreamBeginCapture"), sorted_starts_ns("StreamEndCapture")
    # As many captures begun before it as ended before it: outside of all of them.
    return np.searchsorted(begins, start_ns) > np.searchsorted(ends, start_ns)
