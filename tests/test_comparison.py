"""Two runs side by side: settings, kernels, operators, chains, findings, and the sentence."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from profcore.analysis import Analysis
from profcore.comparison import Comparison, Run
from profcore.comparison.tables import (
    COLUMNS,
    kernel_rows,
    kernel_stem,
    operator_rows,
    operator_stem,
)
from profcore.recording import Beside
from tests.handmade import analysis_of, cpu_rows, plain_rows, trace_of
from tests.rule_traces import (
    NVJET,
    Case,
    copy_before_product,
    environment,
    loop,
    own_run,
    product,
    product_and_add,
)

if TYPE_CHECKING:
    from profcore.experiment import Experiment


def run(rows: list[Any], title: str = "a run", **known: Any) -> Run:
    return Run(
        analysis=Case(rule="", state="clear", rows=rows, known=known).analysis(), title=title
    )


def eager(**more: Any) -> Run:
    """33 µs a step, of which the CPU needs 31; GEMM 2 µs and add 1 µs."""
    known = own_run(step_us=33, cpu_us=31, size=64) | more
    return run(loop(3, product_and_add(2, 1)), **known)


def compiled(**more: Any) -> Run:
    """83 µs a step, of which the CPU needs 80; copy 0.8 µs and GEMM 2.2 µs."""
    known = own_run(step_us=83, cpu_us=80, size=64, compile="default") | more
    return run(loop(3, copy_before_product(0.8, 2.2)), **known)


def rows_of(table: Any, *columns: str) -> list[tuple[Any, ...]]:
    return list(table[list(columns)].itertuples(index=False, name=None))


# --- the sentence -------------------------------------------------------------------------------


def test_compiled_against_eager_at_64() -> None:
    verdict = Comparison(a=eager(), b=compiled()).verdict
    # 83 / 33 = 2.515; both sides 3.00 µs of GPU work.
    assert verdict.sentence == (
        "Compiled is 2.52× slower than eager: 83.0 µs against 33.0 µs a step; the GPU does about "
        "the same 3.00 µs of work, the rest is the CPU, which needs 80.0 µs against 31.0 µs to "
        "issue a step."
    )
    assert verdict.arithmetic[0] == (
        "Step without the profiler: 83.0 µs (compiled) against 33.0 µs (eager)."
    )
    assert verdict.arithmetic[1].startswith("Their ratio is 2.515; between 1.4")
    assert "CPU time to issue a step: 80.0 µs (compiled) against 31.0 µs (eager), +49.0 µs." in (
        verdict.arithmetic
    )
    assert "GPU busy: 3.6 % (compiled) against 9.1 % (eager)." in verdict.arithmetic
    assert "one run each" in verdict.noise


def test_the_other_way_round_it_is_faster() -> None:
    assert Comparison(a=compiled(), b=eager()).verdict.sentence.startswith(
        "Eager is 2.52× faster than compiled: 33.0 µs against 83.0 µs a step"
    )


def test_two_equal_runs_show_no_difference() -> None:
    near = own_run(step_us=33.4, cpu_us=31, size=64)
    verdict = Comparison(a=eager(), b=run(loop(3, product_and_add(2, 1)), **near)).verdict
    # 33.4 / 33 = 1.0121
    assert verdict.sentence == (
        "No difference beyond noise: 33.4 µs (B) against 33.0 µs (A) a step, 1.2 % apart."
    )
    assert "timed by turns with the other in one process" in verdict.noise


def test_more_work_takes_longer_and_is_not_called_slower() -> None:
    large = run(
        loop(3, product(190)), **own_run(step_us=198, cpu_us=47, size=128)
    )  # (2·128³ + 128²) ÷ (2·64³ + 64²) = 4,210,688 ÷ 528,384 = 7.97
    sentence = Comparison(a=eager(), b=large).verdict.sentence
    assert sentence == (
        "A step with size 128 takes 6.00× as long as with size 64, for 7.97× the arithmetic: "
        "198 µs against 33.0 µs a step; the GPU works 190 µs against 3.00 µs: with size 64 the "
        "GPU waits for the CPU, with size 128 the GPU sets the pace."
    )


def test_further_runs_make_the_noise_visible() -> None:
    def side(*medians_us: float, **knobs: Any) -> Run:
        first, *rest = (own_run(step_us=us, cpu_us=us, size=64, **knobs) for us in medians_us)
        return Run(
            analysis=Analysis(trace_of(*loop(3, product(2))), **first),
            title="",
            others=tuple(one["timings"] for one in rest),
        )

    comparison = Comparison(
        a=side(30, 31, 32, 33, 34), b=side(34.5, 35, 36, 37, 38, compile="default")
    )
    step = comparison.step
    assert step is not None
    assert (step.method, step.runs_a, step.runs_b, step.is_real) == ("runs", 5, 5, True)
    assert comparison.verdict.sentence.startswith("Compiled is 12.")
    assert "5 and 5 runs" in comparison.verdict.noise


def test_an_opened_trace_has_no_step_time() -> None:
    opened = Run(analysis=analysis_of(*plain_rows()), title="trace.json")
    comparison = Comparison(a=opened, b=eager())
    assert comparison.step is None
    assert comparison.verdict.noise == ""
    assert comparison.verdict.sentence.startswith(
        "The GPU works 3.00 µs a step (B) against 40.0 µs (A)"
    )
    assert comparison.comparability.obstacles == (
        "At least one side is an opened trace: its settings and its machine are not known.",
    )


# --- can they be compared -----------------------------------------------------------------------


def test_one_knob_is_a_fair_comparison() -> None:
    found = Comparison(a=eager(), b=compiled()).comparability
    assert found.is_fair
    assert [(knob.knob, knob.a, knob.b) for knob in found.knobs] == [
        ("compile", "eager", "default")
    ]
    assert found.cautions == ()


def test_knobs_without_effect_and_the_number_of_steps_do_not_count() -> None:
    other = own_run(step_us=33, cpu_us=31, size=64, batch=4, steps=9)
    found = Comparison(a=eager(), b=run(loop(3, product(2)), **other)).comparability
    assert found.knobs == ()
    batched = [
        run(loop(3, product(2)), **own_run(step_us=33, workload="batched_matmul", batch=batch))
        for batch in (4, 8)
    ]
    found = Comparison(a=batched[0], b=batched[1]).comparability
    assert [knob.knob for knob in found.knobs] == ["batch"]


def test_two_knobs_and_another_device_stand_in_the_way() -> None:
    known = own_run(step_us=33, cpu_us=31, size=128, dtype="fp32")
    known["environment"] = msgspec.structs.replace(
        known["environment"], device_name="NVIDIA A100", torch="2.6.0"
    )
    found = Comparison(
        a=eager(), b=run(loop(3, product(2)), record_shapes=1, **known)
    ).comparability
    assert not found.is_fair
    assert not found.same_session
    assert found.obstacles == (
        "The devices differ: NVIDIA H200 and NVIDIA A100.",
        "The torch versions differ: 2.11.0 and 2.6.0.",
        (
            "Only one of the two recorded input shapes, which slows the CPU side of its trace; "
            "the step times without the profiler are not touched by it."
        ),
        "2 settings differ (size and dtype), so no single one can be named as the cause.",
    )


def test_a_cold_start_is_named() -> None:
    cold = run(loop(3, product(2)), **own_run(step_us=40, size=64, warmup=0))
    cautions = Comparison(a=eager(), b=cold).comparability.cautions
    assert len(cautions) == 1
    assert "after it (a cold start)" in cautions[0]


# --- what ran -----------------------------------------------------------------------------------


def test_kernels_are_matched_and_counted_per_step() -> None:
    comparison = Comparison(a=eager(), b=compiled())
    table = comparison.kernels
    assert list(table.columns) == list(COLUMNS)
    # Changes: add -1.0, copy +0.8, GEMM +0.2 µs.
    assert rows_of(table, "name", "where", "calls_a", "calls_b", "a_ns", "b_ns") == [
        ("vectorized_elementwise_kernel: CUDAFunctor_add", "A", 1.0, 0.0, 1000.0, 0.0),
        ("Memcpy DtoD", "B", 0.0, 1.0, 0.0, 800.0),
        (NVJET, "both", 1.0, 1.0, 2000.0, 2200.0),
    ]


def test_every_line_has_a_call_to_follow_on_the_sides_that_have_it() -> None:
    comparison = Comparison(a=eager(), b=compiled())
    for table, rows_in in (
        (comparison.kernels, kernel_rows),
        (comparison.operators, operator_rows),
    ):
        assert len(table)
        for column, side in (("name_a", comparison.a), ("name_b", comparison.b)):
            trace, known = side.analysis.trace, rows_in(side.analysis)
            names = [name for name in table[column] if name]
            assert set(names) <= set(known)
            for name in names:
                found = trace.names[trace.name[known[name]]]
                assert found == name or (name, found[:13]) == ("ProfilerStep*", "ProfilerStep#")


def test_names_keep_their_stem() -> None:
    eager_name = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"
    assert kernel_stem(eager_name) == kernel_stem(eager_name.replace("_bz_", "_badd_"))
    assert kernel_stem(eager_name) == kernel_stem(eager_name.replace("_bz_", "_bias_"))
    assert kernel_stem(eager_name) != kernel_stem(eager_name.replace("64x8", "64x16"))
    assert kernel_stem("triton_poi_fused_add_mul_0") == kernel_stem("triton_poi_fused_add_mul_3")
    assert kernel_stem("gemm_64x64") == "gemm_64x64"
    assert operator_stem("## Call CompiledFxGraph fabc ##") == "## Call CompiledFxGraph ##"
    assert operator_stem("aten::mm") == "aten::mm"


def test_the_same_functor_in_another_width_is_matched_by_its_short_name() -> None:
    def side(name: str) -> Run:
        return run(loop(2, product(3, name=name)))

    wide = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<x>>(int)"
    slim = wide.replace("<4", "<8")
    table = Comparison(a=side(wide), b=side(slim)).kernels
    assert rows_of(table, "where", "name_a", "name_b", "change_ns") == [("both", wide, slim, 0.0)]


def test_operators_are_matched() -> None:
    table = Comparison(a=eager(), b=compiled()).operators
    found = dict(rows_of(table, "name", "where"))
    assert found["aten::mm"] == "A"
    assert found["aten::addmm"] == "B"
    assert found["cuLaunchKernelEx"] == "both"
    by_name = table.set_index("name")
    # addmm [+20, +70]: 50 less the calls of 5 and 10 µs.
    assert by_name.loc["aten::addmm", "b_ns"] == 35_000
    assert by_name.loc["aten::addmm", "calls_b"] == 1


def test_chains_stand_side_by_side() -> None:
    mine, theirs = Comparison(a=eager(), b=compiled()).chains
    assert [chain.text for chain in mine] == [
        f"aten::matmul → aten::mm → {NVJET}",
        "aten::add → vectorized_elementwise_kernel: CUDAFunctor_add",
    ]
    assert [chain.text for chain in theirs] == [
        "Torch-Compiled Region: 0/0 → aten::addmm → Memcpy DtoD",
        f"Torch-Compiled Region: 0/0 → aten::addmm → {NVJET}",
    ]


def test_equal_chains_in_a_row_are_counted() -> None:
    def twice(at: float, number: int) -> list[Any]:
        return [*product(2)(at, number), *product(2, delay_us=30)(at + 100, number + 50)]

    only = Comparison(a=run(loop(2, twice)), b=eager()).chains[0]
    assert [(chain.text, chain.times) for chain in only] == [
        (f"aten::matmul → aten::mm → {NVJET}", 2)
    ]


def test_without_a_gpu_chains_end_in_the_innermost_operator() -> None:
    cpu = Run(analysis=Analysis(trace_of(*cpu_rows(), devices=())), title="")
    mine, _ = Comparison(a=cpu, b=eager()).chains
    assert [chain.text for chain in mine] == ["aten::matmul → aten::mm"]


def test_findings_come_and_go() -> None:
    changes = {change.rule: change for change in Comparison(a=eager(), b=compiled()).changes}
    assert changes["K1"].change == "appeared"
    assert changes["K1"].other_state == "not_checked"
    assert changes["K1"].other_reason
    assert changes["D2"].change == "vanished"
    back = {change.rule: change for change in Comparison(a=compiled(), b=eager()).changes}
    assert back["K1"].change == "vanished"
    assert set(back) == set(changes)


@pytest.mark.parametrize("rows", [cpu_rows()[:1], cpu_rows()])
def test_nothing_breaks_on_traces_with_little_in_them(rows: list[Any]) -> None:
    bare = Run(analysis=Analysis(trace_of(*rows, devices=())), title="")
    comparison = Comparison(a=bare, b=bare)
    assert comparison.verdict.sentence.endswith(".")
    assert comparison.kernels.empty
    assert comparison.changes == ()
    assert comparison.chains[0] == comparison.chains[1]


# --- turns --------------------------------------------------------------------------------------


def with_turns(side: Run, *, own_us: float, other_us: float, other: Experiment) -> Run:
    """Return a side that took ten turns with another experiment on its own machine."""
    turns = Beside(
        experiment=other, step_ns=[own_us * 1000] * 10, other_step_ns=[other_us * 1000] * 10
    )
    return dataclasses.replace(side, turns=(turns,))


def test_turns_of_the_two_decide() -> None:
    a, b = eager(), compiled()
    assert b.analysis.experiment is not None
    a = with_turns(a, own_us=30, other_us=60, other=b.analysis.experiment)
    step = Comparison(a=a, b=b).step
    assert step is not None
    assert (step.method, step.a_ns, step.b_ns) == ("turns", 30_000, 60_000)


def test_turns_with_something_else_or_elsewhere_do_not() -> None:
    b = compiled()
    experiment = b.analysis.experiment
    assert experiment is not None
    # of another size; of the same, but B on show was made on another machine, or another device
    large = msgspec.structs.replace(experiment, size=128)
    elsewhere = compiled(
        environment=msgspec.structs.replace(environment(), device_name="NVIDIA A100")
    )
    on_cpu = compiled(experiment=msgspec.structs.replace(experiment, device="cpu"))
    for other, side in ((large, b), (experiment, elsewhere), (experiment, on_cpu)):
        a = with_turns(eager(), own_us=30, other_us=60, other=other)
        step = Comparison(a=a, b=side).step
        assert step is not None
        assert step.method == "assumed"
        assert (step.a_ns, step.b_ns) == pytest.approx((33_000, 83_000))
