"""What each rung of a dispatch chain is for, in one sentence that a newcomer understands.

Source: names written by torch.profiler, Dynamo, AOTAutograd, Inductor, CUPTI and the CUDA runtime;
"Profiling in PyTorch" and the traces of an H200 for what they mean.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profcore.analysis import idle, matching, names

if TYPE_CHECKING:
    from profcore.trace.model import Kind

_EXACT: Final[dict[str, str]] = {
    "aten::matmul": "Looks at the shapes of the two operands and calls the operator that fits.",
    "aten::mm": "Multiplies two matrices: asks the GPU library for a kernel and launches it.",
    "aten::bmm": "Multiplies a batch of matrices with one kernel.",
    "aten::addmm": "Matrix product plus bias in one operator.",
    "aten::linear": "A linear layer: turns into a matrix product with its bias.",
    "aten::add": "Adds two tensors element by element with a small kernel.",
    "aten::t": "Swaps the axes in the description of a tensor; no data moves and no kernel runs.",
    "aten::transpose": "Swaps axes in the description of a tensor; no data moves.",
    "aten::view": "Describes the same data with another shape; no kernel runs.",
    "aten::reshape": "Describes the data with another shape; copies only where it must.",
    "aten::expand": "Describes a tensor as if it were repeated; no data moves.",
    "aten::as_strided": "Describes the same data with other strides; no kernel runs.",
    "aten::copy_": "Copies one tensor into another.",
    "aten::clone": "Makes a copy of a tensor.",
    "aten::to": "Changes dtype or device: a copy where something really changes.",
    "aten::item": "Brings one number to Python; if it lies on the GPU, the CPU has to wait for it.",
    "aten::_local_scalar_dense": "Reads one number out of a tensor; on a GPU this waits.",
    "aten::empty": "Takes memory for a result from PyTorch's pool; nothing is written.",
    "aten::empty_strided": "Takes memory for a result from PyTorch's pool; nothing is written.",
    "TorchDynamo Cache Lookup": "Checks whether compiled code fits this call: shapes, dtypes and "
    "more are compared on every call.",
    "Pregraph bytecode": "A little Python that collects the inputs of the compiled graph.",
    "AOTDispatcher Runtime Wrapper Prologue": "Prepares the inputs of the compiled graph: keeps "
    "track of views and of what is changed in place.",
    "CompiledFunction": "The compiled forward pass as autograd sees it.",
    "CompiledFunctionBackward": "The compiled backward pass.",
    "cudaMalloc": "Takes memory from the driver: slow, and normally only while warming up.",
    "cudaFree": "Gives memory back to the driver and waits for the GPU.",
    "cudaMemcpyAsync": "Asks the GPU to copy; returns at once unless ordinary CPU memory is used.",
    "cudaMemsetAsync": "Asks the GPU to fill memory with one value; returns at once.",
    "cudaFuncGetAttributes": "Asks about a kernel before it is launched.",
    "cudaFuncSetAttribute": "Allows a kernel to use more shared memory.",
    "cudaStreamIsCapturing": "Asks whether a CUDA graph is being recorded.",
    "cudaDeviceSynchronize": "The CPU waits here until the GPU has finished everything.",
    "cudaStreamSynchronize": "The CPU waits here until one stream of the GPU has finished.",
    "cudaEventSynchronize": "The CPU waits here until the GPU has reached one point.",
    "Activity Buffer Request": "The profiler takes memory for its own notes; your program does not "
    "do this.",
    "Buffer Flush": "The profiler writes its notes away.",
    "Instrumentation": "The profiler's own bookkeeping.",
    "Lazy Function Loading": "A kernel is loaded onto the GPU because it is used for the first "
    "time.",
    "Runtime Triggered Module Loading": "Code is loaded onto the GPU because it is used for the "
    "first time.",
    "Command Buffer Full": "The queue of the GPU is full: the CPU has to wait before it can launch "
    "more.",
}

_PATTERNS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        re.compile(r"ProfilerStep#\d+"),
        "One recorded step: from one call of profiler.step() to the next, on the CPU.",
    ),
    (
        re.compile(r"Torch-Compiled Region"),
        "Runs code that torch.compile generated, in place of the Python function.",
    ),
    (
        re.compile(r"## Call CompiledFxGraph"),
        "Calls the compiled graph with this hash: inside are its kernels and library calls.",
    ),
    (
        re.compile(r"triton_\w*"),
        "The wrapper of a generated Triton kernel; it launches the kernel.",
    ),
    (
        re.compile(r"cudaOccupancy"),
        "Asks how many blocks of a kernel fit on the GPU at once, to choose its launch settings.",
    ),
    (re.compile(r"Optimizer\.step"), "The optimizer changes the weights."),
    (re.compile(r"Optimizer\.zero_grad"), "The gradients are set back to zero or None."),
    (re.compile(r"enumerate\(DataLoader\)"), "The program waits for the next batch of data."),
    (re.compile(r"nn\.Module:"), "The forward call of one module."),
    (
        re.compile(r"autograd::engine::evaluate_function|.*Backward\d*$"),
        "One node of the backward pass; autograd runs it on a thread of its own.",
    ),
    (
        re.compile(r"dynamo|entire_frame_compile|.*dynamo_timed|backend_compile|compile_file"),
        "torch.compile is compiling here, inside the recording.",
    ),
)

_KINDS: Final[dict[str, str]] = {
    "operator": "An operator of PyTorch: it prepares its part and calls what lies below it.",
    "annotation": "A label from the program or a library, so that a stretch of time has a name.",
    "runtime": "A call to the GPU's driver.",
    "overhead": "Work of the profiler or the driver, not of the program.",
    "python": "A Python function.",
    "memcpy": "The GPU copies data.",
    "memset": "The GPU fills memory with one value.",
    "gpu_annotation": "A label drawn over the GPU work that was launched inside it; no work.",
    "gpu_sync": "A note that something waited on the GPU; no work.",
    "accelerator": "Work of an accelerator.",
    "other": "A row of a kind that is not known here.",
}

LAUNCH: Final = (
    "Hands one kernel to the GPU's queue and returns at once; the kernel itself runs later."
)
GRAPH_LAUNCH: Final = (
    "Hands a whole recorded CUDA graph to the GPU: one call, many kernels, and inside it no "
    "operator can be told from another."
)


def purpose(name: str, kind: Kind) -> str:
    """Return what a row with this name is for, as one sentence."""
    if sentence := _EXACT.get(name):
        return sentence
    if kind == "runtime":
        return _of_call(name)
    if kind == "kernel":
        return _of_kernel(name)
    if kind in {"operator", "annotation", "overhead"}:
        for pattern, sentence in _PATTERNS:
            if pattern.match(name):
                return sentence
    return _KINDS[kind]


def _of_call(name: str) -> str:
    if matching.GRAPH_WORD in name:
        return GRAPH_LAUNCH
    if any(word in name for word in matching.LAUNCH_WORDS):
        return LAUNCH
    if name in idle.WAITING_CALLS:
        return "The CPU waits here for the GPU."
    for pattern, sentence in _PATTERNS:
        if pattern.match(name):
            return sentence
    return _KINDS["runtime"]


_FAMILIES: Final[dict[str, str]] = {
    "gemm": "The matrix product itself, on the GPU.",
    "elementwise": "A simple operation on every element, on the GPU.",
    "reduction": "Sums up, or finds a largest value, on the GPU.",
    "attention": "Attention in one fused kernel, on the GPU.",
    "convolution": "The convolution itself, on the GPU.",
    "copy": "Moves data inside the GPU's memory.",
    "triton": "A kernel that torch.compile generated; its name lists what was merged.",
    "memory format": "Reorders data in the GPU's memory.",
    "communication": "Exchanges data with other GPUs.",
}


def _of_kernel(name: str) -> str:
    return _FAMILIES.get(names.family(name), "The work itself, on the GPU.")
