"""The names of calls and rows that the rules look for.

Categories differ between versions of torch and capture options, so compile rows are matched by
name. Source: what torch 2.6 to 2.15 and Kineto write.
"""

from __future__ import annotations

import re
from typing import Final

WAITING_CALLS: Final = frozenset({
    "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy",
    "hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize", "hipMemcpy",
})  # fmt: skip
DEVICE_SYNCHRONIZE: Final = frozenset({"cudaDeviceSynchronize", "hipDeviceSynchronize"})
GRAPH_LAUNCHES: Final = frozenset({"cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch"})
OCCUPANCY_PREFIXES: Final = ("cudaOccupancy", "hipOccupancy")
"""The exact names differ between library versions; the prefix does not."""
FIRST_USE_CALLS: Final = frozenset({
    "cudaMalloc", "cudaFree", "cudaFuncSetAttribute", "cudaGetSymbolAddress", "hipMalloc",
    "Lazy Function Loading", "Runtime Triggered Module Loading", "cuModuleLoadData",
    "cudaHostAlloc", "cuLibraryLoadData",
})  # fmt: skip
VIEW_OPERATORS: Final = frozenset({
    "aten::t", "aten::transpose", "aten::view", "aten::as_strided", "aten::expand",
    "aten::select", "aten::_unsafe_view", "aten::reshape", "aten::permute", "aten::unsqueeze",
    "aten::squeeze", "aten::slice", "aten::detach", "aten::alias", "aten::flatten",
})  # fmt: skip
COPY_OPERATORS: Final = frozenset({
    "aten::copy_", "aten::clone", "aten::contiguous", "aten::to", "aten::_to_copy",
})  # fmt: skip
COMPILED_REGION: Final = "Torch-Compiled Region"
CACHE_LOOKUP: Final = "TorchDynamo Cache Lookup"
PROLOGUE: Final = "AOTDispatcher Runtime Wrapper Prologue"
GRAPH_CALL: Final = "## Call CompiledFxGraph"
REGION_BYTECODE: Final = "Pregraph bytecode"
COMPILED_FUNCTION: Final = "CompiledFunction"
STEP_PREFIX: Final = "ProfilerStep#"

_COMPILER_DATA: Final = re.compile(r"_data: .*compile_id=")
_COMPILER_WORK: Final = re.compile(r"entire_frame_compile|backend_compile|.*\(dynamo_timed\)")


def is_compiler_work(name: str) -> bool:
    """Say whether a row is the compiler at work, not a call of compiled code."""
    return _COMPILER_WORK.fullmatch(name) is not None or bool(_COMPILER_DATA.search(name))


def is_compile_call(name: str) -> bool:
    """Say whether a row belongs to the way into compiled code, which every call takes."""
    return name in {CACHE_LOOKUP, PROLOGUE, REGION_BYTECODE} or name.startswith((
        COMPILED_REGION, GRAPH_CALL, COMPILED_FUNCTION,
    ))  # fmt: skip


def is_compile_row(name: str) -> bool:
    """Say whether only torch.compile leaves a row of this name."""
    return is_compile_call(name) or is_compiler_work(name)


def is_marker(name: str) -> bool:
    """Say whether a row marks a stretch of the program; old files list them as operators."""
    return name.startswith((STEP_PREFIX, "enumerate(DataLoader)#", "Optimizer."))


def is_program_annotation(name: str) -> bool:
    """Say whether an annotation was written by the program: no step row, not the compiler's."""
    return not name.startswith((STEP_PREFIX, GRAPH_CALL)) and not is_compiler_work(name)


CUPTI_WITH_BUFFER_REQUESTS: Final = 25
"""`cupti_version` of CUDA 12.7, the first that records Activity Buffer Request. The number counts
releases up to 26 (CUDA 12.8) and is 130000 and more from CUDA 13."""


def is_loader(name: str) -> bool:
    """Say whether a row is the loop asking a DataLoader for the next batch."""
    return name.startswith("enumerate(DataLoader)#")


def is_first_use(name: str) -> bool:
    """Say whether a call or profiler row marks the first use of something."""
    return name in FIRST_USE_CALLS or name.startswith(OCCUPANCY_PREFIXES)


LIGHT_FAMILIES: Final = frozenset({"elementwise", "reduction", "memory format"})
"""Kernel families with a small fixed footprint."""
HEAVY_FAMILIES: Final = frozenset({"gemm", "convolution", "attention"})
"""Kernel families that libraries tune to the device."""
LINEAR_OPERATORS: Final = frozenset({"aten::linear", "aten::addmm"})
