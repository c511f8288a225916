"""Training loops: optimizers, loops, backward passes, memory."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    INDEX_LOOP_REPEATS,
    MEMORY_HIGH_FRACTION,
    OPTIMIZER_LAUNCHES_MIN,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, inside, mask_of
from profcore.rules.sources import H200
from profcore.trace.model import MISSING
from profcore.units import bytes_text, percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- O1, O2 -------------------------------------------------------------------------------------


def _optimizer_steps(quantities: Quantities, what: str) -> NDArray[np.int64]:
    return quantities.named(
        ("operator", "annotation"), lambda name: name.startswith(f"Optimizer.{what}#")
    )


def _optimizer(what: str) -> Callable[[Quantities], str | None]:
    """Return a need: the row that torch writes round this call of an optimizer."""

    def missing(quantities: Quantities) -> str | None:
        if reason := needs.operators(quantities):
            return reason
        if len(_optimizer_steps(quantities, what)):
            return None
        return f"The trace has no Optimizer.{what}: nothing was trained, or not by torch.optim."

    return missing


def _o1(quantities: Quantities) -> Observation | None:
    steps = _optimizer_steps(quantities, "step")
    enclosing = mask_of(quantities.trace, steps)
    merged = quantities.named(
        ("operator",), lambda name: name.startswith(("aten::_foreach_", "aten::_fused_"))
    )
    calls = quantities.launches[quantities.launches["is_kernel_launch"]]
    rows = column(calls, "row")
    rows = rows[inside(quantities, rows, enclosing)]
    per_step = len(rows) / len(steps)
    if inside(quantities, merged, enclosing).any() or per_step < OPTIMIZER_LAUNCHES_MIN:
        return None
    return Observation(
        text=f"Each optimizer step makes {per_step:,.0f} kernel launches, one tensor at a time.",
        evidence=evidence(quantities, steps, limit=3),
        kind="warning" if quantities.limit == "cpu" else None,
    )


O1 = Rule(
    id="O1",
    title="The optimizer works tensor by tensor",
    family="training and data loading",
    kind="note",
    missing=needs.all_of(_optimizer("step"), needs.launch_calls),
    observe=_o1,
    meaning="Each parameter tensor gets kernels of its own, and their launches cost more than "
    "their work.",
    advice="Create the optimizer with foreach=True or fused=True.",
    source="torch's OptimizerSingleTensorPattern; 20 launches are the project's own limit",
)


def _o2(quantities: Quantities) -> Observation | None:
    steps = _optimizer_steps(quantities, "zero_grad")
    zeroing = quantities.named(("operator",), {"aten::zero_", "aten::_foreach_zero_"}.__contains__)
    zeroing = zeroing[inside(quantities, zeroing, mask_of(quantities.trace, steps))]
    if not len(zeroing):
        return None
    return Observation(
        text=f"{count_text(len(zeroing), 'call')} of {quantities.trace.name_of(int(zeroing[0]))} "
        "inside zero_grad.",
        evidence=evidence(quantities, zeroing, limit=3),
    )


O2 = Rule(
    id="O2",
    title="Gradients are filled with zeros",
    family="training and data loading",
    kind="note",
    missing=_optimizer("zero_grad"),
    observe=_o2,
    meaning="Writing zeros costs a kernel per gradient; dropping the gradient costs nothing.",
    advice="Use zero_grad(set_to_none=True), the default of current versions.",
    source="torch's GradNotSetToNonePattern",
)

# --- O4, O5 -------------------------------------------------------------------------------------


def _o4(quantities: Quantities) -> Observation | None:
    if quantities.limit != "cpu":
        return None
    trace = quantities.trace
    rows = quantities.in_steps(np.flatnonzero(quantities.is_operator))
    rows = rows[~inside(quantities, rows, quantities.is_operator)]  # the outermost ones
    names = [trace.name_of(int(row)) for row in rows]
    starts = [place for place, name in enumerate(names) if name == "aten::select"]
    longest: list[int] = []
    current: list[int] = []
    for place, following in itertools.pairwise(starts):
        group = names[place:following]
        same = current and names[current[-1] : place] == group
        current = [*current, place] if same else [place]
        if len(current) > len(longest):
            longest = current
    if len(longest) < INDEX_LOOP_REPEATS:
        return None
    first, last = longest[0], longest[-1]
    group_text = ", ".join(names[last : last + max(1, (last - first) // max(len(longest) - 1, 1))])
    return Observation(
        text=f"The same group of operators ({group_text}) repeats {len(longest):,} times, each "
        "time after picking one element.",
        evidence=evidence(quantities, rows[longest], limit=2),
    )


O4 = Rule(
    id="O4",
    title="A loop over single elements",
    family="training and data loading",
    kind="note",
    missing=needs.all_of(needs.operators, needs.steps, needs.limit),
    observe=_o4,
    meaning="Python walks over a tensor element by element, and each element pays for its own "
    "launches.",
    advice="Work on the whole tensor at once.",
    source="torch's ForLoopIndexingPattern",
)


def _backward_rows(quantities: Quantities) -> NDArray[np.int64]:
    return quantities.named(
        ("operator",), lambda name: name.startswith("autograd::engine::evaluate_function")
    )


def _o5_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.operators, needs.steps)(quantities):
        return reason
    if len(_backward_rows(quantities)):
        return None
    return "The trace has no backward pass."


def _o5(quantities: Quantities) -> Observation | None:
    trace = quantities.trace
    rows = _backward_rows(quantities)
    step_lanes = np.unique(trace.lane[column(quantities.steps, "row")])
    elsewhere = rows[~np.isin(trace.lane[rows], step_lanes)]
    if not len(elsewhere):
        return None
    return Observation(
        text=f"{count_text(len(elsewhere), 'backward call')} run on a thread of their own.",
        evidence=evidence(quantities, elsewhere, limit=2),
    )


O5 = Rule(
    id="O5",
    title="The backward pass has its own thread",
    family="training and data loading",
    kind="fact",
    missing=_o5_missing,
    observe=_o5,
    meaning="Its operators belong to the step that contains them. Self CPU adds up threads, so the "
    "main thread's wait for the backward pass counts a second time.",
    advice="",
    source=f"{H200}: 53.5 ms of Self CPU for 38.0 ms of steps",
)

# --- E9, M1 -------------------------------------------------------------------------------------


def _e9(quantities: Quantities) -> Observation | None:
    rows = quantities.in_some_steps(
        quantities.named(("runtime",), _ALLOCATIONS.__contains__),
        np.arange(1, len(quantities.steps)),
    )
    if not len(rows):
        return None
    total_ns = int(quantities.trace.duration_ns[rows].sum())
    return Observation(
        text=f"{count_text(len(rows), 'call')} of "
        f"{', '.join(sorted({quantities.trace.name_of(int(row)) for row in rows}))} after the "
        f"first step, {time_text(total_ns)} together.",
        evidence=evidence(quantities, rows),
    )


E9 = Rule(
    id="E9",
    title="Memory is taken from the driver inside the steps",
    family="cold start",
    kind="note",
    missing=needs.all_of(needs.gpu, needs.steps_for_median),
    observe=_e9,
    meaning="PyTorch keeps freed memory for later, so a steady program asks the driver no more. "
    "Calls in later steps mean that it still grows, or that memory is short.",
    advice="More warm-up calls, or a smaller batch.",
    source=f"{H200}: none in warm traces after the first step",
)


def _m1_missing(quantities: Quantities) -> str | None:
    if reason := needs.events(quantities):
        return reason
    memory = quantities.trace.memory
    if not np.any((memory.device_type == _CUDA) & (memory.reserved_bytes != MISSING)):
        return "The trace has no memory rows of a GPU. Record with profile_memory=True."
    if any(device.memory_bytes for device in quantities.trace.devices):
        return None
    return "The trace does not say how much memory its device has."


def _m1(quantities: Quantities) -> Observation | None:
    memory = quantities.trace.memory
    for device in quantities.trace.devices:
        mine = (memory.device_type == _CUDA) & (memory.device == device.id)
        if not device.memory_bytes or not mine.any():
            continue
        peak = int(memory.reserved_bytes[mine].max())
        share = peak / device.memory_bytes
        if share >= MEMORY_HIGH_FRACTION:
            return Observation(
                text=f"{bytes_text(peak)} of {bytes_text(device.memory_bytes)} were reserved on "
                f"{device.name}: {percent_text(share)}."
            )
    return None


M1 = Rule(
    id="M1",
    title="Device memory is nearly full",
    family="training and data loading",
    kind="note",
    missing=_m1_missing,
    observe=_m1,
    meaning="Little more fits. Near the limit PyTorch frees and takes memory again and again, "
    "which costs time.",
    advice="A smaller batch or a smaller number format.",
    source="tb_plugin, fournex, gpuprof (90 %)",
)

_ALLOCATIONS: Final = frozenset({"cudaMalloc", "cudaFree", "hipMalloc", "hipFree"})
_CUDA: Final = 1
"""Device type of memory rows, as torch numbers them."""
