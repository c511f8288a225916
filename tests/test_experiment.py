"""The knobs: bounds with one sentence per fault, JSON form, URL form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.errors import ExperimentError
from profcore.experiment import (
    BATCH_MAX,
    BATCH_MIN,
    BIASES,
    COMPILE_MODES,
    DTYPES,
    SIZE_MAX,
    SIZE_MIN,
    STEPS_MAX,
    STEPS_MIN,
    WARMUP_MAX,
    WARMUP_MIN,
    WORKLOAD_NAMES,
    Experiment,
    describe,
    from_json,
    from_query,
    to_json,
    to_query,
)

experiments = st.builds(
    Experiment,
    workload=st.sampled_from(WORKLOAD_NAMES),
    size=st.integers(SIZE_MIN, SIZE_MAX),
    batch=st.integers(BATCH_MIN, BATCH_MAX),
    dtype=st.sampled_from(DTYPES),
    bias=st.sampled_from(BIASES),
    compile=st.sampled_from(COMPILE_MODES),
    warmup=st.integers(WARMUP_MIN, WARMUP_MAX),
    steps=st.integers(STEPS_MIN, STEPS_MAX),
    device=st.sampled_from(("auto", "cpu", "cuda:0", "cuda:11")),
    shapes=st.booleans(),
)


@pytest.mark.parametrize(
    ("knob", "value", "sentence"),
    [
        ("size", 15, "size is 15; give 16 to 16,384 (rows and columns of each matrix)."),
        ("size", 16_385, "size is 16385; give 16 to 16,384 (rows and columns of each matrix)."),
        ("size", 64.0, "size is 64.0; give 16 to 16,384 (rows and columns of each matrix)."),
        ("batch", 0, "batch is 0; give 1 to 64 (matrices multiplied at once)."),
        ("steps", True, "steps is True; give 1 to 50 (recorded steps)."),
        (
            "warmup",
            -1,
            "warmup is -1; give 0 to 50 (calls before the measurement, 0 for a cold start).",
        ),
        ("dtype", "int8", "dtype is 'int8'; choose one of bf16, fp16, tf32, fp32."),
        ("device", "cuda", "device is 'cuda'; give auto, cpu or cuda:0 (cuda:1 and so on)."),
        ("shapes", 1, "shapes is 1; give true or false."),
    ],
)
def test_a_knob_out_of_bounds_is_one_sentence(knob: str, value: object, sentence: str) -> None:
    with pytest.raises(ExperimentError) as raised:
        Experiment(**{knob: value})
    assert str(raised.value) == sentence


def test_every_fault_has_its_sentence() -> None:
    with pytest.raises(ExperimentError, match=r"^size is 1; .*\. steps is 0; .*\.$"):
        Experiment(size=1, steps=0)


@given(experiments)
def test_json_form_gives_the_experiment_back(experiment: Experiment) -> None:
    assert from_json(to_json(experiment)) == experiment


@given(experiments)
def test_url_form_gives_the_experiment_back(experiment: Experiment) -> None:
    assert from_query(to_query(experiment)) == experiment


def test_url_form_leaves_defaults_out() -> None:
    assert to_query(Experiment()) == {}
    assert to_query(Experiment(size=4096, shapes=True)) == {"size": "4096", "shapes": "true"}


@pytest.mark.parametrize(
    "query", [{"size": "big"}, {"size": "1e3"}, {"shapes": "perhaps"}, {"workload": "rm"}]
)
def test_url_form_refuses_what_is_no_value(query: dict[str, str]) -> None:
    with pytest.raises(ExperimentError, match=next(iter(query))):
        from_query(query)


def test_url_form_leaves_foreign_parameters_alone() -> None:
    assert from_query({"run": "0123456789ab", "embed": "true"}) == Experiment()


@pytest.mark.parametrize(
    "data", [b"", b"[]", b'{"size": "64"}', b'{"sze": 64}', b'{"size": 64'], ids=repr
)
def test_json_form_refuses_with_a_sentence(data: bytes) -> None:
    with pytest.raises(ExperimentError, match=r"^The experiment cannot be read: .+\.$"):
        from_json(data)


def test_json_form_checks_bounds() -> None:
    with pytest.raises(ExperimentError, match=r"^size is 1; give 16 to 16,384"):
        from_json(b'{"size": 1}')


def test_description_names_what_differs() -> None:
    assert describe(Experiment()) == "matmul_add · 64 · bf16 · eager · warm-up 3"
    cold = Experiment(workload="batched_matmul", size=512, bias="vector", warmup=0)
    assert describe(cold) == "batched_matmul · 8 × 512 · bf16 · eager · vector bias · cold start"
