"""Numbers as people read them."""

from __future__ import annotations

import pytest

from profcore import units


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0 ns"),
        (823, "823 ns"),
        (1_000, "1.00 µs"),
        (32_900, "32.9 µs"),
        (224_300, "224 µs"),
        (2_741_700, "2.74 ms"),
        (12_500_000_000, "12.5 s"),
        (2_287_000_000_000, "2,287 s"),
        (-800, "-800 ns"),
    ],
)
def test_time_text(duration_ns: float, text: str) -> None:
    assert units.time_text(duration_ns) == text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(512, "512 B"), (8192, "8.00 KiB"), (33_554_432, "32.0 MiB"), (150_109_880_320, "140 GiB")],
)
def test_bytes_text(size_bytes: int, text: str) -> None:
    assert units.bytes_text(size_bytes) == text


def test_rates_are_decimal() -> None:
    assert units.flops_rate_text(785e12) == "785 TFLOP/s"
    assert units.bytes_rate_text(4.1e12) == "4.10 TB/s"
    assert units.flops_text(528_384) == "528 kFLOP"


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.0, "0.0 %"), (0.0004, "<0.1 %"), (0.085, "8.5 %"), (1.0, "100.0 %")]
)
def test_percent_text(fraction: float, text: str) -> None:
    assert units.percent_text(fraction) == text


def test_ratio_text() -> None:
    assert [units.ratio_text(value) for value in (2.8, 16.2, 340.4)] == ["2.80×", "16×", "340×"]


def test_us_keeps_the_nanosecond() -> None:
    assert units.us(1_234_567) == 1234.567
