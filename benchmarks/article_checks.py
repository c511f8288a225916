"""The article's claims, each with the way to test it on recordings.

A check gets the analyses by name ("product-64", "attention_flash" ...) and returns whether the
claim holds and what was measured; it is asked only when all recordings that it names are there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import check_all, judge
from profcore.rules.boundness import raw_cpu_over_gpu
from profcore.rules.constants import (
    ABOUT_EQUAL_MAX_RATIO,
    ABOUT_EQUAL_MIN_RATIO,
    COLD_RATIO,
    CPU_OVER_GPU_RATIO,
    HOUSEKEEPING_MIN_NS,
    KERNEL_VAR_RATIO,
)
from profcore.rules.device_copying import copies_before_gemm
from profcore.rules.gpu_work import matrix_products
from profcore.rules.measures import MEASURES
from profcore.rules.quantities import Quantities
from profcore.rules.rows import column
from profcore.rules.twins import stems
from profcore.units import ratio_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.analysis import Analysis

    Runs = dict[str, Analysis]
    Check = Callable[[Runs], tuple[bool, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One claim of the article."""

    id: str
    statement: str
    article: str
    """Its numbers; empty: it gives none."""
    rules: tuple[str, ...]
    needs: tuple[str, ...]
    """Names of the recordings that test it."""
    check: Check


def _fired(analysis: Analysis, rule: str) -> bool:
    return any(one.rule == rule and one.state == "fired" for one in check_all(analysis))


def _named(analysis: Analysis, name: str) -> int:
    return len(Quantities.of(analysis).named(("operator", "annotation", "runtime"), name.__eq__))


def _raw(analysis: Analysis) -> str:
    totals = analysis.totals
    return (
        f"{time_text(totals.self_cpu_ns)} against {time_text(totals.gpu_work_sum_ns)}, "
        f"{ratio_text(raw_cpu_over_gpu(Quantities.of(analysis)))}"
    )


def _small_is_far_above(runs: Runs) -> tuple[bool, str]:
    ratio = raw_cpu_over_gpu(Quantities.of(runs["product-64"]))
    return ratio >= CPU_OVER_GPU_RATIO, f"Warm: {_raw(runs['product-64'])}."


def _large_is_equal(runs: Runs) -> tuple[bool, str]:
    ratio = raw_cpu_over_gpu(Quantities.of(runs["product-4096"]))
    return ABOUT_EQUAL_MIN_RATIO <= ratio <= ABOUT_EQUAL_MAX_RATIO, (
        f"Warm: {_raw(runs['product-4096'])}; much of the CPU time is waiting for the GPU."
    )


def _bounds_move(runs: Runs) -> tuple[bool, str]:
    small, large = judge(runs["product-64"]), judge(runs["product-4096"])
    busy = [
        MEASURES["busy"].of(Quantities.of(runs[name])) for name in ("product-64", "product-4096")
    ]
    shares = [MEASURES["busy"].text(share or 0.0) for share in busy]
    holds = (small.bound, large.bound) == ("overhead-bound", "compute-bound")
    return holds, (
        f"64: {small.bound}, the GPU is busy {shares[0]} of the step; 4,096: {large.bound}, "
        f"{shares[1]}."
    )


def _chain(runs: Runs) -> tuple[bool, str]:
    analysis = runs["product-64"]
    quantities = Quantities.of(analysis)
    mask = matrix_products(quantities)
    launch = column(quantities.activities, "launch_row")[mask]
    owner = column(quantities.activities, "operator_row")[mask]
    calls = sorted({quantities.trace.name_of(int(row)) for row in launch if row >= 0})
    under = sorted({quantities.trace.name_of(int(row)) for row in owner if row >= 0})
    holds = under == ["aten::mm"] and calls == ["cudaLaunchKernel"]
    return holds, f"The product is launched under {', '.join(under)} by {', '.join(calls)}."


def _first_step(runs: Runs) -> tuple[bool, str]:
    cold = MEASURES["first_step"].of(Quantities.of(runs["product-64-cold"])) or 0.0
    warm = MEASURES["first_step"].of(Quantities.of(runs["product-64"])) or 0.0
    return cold >= COLD_RATIO, (
        f"The first step is {ratio_text(cold)} as long as the others, after 3 warm-up calls "
        f"{ratio_text(warm)}."
    )


def _first_gap(runs: Runs) -> tuple[bool, str]:
    found = next(one for one in check_all(runs["product-64-cold"]) if one.rule == "C2")
    return found.state == "fired", found.observation or "No late first operator in a cold start."


def _occupancy(runs: Runs) -> tuple[bool, str]:
    cold, warm = Quantities.of(runs["product-64-cold"]), Quantities.of(runs["product-4096"])
    steps = cold.steps_of(cold.occupancy_queries)
    later = int((steps > 0).sum())
    in_warm = len(warm.occupancy_queries)
    return later > 0 and in_warm > 0, (
        f"A cold start makes {int((steps == 0).sum())} such calls in its first step and {later} "
        f"later; a warm 4,096 run makes {in_warm}."
    )


def _add_without_query(runs: Runs) -> tuple[bool, str]:
    holds = _fired(runs["product-64-cold"], "C4")
    return holds, "The kernel of the sum is launched without a query, in a cold start too."


def _closing(runs: Runs) -> tuple[bool, str]:
    found = next(one for one in check_all(runs["product-64"]) if one.rule == "C5")
    row = Quantities.of(runs["product-64"]).closing_synchronize
    duration_ns = 0 if row is None else int(runs["product-64"].trace.duration_ns[row])
    return duration_ns >= HOUSEKEEPING_MIN_NS, found.observation


def _buffer_request(runs: Runs) -> tuple[bool, str]:
    cold, warm = (
        next(one for one in check_all(runs[name]) if one.rule == "G1")
        for name in ("product-64-cold", "product-64")
    )
    return cold.state == "fired", (
        f"Cold start: {cold.observation or 'none.'} With a schedule and warm-up: "
        f"{warm.observation or 'none.'}"
    )


def _spread(runs: Runs) -> tuple[bool, str]:
    quantities = Quantities.of(runs["product-4096"])
    mask = matrix_products(quantities) & quantities.counted
    durations_ns = column(quantities.activities, "duration_ns")[mask]
    typical_ns = float(np.median(durations_ns))
    ratio = float(durations_ns.max()) / typical_ns
    return ratio >= KERNEL_VAR_RATIO, (
        f"{len(durations_ns)} calls: median {time_text(typical_ns)}, longest {ratio_text(ratio)} "
        "of it, on a machine of its own."
    )


def _same_name(runs: Runs) -> tuple[bool, str]:
    eager, compiled = (
        {str(name) for name in runs[key].kernels["name"] if "gemm" in name or "nvjet" in name}
        for key in ("product-4096", "product-4096-compiled")
    )
    same_stem = stems(Quantities.of(runs["product-4096-compiled"])) & stems(
        Quantities.of(runs["product-4096"])
    )
    words = "the same but for its ending" if same_stem else "not the same"
    return eager == compiled, (
        f"Eager {', '.join(sorted(eager))}; compiled {', '.join(sorted(compiled))}: {words}."
    )


def _addmm(runs: Runs) -> tuple[bool, str]:
    compiled, eager = runs["product-4096-compiled"], runs["product-4096"]
    counts = [
        _named(compiled, "aten::addmm"),
        _named(eager, "aten::mm"),
        _named(eager, "aten::add"),
    ]
    return all(counts), (
        f"Compiled: {counts[0]} aten::addmm; eager: {counts[1]} aten::mm and {counts[2]} aten::add."
    )


def _bias_copy(runs: Runs) -> tuple[bool, str]:
    quantities = Quantities.of(runs["product-4096-compiled"])
    copying = MEASURES["copies_before_gemm"].of(quantities) or 0.0
    return bool(copies_before_gemm(quantities)), f"{time_text(copying)} per step."


def _bias_copy_always(runs: Runs) -> tuple[bool, str]:
    vector = Quantities.of(runs["product-4096-vector"])
    pairs = copies_before_gemm(vector)
    return bool(pairs), (
        "With a bias vector there is no copy: it is added inside the kernel."
        if not pairs
        else "A bias vector is copied too."
    )


def _rows_of_compile(runs: Runs) -> tuple[bool, str]:
    fired = {one.rule for one in check_all(runs["product-64-compiled"]) if one.state == "fired"}
    missing = sorted({"K1", "K2", "K3", "K4"} - fired)
    return not missing, (
        "All four rows are there in every step." if not missing else f"Missing: {missing}."
    )


def _cpu_doubles(runs: Runs) -> tuple[bool, str]:
    parts, ratios = [], []
    for size in ("64", "4096"):
        eager = MEASURES["cpu"].of(Quantities.of(runs[f"product-{size}"])) or 1.0
        compiled = MEASURES["cpu"].of(Quantities.of(runs[f"product-{size}-compiled"])) or 0.0
        ratios.append(compiled / eager)
        parts.append(
            f"{size}: {time_text(eager)} eager, {time_text(compiled)} compiled, "
            f"{ratio_text(ratios[-1])}"
        )
    return min(ratios) > 1, f"Without the profiler, CPU time per step. {'; '.join(parts)}."


def _bmm(runs: Runs) -> tuple[bool, str]:
    count = _named(runs["batched-64"], "aten::bmm")
    return count > 0 and _fired(runs["batched-64"], "D3"), f"{count} aten::bmm in the recording."


def _linear(runs: Runs) -> tuple[bool, str]:
    analysis = runs["linear-64"]
    addmm, add = _named(analysis, "aten::addmm"), _named(analysis, "aten::add")
    return addmm > 0 and not add, f"{addmm} aten::addmm, {add} aten::add."


def _fusion(runs: Runs) -> tuple[bool, str]:
    eager, fused = (Quantities.of(runs[name]) for name in ("chain-4096", "chain-4096-compiled"))
    return len(fused.analysis.kernels) == 1 and (eager.gpu_ns or 0) > (fused.gpu_ns or 0), (
        f"{float(eager.steps['kernels'].median()):.0f} kernels and {time_text(eager.gpu_ns or 0)} "
        f"per step eager, {float(fused.steps['kernels'].median()):.0f} and "
        f"{time_text(fused.gpu_ns or 0)} compiled."
    )


def _pointwise_merged(runs: Runs) -> tuple[bool, str]:
    eager, fused = (Quantities.of(runs[name]) for name in ("geglu", "geglu_compiled"))
    kernels = [float(one.steps["kernels"].median()) for one in (eager, fused)]
    return kernels[1] < kernels[0], (
        f"{kernels[0]:.0f} kernels and {time_text(eager.gpu_ns or 0)} per step eager, "
        f"{kernels[1]:.0f} and {time_text(fused.gpu_ns or 0)} compiled (4,096×4,096)."
    )


_FUSED = ("attention_efficient", "attention_flash", "attention_cudnn")


def _attention_order(runs: Runs) -> tuple[bool, str]:
    times_ns = {name: Quantities.of(runs[name]).gpu_ns or 0.0 for name in _FUSED}
    order = sorted(times_ns, key=lambda name: -times_ns[name])
    words = ", ".join(f"{name.split('_')[1]} {time_text(times_ns[name])}" for name in order)
    # The article: efficient slowest, then cuDNN, flash fastest.
    article = ["attention_efficient", "attention_cudnn", "attention_flash"]
    return order == article, f"Slowest first: {words}."


def _attention_kernels(runs: Runs) -> tuple[bool, str]:
    kernels = {
        name: float(Quantities.of(runs[name]).steps["kernels"].median())
        for name in ("attention_math", *_FUSED)
    }
    fused_are_one = all(kernels[name] == 1 for name in _FUSED)
    return kernels["attention_math"] >= 15 and fused_are_one, (  # noqa: PLR2004 - "about 20"
        f"math {kernels['attention_math']:.0f}, "
        + ", ".join(f"{name.split('_')[1]} {kernels[name]:.0f}" for name in _FUSED)
        + " kernels per call."
    )


def _math_in_fp32(runs: Runs) -> tuple[bool, str]:
    math, flash = (Quantities.of(runs[name]) for name in ("attention_math", "attention_flash"))
    ratio = (math.gpu_ns or 0.0) / (flash.gpu_ns or 1.0)
    return _fired(runs["attention_math"], "A2"), (
        f"{time_text(math.gpu_ns or 0)}, {ratio_text(ratio)} of flash attention."
    )


def _masking_copy(runs: Runs) -> tuple[bool, str]:
    found = {one.rule: one for one in check_all(runs["attention_by_hand"])}
    seen = next((found[rule] for rule in ("A1", "C6") if found[rule].state == "fired"), None)
    return seen is not None, seen.observation if seen else "No copy was seen."


def _transposes(runs: Runs) -> tuple[bool, str]:
    counts = {
        name: _named(runs[name], "aten::transpose") / len(runs[name].steps) for name in _FUSED
    }
    words = ", ".join(f"{name.split('_')[1]} {count:.0f}" for name, count in counts.items())
    holds = [counts[name] for name in _FUSED] == [4, 4, 0]
    return holds, f"Per call: {words}."


def _zero_occupancy(runs: Runs) -> tuple[bool, str]:
    zero: dict[str, int] = {}
    other: dict[str, int] = {}
    for analysis in runs.values():
        details = analysis.trace.kernel_details
        launch_of = dict(
            zip(
                column(analysis.activities, "row").tolist(),
                column(analysis.activities, "launch_row").tolist(),
                strict=True,
            )
        )
        for row, percent in zip(
            details.row.tolist(), details.occupancy_percent.tolist(), strict=True
        ):
            launch = launch_of.get(row, -1)
            if launch < 0 or not np.isfinite(percent):
                continue
            call = analysis.trace.name_of(launch)
            counts = zero if percent == 0 else other
            counts[call] = counts.get(call, 0) + 1
    call = "cuLaunchKernelEx"
    elsewhere = sum(count for name, count in zero.items() if name != call)
    return not elsewhere and not other.get(call), (
        f"Of {sum(zero.values())} kernels that read 0 %, {zero.get(call, 0)} were launched by "
        f"{call} and {elsewhere} by another call; {other.get(call, 0)} launched by it read more."
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="self-times-64",
        statement="At 64×64 Self CPU is far above Self CUDA: overhead-bound.",
        article="2.314 ms against 23.1 µs, 100×",
        rules=("T1",),
        needs=("product-64",),
        check=_small_is_far_above,
    ),
    Claim(
        id="self-times-4096",
        statement="At 4096×4096 the two are about equal: compute-bound.",
        article="4.908 ms against 4.495 ms",
        rules=("T2",),
        needs=("product-4096",),
        check=_large_is_equal,
    ),
    Claim(
        id="crossover",
        statement="From 64 to 4096 the run goes from overhead-bound to compute-bound.",
        article="",
        rules=("B1", "B2"),
        needs=("product-64", "product-4096"),
        check=_bounds_move,
    ),
    Claim(
        id="chain",
        statement="aten::matmul calls aten::mm, which launches the kernel by cudaLaunchKernel.",
        article="",
        rules=("D1", "D2", "A9"),
        needs=("product-64",),
        check=_chain,
    ),
    Claim(
        id="bmm",
        statement="With a batch, aten::matmul calls aten::bmm.",
        article="",
        rules=("D3",),
        needs=("batched-64",),
        check=_bmm,
    ),
    Claim(
        id="first-step",
        statement="The first step is much wider, and warm-up calls cure that.",
        article="",
        rules=("C1",),
        needs=("product-64", "product-64-cold"),
        check=_first_step,
    ),
    Claim(
        id="first-gap",
        statement="In the first step the first operator starts late.",
        article="227.8 µs, later 5.5 and 4.5 µs",
        rules=("C2",),
        needs=("product-64-cold",),
        check=_first_gap,
    ),
    Claim(
        id="occupancy-query",
        statement="Before each matrix product the library asks how many blocks fit.",
        article="",
        rules=("C3", "L5"),
        needs=("product-64-cold", "product-4096"),
        check=_occupancy,
    ),
    Claim(
        id="no-query",
        statement="An elementwise kernel is launched without that question.",
        article="",
        rules=("C4",),
        needs=("product-64-cold",),
        check=_add_without_query,
    ),
    Claim(
        id="closing-synchronise",
        statement="The synchronise at the end is long because the profiler empties its buffers.",
        article="1.78 ms over 26 µs of work",
        rules=("C5",),
        needs=("product-64",),
        check=_closing,
    ),
    Claim(
        id="buffer-request",
        statement="An Activity Buffer Request sets the GPU lane off from the CPU lane at first.",
        article="about 2.5 ms",
        rules=("G1", "G2", "G6"),
        needs=("product-64", "product-64-cold"),
        check=_buffer_request,
    ),
    Claim(
        id="same-kernel-varies",
        statement="The same kernel takes different times: clocks, heat, power.",
        article="mean 1,084 µs, typical 580 µs",
        rules=("G3",),
        needs=("product-4096",),
        check=_spread,
    ),
    Claim(
        id="same-kernel-name",
        statement="Eager and compiled run the same matrix kernel.",
        article="ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn in both",
        rules=("G4", "L4"),
        needs=("product-4096", "product-4096-compiled"),
        check=_same_name,
    ),
    Claim(
        id="addmm",
        statement="torch.compile turns mm and add into addmm.",
        article="",
        rules=("D4",),
        needs=("product-4096", "product-4096-compiled"),
        check=_addmm,
    ),
    Claim(
        id="bias-copy",
        statement="That addmm is no fused kernel: the bias is copied first (Memcpy DtoD).",
        article="32 MB, 33 µs",
        rules=("G5", "C6"),
        needs=("product-4096-compiled",),
        check=_bias_copy,
    ),
    Claim(
        id="bias-copy-always",
        statement="Compiling brings that copy, whatever the bias.",
        article="",
        rules=("G5",),
        needs=("product-4096-vector",),
        check=_bias_copy_always,
    ),
    Claim(
        id="compile-rows",
        statement="A compiled call shows a cache lookup, its region, a prologue and the graph.",
        article="",
        rules=("K1", "K2", "K3", "K4"),
        needs=("product-64-compiled",),
        check=_rows_of_compile,
    ),
    Claim(
        id="compile-tax",
        statement="torch.compile makes the CPU side of a step longer.",
        article="0.07–0.1 ms to 0.1–0.2 ms, about 2×",
        rules=("K5", "R6"),
        needs=("product-64", "product-64-compiled", "product-4096", "product-4096-compiled"),
        check=_cpu_doubles,
    ),
    Claim(
        id="linear",
        statement="A linear layer adds its bias inside addmm, without an aten::add.",
        article="",
        rules=("L2",),
        needs=("linear-64",),
        check=_linear,
    ),
    Claim(
        id="fusion",
        statement="torch.compile makes one kernel of a chain of pointwise operators.",
        article="",
        rules=("L7", "L8"),
        needs=("chain-4096", "chain-4096-compiled"),
        check=_fusion,
    ),
    Claim(
        id="geglu",
        statement="In GeGLU it merges the two pointwise kernels and leaves the products alone.",
        article="one kernel of 89.4 µs",
        rules=("L8",),
        needs=("geglu", "geglu_compiled"),
        check=_pointwise_merged,
    ),
    Claim(
        id="attention-order",
        statement="Of the fused attentions flash is the fastest and efficient the slowest.",
        article="efficient 277.9, cuDNN 186.3, flash 146.8 µs",
        rules=("A4",),
        needs=_FUSED,
        check=_attention_order,
    ),
    Claim(
        id="attention-kernels",
        statement="Plain attention takes about 20 kernels, a fused one takes one.",
        article="20 and 1",
        rules=("A2", "A4"),
        needs=("attention_math", *_FUSED),
        check=_attention_kernels,
    ),
    Claim(
        id="attention-math",
        statement="The plain path of scaled_dot_product_attention is by far the slowest.",
        article="7.239 ms, 3.7× of attention by hand",
        rules=("A2",),
        needs=("attention_math", "attention_flash"),
        check=_math_in_fp32,
    ),
    Claim(
        id="masking-copy",
        statement="masked_fill hides a copy of the whole score matrix.",
        article="the sixth, hidden kernel",
        rules=("A1", "C6"),
        needs=("attention_by_hand",),
        check=_masking_copy,
    ),
    Claim(
        id="attention-transposes",
        statement="Flash and efficient show four aten::transpose, cuDNN none.",
        article="4, 4 and 0",
        rules=("A7",),
        needs=_FUSED,
        check=_transposes,
    ),
    Claim(
        id="zero-occupancy",
        statement="An estimated occupancy of 0 % comes from launches by cuLaunchKernelEx.",
        article="",
        rules=("A6",),
        needs=("product-4096", "product-4096-fp32", "chain-64", "attention_math", "linear-64"),
        check=_zero_occupancy,
    ),
)
"""In the order of the article."""
