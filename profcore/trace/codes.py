"""Dictionary encoding: a value that is met again and again becomes a small number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


class TextCodes(dict["Hashable", int]):
    """From a text to its code, in order of first sight.

    A name that is not text in the file (a number, null) is taken as the text it would be.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, value: Hashable) -> int:
        """Give the next code to a text not seen before."""
        if isinstance(value, str):
            code = len(self.texts)
            self.texts.append(value)
        else:
            code = self["" if value is None else str(value)]
        self[value] = code
        return code
