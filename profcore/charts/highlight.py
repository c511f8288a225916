"""Which bars of the charts do some events of a trace stand in?

Taken from the row of each event, never from its words: an operator's bar by the name and kind of
the row, a kernel's by its full name and by the operator that launched it, a step's by its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.operators import STEP_NAME
from profcore.analysis.steps import MARKER
from profcore.trace.model import CPU_SIDE, GPU_WORK, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profcore.analysis import Analysis
    from profcore.rules import Evidence

CPU_BAR: Final = "CPU"
GPU_BAR: Final = "GPU"
NAMES_MAX: Final = 4
"""Names in a sentence; what is more is counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Highlight:
    """The bars of some events; a chart draws those of them that it has."""

    operators: frozenset[tuple[str, str, str]] = frozenset()
    """Name and kind as in the operators table, and the side: CPU_BAR or GPU_BAR."""
    gpu_work: frozenset[tuple[str, str]] = frozenset()
    """Full name and kind (kernel, memcpy, memset)."""
    steps: frozenset[int] = frozenset()
    """Each the N of ProfilerStep#N."""


NOTHING: Final = Highlight()


def highlight(analysis: Analysis, evidence: Iterable[Evidence]) -> Highlight:
    """Return the bars of some events.

    An operator has both its bars; a kernel has its own, and the GPU bar of the operator whose self
    GPU time it is in. An event that is no row of the trace (a gap) has the steps that the CPU was
    in meanwhile. Python frames and labels on the GPU's side have no bar but their step.
    """
    operators: set[tuple[str, str, str]] = set()
    gpu_work: set[tuple[str, str]] = set()
    steps: set[int] = set()
    for one in evidence:
        if one.step is not None:
            steps.add(one.step)
        elif one.row is None and one.start_ns is not None:
            steps |= _steps_during(analysis, one.start_ns, one.duration_ns or 0)
        if one.row is None:
            continue
        name, kind = _bar_of(analysis, one.row)
        if kind in GPU_WORK:
            gpu_work.add((name, kind))
            if (asked := _asked_by(analysis, one.row)) >= 0:
                operators.add((*_bar_of(analysis, asked), GPU_BAR))
        elif kind in CPU_SIDE and name != STEP_NAME:
            # The row of a step speaks of the step, not of the step's self time.
            operators |= {(name, kind, CPU_BAR), (name, kind, GPU_BAR)}
    return Highlight(
        operators=frozenset(operators), gpu_work=frozenset(gpu_work), steps=frozenset(steps)
    )


def named(names: Sequence[str]) -> str:
    """Return the first few names as a list in words, and how many more there are."""
    shown = ", ".join(names[:NAMES_MAX])
    hidden = len(names) - NAMES_MAX
    return f"{shown} and {hidden:,} more" if hidden > 0 else shown


def _bar_of(analysis: Analysis, row: int) -> tuple[str, str]:
    """Return name and kind as the tables have them: there all steps are one annotation."""
    trace = analysis.trace
    name, kind = trace.name_of(row), KINDS[int(trace.kind[row])]
    is_step = kind in {"operator", "annotation"} and MARKER.match(name) is not None
    return (STEP_NAME, "annotation") if is_step else (name, kind)


def _asked_by(analysis: Analysis, row: int) -> int:
    """Return the row of the operator in whose self GPU time a row of GPU work is; -1: none."""
    activities = analysis.activities
    place = np.flatnonzero(activities["row"].to_numpy() == row)
    return int(activities["operator_row"].iloc[place[0]]) if len(place) else -1


def _steps_during(analysis: Analysis, start_ns: int, duration_ns: int) -> set[int]:
    """Return the numbers of the steps whose bar on the CPU shares time with a stretch."""
    steps = analysis.steps
    begin_ns = steps["start_ns"].to_numpy()
    end_ns = begin_ns + steps["cpu_ns"].to_numpy()
    during = (begin_ns < start_ns + max(duration_ns, 1)) & (end_ns > start_ns)
    return {int(number) for number in steps["number"].to_numpy()[during]}
