"""Attention: which implementation ran, and what the slow ones cost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profcore.analysis.names import reading, short_name, tensor_cores
from profcore.rules import needs
from profcore.rules.constants import COPY_MIN_NS, COPY_SHARE_FRACTION
from profcore.rules.gpu_work import device_copies, of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, inside, mask_of
from profcore.rules.sources import ARTICLE_3, H200
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_SDPA: Final = re.compile(r"aten::(_?scaled_dot_product|_flash_attention|_efficient_attention)")
_MATH: Final = frozenset({"aten::_scaled_dot_product_attention_math", "aten::_safe_softmax"})


def _under(quantities: Quantities, operators: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask over the activities: launched inside these operators, at any depth."""
    owner = column(quantities.activities, "operator_row")
    enclosing = mask_of(quantities.trace, operators)
    return (owner >= 0) & (enclosing[owner] | inside(quantities, owner, enclosing))


# --- A1 -----------------------------------------------------------------------------------------


def _a1_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    if len(quantities.named(("operator",), "aten::masked_fill".__eq__)):
        return None
    return "The program did not call aten::masked_fill."


def _a1(quantities: Quantities) -> Observation | None:
    masked = quantities.named(("operator",), "aten::masked_fill".__eq__)
    mask = device_copies(quantities) & _under(quantities, masked) & quantities.counted
    share, per_step_ns = quantities.share(mask), quantities.per_step_ns(mask)
    if share < COPY_SHARE_FRACTION or per_step_ns < COPY_MIN_NS:
        return None
    return Observation(
        text=f"Copies inside aten::masked_fill take {time_text(per_step_ns)} {quantities.each}, "
        f"{percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask]),
    )


A1 = Rule(
    id="A1",
    title="Masking copies the scores",
    family="attention",
    kind="warning",
    missing=_a1_missing,
    observe=_a1,
    meaning="masked_fill keeps its input and works on a copy: the whole score matrix is copied "
    "before it is masked.",
    advice="Use masked_fill_ in place (not where gradients need the scores), or a fused attention "
    "(scaled_dot_product_attention).",
    source=f"{ARTICLE_3}: the sixth, hidden kernel; {H200}: 127 of 1,083 µs",
    saves_gpu_time=True,
)


# --- A2 -----------------------------------------------------------------------------------------


def _a2_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    if len(quantities.named(("operator",), lambda name: bool(_SDPA.match(name)))):
        return None
    return "The program did not call scaled_dot_product_attention."


def _a2(quantities: Quantities) -> Observation | None:
    rows = quantities.named(("operator",), _MATH.__contains__)
    if not len(rows):
        return None
    outer = quantities.named(("operator",), lambda name: bool(_SDPA.match(name)))
    mask = _under(quantities, outer) & quantities.counted
    kernels = int((mask & quantities.activity_kind("kernel")).sum())
    return Observation(
        text=f"Attention ran as plain mathematics: {count_text(kernels, 'kernel')} of "
        f"{time_text(quantities.per_step_ns(mask))} {quantities.each}, "
        f"{percent_text(quantities.share(mask))} of the GPU time.",
        evidence=evidence(quantities, rows, limit=3),
    )


A2 = Rule(
    id="A2",
    title="Attention fell back to plain mathematics",
    family="attention",
    kind="warning",
    missing=_a2_missing,
    observe=_a2,
    meaning="scaled_dot_product_attention took its slowest path: inputs raised to fp32, the mask "
    "built anew, about twenty kernels in place of one.",
    advice="Use a head size, number format and mask that flash, cuDNN or memory-efficient "
    "attention accept.",
    source=f"{ARTICLE_3}; {H200}: 2,636 µs against 57 to 177 µs fused",
    saves_gpu_time=True,
)


# --- A3, A4 -------------------------------------------------------------------------------------


def _a3_missing(quantities: Quantities) -> str | None:
    if reason := needs.kernels(quantities):
        return reason
    if of_family(quantities, "gemm", "convolution", "attention").any():
        return None
    return "No kernel of this trace is known to multiply matrices."


def _a3(quantities: Quantities) -> Observation | None:
    matrix = of_family(quantities, "gemm", "convolution", "attention")
    total_ns = quantities.sum_ns(matrix)
    if not total_ns:
        return None
    parts = []
    for answer, words in (
        (True, "on tensor cores"),
        (False, "on the ordinary cores"),
        (None, "unknown by name"),
    ):
        mask = matrix & quantities.activity_names(
            lambda name, answer=answer: tensor_cores(name) is answer  # type: ignore[misc]
        )
        if part_ns := quantities.sum_ns(mask):
            parts.append(f"{percent_text(part_ns / total_ns)} {words}")
    return Observation(text=f"Matrix kernels by time: {', '.join(parts)}.")


A3 = Rule(
    id="A3",
    title="Which cores multiply",
    family="kernels and precision",
    kind="fact",
    missing=_a3_missing,
    observe=_a3,
    meaning="The kernel's name tells: s16816 and wgmma are tensor cores in bf16 or fp16, tf32f32 "
    "is TF32, sgemm and f32f32_f32f32_f32 are fp32 on the ordinary cores. A name without a marker "
    "is unknown, not “no”.",
    advice="",
    source=f"{ARTICLE_3}; {H200}",
)


def _a4_missing(quantities: Quantities) -> str | None:
    if reason := needs.kernels(quantities):
        return reason
    if of_family(quantities, "attention").any():
        return None
    return "The trace has no attention kernel."


def _a4(quantities: Quantities) -> Observation | None:
    kernels = quantities.analysis.kernels
    mine = kernels[kernels["family"] == "attention"]
    top = mine.iloc[0]
    rows = quantities.named(("kernel",), str(top["name"]).__eq__)
    return Observation(
        text=f"{short_name(top['name'])}: {reading(top['name'])}. It ran "
        f"{count_text(int(top['calls']), 'time')}, {time_text(float(top['median_ns']))} each "
        "(median).",
        evidence=evidence(quantities, rows, limit=2),
    )


A4 = Rule(
    id="A4",
    title="Which attention ran",
    family="attention",
    kind="fact",
    missing=_a4_missing,
    observe=_a4,
    meaning="fmha_cutlass is memory-efficient attention, flash is flash attention, cudnn_generated "
    "is cuDNN's. All are one fused kernel.",
    advice="Try another backend with torch.nn.attention.sdpa_kernel.",
    source=f"{ARTICLE_3}; {H200}: 177 µs efficient, 93 µs flash, 57 µs cuDNN",
)


# --- A7, A9 -------------------------------------------------------------------------------------


def _a7(quantities: Quantities) -> Observation | None:
    outer = quantities.named(("operator",), lambda name: bool(_SDPA.match(name)))
    turned = quantities.named(("operator",), "aten::transpose".__eq__)
    turned = turned[inside(quantities, turned, mask_of(quantities.trace, outer))]
    if not len(turned):
        return None
    calls = outer[~inside(quantities, outer, mask_of(quantities.trace, outer))]
    return Observation(
        text=f"{count_text(len(turned), 'aten::transpose', 'aten::transpose')} inside "
        f"{count_text(len(calls), 'call')} of attention.",
        evidence=evidence(quantities, turned, limit=2),
    )


A7 = Rule(
    id="A7",
    title="Attention turns its inputs",
    family="attention",
    kind="fact",
    missing=_a2_missing,
    observe=_a7,
    meaning="The wrapper round flash and memory-efficient attention adapts the layout: four "
    "transposes that change only how the tensor is described. cuDNN's has none.",
    advice="",
    source=f"{ARTICLE_3}; {H200}",
)


def _a9(quantities: Quantities) -> Observation | None:
    calls = quantities.launches[quantities.launches["is_kernel_launch"]]
    counts = calls["name"].value_counts()
    if "cuLaunchKernelEx" not in counts.index:
        return None
    listed = ", ".join(f"{name} {int(count):,}" for name, count in counts.head(4).items())
    return Observation(text=f"Launch calls by spelling: {listed}.")


A9 = Rule(
    id="A9",
    title="Launches by cuLaunchKernelEx",
    family="launches and dispatch",
    kind="fact",
    missing=needs.launch_calls,
    observe=_a9,
    meaning="The driver's extended launch, which cuBLAS and cuDNN use on Hopper. It counts as a "
    "launch like every other; tools that know only cudaLaunchKernel count too few.",
    advice="",
    source=f"{ARTICLE_3}; {H200}; HolisticTraceAnalysis report 61",
)
