"""Columns of numbers from what writers put there: numbers, text, null, too large ones."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from profcore.trace.model import MISSING
from profcore.trace.schema import NULL
from profcore.trace.times import lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profcore.trace.schema import Raw

TOO_LARGE: Final = "whole numbers beyond 64 bits left out"

_INT64_MIN = -(2**63)
_INT64_MAX = 2**63 - 1
_INT64_DIGITS = 18
_TEXT_MAX = 25  # characters; int() of millions of digits takes minutes
_COMMA = ord(",")


def whole_numbers(values: list[Any]) -> tuple[NDArray[np.int64], int]:
    """Return the values as int64, MISSING where they are none.

    Returns:
        (n,) column, and how many whole numbers were too large for it.
    """
    try:
        # array refuses all that is no int64; numpy would quietly convert text and floats.
        return np.frombuffer(array("q", values), np.int64), 0
    except (TypeError, OverflowError):
        pass
    too_large = 0
    column = np.full(len(values), MISSING, np.int64)
    for index, value in enumerate(values):
        number = _whole(value)
        if number is None:
            continue
        if _INT64_MIN <= number <= _INT64_MAX:
            column[index] = number
        else:
            too_large += 1
    return column, too_large


def whole_of_json(raws: Sequence[Raw]) -> NDArray[np.int64]:
    """Return JSON values as (n,) int64, MISSING where they are no whole numbers."""
    if all(raw is NULL for raw in raws):
        return np.full(len(raws), MISSING, np.int64)
    text = b",".join(raws)
    if not text.translate(None, b"0123456789-,"):
        values = whole_of_text(text)
        if values is not None:
            return values
    return whole_numbers([decoded(raw) for raw in raws])[0]


def whole_of_text(text: bytes) -> NDArray[np.int64] | None:
    """Parse whole numbers with commas between them; None when one could be too large.

    Args:
        text: JSON numbers, so that none is empty and a sign can only come first.
    """
    commas = np.flatnonzero(np.frombuffer(text, np.uint8) == _COMMA)
    if lengths(np.append(commas, len(text))).max() > _INT64_DIGITS:
        return None
    return np.fromstring(text, np.int64, sep=",")


def float_of_json(raws: Sequence[Raw]) -> NDArray[np.float64]:
    """Return JSON values as (n,) float64, NaN where they are no numbers."""
    if all(raw is NULL for raw in raws):
        return np.full(len(raws), np.nan)
    text = b",".join(raws)
    if not text.translate(None, b"0123456789+-.eE,"):
        return np.fromstring(text, np.float64, sep=",")
    return np.array([_float(decoded(raw)) for raw in raws], np.float64)


def decoded(raw: Raw) -> Any:
    """Return a JSON value; None where it is a number beyond what a float holds."""
    try:
        return None if raw is NULL else msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str):
        text = value.strip()
        is_whole = text.removeprefix("-").isdecimal() and text.isascii()
        return int(text) if is_whole and len(text) <= _TEXT_MAX else None
    return value if isinstance(value, int) else None


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return float("nan")
    try:
        return float(value)
    except (ValueError, OverflowError):
        return float("nan")
