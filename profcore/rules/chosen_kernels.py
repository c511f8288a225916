"""Which kernel a library picked, and why it may pick another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore import workloads
from profcore.analysis.names import short_name
from profcore.rules import needs
from profcore.rules.compiling import R1, R2
from profcore.rules.gpu_work import matrix_products
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import ARTICLE_2, H200
from profcore.units import time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- L6 -----------------------------------------------------------------------------------------


def _l6_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.own_run, needs.gpu_steps)(quantities):
        return reason
    experiment = quantities.experiment
    if experiment is None or not workloads.find(experiment.workload).is_matmul:
        return "This workload has no matrix product."
    if matrix_products(quantities).any():
        return None
    return "No kernel of this run is known by its name to be a matrix product."


def _l6(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    mask = matrix_products(quantities) & quantities.counted
    rows, step = column(activities, "row")[mask], column(activities, "step")[mask]
    names = {
        position: frozenset(quantities.trace.name[rows[step == position]].tolist())
        for position in np.unique(step).tolist()
    }
    if len(set(names.values())) <= 1:
        return None
    durations_ns = quantities.trace.duration_ns[rows]
    parts = []
    for code in np.unique(quantities.trace.name[rows]).tolist():
        mine = durations_ns[quantities.trace.name[rows] == code]
        parts.append(
            f"{short_name(quantities.trace.names[code])} ({count_text(len(mine), 'call')}, "
            f"{time_text(float(np.median(mine)))})"
        )
    return Observation(
        text=f"The same product ran in different kernels from step to step: {', '.join(parts)}.",
        evidence=evidence(quantities, rows, limit=3),
    )


L6 = Rule(
    id="L6",
    title="Two kernels for equal products",
    family="kernels and precision",
    kind="fact",
    missing=_l6_missing,
    observe=_l6,
    meaning="The library has many kernels for one product and picked another tile. In a program "
    "with several shapes that is normal; here all products are equal.",
    advice="",
    source=f"{ARTICLE_2}: tiles 128×128 and 128×256; {H200}: 256×128 and 192×128 for the shapes of "
    "one MLP",
)

# --- L10 ----------------------------------------------------------------------------------------


def _l10_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.compile_rows, needs.steps)(quantities):
        return reason
    if quantities.experiment is not None:
        return None  # every step of an experiment has the same shapes
    compiled_again = any(
        not rule.missing(quantities) and rule.observe(quantities) is not None for rule in (R1, R2)
    )
    if not compiled_again:
        return None
    return (
        "Something was compiled inside the steps (see R1 and R2); whether shapes changed is "
        "written in the operators' input shapes, which profcore does not read. Set "
        'TORCH_LOGS="recompiles" to see the reason.'
    )


def _l10(_: Quantities) -> Observation | None:
    return None


L10 = Rule(
    id="L10",
    title="Changing shapes are compiled anew",
    family="torch.compile",
    kind="note",
    missing=_l10_missing,
    observe=_l10,
    meaning="Code is compiled for the shapes it first sees. Every new shape is traced again, until "
    "torch makes that dimension dynamic.",
    advice="Keep shapes fixed, pad them, or compile with dynamic=True.",
    source="PyTorch's documentation of recompilation",
)
