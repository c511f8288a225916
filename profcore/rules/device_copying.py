"""Copies and fills inside the device that nobody wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import family, short_name
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import (
    D2D_MIN_NS,
    D2D_SHARE_FRACTION,
    TINY_MEMSET_BYTES,
)
from profcore.rules.gpu_work import device_copies, of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import (
    column,
    count_text,
    evidence,
    label,
    outermost_operator,
    per_step_text,
)
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import bytes_text, percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- C6 -----------------------------------------------------------------------------------------


def hidden_copies(quantities: Quantities) -> NDArray[np.bool_]:
    """Return the counted copies inside the device that the program did not ask for (rule C6)."""
    return _hidden(quantities)[0]


def _hidden(quantities: Quantities) -> tuple[NDArray[np.bool_], set[str]]:
    """Return the mask of hidden copies and the names of the operators that made them."""
    launch_rows = column(quantities.activities, "launch_row")
    mine = device_copies(quantities) & quantities.counted & (launch_rows >= 0)
    outermost = outermost_operator(quantities, launch_rows[mine])
    asked_for = np.array(
        [
            row < 0 or quantities.trace.name_of(int(row)) in words.COPY_OPERATORS
            for row in outermost
        ],
        np.bool_,
    )
    hidden = np.zeros(len(mine), np.bool_)
    hidden[np.flatnonzero(mine)[~asked_for]] = True
    return hidden, {label(quantities.trace, int(row)) for row in outermost[~asked_for]}


def _c6(quantities: Quantities) -> Observation | None:
    hidden, names = _hidden(quantities)
    share, per_step_ns = quantities.share(hidden), quantities.per_step_ns(hidden)
    if share < D2D_SHARE_FRACTION or per_step_ns < D2D_MIN_NS:
        return None
    rows = column(quantities.activities, "row")[hidden]
    return Observation(
        text=f"Copies inside the GPU take {time_text(per_step_ns)} {quantities.each}, "
        f"{percent_text(share)} of the GPU time. They come from {', '.join(sorted(names)[:3])}.",
        evidence=evidence(quantities, rows),
    )


C6 = Rule(
    id="C6",
    title="A copy nobody wrote",
    family="memory copies",
    kind="note",
    missing=needs.all_of(needs.operators, needs.copies),
    observe=_c6,
    meaning="The library copies inside the GPU to prepare an operation: a matrix bias that addmm "
    "starts from, masking that keeps the original, inputs of a CUDA graph, a tensor that is not "
    "contiguous.",
    advice="Use a vector bias, in-place operations, contiguous inputs.",
    source=f"{H200}: 8 % in compiled 4096² with a matrix bias",
)

# --- G5 -----------------------------------------------------------------------------------------


def _g5_missing(quantities: Quantities) -> str | None:
    if reason := needs.copies(quantities):
        return reason
    if any(family(name) == "gemm" for name in quantities.analysis.kernels["name"]):
        return None
    return "The trace has no matrix product that is known by its name."


def copies_before_gemm(quantities: Quantities) -> list[tuple[int, int]]:
    """Return (activity of the copy, activity of the GEMM) for each copy that seeds a GEMM.

    They share the operator that asked for both, which is what a shared External id says.
    """
    activities = quantities.activities
    is_copy = device_copies(quantities) & quantities.counted
    is_gemm = of_family(quantities, "gemm")
    start_ns, operator = column(activities, "start_ns"), column(activities, "operator_row")
    end_ns = start_ns + column(activities, "duration_ns")
    gemms_of: dict[int, list[int]] = {}
    for gemm in np.flatnonzero(is_gemm & (operator >= 0)).tolist():
        gemms_of.setdefault(int(operator[gemm]), []).append(gemm)  # in order of start
    pairs = []
    for copy in np.flatnonzero(is_copy & (operator >= 0)).tolist():
        for gemm in gemms_of.get(int(operator[copy]), ()):
            if start_ns[gemm] >= end_ns[copy]:
                pairs.append((copy, gemm))
                break
    return pairs


def _g5(quantities: Quantities) -> Observation | None:
    pairs = copies_before_gemm(quantities)
    if not pairs:
        return None
    activities = quantities.activities
    mask = np.zeros(len(activities), np.bool_)
    mask[[copy for copy, _ in pairs]] = True
    share, per_step_ns = quantities.share(mask), quantities.per_step_ns(mask)
    rows = column(activities, "row")
    size_bytes = int(quantities.trace.size_bytes[rows[pairs[0][0]]])
    size = f" of {bytes_text(size_bytes)}" if size_bytes >= 0 else ""
    gemm = short_name(quantities.trace.name_of(int(rows[pairs[0][1]])))
    small = share < D2D_SHARE_FRACTION or per_step_ns < D2D_MIN_NS
    shown = np.array([rows[place] for pair in pairs[:2] for place in pair], np.int64)
    return Observation(
        text=f"{count_text(len(pairs), 'copy', 'copies')}{size} inside the GPU right before "
        f"{gemm}, in the same operator: {time_text(per_step_ns)} {quantities.each}, "
        f"{percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, shown),
        kind="fact" if small else None,
    )


G5 = Rule(
    id="G5",
    title="Memcpy DtoD right before a matrix product",
    family="memory copies",
    kind="note",
    missing=_g5_missing,
    observe=_g5,
    meaning="The bias is copied into the output and the product is added to it. The two operators "
    "became one at the dispatcher (addmm), but not one kernel. It happens with a bias as large as "
    "the product; a bias vector is added inside the kernel.",
    advice="Use a bias vector (bias: vector).",
    source=f"{ARTICLE_1}; {H200}: 194.7 µs with the copy, 178.7 µs without, at 4096²",
)

# --- E10 ----------------------------------------------------------------------------------------


def _e10(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    rows = column(activities, "row")
    size_bytes = quantities.trace.size_bytes[rows]
    tiny = quantities.activity_kind("memset") & (size_bytes >= 0)
    tiny &= (size_bytes <= TINY_MEMSET_BYTES) & quantities.counted
    if not tiny.any():
        return None
    per_step = per_step_text(int(tiny.sum()), quantities.counted_steps, "fill")
    typical_ns = float(np.median(quantities.trace.duration_ns[rows[tiny]]))
    return Observation(
        text=f"{per_step} of at most {bytes_text(int(size_bytes[tiny].max()))} {quantities.each}, "
        f"{time_text(typical_ns)} each.",
        evidence=evidence(quantities, rows[tiny], limit=2),
    )


def _no_memset(quantities: Quantities) -> str | None:
    if reason := needs.gpu(quantities):
        return reason
    if quantities.activity_kind("memset").any():
        return None
    return "The trace has no fills."


E10 = Rule(
    id="E10",
    title="Tiny fills that nobody wrote",
    family="memory copies",
    kind="fact",
    missing=_no_memset,
    observe=_e10,
    meaning="A counter of the library, set to zero before a large cuBLAS or cuDNN kernel. It "
    "counts as GPU work, which is why a step of two operators can show three activities.",
    advice="",
    source=f"{H200}: 4 bytes, 0.7 to 0.9 µs",
)
