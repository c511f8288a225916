"""Mends what writers get wrong in JSON, where the intention is beyond doubt.

Only text that the decoder refused comes here, and it is decoded again afterwards: what still is
no JSON is refused. Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

NOT_UTF8: Final = "bytes that are not UTF-8, replaced"
CONTROL: Final = "raw control characters inside a text"
BARE_NUMBER: Final = "NaN or infinity written as a bare word"
BACKSLASH: Final = "texts with backslashes that were not escaped"
QUOTES: Final = "names with quotes that were not escaped"
SURROGATE: Final = "halves of a two-part character, replaced"
COMMA: Final = "commas before a closing bracket"
ZEROS: Final = "zero bytes after the end"

_REPLACEMENT: Final = "\ufffd".encode()
_TEXT: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN: Final = re.compile(
    _TEXT + rb"|[-+]?\b(?:[nN][aA][nN]|[iI][nN][fF](?:inity)?)\b|,(?=\s*[\]}])", re.DOTALL
)
_CONTROL: Final = re.compile(rb"[\x00-\x1f]")
_BAD_ESCAPE: Final = re.compile(
    rb'(?:[^\\]|\A)(?:\\\\)*\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})', re.DOTALL
)
_SURROGATES: Final = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_FAULTY: Final = re.compile(rb"[\x00-\x1f]|\\[^\"/bfnrt]", re.DOTALL)
_BARE_QUOTE: Final = re.compile(rb'(?<!\\)((?:\\\\)*)"')

_NAME: Final = re.compile(rb'"name"[ \t]*:[ \t]*"')
_REST: Final = re.compile(
    rb'(?:[ \t]*,[ \t]*"[^"\\\r\n]{1,64}"[ \t]*:[ \t]*(?:"[^"\\\r\n]*"|[-+.\w]++|[{\[])?)*+'
    rb"[ \t]*,?[ \t\]}]*,?[ \t]*\r?\n?\Z"
)
_NEXT_MEMBER: Final = re.compile(
    rb'"[ \t]*,[ \t]*"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s)"[ \t]*:'
)
_QUOTES_MAX: Final = 200
"""Quotes on a line with a name; more of them would take long to try."""
_LINE_MAX_BYTES: Final = 64 * 1024


def repaired(text: bytes) -> tuple[bytes, Counter[str]]:
    """Mend bytes, control characters, escapes, bare words and commas.

    Returns:
        The mended text, and how many places were mended by reason.
    """
    counts: Counter[str] = Counter()
    text = _valid_utf8(text, counts)
    stripped = text.rstrip(b"\0 \t\r\n")
    if b"\0" in text[len(stripped) :]:
        counts[ZEROS] += 1
        text = stripped
    return _TOKEN.sub(lambda match: _mended(match[0], counts), text), counts


def repaired_names(text: bytes) -> tuple[bytes, Counter[str]]:
    """Escape quotes and backslashes inside names.

    A name ends with the first quote after which the line reads as more members to its end.

    Returns:
        The mended text, and how many places were mended by reason.
    """
    counts: Counter[str] = Counter()
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if b'"name"' in line and len(line) <= _LINE_MAX_BYTES:
            lines[number] = _mended_line(line, counts)
    return b"".join(lines), counts


def _mended_line(line: bytes, counts: Counter[str]) -> bytes:
    opening = _NAME.search(line)
    if not opening:
        return line
    start = opening.end()
    quotes = [match.start() for match in re.finditer(b'"', line[start:])]
    for quote in quotes if len(quotes) <= _QUOTES_MAX else ():
        end = start + quote
        if _REST.match(line, end + 1):
            name = line[start:end]
            # A name with whole members of the event in it is more likely another kind of fault.
            if _NEXT_MEMBER.search(name):
                break
            return line[:start] + _escaped(name, counts) + line[end:]
    return line


def _escaped(name: bytes, counts: Counter[str]) -> bytes:
    if _BAD_ESCAPE.search(name):
        # Whoever wrote one wrong escape escaped nothing: C:\new is no line end.
        counts[BACKSLASH] += 1
        name = name.replace(b"\\", b"\\\\")
    mended, quotes = _BARE_QUOTE.subn(rb'\1\\"', name)
    if quotes:
        counts[QUOTES] += 1
    return mended


def _valid_utf8(text: bytes, counts: Counter[str]) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        mended = text.decode(errors="replace").encode()
        counts[NOT_UTF8] += mended.count(_REPLACEMENT) - text.count(_REPLACEMENT)
        return mended
    return text


def _mended(token: bytes, counts: Counter[str]) -> bytes:
    if token == b",":
        counts[COMMA] += 1
        return b""
    if not token.startswith(b'"'):
        counts[BARE_NUMBER] += 1
        return b'"' + token + b'"'
    return _mended_text(token, counts) if _FAULTY.search(token) else token


def _mended_text(token: bytes, counts: Counter[str]) -> bytes:
    if _BAD_ESCAPE.search(token):
        counts[BACKSLASH] += 1
        token = re.sub(rb'\\(?!")', rb"\\\\", token)
    token, controls = _CONTROL.subn(lambda match: b"\\u%04x" % match[0][0], token)
    if controls:
        counts[CONTROL] += controls
    halves = sum(not match[1] for match in _SURROGATES.finditer(token))
    if halves:
        counts[SURROGATE] += halves
        token = _SURROGATES.sub(lambda match: match[1] or rb"\ufffd", token)
    return token
