"""How a program is built: a bias that is cancelled, a tensor made on the wrong side.

Both would be surer with the shapes of operands; these forms need only the nesting of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules.gpu_work import copies
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, inside, mask_of, with_gpu_work_below
from profcore.rules.sources import H200
from profcore.units import bytes_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_CONVOLUTIONS: Final = frozenset(
    {"aten::conv1d", "aten::conv2d", "aten::conv3d", "aten::convolution"}
)
_BATCH_NORM: Final = "aten::batch_norm"
_COUNTER: Final = "aten::add_"
"""Batch norm counts its batches with it."""
_FILLS: Final = frozenset({
    "aten::zeros", "aten::ones", "aten::full", "aten::rand", "aten::randn", "aten::zero_",
    "aten::fill_", "aten::normal_", "aten::uniform_", "aten::arange",
})  # fmt: skip
_MOVES: Final = frozenset({"aten::to", "aten::_to_copy", "aten::copy_"})


def _outermost(quantities: Quantities) -> NDArray[np.int64]:
    """Return the operators that lie in no other one, in the order of the trace."""
    rows = np.flatnonzero(quantities.is_operator)
    return rows[~inside(quantities, rows, quantities.is_operator)]


def _pairs(
    quantities: Quantities,
    first: Callable[[str], bool],
    second: Callable[[str], bool],
    between: Callable[[str], bool],
) -> list[tuple[int, int]]:
    """Return outermost operators of one thread that follow each other, with only some between."""
    trace = quantities.trace
    waiting: dict[int, int] = {}
    pairs = []
    for row in _outermost(quantities).tolist():
        name, lane = trace.name_of(row), int(trace.lane[row])
        if second(name) and lane in waiting:
            pairs.append((waiting.pop(lane), row))
        elif first(name):
            waiting[lane] = row
        elif not between(name):
            waiting.pop(lane, None)
    return pairs


# --- O3 -----------------------------------------------------------------------------------------


def _o3_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    if len(quantities.named(("operator",), _BATCH_NORM.__eq__)):
        return None
    return "The program has no batch norm."


def _o3(quantities: Quantities) -> Observation | None:
    pairs = _pairs(quantities, _CONVOLUTIONS.__contains__, _BATCH_NORM.__eq__, _COUNTER.__eq__)
    before = np.array([convolution for convolution, _ in pairs], np.int64)
    adds = quantities.named(("operator",), _COUNTER.__eq__)
    adds = adds[inside(quantities, adds, mask_of(quantities.trace, before))]
    mask = np.isin(column(quantities.activities, "operator_row"), adds) & quantities.counted
    if not mask.any():
        return None
    return Observation(
        text=f"{count_text(len(pairs), 'convolution')} right before a batch norm "
        f"{'adds' if len(pairs) == 1 else 'add'} a bias: "
        f"{time_text(quantities.per_step_ns(mask))} {quantities.each}.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask], limit=3),
    )


O3 = Rule(
    id="O3",
    title="A bias right before batch norm",
    family="training and data loading",
    kind="note",
    missing=_o3_missing,
    observe=_o3,
    meaning="Batch norm takes the mean of every channel off again, and the bias with it: adding it "
    "is a kernel and a trip through memory for nothing.",
    advice="Create the convolution with bias=False.",
    source=f"torch's Conv2dBiasFollowedByBatchNorm2dPattern; {H200}: 18.7 of 113 µs",
)

# --- S8 -----------------------------------------------------------------------------------------


def _s8(quantities: Quantities) -> Observation | None:
    pairs = _pairs(quantities, _FILLS.__contains__, _MOVES.__contains__, lambda _: False)
    works = with_gpu_work_below(quantities)
    pairs = [(made, moved) for made, moved in pairs if not works[made]]
    moves = np.array([moved for _, moved in pairs], np.int64)
    enclosing = mask_of(quantities.trace, moves)
    owner = column(quantities.activities, "operator_row")
    below = (owner >= 0) & (enclosing[owner] | inside(quantities, owner, enclosing))
    mask = copies(quantities, "HtoD") & below & quantities.counted
    if not mask.any():
        return None
    made = quantities.trace.name_of(pairs[0][0])
    sizes = quantities.trace.size_bytes[column(quantities.activities, "row")[mask]]
    largest = f", up to {bytes_text(int(sizes.max()))}" if sizes.max() >= 0 else ""
    return Observation(
        text=f"{count_text(int(mask.sum()), 'tensor')} made on the CPU ({made}) and moved to the "
        f"GPU right after{largest}: {time_text(quantities.per_step_ns(mask))} of copying "
        f"{quantities.each}.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask], limit=3),
    )


S8 = Rule(
    id="S8",
    title="Made on the CPU, then moved",
    family="memory copies",
    kind="note",
    missing=needs.all_of(needs.operators, needs.copies),
    observe=_s8,
    meaning="The tensor is filled by the CPU and sent over the bus, although the GPU could have "
    "filled it in its own memory.",
    advice='Create it on the device: torch.zeros(..., device="cuda").',
    source="torch's ExtraCUDACopyPattern",
)
