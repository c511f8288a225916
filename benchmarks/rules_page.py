"""Write docs/rules.md: every rule with its kind, thresholds and origin, from the registry.

Usage: PYTHONPATH=. python benchmarks/rules_page.py
A test holds the page and the registry in step.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from profcore.rules import FAMILIES, RULES, constants, limits, quantities, twins
from profcore.rules.claims import CLAIMS
from profcore.rules.elsewhere import ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from profcore.rules import Rule

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "rules.md"
DECISIONS: Final = (
    "first_step_is_cold", "limit", "limit_from_trace", "limit_unprofiled", "limit_profiled",
    "busy_at_most_fraction", "noise_fraction",
)  # fmt: skip
HEAD: Final = """# Rules

Made from the registry by `benchmarks/rules_page.py`; do not edit by hand.

A rule looks at one recording and answers *seen*, *not seen*, or *not checked, because ...*.
A **fact** explains, a **note** is unusual, a **warning** says that time is lost and what to change,
a **trust** row says that the numbers may mislead. A program that keeps its GPU busy, cleanly
recorded, has no warning and no trust row: `benchmarks/calibrate.py` holds the rules to that on a
real GPU, and `tests/golden` keeps the outcome.

A rule marked with ✓ makes a prediction that can be run: “Confirm it” on the page,
`profcore/rules/claims.py` in the code. Thresholds are the constants of
`profcore/rules/constants.py`; each says there where its value comes from.
"""


@cache
def _tree(module: ModuleType) -> dict[str, ast.AST]:
    """Return the functions and constants of a module by name."""
    body = ast.parse(inspect.getsource(module)).body
    found: dict[str, ast.AST] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif isinstance(node, ast.ClassDef):
            found |= {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


@cache
def _shared() -> dict[str, ast.AST]:
    """Return the decisions that rules of several families share.

    Not what nearly every rule leans on, such as which steps count.
    """
    whole = _tree(quantities) | _tree(limits) | _tree(twins)
    return {name: whole[name] for name in DECISIONS}


def _names(node: ast.AST) -> set[str]:
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names | {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def thresholds(rule: Rule) -> list[str]:
    """Return the names of the constants that a rule's functions use, through those they call."""
    module = inspect.getmodule(rule.observe)
    if module is None:
        return []
    tree, seen, used = _shared() | _tree(module), set(), set()
    waiting = [_function_name(rule.observe), _function_name(rule.missing)]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in tree:
            continue
        seen.add(name)
        for inner in _names(tree[name]):
            if inner.isupper() and inner in _tree(constants):
                used.add(inner)
            waiting.append(inner)
    order = list(vars(constants))
    return sorted(used, key=order.index)


def _function_name(function: Callable[..., Any]) -> str:
    return function.__qualname__.split(".")[0]


def _value(name: str) -> str:
    value = getattr(constants, name)
    if name.endswith("_NS"):
        return f"{value / 1000:g} µs"
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"


def _row(rule: Rule) -> str:
    used = ", ".join(f"`{name}` = {_value(name)}" for name in thresholds(rule))
    tested = " ✓" if rule.id in CLAIMS or rule.id in {"B1", "B2"} else ""
    cells = (rule.id + tested, rule.kind, rule.title, used or "–", rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    """Return the whole page as Markdown."""
    parts = [HEAD]
    for family in FAMILIES:
        rules = [rule for rule in RULES if rule.family == family]
        parts.append(f"## {family[:1].upper()}{family[1:]}\n")
        parts.append("| Rule | Kind | What is seen | Thresholds | Origin |\n|---|---|---|---|---|")
        parts.append("\n".join(_row(rule) for rule in rules) + "\n")
    parts.append("## Of the catalogue, but no rule\n")
    parts.append("| Entry | What | Where it is, or why it is not built |\n|---|---|---|")
    parts.append(
        "\n".join(f"| {entry} | {what} | {why} |" for entry, (what, why) in ELSEWHERE.items())
    )
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(RULES)} rules, {len(ELSEWHERE)} entries that are none")
    return 0


if __name__ == "__main__":
    sys.exit(main())
