"""Text that is not ours inside text of ours: it must be shown, never obeyed.

`st.text`, `st.code`, `st.dataframe` and Altair show text as it is. `st.markdown`, `st.caption`,
`st.metric`, buttons, headings and alerts read Markdown: a kernel named `![i](http://...)` would
make every visitor's browser ask that host. Names from files pass through here first.
"""

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_LINK_STARTS = re.compile(r"(:|@|www)", re.IGNORECASE)
_WORD_JOINER = "\u2060"
"""Invisible and without width: it breaks `https://`, `www.`, `a@b` and `:icon:` apart, which are
made into links and icons even where every mark is escaped."""


def plain(text: str) -> str:
    """Return Markdown that shows `text` as it is, on one line, in the font around it."""
    flat = " ".join(text.split())
    return _PUNCTUATION.sub(r"\\\1", _LINK_STARTS.sub(rf"\1{_WORD_JOINER}", flat))


def code_span(text: str) -> str:
    """Return Markdown that shows `text` as it is, on one line, as code.

    The fence is longer than any run of backticks in the text.
    """
    flat = " ".join(text.split())
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}"
