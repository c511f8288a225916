"""Predictions of rules: what is claimed, of which experiments, and whether it held.

Each measure is worked out by hand on a run before and a run after, with a value on either side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from profcore.analysis import Analysis
from profcore.experiment import SIZE_MAX, Experiment
from profcore.rules import RULES, judge
from profcore.rules import knob_changes as changes
from profcore.rules.claims import CLAIMS, VERDICT_CLAIMS
from profcore.rules.measures import MEASURE_NAMES, MEASURES
from profcore.rules.predictions import Prediction, judge_prediction
from profcore.rules.quantities import Quantities
from profcore.rules.trials import trial_of
from tests.handmade import trace_of
from tests.rule_traces import (
    SGEMM,
    copy_before_product,
    cpu_only,
    environment,
    loop,
    own_run,
    product,
    product_and_add,
)
from tests.trace_bytes import Row, annotation, kernel, launch, op

if TYPE_CHECKING:
    from collections.abc import Callable

    Body = Callable[[float, int], list[Row]]


def run(body: Body, *, steps: int = 5, rows: list[Row] | None = None, **known: Any) -> Analysis:
    """Return a run of steps of 1,000 us."""
    shape = {key: known.pop(key) for key in ("first_cpu_us", "cpu_us_bar") if key in known}
    made = loop(
        steps,
        body,
        first_cpu_us=shape.get("first_cpu_us"),
        cpu_us=shape.get("cpu_us_bar", 900),
    )
    return Analysis(trace_of(*made, *(rows or [])), **(own_run(**known) if known else {}))


def prediction(measure: Any, relation: Any, value: float = 0.0, rule: str = "E1") -> Prediction:
    return Prediction(
        rule=rule, sentence="Something will be seen.", measure=measure, relation=relation,
        value=value,
    )  # fmt: skip


def graph(at: float, number: int) -> list[Row]:
    """aten::_foreach_copy_ with a copying kernel of 30 us, then a graph launch of a GEMM of 60."""
    return [
        op("Torch-Compiled Region: 0/0", at + 5, 100),
        op("aten::_foreach_copy_", at + 10, 20),
        launch(at + 12, 5, correlation=number),
        kernel("multi_tensor_apply_kernel", at + 40, 30, correlation=number),
        launch(at + 50, 10, correlation=number + 1, name="cudaGraphLaunch"),
        kernel("nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT", at + 80, 60, correlation=number + 1),
    ]


SMALL = run(product(5), step_us=50)
# 5 of 50 us: 10 % busy
LARGE = run(product(180), step_us=200, size=4096)
# 180 of 200 us: 90 % busy


class TestMeasures:
    """Each measure once by hand, and the prediction over it both ways."""

    @pytest.mark.parametrize(
        ("measure", "analysis", "expected"),
        [
            ("busy", SMALL, 0.1),
            ("busy", LARGE, 0.9),
            ("step", LARGE, 200_000),
            ("cpu", run(product(5), step_us=50, cpu_us=45), 45_000),
            ("gpu", run(product_and_add(60, 20), step_us=100), 80_000),
            ("matrix", run(product_and_add(60, 20), step_us=100), 60_000),
            # 9,000 us, then 900 us
            ("first_step", run(product(5), step_us=50, first_cpu_us=9000), 10.0),
            ("copies_before_gemm", run(copy_before_product(15, 60), step_us=100), 15_000),
            ("copies_before_gemm", SMALL, 0),
            ("hidden_copies", run(copy_before_product(15, 60), step_us=100), 15_000),
            ("hidden_copies", SMALL, 0),
            ("input_copies", run(graph, step_us=100), 30_000),
            ("input_copies", SMALL, 0),
            ("graph_launches", run(graph, step_us=100), 1),
            ("graph_launches", SMALL, 0),
            # Of a step of 900 us 850 lie in aten::mm, 50 outside.
            ("outside_operators", Analysis(trace_of(*cpu_only(5))), 50 / 900),
        ],
    )
    def test_a_measure_is_what_its_label_says(
        self, measure: Any, analysis: Analysis, expected: float
    ) -> None:
        assert MEASURES[measure].of(Quantities.of(analysis)) == pytest.approx(expected)

    @pytest.mark.parametrize("measure", MEASURE_NAMES)
    def test_a_run_without_anything_has_no_measure(self, measure: Any) -> None:
        nothing = Analysis(trace_of(annotation("work", 0, 5)))
        assert MEASURES[measure].of(Quantities.of(nothing)) is None
        outcome = judge_prediction(prediction(measure, "at most", 1), nothing, nothing)
        assert outcome.held is None
        assert outcome.sentence == f"Cannot be told. {MEASURES[measure].missing}"


class TestJudging:
    def test_at_least_holds_from_the_value_on(self) -> None:
        held = judge_prediction(prediction("busy", "at least", 0.9), SMALL, LARGE)
        assert held.held is True
        assert held.sentence == (
            "It held. Predicted: at least 90.0 %; measured: 90.0 % (before: 10.0 %)."
        )
        missed = judge_prediction(prediction("busy", "at least", 0.91), SMALL, LARGE)
        assert missed.held is False
        assert missed.sentence.startswith("It did not hold. Predicted: at least 91.0 %")

    def test_at_most_holds_up_to_the_value(self) -> None:
        assert judge_prediction(prediction("busy", "at most", 0.1), LARGE, SMALL).held is True
        assert judge_prediction(prediction("busy", "at most", 0.09), LARGE, SMALL).held is False

    def test_none_is_said_in_words(self) -> None:
        copying = run(copy_before_product(15, 60), step_us=100)
        gone = judge_prediction(prediction("hidden_copies", "at most"), copying, SMALL)
        assert (gone.held, gone.predicted, gone.before, gone.after) == (
            True, "none", "15.0 µs", "0 ns",
        )  # fmt: skip
        assert (
            judge_prediction(prediction("hidden_copies", "at most"), SMALL, copying).held is False
        )

    def test_shorter_divides_before_by_after(self) -> None:
        slow = run(product(90, name=SGEMM), step_us=100, dtype="fp32")
        fast = run(product(30), step_us=40, dtype="tf32")
        third = judge_prediction(prediction("matrix", "shorter", 3), slow, fast)
        assert third.held is True
        assert third.sentence == (
            "It held. Predicted: at least 3.00× shorter; measured: 3.00× (90.0 µs before, "
            "30.0 µs after)."
        )
        # 100 ÷ 40 = 2.5
        assert judge_prediction(prediction("step", "shorter", 2.6), slow, fast).held is False

    def test_a_ratio_across_devices_cannot_be_told(self) -> None:
        here = run(product(30), step_us=40)
        there = run(product(30), step_us=20)
        there.environment = environment("cpu")
        outcome = judge_prediction(prediction("step", "shorter", 1.5), here, there)
        assert outcome.held is None
        assert "different devices (NVIDIA H200 and Some CPU)" in outcome.sentence

    def test_a_ratio_without_the_run_before_cannot_be_told(self) -> None:
        untimed = run(product(5))
        outcome = judge_prediction(prediction("step", "shorter", 1.5), untimed, LARGE)
        assert (outcome.held, outcome.before, outcome.after) == (None, "", "200 µs")

    def test_what_was_seen_is_looked_for_again(self) -> None:
        again = judge_prediction(prediction(None, "not seen"), SMALL, SMALL)
        assert (again.held, again.before, again.after) == (False, "seen", "seen")
        assert again.sentence.startswith("It did not hold. It is still seen: 1 kernel per step")
        gone = judge_prediction(prediction(None, "not seen"), SMALL, LARGE)
        assert (gone.held, gone.after) == (True, "not seen")
        unknown = judge_prediction(
            prediction(None, "not seen"), SMALL, Analysis(trace_of(*cpu_only()))
        )
        assert unknown.held is None
        assert unknown.sentence.startswith("Cannot be told. ")


def held(rule: str, before: Analysis, after: Analysis) -> list[bool | None]:
    """Judge all predictions of a rule; the run after must be the experiment it asks for."""
    trial = trial_of(rule, before)
    assert trial is not None
    assert not trial.is_example
    assert trial.after == after.experiment
    return [judge_prediction(one, before, after).held for one in trial.predictions]


class TestTrials:
    """The predictions of the catalogue, on runs where they hold and on runs where they do not."""

    def test_e1_a_larger_size_keeps_the_gpu_busy(self) -> None:
        assert held("E1", SMALL, LARGE) == [True]
        # 150 of 200 us
        assert held("E1", SMALL, run(product(150), step_us=200, size=4096)) == [False]

    def test_b1_follows_the_verdict(self) -> None:
        assert judge(SMALL).bound == "overhead-bound"
        assert held("B1", SMALL, LARGE) == [True]
        assert judge(LARGE).bound == "compute-bound"
        assert held("B1", LARGE, run(product(5), step_us=50, size=64)) == [True]
        assert held("B1", LARGE, run(product(30), step_us=50, size=64)) == [False]

    def test_c1_warm_up_shortens_the_first_step(self) -> None:
        cold = run(product(5), step_us=50, first_cpu_us=90_000, warmup=0)
        assert held("C1", cold, SMALL) == [True]
        # 5,400 over 900 us: 6 times
        still = run(product(5), step_us=50, first_cpu_us=5400)
        assert held("C1", cold, still) == [False]
        assert trial_of("C1", still) is None  # it had warm-up calls

    def test_r1_warm_up_compiles_before_the_recording(self) -> None:
        compiling = [annotation("dynamo_data: compile_id=0/0", 100, 500)]
        region = [op("Torch-Compiled Region: 0/0", 20, 500)]
        cold = run(product(5), rows=[*compiling, *region], step_us=50, compile="default", warmup=0)
        warm = run(product(5), rows=region, step_us=50, compile="default")
        assert held("R1", cold, warm) == [True, True]
        again = run(product(5), rows=[*compiling, *region], step_us=50, compile="default")
        assert held("R1", cold, again) == [False, True]

    def test_k5_eager_needs_less_cpu_time(self) -> None:
        compiled = run(product(5), step_us=83, cpu_us=80, compile="default")
        eager = run(product(5), step_us=33, cpu_us=30)
        assert held("K5", compiled, eager) == [True, True]
        # 80 ÷ 78 and 83 ÷ 81 are noise.
        assert held("K5", compiled, run(product(5), step_us=81, cpu_us=78)) == [False, False]

    def test_k5_promises_no_faster_step_where_the_gpu_is_the_limit(self) -> None:
        compiled = run(product(180), step_us=200, cpu_us=80, size=4096, compile="default")
        eager = run(product(180), step_us=200, cpu_us=30, size=4096)
        assert held("K5", compiled, eager) == [True]

    def test_r6_eager_is_faster(self) -> None:
        compiled = run(product(5), step_us=83, compile="default")
        assert held("R6", compiled, run(product(5), step_us=33)) == [True]
        assert held("R6", compiled, run(product(5), step_us=80)) == [False]

    def test_g5_and_c6_a_vector_bias_removes_the_copy(self) -> None:
        matrix = run(copy_before_product(15, 60), step_us=100, compile="default")
        vector = run(product(60), step_us=80, compile="default", bias="vector")
        still = run(copy_before_product(15, 60), step_us=100, compile="default", bias="vector")
        for rule in ("G5", "C6"):
            assert held(rule, matrix, vector) == [True]
            assert held(rule, matrix, still) == [False]

    def test_n1_tf32_halves_the_matrix_kernels(self) -> None:
        slow = run(product(90, name=SGEMM), step_us=100, dtype="fp32")
        assert held("N1", slow, run(product(45), step_us=50, dtype="tf32")) == [True]
        assert held("N1", slow, run(product(46), step_us=50, dtype="tf32")) == [False]

    def test_n3_the_next_multiple_of_8_is_faster(self) -> None:
        odd = run(product(900), step_us=950, size=4095)
        assert held("N3", odd, run(product(190), step_us=200, size=4096)) == [True]
        assert held("N3", odd, run(product(890), step_us=900, size=4096)) == [False]

    def test_r5_default_mode_copies_no_input_and_is_faster(self) -> None:
        graphed = run(graph, step_us=100, compile="reduce-overhead")
        assert held("R5", graphed, run(product(60), step_us=70, compile="default")) == [True, True]
        assert held("R5", graphed, run(graph, step_us=99, compile="default")) == [False, False]

    def test_r4_default_mode_launches_no_graph(self) -> None:
        graphed = run(graph, step_us=100, compile="reduce-overhead")
        assert held("R4", graphed, run(product(60), step_us=70, compile="default")) == [True]
        assert held("R4", graphed, run(graph, step_us=99, compile="default")) == [False]

    def test_a_memory_bound_chain_is_fused(self) -> None:
        chain = {"workload": "elementwise_chain", "size": 4096}
        eager = run(product(180), step_us=190, **chain)
        assert judge(eager).bound == "memory-bound"
        fused = run(product(38), step_us=70, compile="default", **chain)
        assert held("B1", eager, fused) == [True]
        assert held("E6", eager, fused) == [True]
        assert held("B1", eager, run(product(91), step_us=95, compile="default", **chain)) == [
            False
        ]

    def test_a_cpu_run_computes_at_a_larger_size(self) -> None:
        def on_cpu(length_us: float, size: int) -> Analysis:
            rows = loop(3, lambda at, _: [op("aten::mm", at + 20, length_us)])
            return Analysis(trace_of(*rows), **own_run(step_us=900, device="cpu", size=size))

        small = on_cpu(200, 64)
        assert judge(small).bound == "cpu-run"
        assert held("B1", small, on_cpu(850, 1024)) == [True]
        assert held("B1", small, on_cpu(800, 1024)) == [False]


class TestTable:
    def test_it_names_rules_that_exist_and_not_the_verdict_s(self) -> None:
        assert set(CLAIMS) <= {rule.id for rule in RULES} - {"B1", "B2"}

    @pytest.mark.parametrize(
        "claim",
        [claim for claims in (*CLAIMS.values(), *VERDICT_CLAIMS.values()) for claim in claims],
        ids=lambda claim: claim.expects[0].words,
    )
    def test_a_claim_can_be_tested_on_its_own_example(self, claim: Any) -> None:
        knobs = claim.change(claim.example)
        assert knobs
        assert all(getattr(claim.example, knob) != value for knob, value in knobs.items())
        assert changes.changes_text(knobs)[0].isupper()
        assert changes.changes_label(knobs)
        for one in claim.expects:
            assert one.words.endswith(".")
            assert (one.measure is None) == (one.relation == "not seen")

    def test_an_opened_trace_is_tested_on_an_example(self) -> None:
        opened = run(product(5))
        trial = trial_of("E1", opened)
        assert trial is not None
        assert trial.is_example
        assert (trial.before, trial.after) == (Experiment(size=64), Experiment(size=4096))
        assert trial.label == "size 4,096"
        assert trial.predictions[0].sentence == (
            "At size 4,096 the GPU will be busy at least 80 % of the step."
        )

    def test_what_no_knob_can_change_has_no_trial(self) -> None:
        assert trial_of("S1", SMALL) is None
        assert trial_of("G5", SMALL) is None  # eager: there is no addmm
        assert trial_of("N1", SMALL) is None  # bf16 already

    def test_a_change_beyond_the_bounds_is_not_offered(self) -> None:
        huge = run(product(5), step_us=50, size=SIZE_MAX)
        assert trial_of("E1", huge) is None


@pytest.mark.parametrize(
    ("change", "knobs", "expected"),
    [
        (changes.larger, {"size": 4096}, {"size": 8192}),
        (
            changes.larger,
            {"workload": "elementwise_chain", "compile": "default", "size": 64},
            {"size": 8192},
        ),
        (changes.smaller, {"size": 64}, None),
        (changes.larger_on_cpu, {"size": 1024}, None),
        (changes.aligned, {"size": 4089}, {"size": 4096}),
        (changes.aligned, {"size": 4096}, None),
        (changes.warm, {"warmup": 0, "steps": 1}, {"warmup": 3, "steps": 5}),
        (changes.warm, {"warmup": 1}, None),
        (changes.to_tf32, {"dtype": "fp32", "workload": "elementwise_chain"}, None),
        (changes.half_the_bytes, {"dtype": "fp32", "workload": "elementwise_chain"},
         {"dtype": "bf16"}),
        (changes.eager, {"compile": "default", "workload": "elementwise_chain"}, None),
        (changes.vector_bias, {"compile": "reduce-overhead"}, None),
        (changes.vector_bias, {"compile": "default", "workload": "linear"}, None),
        (changes.without_tuning, {"compile": "max-autotune"}, {"compile": "default"}),
        (changes.without_shapes, {"shapes": True}, {"shapes": False}),
        (changes.more_steps, {"steps": 5}, None),
    ],
)  # fmt: skip
def test_changes_of_knobs(change: Any, knobs: dict[str, Any], expected: Any) -> None:
    assert change(Experiment(**knobs)) == expected
