"""Text from files inside text of ours."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._panels.text import code_span, plain

JOINER = "\u2060"


def shown(markdown: str) -> str:
    """Undo the escapes as a Markdown reader does."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(JOINER, "")


@pytest.mark.parametrize(
    "text",
    ["![i](http://h/p.png)", "[l](http://h)", "`x`", "<b>y</b>", "**b**", "$x$", ":red[x]", "a|b"],
)
def test_every_mark_is_escaped(text: str) -> None:
    escaped = plain(text)
    assert not re.search(r"(?<!\\)[\[\]()`<>*$:|!]", escaped.replace("\\\\", ""))
    assert shown(escaped) == text


@pytest.mark.parametrize("text", ["http://h", "https://h", "www.h.com", "WWW.h.com", "a@h.com"])
def test_addresses_are_broken_apart_unseen(text: str) -> None:
    # Escapes do not help here: such words become links after they are taken off.
    bare = plain(text).replace("\\", "")
    assert "://" not in bare
    assert not re.search(r"www\.", bare, re.IGNORECASE)
    assert not re.search(r"@h", bare)
    assert shown(plain(text)) == text


@given(st.text())
def test_plain_shows_every_text_on_one_line(text: str) -> None:
    flat = " ".join(text.split())
    assert "\n" not in plain(text)
    assert shown(plain(text)) == flat.replace(JOINER, "")


@given(st.text())
def test_code_span_cannot_be_left(text: str) -> None:
    span = code_span(text)
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert inner == f" {' '.join(text.split())} "
    assert fence[0] not in inner
