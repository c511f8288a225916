"""What the profiler's own table can mislead about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import inside
from profcore.rules.sources import ARTICLE_1
from profcore.units import ratio_text, time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


def _t6(quantities: Quantities) -> Observation | None:
    rows = np.flatnonzero(quantities.is_operator)
    nested = inside(quantities, rows, quantities.is_operator)
    total_ns = int(quantities.trace.duration_ns[rows].sum())
    covered_ns = int(quantities.trace.duration_ns[rows[~nested]].sum())
    if not nested.any() or covered_ns <= 0:
        return None
    return Observation(
        text=f"The operators' total times add up to {time_text(total_ns)}, although they cover "
        f"only {time_text(covered_ns)}: {ratio_text(total_ns / covered_ns)} as much."
    )


T6 = Rule(
    id="T6",
    title="Totals of nested operators must not be added",
    family="launches and dispatch",
    kind="fact",
    missing=needs.operators,
    observe=_t6,
    meaning="Self time leaves out what an operator calls, total time includes it: the time of "
    "aten::mm is in the total of aten::matmul once more. Self times may be added, totals may not.",
    advice="Sort by self time to see where the time goes, by total time to see what asked for it.",
    source=ARTICLE_1,
)
