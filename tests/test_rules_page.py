"""docs/rules.md: made from the registry, and complete."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from profcore.rules import RULES
from profcore.rules.elsewhere import ELSEWHERE

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "rules_page.py"

CATALOGUE = {
    "A": 9, "B": 6, "C": 6, "D": 4, "E": 12, "G": 6, "K": 5, "L": 11, "M": 2, "N": 5, "O": 5,
    "Q": 21, "R": 9, "S": 8, "T": 7, "V": 4,
}  # fmt: skip
"""Letter -> highest number. G6 came with the rules."""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rules_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_registry_says() -> None:
    made = script()
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run benchmarks/rules_page.py"


def test_every_entry_of_the_catalogue_is_a_rule_or_says_why_not() -> None:
    entries = {
        f"{letter}{number}"
        for letter, highest in CATALOGUE.items()
        for number in range(1, highest + 1)
    }
    known = {rule.id for rule in RULES}
    assert known | set(ELSEWHERE) == entries
    assert not known & set(ELSEWHERE)


def test_thresholds_are_found_through_the_functions_that_a_rule_calls() -> None:
    thresholds = script().thresholds
    by_id = {rule.id: rule for rule in RULES}
    assert thresholds(by_id["N5"]) == ["CAST_SHARE_FRACTION", "CONVERSION_MIN_NS"]
    assert {"COLD_RATIO", "COLD_MIN_NS"} <= set(thresholds(by_id["C1"]))
    assert "BUSY_HIGH_FRACTION" in thresholds(by_id["B1"])
    assert "WAIT_SHARE_FRACTION" in thresholds(by_id["S1"])
    assert thresholds(by_id["Q12"]) == []
