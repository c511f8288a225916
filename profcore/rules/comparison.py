"""This run beside its twin: the same experiment in another compile mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.analysis.names import family
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import COMPARISON_NOISE_FRACTION
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import ARTICLE_2, H200
from profcore.rules.twins import DEFAULT, EAGER, noise_fraction, pair_of, stems, timed
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- R6, R7 -------------------------------------------------------------------------------------


def _r6(quantities: Quantities) -> Observation | None:
    pair = pair_of(quantities)
    if pair is None:
        return None
    mine, eager = pair
    if mine.step_ns_median <= (1 + noise_fraction(quantities)) * eager.step_ns_median:
        return None
    return Observation(
        text=f"A step takes {time_text(mine.step_ns_median)} compiled and "
        f"{time_text(eager.step_ns_median)} eager: "
        f"{ratio_text(mine.step_ns_median / eager.step_ns_median)} as long."
    )


R6 = Rule(
    id="R6",
    title="Compile made it slower",
    family="torch.compile",
    kind="warning",
    missing=timed(EAGER),
    observe=_r6,
    meaning="The way into compiled code costs more than fusing saves.",
    advice="Stay eager here, or use a larger size.",
    source=f"{H200}: 32.9 µs eager, 83.0 µs compiled at 64²",
)


def _r7(quantities: Quantities) -> Observation | None:
    pair = pair_of(quantities)
    if pair is None:
        return None
    mine, eager = pair
    saved_ns = eager.step_ns_median - mine.step_ns_median
    compiling_ns = max(0, mine.first_call_ns - eager.first_call_ns)
    first = (
        f"The first call took {time_text(mine.first_call_ns)} compiled and "
        f"{time_text(eager.first_call_ns)} eager"
    )
    if saved_ns <= 0:
        return Observation(
            text=f"{first}; compiling saves no time per step, so it never pays back."
        )
    noise = noise_fraction(quantities)
    if eager.step_ns_median <= (1 + noise) * mine.step_ns_median:
        return Observation(
            text=f"{first}; a step takes {time_text(mine.step_ns_median)} compiled and "
            f"{time_text(eager.step_ns_median)} eager, and two such runs may differ by "
            f"{percent_text(noise)} by chance, so whether it pays back cannot be told."
        )
    return Observation(
        text=f"{first}; each step saves {time_text(saved_ns)}, so it pays back after "
        f"{compiling_ns / saved_ns:,.0f} steps."
    )


R7 = Rule(
    id="R7",
    title="When compiling pays back",
    family="torch.compile",
    kind="fact",
    missing=timed(EAGER),
    observe=_r7,
    meaning="Compiling costs seconds once and saves microseconds per step. A warm cache on disk "
    "makes it look cheaper than it is.",
    advice="",
    source=f"{H200}: 9.3 s and 31 µs per step are 300,000 steps",
)

# --- R8, R9, L3, L8 -----------------------------------------------------------------------------


def _r8(quantities: Quantities) -> Observation | None:
    twin, mine_ns = quantities.twin, quantities.gpu_ns
    templates = quantities.activity_names(lambda name: name.startswith("triton_tem_"))
    if twin is None or mine_ns is None or twin.gpu_ns is None or not templates.any():
        return None
    if mine_ns <= (1 + COMPARISON_NOISE_FRACTION) * twin.gpu_ns:
        return None
    return Observation(
        text=f"The GPU works {time_text(mine_ns)} per step with the kernel that autotuning chose "
        f"and {time_text(twin.gpu_ns)} in compile mode default.",
        evidence=evidence(quantities, column(quantities.activities, "row")[templates], limit=2),
    )


R8 = Rule(
    id="R8",
    title="Autotuning chose a slower kernel",
    family="torch.compile",
    kind="note",
    missing=needs.all_of(DEFAULT, needs.gpu_steps),
    observe=_r8,
    meaning="For tiny kernels the tuner measures the launch, not the kernel, so all choices look "
    "alike to it.",
    advice="Use compile mode default for tiny work.",
    source=f"{H200}: 18 choices timed at 34.7 to 35.9 µs; 2.37 µs chosen, 2.14 µs possible",
)


def _has_triton(quantities: Quantities) -> bool:
    return any(family(name) == "triton" for name in quantities.analysis.kernels["name"])


def _r9(quantities: Quantities) -> Observation | None:
    twin = quantities.twin
    if twin is None or _has_triton(quantities) or stems(quantities) != stems(twin):
        return None
    kernels = len(quantities.analysis.kernels)
    return Observation(
        text=f"The compiled run has no Triton kernel and the same "
        f"{count_text(kernels, 'kernel name')} as the eager run."
    )


R9 = Rule(
    id="R9",
    title="Compiled, but nothing fused",
    family="torch.compile",
    kind="note",
    missing=needs.all_of(EAGER, needs.kernels),
    observe=_r9,
    meaning="Compiling bought no GPU time: the same library kernels run.",
    advice="Stay eager, or compile a larger part of the program.",
    source=H200,
)


def _views_per_step(quantities: Quantities) -> float:
    views = quantities.named(("operator",), words.VIEW_OPERATORS.__contains__)
    return len(quantities.in_steps(views)) / max(len(quantities.steps), 1)


def _l3_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(EAGER, needs.gpu_steps)(quantities):
        return reason
    if quantities.experiment is not None and quantities.experiment.workload == "linear":
        return None
    return "This run is no single linear layer."


def _l3(quantities: Quantities) -> Observation | None:
    twin = quantities.twin
    if twin is None or stems(quantities) != stems(twin):
        return None
    mine, theirs = _views_per_step(quantities), _views_per_step(twin)
    if mine >= theirs:
        return None
    return Observation(
        text=f"The same kernels as eager, and {mine:,.0f} instead of {theirs:,.0f} view operators "
        "per step."
    )


L3 = Rule(
    id="L3",
    title="Compiling one linear layer saves only views",
    family="torch.compile",
    kind="fact",
    missing=_l3_missing,
    observe=_l3,
    meaning="There is nothing to fuse, so compiling can only save a few microseconds of CPU time, "
    "and its own way in costs more than that.",
    advice="Stay eager for a single layer.",
    source=f"{ARTICLE_2}; {H200}: the step grows from 37 to 98 µs, GPU 2.7 µs in both",
)


def _pointwise(quantities: Quantities) -> NDArray[np.bool_]:
    return quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: family(name) == "elementwise" or name.startswith("triton_poi_")
    )


def _l8(quantities: Quantities) -> Observation | None:
    twin = quantities.twin
    fused = quantities.activity_names(lambda name: name.startswith("triton_poi_"))
    if twin is None or not (fused & quantities.counted).any():
        return None
    mine, theirs = _pointwise(quantities), _pointwise(twin)
    count_here = int((mine & quantities.counted).sum()) / quantities.counted_steps
    count_there = int((theirs & twin.counted).sum()) / twin.counted_steps
    mine_ns, theirs_ns = quantities.per_step_ns(mine), twin.per_step_ns(theirs)
    if count_here >= count_there:
        return None
    return Observation(
        text=f"{count_here:,.0f} pointwise {'kernel' if round(count_here) == 1 else 'kernels'} of "
        f"{time_text(mine_ns)} per step in place of {count_there:,.0f} of {time_text(theirs_ns)}: "
        f"{ratio_text(theirs_ns / max(mine_ns, 1.0))} faster.",
        evidence=evidence(quantities, column(quantities.activities, "row")[fused], limit=2),
    )


L8 = Rule(
    id="L8",
    title="What the fused kernel saves",
    family="torch.compile",
    kind="fact",
    missing=needs.all_of(EAGER, needs.gpu_steps),
    observe=_l8,
    meaning="Each kernel less is a round trip through memory less. Data that fits in the cache "
    "saves nothing.",
    advice="Compile chains of pointwise operators.",
    source=f"{ARTICLE_2}; {H200}: 69.2 to 38.6 µs for gelu and mul",
)
