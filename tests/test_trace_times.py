from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.trace.times import exact_ns, nanoseconds


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        (b"0", 0),
        (b"5", 5_000),
        (b"12.500", 12_500),
        (b"12.5", 12_500),
        (b'"12.5"', 12_500),
        (b"1712195495406752.804", 1_712_195_495_406_752_804),  # 19 digits, no float64
        (b'"1704161511420306.491"', 1_704_161_511_420_306_491),
        (b"1152921504606847", 1_152_921_504_606_847_000),
        (b"1e3", 1_000_000),
        (b"-1600", -1_600_000),
        (b"0.0005", 0),  # half to even
        (b"0.0015", 2),
        (b"0.0025", 2),
        (b"0.00251", 3),
        (b"1.2695", 1_270),
        (b"12.77012757357446", 12_770),
        (b"188.14802169799805", 188_148),
        (b"9999999999999.999999", 10_000_000_000_000_000),  # 19 digits, 6 of them decimals
        (b"0." + b"0" * 300 + b"1", 0),
    ],
)
def test_exact_ns_reads_every_spelling_of_a_time(text: bytes, time_ns: int) -> None:
    assert exact_ns(text) == time_ns
    values, is_time = nanoseconds([text, b"7.001", text])
    assert is_time.all()
    assert values.tolist() == [time_ns, 7_001, time_ns]


@pytest.mark.parametrize(
    "text",
    [
        b"null",
        b"true",
        b"NaN",
        b'"NaN"',
        b'"Infinity"',
        b'"-inf"',
        b'""',
        b'"1_000"',
        b'"1,5"',
        b'"1.2.3"',
        b'"."',
        b"[1]",
        b'{"a":1}',
        b"1e999999999",
        b"99999999999999999999",
        b"9223372036854775807",
        b"10000000000000000",  # in nanoseconds beyond int64
        b"1" * 5000,
        '"٣"'.encode(),
    ],
)
def test_what_is_no_time_is_told_apart_and_leaves_its_neighbours_alone(text: bytes) -> None:
    values, is_time = nanoseconds([b"1.5", text, b"2"])
    assert is_time.tolist() == [True, False, True]
    assert values.tolist() == [1_500, 0, 2_000]


def test_no_values_give_no_times() -> None:
    values, is_time = nanoseconds([])
    assert len(values) == len(is_time) == 0


numbers = st.one_of(
    st.decimals(0, Decimal(2) ** 51, places=3),
    st.decimals(0, 10**6, places=0),
    st.decimals(-(10**6), 10**6, places=6),
    st.decimals(0, 10, places=15),
)


@given(st.lists(st.tuples(numbers, st.booleans()), min_size=1, max_size=8))
def test_a_batch_equals_decimal_arithmetic(values: list[tuple[Decimal, bool]]) -> None:
    texts = [f'"{value:f}"' if quoted else f"{value:f}" for value, quoted in values]
    expected = [
        int((value * 1000).quantize(Decimal(1), rounding=ROUND_HALF_EVEN)) for value, _ in values
    ]
    times_ns, is_time = nanoseconds([text.encode() for text in texts])
    assert is_time.all()
    assert times_ns.tolist() == expected
