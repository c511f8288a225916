"""Which experiment to run next: at most three, each with knobs that differ from this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profcore.rules.knob_changes import SIZE_CPU, SIZE_LARGE, SIZE_SMALL, WARMUP, larger
from profcore.rules.model import Suggestion
from profcore.units import time_text

if TYPE_CHECKING:
    from profcore.experiment import Experiment
    from profcore.rules.model import Bound
    from profcore.rules.quantities import Quantities

SUGGESTIONS_MAX: Final = 3


def suggest(quantities: Quantities, bound: Bound) -> tuple[Suggestion, ...]:
    """Return the most useful next experiments, most useful first; none for an opened trace."""
    experiment = quantities.experiment
    if experiment is None:
        return ()
    found = [_warm(quantities, experiment)]
    if bound == "cpu-run":
        found += [_cpu_size(experiment), _fuse(experiment)]
    elif bound in {"compute-bound", "memory-bound", "copy-bound"}:
        found += [
            _vector_bias(experiment),
            _fewer_bits(experiment),
            _fuse(experiment),
            _no_graph_copies(experiment),
            _smaller(experiment),
        ]
    elif bound != "cannot-tell":
        found += [
            _fuse(experiment),
            _larger(experiment),
            _eager(experiment),
            _compile_tax(experiment),
            _graph(experiment),
        ]
    made = [suggestion for suggestion in found if suggestion is not None]
    return tuple(made[:SUGGESTIONS_MAX])


def _suggestion(label: str, why: str, **knobs: Any) -> Suggestion:
    return Suggestion(label=label, knobs=knobs, why=why)


def _warm(quantities: Quantities, experiment: Experiment) -> Suggestion | None:
    if experiment.warmup:
        return None
    why = "The first step will no longer stand out."
    if quantities.first_step_is_cold:
        first_ns = int(quantities.steps["cpu_ns"].iloc[0])
        why = (
            f"The {time_text(first_ns)} of the first step are the cold start; after warm-up the "
            "first step will be much like the others."
        )
    return _suggestion(f"Warm-up {WARMUP}", why, warmup=WARMUP)


def _larger(experiment: Experiment) -> Suggestion | None:
    knobs = larger(experiment)
    if knobs is None:
        return None
    return _suggestion(
        f"Size {knobs['size']:,}",
        "Each kernel does far more work for the same launch, so the GPU will be busy most of the "
        "step.",
        **knobs,
    )


def _smaller(experiment: Experiment) -> Suggestion | None:
    if experiment.size <= SIZE_SMALL:
        return None
    return _suggestion(
        f"Size {SIZE_SMALL}",
        "The other side of the coin: kernels of a few microseconds, and a GPU that waits for the "
        "CPU.",
        size=SIZE_SMALL,
    )


def _fuse(experiment: Experiment) -> Suggestion | None:
    """Compile, where that merges kernels."""
    if experiment.compile != "eager":
        return None
    if experiment.workload == "elementwise_chain":
        return _suggestion(
            "Compile (default)",
            "torch.compile makes one kernel of the eight, so the values go through memory once.",
            compile="default",
        )
    if experiment.size < SIZE_LARGE or experiment.workload == "linear":
        return None  # a tiny or single operator does not earn back what the compiled call costs
    bias: dict[str, Any] = {"bias": "vector"} if experiment.bias == "matrix" else {}
    return _suggestion(
        "Compile (default), vector bias" if bias else "Compile (default)",
        "The sum moves into the matrix product's own kernel, so its trip through memory goes away.",
        compile="default",
        **bias,
    )


def _compile_tax(experiment: Experiment) -> Suggestion | None:
    """Compile, where that only costs: the guide's lesson on tiny operations."""
    if experiment.compile != "eager" or experiment.workload == "elementwise_chain":
        return None
    return _suggestion(
        "Compile (default)",
        "See the compile tax: the CPU side will take longer, the GPU work stays about the same.",
        compile="default",
    )


def _vector_bias(experiment: Experiment) -> Suggestion | None:
    uses_bias = experiment.workload in {"matmul_add", "batched_matmul"}
    if experiment.compile == "eager" or experiment.bias == "vector" or not uses_bias:
        return None
    return _suggestion(
        "Vector bias",
        "The copy before the matrix product (Memcpy DtoD) goes away: a bias vector is added inside "
        "the kernel.",
        bias="vector",
    )


def _fewer_bits(experiment: Experiment) -> Suggestion | None:
    if experiment.workload == "elementwise_chain":
        if experiment.dtype in {"bf16", "fp16"}:
            return None
        return _suggestion("bf16", "Half the bytes, so about half the time.", dtype="bf16")
    if experiment.dtype == "fp32":
        return _suggestion(
            "TF32",
            "The matrix product moves to the tensor cores and takes less than half the time.",
            dtype="tf32",
        )
    if experiment.dtype == "tf32":
        return _suggestion(
            "bf16",
            "Half the bytes and twice the rate on the tensor cores.",
            dtype="bf16",
        )
    return None


def _no_graph_copies(experiment: Experiment) -> Suggestion | None:
    if experiment.compile not in {"reduce-overhead", "max-autotune"}:
        return None
    return _suggestion(
        "Compile (default)",
        "Without a CUDA graph the inputs need not be copied before each step.",
        compile="default",
    )


def _eager(experiment: Experiment) -> Suggestion | None:
    if experiment.compile == "eager" or experiment.workload == "elementwise_chain":
        return None
    return _suggestion(
        "Eager",
        "See what the compiled call costs on the CPU: for tiny work eager is faster.",
        compile="eager",
    )


def _graph(experiment: Experiment) -> Suggestion | None:
    if experiment.compile in {"reduce-overhead", "max-autotune"}:
        return None
    return _suggestion(
        "Compile (reduce-overhead)",
        "A CUDA graph launches all kernels of the step with one call. See whether that outweighs "
        "the compiled call and the copies of its inputs.",
        compile="reduce-overhead",
    )


def _cpu_size(experiment: Experiment) -> Suggestion | None:
    if experiment.size < SIZE_CPU:
        return _suggestion(
            f"Size {SIZE_CPU:,}",
            "The arithmetic will take nearly all of the step, Python and dispatch almost nothing.",
            size=SIZE_CPU,
        )
    return _suggestion(
        f"Size {SIZE_SMALL}",
        "The arithmetic will almost vanish, and Python and dispatch will take most of the step.",
        size=SIZE_SMALL,
    )
