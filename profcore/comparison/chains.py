"""How each piece of work came about: from the outermost operator down to the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import short_name
from profcore.comparison.tables import kernel_stem, operator_stem
from profcore.rules.quantities import Quantities
from profcore.rules.rows import chain, column, shorten

if TYPE_CHECKING:
    from profcore.analysis import Analysis


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """One way down, in one step."""

    operators: tuple[str, ...]
    """Outermost first. Empty: nothing on the CPU side was recorded round the launch."""
    kernel: str
    """Short name of the kernel, copy or fill; empty in a run without a GPU."""
    stem: str
    """What the kernel's name keeps from run to run; see `tables.kernel_stem`."""
    times: int
    """How often in that step."""

    @property
    def text(self) -> str:
        """For people: "aten::matmul → aten::mm → nvjet_…"."""
        return " → ".join((*self.operators, *((self.kernel,) if self.kernel else ())))


def chains(analysis: Analysis) -> tuple[Chain, ...]:
    """Return the chains of the last step that counts, in the order in which the work began.

    Equal chains that follow each other are one, counted. Without a GPU a chain ends in the
    innermost operator. No steps: no chains.
    """
    quantities = Quantities.of(analysis)
    found = _down_to_kernels(quantities)
    if not found and not analysis.totals.gpu_recorded:
        found = _down_to_operators(quantities)
    merged: list[Chain] = []
    for operators, kernel, stem in found:
        last = merged[-1] if merged else None
        if last is not None and (last.operators, last.stem) == (operators, stem):
            merged[-1] = Chain(operators=operators, kernel=kernel, stem=stem, times=last.times + 1)
        else:
            merged.append(Chain(operators=operators, kernel=kernel, stem=stem, times=1))
    return tuple(merged)


def _down_to_kernels(quantities: Quantities) -> list[tuple[tuple[str, ...], str, str]]:
    if not len(quantities.gpu_steps):
        return []
    activities = quantities.activities
    step = int(quantities.gpu_steps[-1])
    places = np.flatnonzero(column(activities, "step") == step)
    places = places[np.argsort(column(activities, "start_ns")[places], kind="stable")]
    found = []
    for place in places:
        name = str(activities["name"].iloc[int(place)])
        launch = int(column(activities, "launch_row")[place])
        operators = _operators_round(quantities, launch) if launch >= 0 else ()
        found.append((operators, short_name(name), kernel_stem(name)))
    return found


def _down_to_operators(quantities: Quantities) -> list[tuple[tuple[str, ...], str, str]]:
    if not len(quantities.steps):
        return []
    last = len(quantities.steps) - 1
    rows = np.flatnonzero(quantities.is_operator)
    rows = rows[quantities.steps_of(rows) == last]
    outer = {above for row in rows for above in chain(quantities, int(row))[:-1]}
    return [
        (_operators_round(quantities, int(row)), "", "") for row in rows if int(row) not in outer
    ]


def _operators_round(quantities: Quantities, row: int) -> tuple[str, ...]:
    trace = quantities.trace
    return tuple(
        shorten(operator_stem(trace.name_of(above)))
        for above in chain(quantities, row)
        if quantities.is_operator[above]
    )
