"""What a kernel's name says: a short form, a family, tensor cores or not, and a line in words.

Source: the kernel names quoted in "Profiling in PyTorch" and those that cuBLAS, cuDNN, CUTLASS,
Triton, NCCL, ATen and ROCm write into traces. Nothing here measures anything: a name that no
pattern knows is "other", and whether it uses tensor cores is then unknown (None), never "no".
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Final, Literal, get_args

from profcore.analysis import readings

Family = Literal[
    "gemm",
    "elementwise",
    "reduction",
    "attention",
    "convolution",
    "copy",
    "triton",
    "memory format",
    "communication",
    "other",
]
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)

SHORT_MAX: Final = 64
"""Longest short name in characters; a longer one ends in an ellipsis."""

READ_MAX: Final = 600
"""Characters of a name that are looked at; template arguments can run to hundreds of thousands."""

NAMES_MAX: Final = 4_096
"""Names whose decoding is remembered; rules and charts ask for the same ones again and again."""

_NOISE = re.compile(
    r"^(void|int|float)\s+|\(anonymous namespace\)::|<unnamed>::|^std::enable_if<.*?>::type\s+"
)
_SPACES = re.compile(r"^(?:at::native::|at::cuda::|c10::cuda::|cudnn::\w+::)+")
_MANGLED = re.compile(r"^_ZN?")
_REDUCTION_OP = re.compile(r"\b(\w{1,60}Ops|\w{1,60}_functor|\w{0,60}Norm\w{0,60})\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS_MAX: Final = 60
"""Words of the template arguments in which the operation of a generic kernel is looked for."""
_OPERATION_ENDS: Final = ("_kernel_cuda", "_kernel_impl", "KernelImpl", "_kernel", "_clamp_scalar")
_NO_OPERATION: Final = frozenset(
    {
        "BinaryFunctor",
        "AUnaryFunctor",
        "BUnaryFunctor",
        "UnaryFunctor",
        "gpu_kernel_impl",
        "gpu_kernel_impl_nocast",
        "gpu_index_kernel",
    }
)
"""Wrappers around the operation."""
_GENERIC = re.compile(r"elementwise_kernel|^multi_tensor_apply_kernel$")


def _demangled(name: str) -> str:
    """Return the nested identifiers of an Itanium-mangled name ("_ZN2ck6deviceE" -> "ck::device").

    Template arguments are left out; a name that is not mangled comes back as it is.
    """
    if not (start := _MANGLED.match(name)):
        return name
    at, parts = start.end(), []
    while at < len(name) and name[at].isdigit():
        digits = re.match(r"\d+", name[at:])
        size = int(digits[0][:4]) if digits else 0
        at += len(digits[0]) if digits else 0
        parts.append(name[at : at + size])
        at += size
    return "::".join(part for part in parts if part and not part.startswith("_GLOBAL_")) or name


def head(name: str) -> str:
    """Return the function's own name with its namespaces: no return type, templates, parameters."""
    text = _demangled(name[:READ_MAX])
    text = _NOISE.sub("", _NOISE.sub("", text))
    return re.split(r"[<(]", text, maxsplit=1)[0].strip()


@lru_cache(maxsize=NAMES_MAX)
def short_name(name: str) -> str:
    """Return the name as a chart can show it.

    Generic ATen kernels carry what they compute ("vectorized_elementwise_kernel: CUDAFunctor_add");
    CUTLASS wrappers give way to the kernel inside.
    """
    whole = head(name)
    own = _SPACES.sub("", whole)
    inside = name[:READ_MAX].partition("<")[2]
    if own.startswith("cutlass") and own.endswith(("Kernel", "Kernel2")) and inside:
        own = re.split(r"[>(,<]", inside, maxsplit=1)[0].strip() or own
    elif own.startswith("Cijk_"):
        tile = re.search(r"_MT\d+x\d+x\d+", own)
        own = "_".join(own.split("_")[:4]) + (tile[0] if tile else "")
    elif _GENERIC.search(own) and (functor := _functor(inside)):
        own = f"{own}: {functor}"
    elif own == "reduce_kernel" and (operation := _REDUCTION_OP.search(inside)):
        own = f"{own}: {operation[1]}"
    own = own or name[:SHORT_MAX].strip() or "(no name)"
    return own if len(own) <= SHORT_MAX else own[: SHORT_MAX - 1] + "…"


def _functor(inside: str) -> str:
    """Return what a generic kernel computes, from its template arguments; "" when not seen."""
    for match in itertools.islice(_WORD.finditer(inside), _WORDS_MAX):
        word = match[0]
        if word not in _NO_OPERATION and ("Functor" in word or word.endswith(_OPERATION_ENDS)):
            return word
    return ""


_COMMUNICATION = re.compile(
    r"^(nccl|rccl|msccl)|all_?reduce|all_?gather|reduce_?scatter|nvshmem|sendrecv", re.IGNORECASE
)
_ATTENTION = re.compile(
    r"flash_(fwd|bwd|attn)|pytorch_flash|fmha|sdpa|attention|attn_(fwd|bwd)|mha_(fwd|bwd)",
    re.IGNORECASE,
)
_FORMAT = re.compile(r"nchwToNhwc|nhwcToNchw|nchw2nhwc|nhwc2nchw|batched_transpose", re.IGNORECASE)
_CONVOLUTION = re.compile(
    r"fprop|dgrad|wgrad|convolve|winograd|im2col|2d2col|scudnn|igemm_(fwd|bwd|wrw)|fft2d_"
    r"|conv(olution|2d|3d|_fwd|_bwd|_depthwise)|ImplicitGemmConv|cudnn\w*::.*Offsets",
    re.IGNORECASE,
)
_COPY = re.compile(
    r"direct_copy_kernel|\w_copy_kernel|CatArrayBatchedCopy|copy_device|copyBuffer|recat_copy",
    re.IGNORECASE,
)
_REDUCTION = re.compile(
    r"reduce|softmax|layer_?norm|batch_?norm|^(cudnn::)?bn_|group_?norm|rms_?norm|::bn_"
    r"|RowwiseMoments|GammaBeta|SoftMax|nll_loss|Criterion|DeviceScan|scan|argm(ax|in)|pool|norm2d",
    re.IGNORECASE,
)
_GEMM = re.compile(r"(?<!fb)gemm|nvjet|gemv|Cijk_|wmma|wgmma|matmul|\bbmm_|cutlass", re.IGNORECASE)
_ELEMENTWISE = re.compile(
    r"elementwise|multi_tensor_apply|triu_tril|FillFunctor|fillBuffer|pointwise|distribution_"
    r"|dropout|SubTensorOp|scalePackedTensor|rotary_embedding",
    re.IGNORECASE,
)

_BY_HEAD: Final[tuple[tuple[Family, re.Pattern[str]], ...]] = (
    ("communication", _COMMUNICATION),
    ("attention", _ATTENTION),
    ("memory format", _FORMAT),
    ("convolution", _CONVOLUTION),
    ("copy", _COPY),
    ("elementwise", _ELEMENTWISE),
    ("reduction", _REDUCTION),
    ("gemm", _GEMM),
)
"""Asked in this order: a softmax may be part of an attention kernel's name, and a convolution may
be an implicit GEMM."""


@lru_cache(maxsize=NAMES_MAX)
def family(name: str) -> Family:
    """Return what kind of work a kernel does, by its name; "other" when no pattern knows it."""
    own = head(name)
    if own.startswith("triton_"):
        return "triton"
    inside = name[:READ_MAX].partition("<")[2]
    if (own.startswith("cutlass") and own.endswith(("Kernel", "Kernel2"))) or "kentry" in own:
        own = f"{own} {inside or name[:READ_MAX]}"
    found: Family = next((kind for kind, known in _BY_HEAD if known.search(own)), "other")
    if found == "elementwise" and _COPY.search(_functor(inside)):
        return "copy"
    return found


_WITH = re.compile(
    r"[a-z]\d{3,6}(gemm|cudnn|fprop|dgrad|wgrad|tf32)|(?<![a-z])(h|s|i|d)mma(?![a-z])|wmma|wgmma"
    r"|tensorop|_tensor\d+x\d+x\d+|tf32f32_tf32f32|nvjet|fmha_cutlass[FB]|fmhaSm\d+|pytorch_flash"
    r"|flash_(fwd|bwd)_kernel|cudnn_generated\w*sdpa|_xdl_?|Cijk_\w*_MI\d+x|igemm_\w+_gtcx"
    r"|xmma_\w*(bf16bf16|f16f16|i8i8|e4m3)",
)
_WITHOUT = re.compile(
    r"ffma|f32f32_f32f32_f32|simt|sgemm|cgemm|gemv|scudnn|gemmk1|nccl|nchwToNhwc|nhwcToNchw"
    r"|splitKreduce|bn_(fw|bw)",
)
_AMD = re.compile(r"Cijk_|igemm_\w+_gtc|_ZN2ck|_ZN7ck_tile|\bck::|_hip_")
_PLAIN_TRITON = re.compile(r"^triton_(poi|red|per)_")


@lru_cache(maxsize=NAMES_MAX)
def tensor_cores(name: str) -> bool | None:
    """Return whether the name says that a kernel multiplies on tensor (matrix) cores.

    True or False where the name tells; None where it does not. None is not False.
    """
    text = name[:READ_MAX]
    own = head(name)
    if own.startswith("triton_"):
        return False if _PLAIN_TRITON.match(own) else None
    if family(name) in {"elementwise", "reduction", "copy", "memory format", "communication"}:
        return False
    if _WITHOUT.search(own):
        return False
    if _WITH.search(text):
        return True
    return False if _WITHOUT.search(text) else None


def reading(name: str) -> str:
    """Return one line in words: what library, what work, which number format, which tile.

    Parts of a name that nobody documents are read by analogy; the line then says "probably".
    """
    kind = family(name)
    words = readings.words(name[:READ_MAX], kind)
    if kind not in {"gemm", "convolution", "attention"} and "template" not in words:
        return words
    cores = "matrix cores" if _AMD.search(name[:READ_MAX]) else "tensor cores"
    answer = {True: cores, False: f"no {cores}", None: f"{cores}: unknown"}
    return f"{words}; {answer[tensor_cores(name)]}"
