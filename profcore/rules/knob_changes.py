"""Changes of knobs that rules advise: from an experiment to the knobs that change, or None.

None: the change makes no sense for this experiment, or it is made already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profcore import workloads
from profcore.experiment import SIZE_MAX

if TYPE_CHECKING:
    from profcore.experiment import Experiment

    Knobs = dict[str, Any]

SIZE_LARGE: Final = 4096
"""Keeps current GPUs busy more than 80 % of the step (97 % on an H200)."""
SIZE_LARGE_FUSED: Final = 8192
"""The same for a chain of operators in one kernel (8,192: 35 µs × 4 against 71 µs of CPU time)."""
SIZE_SMALL: Final = 64
"""Leaves current GPUs waiting (8.5 % busy on an H200)."""
SIZE_CPU: Final = 1024
"""A product that keeps a CPU busy for some milliseconds."""
WARMUP: Final = 3
STEPS: Final = 5
ALIGNMENT: Final = 8
"""Elements; tensor cores want dimensions that are multiples of it."""
_GRAPH_MODES: Final = frozenset({"reduce-overhead", "max-autotune"})


def larger(experiment: Experiment) -> Knobs | None:
    """Return a size that keeps the GPU busy; above that twice the size."""
    is_fused = experiment.workload == "elementwise_chain" and experiment.compile != "eager"
    target = SIZE_LARGE_FUSED if is_fused else SIZE_LARGE
    size = target if experiment.size < target else 2 * experiment.size
    return {"size": size} if size <= SIZE_MAX else None


def smaller(experiment: Experiment) -> Knobs | None:
    """Return a size that leaves the GPU waiting."""
    return {"size": SIZE_SMALL} if experiment.size > SIZE_SMALL else None


def larger_on_cpu(experiment: Experiment) -> Knobs | None:
    """Return a size whose arithmetic takes a CPU milliseconds."""
    return {"size": SIZE_CPU} if experiment.size < SIZE_CPU else None


def aligned(experiment: Experiment) -> Knobs | None:
    """Return the next size that tensor cores like."""
    if experiment.size % ALIGNMENT == 0:
        return None
    return {"size": (experiment.size // ALIGNMENT + 1) * ALIGNMENT}


def warm(experiment: Experiment) -> Knobs | None:
    """Warm up what was recorded cold, and record enough steps to see it."""
    if experiment.warmup:
        return None
    steps: Knobs = {} if experiment.steps >= STEPS else {"steps": STEPS}
    return {"warmup": WARMUP, **steps}


def more_steps(experiment: Experiment) -> Knobs | None:
    """Record enough steps for a median and a spread."""
    return None if experiment.steps >= STEPS else {"steps": STEPS}


def without_shapes(experiment: Experiment) -> Knobs | None:
    """Record no input shapes."""
    return {"shapes": False} if experiment.shapes else None


def to_tf32(experiment: Experiment) -> Knobs | None:
    """Multiply fp32 matrices on the tensor cores."""
    is_matmul = workloads.find(experiment.workload).is_matmul
    return {"dtype": "tf32"} if is_matmul and experiment.dtype == "fp32" else None


def tf32_to_bf16(experiment: Experiment) -> Knobs | None:
    """Halve the bytes of a product that is on the tensor cores already."""
    is_matmul = workloads.find(experiment.workload).is_matmul
    return {"dtype": "bf16"} if is_matmul and experiment.dtype == "tf32" else None


def half_the_bytes(experiment: Experiment) -> Knobs | None:
    """Store the values of a chain of operators in 16 bits."""
    is_chain = experiment.workload == "elementwise_chain"
    return {"dtype": "bf16"} if is_chain and experiment.dtype in {"fp32", "tf32"} else None


def fuse_chain(experiment: Experiment) -> Knobs | None:
    """Let torch.compile make one kernel of a chain of operators."""
    is_chain = experiment.workload == "elementwise_chain"
    return {"compile": "default"} if is_chain and experiment.compile == "eager" else None


def eager(experiment: Experiment) -> Knobs | None:
    """Run a product without torch.compile; a chain of operators gains by it at every size."""
    is_chain = experiment.workload == "elementwise_chain"
    return None if is_chain or experiment.compile == "eager" else {"compile": "eager"}


def without_graph(experiment: Experiment) -> Knobs | None:
    """Compile without a CUDA graph."""
    return {"compile": "default"} if experiment.compile in _GRAPH_MODES else None


def without_tuning(experiment: Experiment) -> Knobs | None:
    """Compile without autotuning."""
    is_tuned = experiment.compile.startswith("max-autotune")
    return {"compile": "default"} if is_tuned else None


def vector_bias(experiment: Experiment) -> Knobs | None:
    """Add one value per column instead of a matrix; only where no graph makes copies of its own."""
    if experiment.workload != "matmul_add" or experiment.bias == "vector":
        return None
    if experiment.compile == "eager" or experiment.compile in _GRAPH_MODES:
        return None
    return {"bias": "vector"}


def changes_text(knobs: Knobs) -> str:
    """Return the changes for the start of a sentence: "At size 4,096", "With 3 warm-up calls"."""
    words = " and ".join(_phrase(knob, value) for knob, value in knobs.items())
    return words[:1].upper() + words[1:]


def _phrase(knob: str, value: Any) -> str:
    phrases = {
        "size": f"at size {value:,}" if isinstance(value, int) else "",
        "warmup": f"with {value} warm-up calls",
        "steps": f"with {value} recorded steps",
        "shapes": "without recorded shapes",
        "dtype": f"with {'TF32' if value == 'tf32' else value}",
        "bias": f"with a {value} bias",
        "compile": "in eager mode" if value == "eager" else f"in compile mode {value}",
    }
    return phrases[knob]


def changes_label(knobs: Knobs) -> str:
    """Return the changes for a button: "size 4,096", "warm-up 3"."""
    return ", ".join(_short(knob, value) for knob, value in knobs.items())


def _short(knob: str, value: Any) -> str:
    labels = {
        "size": f"size {value:,}" if isinstance(value, int) else "",
        "warmup": f"warm-up {value}",
        "steps": f"{value} steps",
        "shapes": "no shapes",
        "dtype": "TF32" if value == "tf32" else str(value),
        "bias": f"{value} bias",
        "compile": "eager" if value == "eager" else f"compile {value}",
    }
    return labels[knob]
