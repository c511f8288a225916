"""Where in a JSON text do values stand? For changing a few of them and no other byte.

The text must be known to be valid JSON: nothing is checked here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BETWEEN: Final = re.compile(rb"[\s,]*")
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_COLON: Final = re.compile(rb"\s*:\s*")
_SCALAR: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s,}\]]+', re.DOTALL)


def element_spans(text: bytes, start: int, lengths: Iterable[int]) -> Iterator[range]:
    """Return the place of each element of a list.

    Args:
        text: valid JSON.
        start: just behind the opening bracket.
        lengths: bytes of each element, in order.
    """
    at = start
    for length in lengths:
        between = _BETWEEN.match(text, at)
        at = between.end() if between else at
        yield range(at, at + length)
        at += length


def value_spans(text: bytes, key: bytes, span: range, *, values: int = -1) -> Iterator[range]:
    """Return the place of each value of a key of an object, not of objects inside it.

    Args:
        text: valid JSON.
        key: as it is written between quotes.
        span: where the object stands.
        values: how many to look for; -1 for all. A value that is a list or an object is given
            with the first byte only.
    """
    depth, wanted, at, found = 0, b'"' + key + b'"', span.start, 0
    while found != values and (token := _TOKEN.search(text, at, span.stop)):
        at = token.end()
        mark = token[0]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
        elif depth == 1 and mark == wanted and (colon := _COLON.match(text, at, span.stop)):
            value = _SCALAR.match(text, colon.end(), span.stop)
            if value is not None:
                found += 1
                yield range(value.start(), value.end())
            at = colon.end()
