"""Times from the text of the file to whole nanoseconds, exactly.

A 64-bit float has steps of 0.25 µs at the epoch times that profilers write, so no time is ever a
float here: the digits themselves become integers, a whole batch at once.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import msgspec
    from numpy.typing import NDArray

Json: TypeAlias = "bytes | msgspec.Raw"

TIME_MAX_NS: Final = 2**61
"""Larger times are no times (73 years); differences and sums of smaller ones fit in int64."""

_DECIMALS = 3  # of a microsecond in nanoseconds
_DIGITS_MAX = 18  # any number of so many digits fits in int64
_TEXT_MAX = 400  # characters; longer numbers are refused, not computed
_CONTEXT = Context(prec=2 * _TEXT_MAX, rounding=ROUND_HALF_EVEN)
_POWERS = 10 ** np.arange(_DIGITS_MAX + 1)
_ZERO = ord("0")  # above the comma and the point
_POINT = ord(".")


def nanoseconds(texts: Sequence[Json]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Turn microseconds as JSON text into whole nanoseconds, half to even.

    Args:
        texts: (n,) JSON values: numbers, or numbers written as text.

    Returns:
        (n,) nanoseconds and (n,) whether the value is a time: finite and within TIME_MAX_NS.
        Where it is not, the nanoseconds are 0.
    """
    values = _plain(b",".join(texts), len(texts))
    if values is None:
        return _one_by_one(texts)
    is_time = values <= TIME_MAX_NS
    return (values if is_time.all() else np.where(is_time, values, 0)), is_time


def _plain(text: bytes, count: int) -> NDArray[np.int64] | None:
    """Parse numbers of digits with at most one point; None when one is anything else."""
    others = text.translate(None, b"0123456789.,")
    if others:
        if others.strip(b'"'):
            return None
        text = text.translate(None, b'"')
    places = _places(text, count)
    if places is None:
        return None
    ends, decimals = places
    digits = lengths(ends) - (decimals >= 0)
    shift = _DECIMALS - np.maximum(decimals, 0)
    lowest = int(shift.min())
    if digits.min() < 1 or digits.max() > (_DIGITS_MAX if lowest < 0 else _DIGITS_MAX + 1):
        return None
    # 19 digits may be beyond int64: they come out as its largest value, which is no time.
    values = np.fromstring(text.translate(None, b"."), np.int64, sep=",")
    if lowest < 0:
        values = _half_even(values, _POWERS[np.maximum(-shift, 0)])
        shift = np.maximum(shift, 0)
    elif not shift.any():
        return values
    factors = _POWERS[shift]
    return None if (values > TIME_MAX_NS // factors).any() else values * factors


def _places(text: bytes, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return where each number ends and its decimals, -1 without a point; None if it has two."""
    symbols = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero(symbols < _ZERO)
    is_point = symbols[marks] == _POINT
    ends = np.append(marks[~is_point], len(text))
    if len(ends) != count:
        return None
    points = marks[is_point]
    number_of = np.cumsum(~is_point)[is_point]
    if (np.diff(number_of) == 0).any():
        return None
    decimals = np.full(count, -1, np.int64)
    decimals[number_of] = ends[number_of] - points - 1
    return ends, decimals


def lengths(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the characters between (n,) separators, the first from the beginning of the text."""
    result = ends.copy()
    result[1:] -= ends[:-1] + 1
    return result


def _half_even(values: NDArray[np.int64], divisors: NDArray[np.int64]) -> NDArray[np.int64]:
    whole, rest = np.divmod(values, divisors)
    over = rest - (divisors - rest)  # rather than 2 * rest: nothing can overflow this way round
    up = (over > 0) | ((over == 0) & (whole % 2 == 1) & (divisors > 1))
    return np.asarray(whole + up, np.int64)


def _one_by_one(texts: Sequence[Json]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    values = np.zeros(len(texts), np.int64)
    valid = np.zeros(len(texts), np.bool_)
    for index, text in enumerate(texts):
        value = exact_ns(bytes(text))
        if value is not None:
            values[index] = value
            valid[index] = True
    return values, valid


def exact_ns(text: bytes) -> int | None:
    """Return the nanoseconds of one JSON value in microseconds; None when it is no time."""
    number = text.strip(b'" ')
    if not number or len(number) > _TEXT_MAX or b"_" in number:
        return None
    try:
        value = Decimal(number.decode("ascii"))
    except (InvalidOperation, UnicodeDecodeError):
        return None
    # adjusted() first: 1e999999999 is a valid Decimal that would fill the memory as an integer.
    if not value.is_finite() or value.adjusted() > _DIGITS_MAX:
        return None
    if value.adjusted() < -_TEXT_MAX:
        return 0
    whole = int(_CONTEXT.scaleb(value, _DECIMALS).to_integral_value(ROUND_HALF_EVEN, _CONTEXT))
    return whole if abs(whole) <= TIME_MAX_NS else None
