"""What rules claim of a changed experiment. Adding a claim is adding a line.

Only rules whose advice is a change of knobs stand here; the others (pinned memory, a faster data
loader, another attention) need a change of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from profcore.experiment import Experiment
from profcore.rules import knob_changes as changes
from profcore.rules.constants import (
    BUSY_HIGH_FRACTION,
    BUSY_LOW_FRACTION,
    COMPARISON_NOISE_FRACTION,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.rules.measures import MeasureName
    from profcore.rules.model import Bound
    from profcore.rules.predictions import Relation
    from profcore.rules.quantities import Quantities

    Change = Callable[[Experiment], dict[str, Any] | None]
    When = Callable[[Quantities], bool]

WARM_FIRST_STEP_RATIO: Final = 5.0
"""First recorded step over the others. H200: warm 1.1 to 3.0, cold 42 to 3,126."""
NOISE_RATIO: Final = 1 + COMPARISON_NOISE_FRACTION
"""A gain below it would be noise."""
TF32_RATIO: Final = 2.0
"""fp32 on the ordinary cores over TF32. Peaks: 67 and 494 TFLOP/s on an H200, 19.5 and 156 on an
A100; half of the gain is left to memory and clocks."""
BF16_RATIO: Final = 1.3
"""TF32 over bf16. The peaks differ by 2; a GPU at its power limit gives less."""
FUSED_RATIO: Final = 2.0
"""Eight operators over one kernel: 21 trips through memory over 4 are 5.3; H200: 4.8."""
HALF_BYTES_RATIO: Final = 1.5
"""Four bytes over two, where memory is the limit: 2 at best."""
OUTSIDE_FRACTION: Final = 0.10
"""Python and dispatch of a step that computes for milliseconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expectation:
    """One number of the run to come."""

    words: str
    """The rest of a sentence that begins with the change: "the GPU will be busy ..."."""
    measure: MeasureName | None
    relation: Relation
    value: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A change and what is expected of it."""

    change: Change
    expects: tuple[Expectation, ...]
    example: Experiment
    """Shows the rule on current GPUs: put to the test in place of a trace that somebody opened."""
    when: When = lambda _: True


# --- what is expected ---------------------------------------------------------------------------


def _percent(fraction: float) -> str:
    return f"{fraction * 100:.0f} %"


_BUSY = Expectation(
    words=f"the GPU will be busy at least {_percent(BUSY_HIGH_FRACTION)} of the step.",
    measure="busy",
    relation="at least",
    value=BUSY_HIGH_FRACTION,
)
_WAITING = Expectation(
    words=f"the GPU will be busy less than {_percent(BUSY_LOW_FRACTION)} of the step and wait for "
    "the CPU the rest.",
    measure="busy",
    relation="at most",
    value=BUSY_LOW_FRACTION,
)
_FIRST_STEP = Expectation(
    words=f"the first step will be at most {WARM_FIRST_STEP_RATIO:.0f} times as long as the "
    "others.",
    measure="first_step",
    relation="at most",
    value=WARM_FIRST_STEP_RATIO,
)
_GONE = Expectation(
    words="this will not be seen any more.",
    measure=None,
    relation="not seen",
)


def _shorter(measure: MeasureName, what: str, ratio: float) -> Expectation:
    return Expectation(
        words=f"{what} will be at least {ratio:g} times shorter.",
        measure=measure,
        relation="shorter",
        value=ratio,
    )


_EAGER_STEP = _shorter("step", "the step", NOISE_RATIO)
_EAGER_CPU = _shorter("cpu", "the CPU time to issue a step", NOISE_RATIO)
_OUTSIDE = Expectation(
    words=f"Python and dispatch will take less than {_percent(OUTSIDE_FRACTION)} of the step.",
    measure="outside_operators",
    relation="at most",
    value=OUTSIDE_FRACTION,
)


def _none_of(measure: MeasureName, what: str) -> Expectation:
    return Expectation(words=what, measure=measure, relation="at most", value=0.0)


def _cpu_is_the_limit(quantities: Quantities) -> bool:
    return quantities.limit == "cpu"


def _gpu_is_the_limit(quantities: Quantities) -> bool:
    return quantities.limit == "gpu"


def _cpu_is_not_the_limit(quantities: Quantities) -> bool:
    return quantities.limit in {"gpu", "both"}


# --- the table ----------------------------------------------------------------------------------

_SMALL = Experiment(size=changes.SIZE_SMALL)
_COLD = Experiment(size=changes.SIZE_SMALL, warmup=0)
_LARGE = Experiment(size=changes.SIZE_LARGE)
_FP32 = Experiment(size=changes.SIZE_LARGE, dtype="fp32")
_CHAIN = Experiment(workload="elementwise_chain", size=changes.SIZE_LARGE)
_COMPILED = Experiment(size=changes.SIZE_SMALL, compile="default")
_COMPILED_LARGE = Experiment(size=changes.SIZE_LARGE, compile="default")
_GRAPH = Experiment(size=changes.SIZE_LARGE, compile="reduce-overhead")
_TUNED = Experiment(size=changes.SIZE_SMALL, compile="max-autotune-no-cudagraphs")
_LINEAR = Experiment(workload="linear", size=changes.SIZE_SMALL, compile="default")
_ODD = Experiment(size=changes.SIZE_LARGE - 1)

_LARGER = Claim(change=changes.larger, expects=(_BUSY,), example=_SMALL)
_SMALLER = Claim(change=changes.smaller, expects=(_WAITING,), example=_LARGE)
_WARM = Claim(change=changes.warm, expects=(_FIRST_STEP,), example=_COLD)
_WARM_GONE = Claim(change=changes.warm, expects=(_GONE,), example=_COLD)
_FUSE = Claim(
    change=changes.fuse_chain,
    expects=(_shorter("gpu", "the GPU work", FUSED_RATIO),),
    example=_CHAIN,
    when=_gpu_is_the_limit,
)
_HALF = Claim(
    change=changes.half_the_bytes,
    expects=(_shorter("gpu", "the GPU work", HALF_BYTES_RATIO),),
    example=Experiment(workload="elementwise_chain", size=changes.SIZE_LARGE, dtype="fp32"),
    when=_gpu_is_the_limit,
)
_EAGER_FASTER = Claim(
    change=changes.eager,
    expects=(_EAGER_STEP,),
    example=_COMPILED,
    when=_cpu_is_the_limit,
)

VERDICT_CLAIMS: Final[dict[Bound, tuple[Claim, ...]]] = {
    "overhead-bound": (_LARGER,),
    "balanced": (_LARGER,),
    "compute-bound": (
        Claim(
            change=changes.to_tf32,
            expects=(_shorter("step", "the step", TF32_RATIO),),
            example=_FP32,
        ),
        Claim(
            change=changes.tf32_to_bf16,
            expects=(_shorter("step", "the step", BF16_RATIO),),
            example=Experiment(size=changes.SIZE_LARGE, dtype="tf32"),
        ),
        _SMALLER,
    ),
    "memory-bound": (_FUSE, _HALF, _SMALLER),
    "compiling": (_WARM,),
    "cpu-run": (Claim(change=changes.larger_on_cpu, expects=(_OUTSIDE,), example=_SMALL),),
}
"""By what bounds the run; the first claim whose change applies."""

CLAIMS: Final[dict[str, tuple[Claim, ...]]] = {
    "T1": (Claim(change=changes.larger, expects=(_BUSY,), example=_SMALL, when=_cpu_is_the_limit),),
    "C1": (_WARM,),
    "C2": (_WARM_GONE,),
    "E4": (_WARM_GONE,),
    "E9": (_WARM_GONE,),
    "E1": (_LARGER,),
    "C6": (
        Claim(
            change=changes.vector_bias,
            expects=(_none_of("hidden_copies", "the hidden copy goes away."),),
            example=_COMPILED_LARGE,
        ),
    ),
    "G5": (
        Claim(
            change=changes.vector_bias,
            expects=(
                _none_of("copies_before_gemm", "the copy before the matrix product goes away."),
            ),
            example=_COMPILED_LARGE,
        ),
    ),
    "N1": (
        Claim(
            change=changes.to_tf32,
            expects=(_shorter("matrix", "the matrix kernels", TF32_RATIO),),
            example=_FP32,
        ),
    ),
    "N2": (Claim(change=changes.aligned, expects=(_GONE,), example=_ODD),),
    "N3": (
        Claim(
            change=changes.aligned,
            expects=(_shorter("matrix", "the matrix kernels", NOISE_RATIO),),
            example=_ODD,
        ),
    ),
    "E6": (_FUSE, _HALF),
    "E7": (
        Claim(
            change=changes.larger,
            expects=(_GONE,),
            example=Experiment(size=512, dtype="fp32"),
        ),
    ),
    "R1": (
        Claim(
            change=changes.warm,
            expects=(_GONE, _FIRST_STEP),
            example=Experiment(size=changes.SIZE_SMALL, compile="default", warmup=0),
        ),
    ),
    "K5": (
        Claim(
            change=changes.eager,
            expects=(_EAGER_CPU, _EAGER_STEP),
            example=_COMPILED,
            when=_cpu_is_the_limit,
        ),
        Claim(
            change=changes.eager,
            expects=(_EAGER_CPU,),
            example=_COMPILED_LARGE,
            when=_cpu_is_not_the_limit,
        ),
    ),
    "R6": (Claim(change=changes.eager, expects=(_EAGER_STEP,), example=_COMPILED),),
    "R8": (
        Claim(
            change=changes.without_tuning,
            expects=(_shorter("gpu", "the GPU work", NOISE_RATIO),),
            example=_TUNED,
        ),
    ),
    "R9": (_EAGER_FASTER,),
    "L3": (
        Claim(
            change=changes.eager,
            expects=(_EAGER_STEP,),
            example=_LINEAR,
            when=_cpu_is_the_limit,
        ),
    ),
    "R5": (
        Claim(
            change=changes.without_graph,
            expects=(
                _none_of("input_copies", "no input is copied."),
                _shorter("step", "the step", NOISE_RATIO),
            ),
            example=_GRAPH,
        ),
    ),
    "R4": (
        Claim(
            change=changes.without_graph,
            expects=(
                _none_of("graph_launches", "every kernel has a launch of its own, and no graph."),
            ),
            example=_GRAPH,
        ),
    ),
    "Q9": (_WARM_GONE,),
    "Q15": (Claim(change=changes.more_steps, expects=(_GONE,), example=Experiment(steps=1)),),
    "Q18": (
        Claim(change=changes.without_shapes, expects=(_GONE,), example=Experiment(shapes=True)),
    ),
    "G1": (_WARM_GONE,),
}
"""By rule; the first claim whose change applies and whose condition is met."""
