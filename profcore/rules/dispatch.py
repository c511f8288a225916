"""How a Python call reaches the device, and which operator becomes which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import short_name
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import (
    chain,
    column,
    count_text,
    evidence,
    evidence_of,
    inside,
    label,
    mask_of,
    with_gpu_work_below,
)
from profcore.rules.sources import ARTICLE_1, ARTICLE_2, H200

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


def _operators_needed(*names: str) -> Callable[[Quantities], str | None]:
    """Return a need: at least one operator of these names was called."""

    def called(quantities: Quantities) -> str | None:
        if reason := needs.operators(quantities):
            return reason
        if len(quantities.named(("operator",), names.__contains__)):
            return None
        return f"The program did not call {' or '.join(names)}."

    return called


# --- D1 -----------------------------------------------------------------------------------------


def _d1_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    if len(_single_launches(quantities)):
        return None
    return (
        "No kernel can be followed back to one launch call of its own. Kernels of a CUDA graph "
        "share one call."
    )


def _single_launches(quantities: Quantities) -> NDArray[np.int64]:
    """Return the positions of kernels with one launch call that is no graph's."""
    activities = quantities.activities
    single = column(activities, "launch_row") >= 0
    single &= ~np.asarray(activities["is_graph"], np.bool_)
    return np.flatnonzero(single & quantities.activity_kind("kernel"))


def _d1(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    single = _single_launches(quantities)
    counted = single[quantities.counted[single]]
    chosen = counted if len(counted) else single
    longest = int(chosen[np.argmax(column(activities, "duration_ns")[chosen])])
    launch_row = int(column(activities, "launch_row")[longest])
    rows = [*chain(quantities, launch_row), int(column(activities, "row")[longest])]
    names = [label(quantities.trace, row) for row in rows]
    return Observation(
        text="The longest kernel came about like this: " + " → ".join(names) + ".",
        evidence=tuple(evidence_of(quantities, row) for row in rows),
    )


D1 = Rule(
    id="D1",
    title="From the Python call to the kernel",
    family="launches and dispatch",
    kind="fact",
    missing=_d1_missing,
    observe=_d1,
    meaning="Each arrow on the CPU is one function calling the next; the last one is the launch "
    "call handing the kernel to the GPU, joined by their correlation number.",
    advice="",
    source=ARTICLE_1,
)


# --- D2, D3 -------------------------------------------------------------------------------------


def _matmul_becomes(quantities: Quantities, operator: str) -> Observation | None:
    """Describe the calls of aten::matmul that end in one operator."""
    matmul = quantities.named(("operator",), "aten::matmul".__eq__)
    below = quantities.named(("operator",), operator.__eq__)
    below = below[inside(quantities, below, mask_of(quantities.trace, matmul))]
    if not len(below):
        return None
    is_matmul = mask_of(quantities.trace, matmul)
    parents = np.unique(quantities.nesting.nearest(is_matmul)[below])
    helpers = _helpers(quantities, parents, operator)
    text = (
        f"{len(parents):,} of {count_text(len(matmul), 'call')} of aten::matmul became {operator}"
    )
    if helpers:
        text += f", with {', '.join(helpers)} around it"
    return Observation(text=text + ".", evidence=evidence(quantities, parents, limit=3))


def _helpers(quantities: Quantities, parents: NDArray[np.int64], operator: str) -> list[str]:
    """Return the names of the view operators directly inside these calls."""
    views = quantities.named(("operator",), words.VIEW_OPERATORS.__contains__)
    views = views[inside(quantities, views, mask_of(quantities.trace, parents))]
    names = dict.fromkeys(quantities.trace.name_of(int(row)) for row in views)
    return [name for name in names if name != operator]


D2 = Rule(
    id="D2",
    title="matmul becomes mm",
    family="launches and dispatch",
    kind="fact",
    missing=_operators_needed("aten::matmul"),
    observe=lambda quantities: _matmul_becomes(quantities, "aten::mm"),
    meaning="torch.matmul looks at the dimensions of its operands and calls the fitting operator: "
    "for two matrices that is mm.",
    advice="",
    source=ARTICLE_1,
)

D3 = Rule(
    id="D3",
    title="matmul becomes bmm",
    family="launches and dispatch",
    kind="fact",
    missing=_operators_needed("aten::matmul"),
    observe=lambda quantities: _matmul_becomes(quantities, "aten::bmm"),
    meaning="With three or more dimensions torch.matmul reshapes its operands and calls the "
    "batched product bmm: one kernel for all matrices of the batch.",
    advice="Where the mathematics allows it, fold the batch into one dimension: one large product "
    "uses the GPU better than many small ones.",
    source=f"{ARTICLE_1}; {H200}: expand, reshape, view and _unsafe_view around it",
)


# --- D4 -----------------------------------------------------------------------------------------


def _d4(quantities: Quantities) -> Observation | None:
    rows = quantities.named(("operator",), "aten::addmm".__eq__)
    compiled = inside(quantities, rows, mask_of(quantities.trace, quantities.compiled_regions))
    linear_rows = quantities.named(("operator",), "aten::linear".__eq__)
    linear = inside(quantities, rows, mask_of(quantities.trace, linear_rows))
    if compiled.any():
        text = f"{count_text(int(compiled.sum()), 'call')} of aten::addmm inside compiled code"
        experiment = quantities.experiment
        if experiment is not None and experiment.workload == "matmul_add":
            text += ": the program wrote matmul and add, torch.compile made them one operator"
        return Observation(text=text + ".", evidence=evidence(quantities, rows[compiled], limit=3))
    if linear.any():
        return Observation(
            text=f"{count_text(int(linear.sum()), 'call')} of aten::addmm inside aten::linear.",
            evidence=evidence(quantities, rows[linear], limit=3),
        )
    return None


D4 = Rule(
    id="D4",
    title="mm and add become addmm",
    family="launches and dispatch",
    kind="fact",
    missing=_operators_needed("aten::addmm"),
    observe=_d4,
    meaning="Product and sum are fused at the dispatcher: one operator instead of two. That is not "
    "yet one kernel: with a bias as large as the product a copy comes first (G5), with a bias "
    "vector the kernel adds it at its end.",
    advice="Compare the kernels with those of the eager run.",
    source=ARTICLE_1,
)


# --- L1 -----------------------------------------------------------------------------------------


def _l1_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    if len(quantities.launches):
        return None
    return "The trace has no launch calls, so it is not known which operators start a kernel."


def _l1(quantities: Quantities) -> Observation | None:
    views = quantities.named(("operator",), words.VIEW_OPERATORS.__contains__)
    working = with_gpu_work_below(quantities)
    free = views[~working[views]]
    if not len(free):
        return None
    names = dict.fromkeys(quantities.trace.name_of(int(row)) for row in free)
    text = (
        f"{count_text(len(free), 'call')} of {', '.join(list(names)[:4])} "
        f"{'starts' if len(free) == 1 else 'start'} no GPU work"
    )
    if len(free) < len(views):
        text += f"; {len(views) - len(free):,} of the same kind do, because they copy"
    return Observation(text=text + ".", evidence=evidence(quantities, free, limit=3))


L1 = Rule(
    id="L1",
    title="Views cost no kernel",
    family="launches and dispatch",
    kind="fact",
    missing=_l1_missing,
    observe=_l1,
    meaning="These operators change only how a tensor is described (shape, strides), not its data.",
    advice="",
    source=ARTICLE_2,
)


# --- L2 -----------------------------------------------------------------------------------------


def _l2(quantities: Quantities) -> Observation | None:
    trace = quantities.trace
    linear = quantities.named(("operator",), "aten::linear".__eq__)
    is_linear = mask_of(trace, linear)
    addmm = quantities.named(("operator",), "aten::addmm".__eq__)
    addmm = addmm[inside(quantities, addmm, is_linear)]
    adds = quantities.named(("operator",), "aten::add".__eq__)
    if not len(addmm) or inside(quantities, adds, is_linear).any():
        return None
    text = (
        f"{count_text(len(addmm), 'call')} of aten::addmm inside aten::linear, no aten::add beside "
        "it"
    )
    activities = quantities.activities
    owner = column(activities, "operator_row")
    theirs = np.isin(owner, addmm) & quantities.activity_kind("kernel")
    biased = theirs & quantities.activity_names(lambda name: "bias" in name)
    if biased.any():
        text += f"; the kernel's name says so: {short_name(activities['name'][biased].iloc[0])}"
    return Observation(text=text + ".", evidence=evidence(quantities, addmm, limit=3))


L2 = Rule(
    id="L2",
    title="The bias of a linear layer needs no kernel",
    family="launches and dispatch",
    kind="fact",
    missing=_operators_needed("aten::linear"),
    observe=_l2,
    meaning="The bias vector is added at the end of the matrix product's own kernel (its "
    "epilogue).",
    advice="",
    source=f"{ARTICLE_2}; {H200}: _bias_ in the kernel's name",
)
