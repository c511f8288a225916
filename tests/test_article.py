"""The table of the article's claims: complete, and still what the shipped recordings show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from profcore.rules import RULES
from profcore.rules.article import TABLE, ArticleTable, article_table

ROOT = Path(__file__).resolve().parents[1]


def test_every_row_names_rules_that_exist_and_a_number() -> None:
    known = {rule.id for rule in RULES}
    rows = article_table().rows
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        assert set(row.rules) <= known
        assert row.statement.endswith(".")
        assert row.measured.endswith(".")


def test_some_hold_and_some_differ() -> None:
    answers = [row.answer for row in article_table().rows]
    assert {"holds", "differs"} <= set(answers)


def test_an_answer_that_is_none_is_refused() -> None:
    broken = TABLE.read_bytes().replace(b'"holds"', b'"perhaps"')
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(broken, type=ArticleTable)


def test_the_shipped_recordings_give_the_same_answers() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/article_claims.py"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    kept = {row.statement: row.answer for row in article_table().rows}
    told = {
        statement: answer
        for line in done.stdout.splitlines()
        for statement, answer in kept.items()
        if line[15:].startswith(statement) and line[:15].strip() not in {answer, "not applicable"}
    }
    assert told == {}


def test_the_field_guide_can_show_it() -> None:
    def script() -> None:
        from pages._panels.article import article_panel

        article_panel()

    app = AppTest.from_function(script).run()
    assert not app.exception
    (table,) = [one.value for one in app.markdown if one.value.startswith("| |")]
    assert table.count("\n") == 1 + len(article_table().rows)
    assert "differs" in table
