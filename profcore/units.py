"""Numbers as people read them: times, bytes, rates, shares.

Inside the program times are whole nanoseconds; a unit is chosen only here, where a number is shown.
"""

from __future__ import annotations

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP_BINARY = 1024
_DECIMAL = ("", "k", "M", "G", "T", "P")
_STEP_DECIMAL = 1000.0


def us(duration_ns: float) -> float:
    """Return microseconds with the nanosecond as the last digit (for JSON)."""
    return round(duration_ns / NS_PER_US, 3)


def _digits(value: float) -> str:
    """Three significant digits, never in exponent form, thousands set apart."""
    size = abs(value)
    if size >= 100:  # noqa: PLR2004 - three digits before the point
        return f"{value:,.0f}"
    if size >= 10:  # noqa: PLR2004
        return f"{value:.1f}"
    return f"{value:.2f}"


def time_text(duration_ns: float) -> str:
    """Return for instance "823 ns", "33.1 µs", "2.74 ms", "12.5 s"."""
    size = abs(duration_ns)
    if size < NS_PER_US:
        return f"{duration_ns:.0f} ns"
    if size < NS_PER_MS:
        return f"{_digits(duration_ns / NS_PER_US)} µs"
    if size < NS_PER_S:
        return f"{_digits(duration_ns / NS_PER_MS)} ms"
    return f"{_digits(duration_ns / NS_PER_S)} s"


def bytes_text(size_bytes: float) -> str:
    """Return for instance "512 B", "8.00 KiB", "32.0 MiB" (1 KiB = 1024 B)."""
    value = float(size_bytes)
    for unit in _BINARY[:-1]:
        if abs(value) < _STEP_BINARY:
            return f"{value:.0f} B" if unit == "B" else f"{_digits(value)} {unit}"
        value /= _STEP_BINARY
    return f"{_digits(value)} {_BINARY[-1]}"


def _decimal_text(value: float, unit: str) -> str:
    for prefix in _DECIMAL[:-1]:
        if abs(value) < _STEP_DECIMAL:
            return f"{_digits(value)} {prefix}{unit}"
        value /= _STEP_DECIMAL
    return f"{_digits(value)} {_DECIMAL[-1]}{unit}"


def flops_text(flops: float) -> str:
    """Return a number of floating-point operations, for instance "137 GFLOP"."""
    return _decimal_text(flops, "FLOP")


def flops_rate_text(flops_per_s: float) -> str:
    """Return for instance "785 TFLOP/s"."""
    return _decimal_text(flops_per_s, "FLOP/s")


def bytes_rate_text(bytes_per_s: float) -> str:
    """Return for instance "4.10 TB/s" (decimal, as vendors quote bandwidth)."""
    return _decimal_text(bytes_per_s, "B/s")


def percent_text(fraction: float) -> str:
    """Return for instance "8.5 %", "97.4 %", "<0.1 %"."""
    percent = fraction * 100
    if 0 < percent < 0.1:  # noqa: PLR2004 - below the last digit shown
        return "<0.1 %"
    return f"{percent:.1f} %"


def ratio_text(ratio: float) -> str:
    """Return for instance "2.8×", "16×", "340×"."""
    return f"{_digits(ratio)}×" if abs(ratio) < 10 else f"{ratio:,.0f}×"  # noqa: PLR2004
