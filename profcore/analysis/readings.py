"""Kernel names in words, library by library."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMATS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"tf32"), "TF32"),
    (re.compile(r"bf16|bfloat16", re.IGNORECASE), "bf16"),
    (re.compile(r"e4m3|e5m2|fp8", re.IGNORECASE), "fp8"),
    (re.compile(r"f16f16|(?<![a-z0-9])(fp16|h\d{3,}gemm|hgemm|half)", re.IGNORECASE), "fp16"),
    (re.compile(r"sgemm|f32f32_f32f32|scudnn|_f32_"), "fp32"),
    (re.compile(r"dgemm|f64"), "fp64"),
    (re.compile(r"i8i8|int8"), "int8"),
)
_ARCHITECTURES: Final[dict[str, str]] = {
    "volta": "Volta",
    "turing": "Turing",
    "ampere": "Ampere",
    "hopper": "Hopper",
    "blackwell": "Blackwell",
    "sm70": "Volta",
    "sm75": "Turing",
    "sm80": "Ampere",
    "sm86": "Ampere",
    "sm89": "Ada",
    "sm90": "Hopper",
    "sm100": "Blackwell",
    "sm120": "Blackwell",
}
_NVJET_TYPES: Final[dict[str, str]] = {"t": "bf16", "h": "fp16", "s": "fp32", "q": "fp8"}
_TENSILE_TYPES: Final[dict[str, str]] = {
    "BBS": "bf16",
    "HHS": "fp16",
    "HSS": "fp16",
    "SB": "fp32",
    "B": "bf16",
    "H": "fp16",
    "S": "fp32",
    "D": "fp64",
}
_TILE = re.compile(r"(?:tilesize|_|MT)(\d{1,3}x\d{1,3})(?:x(\d{1,3}))?(?=_|$)")
_TRITON = re.compile(r"^triton_(poi|red|per|tem)_fused_?(.*?)_?(\d+)$")
_TRITON_KINDS: Final[dict[str, str]] = {
    "poi": "pointwise kernel",
    "red": "reduction",
    "per": "reduction kept in registers (persistent)",
    "tem": "template",
}
_CONVOLUTION_PASS: Final[dict[str, str]] = {
    "fprop": "forward",
    "fwd": "forward",
    "dgrad": "gradient of the input",
    "bwd": "gradient of the input",
    "wgrad": "gradient of the weight",
    "wrw": "gradient of the weight",
}


def words(name: str, kind: str) -> str:
    """Return a line for a name of a known family (`names.Family`)."""
    if match := _TRITON.match(name):
        return _triton(match)
    if name.startswith("nvjet"):
        return _nvjet(name)
    if name.startswith("Cijk_"):
        return _tensile(name)
    return _BY_KIND.get(kind, _other)(name)


def _triton(match: re.Match[str]) -> str:
    fused = match[2].strip("_")
    start = f"Triton {_TRITON_KINDS[match[1]]} written by torch.compile"
    return f"{start}, fused from: {fused.replace('_', ' ')}" if fused else start


def _nvjet(name: str) -> str:
    parts = ["cuBLAS matrix multiply (nvjet)"]
    if built := _architecture(name):
        parts.append(f"built for {built}")
    letters = re.search(r"_([a-z])[a-z][a-z]_\d", name)
    if letters and letters[1] in _NVJET_TYPES:
        parts.append(f"probably {_NVJET_TYPES[letters[1]]}")
    if tile := re.search(r"_(\d+x\d+)_(\d+)x(\d+)_(\d+x\d+)", name):
        parts.append(f"tile {tile[1]}, K in steps of {tile[2]}, {tile[3]} stages")
        parts.append(f"cluster {tile[4]}")
    if re.search(r"_bias(_|$)", name):
        parts.append("adds a bias vector")
    if re.search(r"_badd(_|$)", name):
        parts.append("adds a matrix")
    if re.search(r"_splitK", name, re.IGNORECASE):
        parts.append("splits K")
    return ", ".join(parts)


def _tensile(name: str) -> str:
    pieces = name.split("_")
    parts = ["rocBLAS or hipBLASLt matrix multiply (Tensile)"]
    if len(pieces) > 3 and (number_format := _TENSILE_TYPES.get(pieces[3])):  # noqa: PLR2004
        parts.append(number_format)
    if tile := re.search(r"_MT(\d+)x(\d+)x(\d+)", name):
        parts.append(f"tile {tile[1]}x{tile[2]}, K in steps of {tile[3]}")
    if "_Bias_" in name:
        parts.append("can add a bias")
    return ", ".join(parts)


def _architecture(name: str) -> str:
    found = re.search(r"(?<![a-z0-9])(sm\d{2,3}|[a-z]+)(?=_|::)", name)
    while found and found[1] not in _ARCHITECTURES:
        found = re.compile(r"(?<![a-z0-9])(sm\d{2,3}|[a-z]+)(?=_|::)").search(name, found.end())
    if found:
        return _ARCHITECTURES[found[1]]
    if number := re.search(r"cutlass_(\d{2,3})_", name):
        return _ARCHITECTURES.get(f"sm{number[1]}", "")
    return ""


def _format(name: str) -> str:
    return next((label for pattern, label in _FORMATS if pattern.search(name)), "")


def _library(name: str) -> str:
    if "cutlass" in name:
        return "CUTLASS"
    if re.search(r"cudnn", name, re.IGNORECASE):
        return "cuDNN"
    if "cublas" in name or re.match(r"(void )?(volta|turing|ampere|sm\d+)_", name):
        return "cuBLAS"
    if re.search(r"\b(_ZN)?2?ck(16|_tile|::)", name):
        return "Composable Kernel (ROCm)"
    return ""


def _details(name: str) -> list[str]:
    parts = []
    if number_format := _format(name):
        parts.append(number_format)
    if tile := _TILE.search(name):
        parts.append(f"tile {tile[1]}" + (f", K in steps of {tile[2]}" if tile[2] else ""))
    if stages := re.search(r"stages?_?(?:\d+x)?(\d+)", name):
        parts.append(f"{stages[1]} stages")
    if layout := re.search(r"_([nt]{2})(?=_|$|>|\()", name):
        parts.append(f"layouts {layout[1]}")
    return parts


def _gemm(name: str) -> str:
    if "gemv" in name:
        return ", ".join(["matrix times vector", *_details(name)])
    return _with_library(name, "matrix multiply")


def _convolution(name: str) -> str:
    found = re.search("|".join(_CONVOLUTION_PASS), name)
    if re.search(r"Offsets|im2col|2d2col", name, re.IGNORECASE):
        return "prepares a convolution"
    return _with_library(name, "convolution", _CONVOLUTION_PASS[found[0]] if found else "")


def _attention(name: str) -> str:
    if re.search(r"fmha_cutlass", name):
        what = "memory-efficient attention"
    elif "flash" in name:
        what = "flash attention"
    elif re.search(r"cudnn", name):
        what = "cuDNN attention"
    else:
        what = "attention"
    backward = re.search(r"bwd|backward|bprop|cutlassB", name)
    return ", ".join([f"{what}, {'backward' if backward else 'forward'}", *_details(name)[:1]])


def _with_library(name: str, what: str, *more: str) -> str:
    library, built = _library(name), _architecture(name)
    start = f"{library} {what}" if library else what
    parts = [start, *more, f"built for {built}" if built else "", *_details(name)]
    return ", ".join(part for part in parts if part)


def _elementwise(name: str) -> str:
    if "multi_tensor_apply" in name:
        return "one operation over a list of tensors (foreach): optimizer steps, graph inputs"
    if "triu_tril" in name:
        return "builds a triangular mask"
    if "Fill" in name:
        return "fills a tensor with one value"
    return "element by element: reads and writes memory, little arithmetic"


def _reduction(name: str) -> str:
    if re.search(r"splitK", name, re.IGNORECASE):
        return "adds up the parts of a matrix multiply that was split along K"
    for word, meaning in (
        (r"softmax", "softmax"),
        (r"layer_?norm|RowwiseMoments|GammaBeta", "layer norm"),
        (r"batch_?norm|bn_", "batch norm"),
        (r"group_?norm", "group norm"),
        (r"rms_?norm", "RMS norm"),
        (r"pool", "pooling"),
        (r"scan|cumsum", "running sum"),
    ):
        if re.search(word, name, re.IGNORECASE):
            return f"{meaning}: each result is made from many elements"
    return "reduction: many elements become one (sum, mean, max ...)"


def _other(name: str) -> str:
    for word, meaning in (
        (r"sort", "sorts"),
        (r"embedding|gather|index|scatter|permute", "picks or moves rows by index"),
        (r"upsample|interpolate", "resizes an image"),
        (r"quant", "converts to a smaller number format"),
    ):
        if re.search(word, name, re.IGNORECASE):
            return meaning
    return "unknown kernel: the name says nothing that is known here"


_BY_KIND: Final[dict[str, Callable[[str], str]]] = {
    "gemm": _gemm,
    "convolution": _convolution,
    "attention": _attention,
    "elementwise": _elementwise,
    "reduction": _reduction,
    "copy": lambda _: "copies or converts elements: no arithmetic",
    "memory format": lambda _: "reorders a tensor in memory (channels first or last)",
    "communication": lambda _: "exchanges data between GPUs",
    "triton": lambda _: "Triton kernel",
}
