"""What bounds the run: the rules behind the verdict, and the guide's own comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore.rules import needs
from profcore.rules.constants import (
    ABOUT_EQUAL_MAX_RATIO,
    ABOUT_EQUAL_MIN_RATIO,
    BUSY_HIGH_FRACTION,
    BUSY_LOW_FRACTION,
    CPU_OVER_GPU_RATIO,
    INFLATION,
    RAW_RATIO_DIFFERENCE_FRACTION,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import evidence
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from profcore.rules.limits import Limit
    from profcore.rules.quantities import Quantities

LIMIT_TEXT: Final[dict[Limit, str]] = {
    "gpu": "the GPU is the limit",
    "cpu": "the GPU waits for the CPU",
    "both": "both the CPU and the GPU matter",
    "undecided": "it cannot be told: the profiler itself may be what keeps the GPU waiting",
}
_LIMIT_ADVICE: Final[dict[Limit, str]] = {
    "gpu": "Make the GPU work cheaper: a smaller number format (bf16, TF32), fewer bytes, a fused "
    "kernel.",
    "cpu": "Give the GPU more work per launch: a larger size or batch, fused operators "
    "(torch.compile), CUDA graphs.",
    "both": "Try both sides: a larger size for the CPU side, a smaller number format for the GPU.",
    "undecided": "Time one step without the profiler: that settles it.",
}


# --- B1 -----------------------------------------------------------------------------------------


def _b1(quantities: Quantities) -> Observation | None:
    busy, gpu_ns = quantities.busy_unprofiled_fraction, quantities.gpu_ns
    limit, timings = quantities.limit, quantities.timings
    if busy is None or gpu_ns is None or limit is None or timings is None:
        return None
    share = f"{percent_text(busy)} busy"
    if quantities.recording_decides:
        profiled = quantities.busy_profiled_fraction or 0.0
        share += f", and {percent_text(profiled)} even in the recording"
    return Observation(
        text=f"The GPU works {time_text(gpu_ns)} of a step that takes "
        f"{time_text(timings.step_ns_median)} without the profiler: {share}, so "
        f"{LIMIT_TEXT[limit]}.",
        advice=_LIMIT_ADVICE[limit],
    )


B1 = Rule(
    id="B1",
    title="How busy the GPU really is",
    family="what bounds it",
    kind="fact",
    missing=needs.all_of(needs.gpu_steps, needs.timings),
    observe=_b1,
    meaning="A GPU that is busy 80 % of the step or more is the limit: faster kernels help. Below "
    "50 % it waits for the CPU: fewer or cheaper launches help. In between both matter.",
    advice="",
    source=f"tb_plugin, Perfessor (50 %), gpu-idle (80 %); {H200}",
)


# --- B2 -----------------------------------------------------------------------------------------


def _b2(quantities: Quantities) -> Observation | None:
    busy, at_most = quantities.busy_profiled_fraction, quantities.busy_at_most_fraction
    limit = quantities.limit_from_trace
    if busy is None or at_most is None or limit is None:
        return None
    text = f"While it was profiled the GPU was busy {percent_text(busy)} of the time"
    if limit == "gpu":
        text += f", so {LIMIT_TEXT[limit]}."
    else:
        text += (
            f". Without the profiler it may have been up to {percent_text(at_most)}, so "
            f"{LIMIT_TEXT[limit]}."
        )
    if quantities.busy_unprofiled_fraction is not None:
        text += (
            " The step time without the profiler is known here too, and what it says (“How busy "
            "the GPU really is”) counts more."
        )
    return Observation(text=text, advice=_LIMIT_ADVICE[limit])


B2 = Rule(
    id="B2",
    title="How busy the GPU is in the trace",
    family="what bounds it",
    kind="fact",
    missing=needs.gpu_steps_for_median,
    observe=_b2,
    meaning=f"The profiler slows the CPU side up to {INFLATION} times and the kernels not at "
    f"all. So {BUSY_HIGH_FRACTION * 100:.0f} % busy is safe to believe, and so is less than "
    f"{BUSY_LOW_FRACTION * 100:.0f} % even after taking that slow-down off. Between the two the "
    "trace alone cannot say.",
    advice="",
    source=f"{H200}, and 24 runs of this program there: 1.5 to 4.4 times slower steps",
)


# --- B5 -----------------------------------------------------------------------------------------


def _b5(quantities: Quantities) -> Observation | None:
    really, profiled = quantities.busy_unprofiled_fraction, quantities.busy_profiled_fraction
    if really is None or profiled is None:
        return None
    if really < BUSY_HIGH_FRACTION or profiled >= BUSY_HIGH_FRACTION:
        return None
    return Observation(
        text=f"The GPU is busy {percent_text(really)} of a normal step and "
        f"{percent_text(profiled)} of a profiled one."
    )


B5 = Rule(
    id="B5",
    title="The profiler changed the answer",
    family="what bounds it",
    kind="note",
    missing=needs.all_of(needs.timings, needs.gpu_steps_for_median),
    observe=_b5,
    meaning="In normal running the GPU is the limit. The idle stretches in this trace are there "
    "because the profiler slowed the CPU down.",
    advice="Nothing to change: believe the share of the normal step.",
    source=f"{H200}: cuDNN attention 94 % busy unprofiled, 47 % in its own trace",
)


# --- T1, T2: the guide's comparison -------------------------------------------------------------


def _ratio_is_known(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.gpu, needs.operators)(quantities):
        return reason
    return None if quantities.gpu_sum_ns else "The GPU work in this trace takes no time."


def raw_cpu_over_gpu(quantities: Quantities) -> float:
    """Return the guide's ratio as torch's table gives it: Self CPU over Self CUDA, all rows."""
    totals = quantities.analysis.totals
    return totals.self_cpu_ns / max(totals.gpu_work_sum_ns, 1)


def clean_cpu_over_gpu(quantities: Quantities) -> float:
    """Return the same ratio with waiting and profiler rows taken off the CPU side."""
    return quantities.clean_cpu_ns / max(quantities.gpu_sum_ns, 1)


def _t1(quantities: Quantities) -> Observation | None:
    ratio = clean_cpu_over_gpu(quantities)
    if ratio < CPU_OVER_GPU_RATIO:
        return None
    raw = raw_cpu_over_gpu(quantities)
    text = (
        f"Self CPU is {time_text(quantities.clean_cpu_ns)} and Self CUDA "
        f"{time_text(quantities.gpu_sum_ns)}: {ratio_text(ratio)}."
    )
    if abs(raw - ratio) > RAW_RATIO_DIFFERENCE_FRACTION * ratio:
        text += (
            f" torch's own table, which also counts waiting, the profiler's rows and a cold first "
            f"step, gives {ratio_text(raw)}."
        )
    if quantities.limit != "gpu":
        return Observation(text=text)
    return Observation(
        text=text,
        meaning="The guide would call this overhead-bound. It is not: without the profiler the "
        "GPU is busy most of the step. The CPU side of this trace is long because the profiler "
        "stretches it, and because the CPU runs ahead while the GPU works.",
        advice="Believe the share of a step without the profiler (“How busy the GPU really is”).",
    )


T1 = Rule(
    id="T1",
    title="Self CPU far above Self CUDA",
    family="what bounds it",
    kind="fact",
    missing=_ratio_is_known,
    observe=_t1,
    meaning="The guide's sign of an overhead-bound run: the CPU spends longer preparing and "
    "launching kernels than the GPU spends running them.",
    advice="A larger size or batch, or fused operators.",
    source=f"{ARTICLE_1}: 2.314 ms against 23.1 µs is 100×; {H200}: 16 to 140 when launch-bound, "
    "at most 2.9 otherwise",
)


def _t2(quantities: Quantities) -> Observation | None:
    ratio = raw_cpu_over_gpu(quantities)
    if quantities.limit != "gpu" or not ABOUT_EQUAL_MIN_RATIO <= ratio <= ABOUT_EQUAL_MAX_RATIO:
        return None
    waits = quantities.waits
    waiting_ns = int(quantities.trace.duration_ns[waits].sum())
    totals = quantities.analysis.totals
    return Observation(
        text=f"Self CPU is {time_text(totals.self_cpu_ns)} and Self CUDA "
        f"{time_text(totals.gpu_work_sum_ns)}: about equal. Of the CPU time "
        f"{time_text(waiting_ns)} is waiting for the GPU.",
        evidence=evidence(quantities, waits, limit=1),
    )


T2 = Rule(
    id="T2",
    title="Self CPU about equal to Self CUDA",
    family="what bounds it",
    kind="fact",
    missing=needs.all_of(_ratio_is_known, needs.limit),
    observe=_t2,
    meaning="The guide's sign of a compute-bound run. The two are close partly because the CPU "
    "total contains the wait for the GPU, so equality follows from being GPU-limited and does not "
    "prove it.",
    advice="See how near the kernels are to what the device can do (E5, E6).",
    source=f"{ARTICLE_1}; {H200}: fp32 18.2 against 16.5 ms, of which 17.3 ms is waiting",
)
