"""What the article says, and what another GPU showed: a table written by a benchmark.

The table is `article_claims.json`, made from recordings by benchmarks/article_claims.py.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec

Answer = Literal["holds", "differs", "not applicable"]
"""`not applicable`: no recording at hand can test it on that GPU."""

TABLE: Final = Path(__file__).with_name("article_claims.json")


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of the article and what a recording says of it."""

    id: str
    statement: str
    """What the article says, in one sentence."""
    article: str
    """Its numbers, or an empty text."""
    measured: str
    """What was measured, as a sentence."""
    answer: Answer
    rules: list[str]
    """Ids of the rules that rest on it."""


class ArticleTable(msgspec.Struct, frozen=True, kw_only=True):
    """All claims, tested on one GPU."""

    device: str
    torch: str
    rows: list[Tested]


@cache
def article_table() -> ArticleTable:
    """Read the table that ships with the program."""
    return msgspec.json.decode(TABLE.read_bytes(), type=ArticleTable)
