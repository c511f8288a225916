"""The code that records what a trace lacks: it asks for just that, and it is Python."""

from __future__ import annotations

import ast

import pytest

from profcore.analysis import Analysis
from profcore.rules.capture_snippet import capture_snippet
from tests.handmade import plain_rows, trace_of


def keywords(snippet: str) -> set[str]:
    call = next(node for node in ast.walk(ast.parse(snippet)) if isinstance(node, ast.With))
    made = call.items[0].context_expr
    assert isinstance(made, ast.Call)
    return {str(keyword.arg) for keyword in made.keywords}


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ({}, {"record_shapes", "profile_memory"}),
        ({"record_shapes": 1}, {"profile_memory"}),
        ({"record_shapes": 1, "profile_memory": 1}, set()),
    ],
)
def test_it_asks_for_what_was_not_switched_on(header: dict[str, object], options: set[str]) -> None:
    snippet = capture_snippet(Analysis(trace_of(*plain_rows(), **header)))
    assert keywords(snippet) == {"activities", "schedule", "on_trace_ready", *options}
    assert "profiler.step()" in snippet
