"""Number formats and tensor cores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.names import short_name, tensor_cores
from profcore.rules import needs
from profcore.rules.constants import (
    ALIGNED_SHARE_FRACTION,
    CAST_SHARE_FRACTION,
    CONVERSION_MIN_NS,
    FP32_SHARE_FRACTION,
    LAYOUT_SHARE_FRACTION,
    TENSOR_CORE_ELIGIBLE_FRACTION,
    TENSOR_CORE_SHARE_FRACTION,
    TENSOR_CORE_UNKNOWN_FRACTION,
)
from profcore.rules.gpu_work import matrix_products, of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, evidence
from profcore.rules.sources import H200
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_FP32_MATRIX: Final = re.compile(r"sgemm|f32f32_f32f32_f32|_ffma_|_simt_")
_TF32_CAPABILITY: Final = 8
"""Compute capability of the first GPUs with TF32 (Ampere)."""
_ALIGNMENT: Final = 8
"""Elements; torch's MatMulDimInFP16Pattern."""
_CONVERTING: Final = re.compile(r"bfloat16_copy_kernel|float16_copy_kernel|half_copy_kernel")
_LAYOUT_KERNELS: Final = re.compile(r"nchwToNhwc|nhwcToNchw", re.IGNORECASE)


def is_fp32_matrix(name: str) -> bool:
    """Say whether a kernel multiplies fp32 matrices on the ordinary cores, by its name."""
    return bool(_FP32_MATRIX.search(name)) and "tf32" not in name


# --- N1 -----------------------------------------------------------------------------------------


def _n1(quantities: Quantities) -> Observation | None:
    capability = quantities.compute_capability
    mask = quantities.activity_kind("kernel") & quantities.activity_names(is_fp32_matrix)
    share = quantities.share(mask)
    if capability is None or capability[0] < _TF32_CAPABILITY or share < FP32_SHARE_FRACTION:
        return None
    rows = column(quantities.activities, "row")[mask & quantities.counted]
    name = short_name(quantities.trace.name_of(int(rows[0])))
    return Observation(
        text=f"fp32 matrix kernels take {time_text(quantities.per_step_ns(mask))} "
        f"{quantities.each}, {percent_text(share)} of the GPU time ({name}).",
        evidence=evidence(quantities, rows),
    )


N1 = Rule(
    id="N1",
    title="fp32 matrix products without TF32",
    family="kernels and precision",
    kind="warning",
    missing=needs.all_of(needs.kernels, needs.device_properties),
    observe=_n1,
    meaning="The products run on the ordinary cores in fp32. The tensor cores of this GPU could do "
    "them many times faster in TF32 or bf16, with slightly different results.",
    advice='Choose dtype tf32 (torch.set_float32_matmul_precision("high")) or bf16.',
    source=f"{H200}: 2,683 µs in fp32, 175 µs in bf16; torch's FP32MatMulPattern",
    saves_gpu_time=True,
)


# --- N2 -----------------------------------------------------------------------------------------


def _matrix_work(quantities: Quantities) -> NDArray[np.bool_]:
    return matrix_products(quantities) | of_family(quantities, "convolution")


def _n2_missing(quantities: Quantities) -> str | None:
    if reason := needs.kernels(quantities):
        return reason
    matrix = _matrix_work(quantities)
    unknown = matrix & quantities.activity_names(lambda name: tensor_cores(name) is None)
    matrix_ns = quantities.sum_ns(matrix)
    if matrix_ns and quantities.sum_ns(unknown) / matrix_ns >= TENSOR_CORE_UNKNOWN_FRACTION:
        return "The names of these matrix kernels do not say whether they use tensor cores."
    return None


def _n2(quantities: Quantities) -> Observation | None:
    matrix = _matrix_work(quantities)
    matrix_ns = quantities.sum_ns(matrix)
    if quantities.share(matrix) < TENSOR_CORE_ELIGIBLE_FRACTION:
        return None
    if quantities.experiment is not None and quantities.experiment.dtype == "fp32":
        return None  # fp32 is what was asked for; N1 has a word on it
    using = matrix & quantities.activity_names(lambda name: tensor_cores(name) is True)
    share = quantities.sum_ns(using) / matrix_ns
    if share >= TENSOR_CORE_SHARE_FRACTION:
        return None
    rows = column(quantities.activities, "row")[matrix & ~using & quantities.counted]
    return Observation(
        text=f"Tensor cores do {percent_text(share)} of the matrix work by time, which is "
        f"{percent_text(quantities.share(matrix))} of the GPU time.",
        evidence=evidence(quantities, rows),
    )


N2 = Rule(
    id="N2",
    title="Tensor cores are not used",
    family="kernels and precision",
    kind="note",
    missing=_n2_missing,
    observe=_n2,
    meaning="Shape, alignment or number format keep the matrix products off the tensor cores.",
    advice="Use bf16 or fp16 and dimensions that are multiples of 8.",
    source="Perfessor (50 % by count), tb_plugin; counted by time here, with unknown names apart",
)


# --- N3 -----------------------------------------------------------------------------------------


def _n3(quantities: Quantities) -> Observation | None:
    experiment = quantities.experiment
    if experiment is None or experiment.dtype not in {"bf16", "fp16"}:
        return None
    share = quantities.share(matrix_products(quantities))
    if experiment.size % _ALIGNMENT == 0 or share < ALIGNED_SHARE_FRACTION:
        return None
    larger = -(-experiment.size // _ALIGNMENT) * _ALIGNMENT
    return Observation(
        text=f"The size {experiment.size:,} is no multiple of {_ALIGNMENT}, and matrix products "
        f"take {percent_text(share)} of the GPU time; {larger:,} would be.",
    )


N3 = Rule(
    id="N3",
    title="Dimensions that are no multiple of 8",
    family="kernels and precision",
    kind="note",
    missing=needs.all_of(needs.own_run, needs.kernels),
    observe=_n3,
    meaning="Tensor cores load 8 values of 16 bits at once. Other sizes are padded or take a "
    "slower path; current libraries often hide that.",
    advice="Try the next multiple of 8 and compare.",
    source="torch's MatMulDimInFP16Pattern",
)


# --- N4 -----------------------------------------------------------------------------------------


def _n4(quantities: Quantities) -> Observation | None:
    experiment = quantities.experiment
    if experiment is None or experiment.dtype not in {"bf16", "fp16"}:
        return None
    mask = quantities.activity_kind("kernel") & quantities.activity_names(is_fp32_matrix)
    share = quantities.share(mask)
    if share < FP32_SHARE_FRACTION:
        return None
    rows = column(quantities.activities, "row")[mask & quantities.counted]
    return Observation(
        text=f"The inputs are {experiment.dtype}, but fp32 matrix kernels take "
        f"{percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, rows),
    )


N4 = Rule(
    id="N4",
    title="Hidden conversion to fp32",
    family="kernels and precision",
    kind="note",
    missing=needs.all_of(needs.own_run, needs.kernels),
    observe=_n4,
    meaning="Something promotes the values to fp32 before they are multiplied.",
    advice="Look for fp32 constants and operators that upcast, or use autocast.",
    source="the 10 % limit is the project's own",
)


# --- N5, E2: conversions ------------------------------------------------------------------------


def _n5(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    casts = quantities.named(("operator",), "aten::_to_copy".__eq__)
    below = np.isin(column(activities, "operator_row"), casts)
    by_name = quantities.activity_names(lambda name: bool(_CONVERTING.search(name)))
    mask = quantities.activity_kind("kernel") & (below | by_name)
    share, per_step_ns = quantities.share(mask), quantities.per_step_ns(mask)
    if share < CAST_SHARE_FRACTION or per_step_ns < CONVERSION_MIN_NS:
        return None
    return Observation(
        text=f"Kernels that convert between number formats take {time_text(per_step_ns)} "
        f"{quantities.each}, "
        f"{percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, column(activities, "row")[mask & quantities.counted]),
    )


N5 = Rule(
    id="N5",
    title="Conversions between number formats",
    family="kernels and precision",
    kind="note",
    missing=needs.kernels,
    observe=_n5,
    meaning="Values change their number format on the way, which costs a trip through memory each "
    "time.",
    advice="Keep one number format throughout.",
    source="the 10 % limit is the project's own",
)


def _e2(quantities: Quantities) -> Observation | None:
    mask = quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: bool(_LAYOUT_KERNELS.search(name))
    )
    share, per_step_ns = quantities.share(mask), quantities.per_step_ns(mask)
    if share < LAYOUT_SHARE_FRACTION or per_step_ns < CONVERSION_MIN_NS:
        return None
    return Observation(
        text=f"Layout conversion takes {time_text(per_step_ns)} {quantities.each}, "
        f"{percent_text(share)} "
        "of the GPU time.",
        evidence=evidence(
            quantities, column(quantities.activities, "row")[mask & quantities.counted]
        ),
    )


E2 = Rule(
    id="E2",
    title="Layout conversion around convolutions",
    family="kernels and precision",
    kind="warning",
    missing=needs.kernels,
    observe=_e2,
    meaning="Tensors are reordered in memory for every convolution.",
    advice="Use memory_format=torch.channels_last for the model and its input.",
    source=f"{H200}: 11 % in a convolution trace",
    saves_gpu_time=True,
)
