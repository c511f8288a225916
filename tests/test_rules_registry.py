"""What every rule, present and future, is held to."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profcore.rules import FAMILIES, RULES, Rule, check, check_all, constants, registry
from profcore.rules.model import Kind
from tests import (
    test_rules_attention,
    test_rules_boundness,
    test_rules_cold_start,
    test_rules_comparison,
    test_rules_compiled,
    test_rules_copies,
    test_rules_dispatch,
    test_rules_kernels,
    test_rules_launches,
    test_rules_occupancy,
    test_rules_quality,
    test_rules_structure,
    test_rules_training,
    test_rules_waiting,
)
from tests.handmade import analysis_of, plain_rows
from tests.rule_traces import SGEMM, copy_before_product, loop, own_run, product, product_and_add
from tests.trace_bytes import annotation, op

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from tests.rule_traces import Case

CASES: tuple[Case, ...] = tuple(
    case
    for module in (
        test_rules_boundness,
        test_rules_structure,
        test_rules_training,
        test_rules_occupancy,
        test_rules_comparison,
        test_rules_attention,
        test_rules_cold_start,
        test_rules_compiled,
        test_rules_copies,
        test_rules_dispatch,
        test_rules_kernels,
        test_rules_launches,
        test_rules_quality,
        test_rules_waiting,
    )
    for case in module.CASES
)

NEVER_CLEAR = {"A3", "A4", "B1", "B2", "B3", "D1", "E3", "E5", "E6", "E8", "G6", "Q10", "R4", "R7"}
"""These report a number whenever they can be checked at all."""
NEVER_MISSING = {"Q6", "Q12", "Q18"}
"""These need nothing but an event, so only an empty trace stops them."""
NEVER_FIRED = {"Q14": "checks the program itself", "L10": "shapes are not read"}
IDS = {rule.id for rule in RULES}


@cache
def empty() -> Analysis:
    """Return the analysis of a trace without a single timed row."""
    analysis = analysis_of(op("aten::mm", 0, 5))
    return type(analysis)(_without_rows(analysis))


def _without_rows(analysis: Analysis) -> object:
    import dataclasses

    import numpy as np

    trace = analysis.trace
    emptied = {
        field.name: value[:0]
        for field in dataclasses.fields(trace)
        if isinstance(value := getattr(trace, field.name), np.ndarray)
    }
    return dataclasses.replace(trace, **emptied, names=(), devices=())


HEALTHY = {
    # 193 of 198 us busy, as on an H200 at 4096²
    "eager": (loop(5, product_and_add(175, 18), every_us=200, cpu_us=150), own_run(step_us=198)),
    # compiled with a vector bias: 178 of 182 us
    "compiled": (
        loop(5, product(178), every_us=182, cpu_us=150),
        own_run(step_us=182, compile="default", bias="vector"),
    ),
    # with a matrix bias the copy is a note: 16 + 178 of 200 us
    "compiled, matrix bias": (
        loop(5, copy_before_product(16, 178), every_us=200, cpu_us=150),
        own_run(step_us=200, compile="default"),
    ),
    # the profiler starves the GPU: 60 us of work every 130 us, 62 us without the profiler
    "starved by the profiler": (
        loop(5, product(60), every_us=130, cpu_us=110),
        own_run(step_us=62),
    ),
}


@cache
def healthy(name: str) -> Analysis:
    """Return one of the healthy runs."""
    rows, known = HEALTHY[name]
    return analysis_of(*rows, **known)


class TestTheRegistry:
    def test_ids_are_unique_and_look_like_the_catalogue_s(self) -> None:
        assert len(IDS) == len(RULES)
        assert all(re.fullmatch(r"[A-Z]\d{1,2}", rule_id) for rule_id in IDS)

    def test_titles_are_unique(self) -> None:
        assert len({rule.title for rule in RULES}) == len(RULES)

    def test_every_family_has_a_rule_or_is_none(self) -> None:
        assert {rule.family for rule in RULES} <= set(FAMILIES)

    def test_what_hides_what_names_rules_that_exist(self) -> None:
        known = IDS | {"A2"}  # comes with the attention rules
        named = {cause for cause, _ in registry.HIDES}
        named |= {hidden for _, explained in registry.HIDES for hidden in explained}
        assert named <= known

    def test_every_answer_has_every_rule_in_order(self) -> None:
        findings = check_all(analysis_of(*plain_rows()))
        assert [finding.rule for finding in findings] == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
class TestEveryRule:
    def test_cannot_be_checked_on_an_empty_trace(self, rule: Rule) -> None:
        finding = check(rule, empty())
        assert finding.state == "not_checked"
        assert finding.reason.endswith(".")
        assert not finding.evidence

    def test_stays_silent_on_healthy_runs(self, rule: Rule) -> None:
        for name in HEALTHY:
            finding = check(rule, healthy(name))
            assert finding.state != "fired" or finding.kind not in {"warning", "trust"}

    def test_speaks_in_whole_plain_sentences(self, rule: Rule) -> None:
        for text in (rule.meaning, rule.advice):
            assert not text or text.endswith(".")
            assert "TODO" not in text
            assert not re.search(r"\{|\}|  ", text)
        assert rule.meaning
        assert rule.source
        assert rule.title[0].isupper() or rule.title.startswith(
            ("aten::", "matmul", "mm", "fp32", "0 %")
        )
        assert not rule.title.endswith(".")

    def test_has_a_case_for_each_of_its_answers(self, rule: Rule) -> None:
        states = {case.state for case in CASES if case.rule == rule.id}
        expected = {"fired", "clear", "not_checked"}
        expected -= {"clear"} if rule.id in NEVER_CLEAR else set()
        expected -= {"not_checked"} if rule.id in NEVER_MISSING else set()
        expected -= {"fired"} if rule.id in NEVER_FIRED else set()
        assert expected <= states


def test_a_cause_hides_what_it_explains() -> None:
    # GIVEN a cold first step in which torch.compile works: R1 and C1 both see it
    rows = [
        *loop(4, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000),
        op("Torch-Compiled Region: 0/0", 4850, 10),
        annotation("dynamo_data: compile_id=0/0", 1000, 3000),
    ]
    findings = {finding.rule: finding for finding in check_all(analysis_of(*rows))}
    # THEN only the compiler is blamed
    assert findings["R1"].state == "fired"
    assert findings["C1"].state == "not_checked"
    assert findings["C1"].reason.startswith("R1 (Compiling inside the recorded steps)")


def test_saving_gpu_time_is_no_warning_while_the_cpu_is_the_limit() -> None:
    rule = next(rule for rule in RULES if rule.id == "N1")
    rows = loop(5, product(50, name=SGEMM))
    busy = check(rule, analysis_of(*rows, **own_run(step_us=55, dtype="fp32")))
    idle = check(rule, analysis_of(*rows, **own_run(step_us=500, dtype="fp32")))
    assert (busy.kind, idle.kind) == ("warning", "fact")
    assert "saves nothing" in idle.meaning


def test_every_threshold_says_where_it_comes_from() -> None:
    source = Path(constants.__file__).read_text(encoding="utf-8")
    body = ast.parse(source).body
    for assignment, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(assignment, ast.AnnAssign):
            assert isinstance(following, ast.Expr), ast.unparse(assignment)
            assert isinstance(following.value, ast.Constant)


def test_every_threshold_is_used() -> None:
    names = [name for name in vars(constants) if name.isupper() and not name.startswith("NS_")]
    folder = Path(constants.__file__).parent
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in folder.glob("*.py")
        if path.name != "constants.py"
    )
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_kinds_are_the_contract_s() -> None:
    assert set(Kind.__args__) == {"fact", "note", "warning", "trust"}
