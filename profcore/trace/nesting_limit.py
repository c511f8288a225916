"""How deep lists and objects nest in a text, found without decoding it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

_OPENING: Final = b"[{"
_CLOSING: Final = b"]}"
_NO_BRACKETS: Final = bytes(set(range(256)) - set(_OPENING + _CLOSING))
_TEXTS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_STEPS: Final = np.zeros(256, np.int8)
_STEPS[list(_OPENING)] = 1
_STEPS[list(_CLOSING)] = -1


def nests_deeper(text: bytes, levels: int) -> bool:
    """Tell whether more than `levels` lists and objects are open at one place.

    Brackets inside texts count at first; only where they would refuse the file is it looked at
    again without its texts. Closing ones could hide a deep nest: that one meets the decoder's own
    limit, which is Python's for recursion.
    """
    return _peak(text) > levels and _peak(_TEXTS.sub(b"", text)) > levels


def _peak(text: bytes) -> int:
    """Return how many brackets are open at the worst place; 0 without any."""
    brackets = np.frombuffer(text.translate(None, _NO_BRACKETS), np.uint8)  # (k,)
    depths = np.cumsum(_STEPS[brackets], dtype=np.int64)
    return max(int(depths.max(initial=0)), 0)
