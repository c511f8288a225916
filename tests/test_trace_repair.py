from __future__ import annotations

import json

import numpy as np
import pytest

from profcore.errors import TraceError
from profcore.trace import Limits, read
from profcore.trace.repair import repaired, repaired_names
from tests.trace_bytes import kernel, op, trace_bytes

# The forms in which writers put a name: among others, alone on its line, last of all.
LINE = b"""  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 2,
    "ts": 5, "dur": 1
  }"""
PRETTY = b""" {
  "ph": "X",
  "cat": "cpu_op",
  "name": "%s",
  "pid": 1,
  "tid": 2,
  "ts": 5,
  "dur": 1
 }"""
LAST = b'  {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 5, "dur": 1, "name": "%s"}'


def file_with(name: bytes, form: bytes = LINE) -> bytes:
    rows = [form.replace(b"%s", text) for text in (b"before", name, b"after")]
    return b'{"traceEvents": [\n' + b",\n".join(rows) + b"\n]}"


@pytest.mark.parametrize("form", [LINE, PRETTY, LAST])
@pytest.mark.parametrize(
    ("name", "expected", "reasons"),
    [
        (b"a \xff\xfe\x9c b", "a \ufffd\ufffd\ufffd b", {"bytes that are not UTF-8, replaced": 3}),
        (b"a\x01\tb", "a\x01\tb", {"raw control characters inside a text": 2}),
        (b"a \\ud83d b", "a \ufffd b", {"halves of a two-part character, replaced": 1}),
        (
            b"a \\ud83d\\ude00 \\udc00",
            "a 😀 \ufffd",
            {"halves of a two-part character, replaced": 1},
        ),
        (b"C:\\Users\\new", "C:\\Users\\new", {"texts with backslashes that were not escaped": 1}),
        (b'say "hi" twice', 'say "hi" twice', {"names with quotes that were not escaped": 1}),
        (
            b'{"device": "cpu", "x": 1}(12): run',
            '{"device": "cpu", "x": 1}(12): run',
            {"names with quotes that were not escaped": 1},
        ),
        (
            b"C:\\temp\\",
            "C:\\temp\\",
            {"texts with backslashes that were not escaped": 1},
        ),
    ],
)
def test_a_name_is_mended_and_its_neighbours_stay(
    name: bytes, expected: str, reasons: dict[str, int], form: bytes
) -> None:
    for piece_bytes in (40, 10**6):
        trace = read(file_with(name, form), limits=Limits(piece_bytes=piece_bytes))
        assert sorted(trace.names) == sorted(["before", expected, "after"])
        assert len(trace) == 3
        assert trace.source.repaired == reasons


def test_a_raw_line_end_inside_a_name_is_mended() -> None:
    trace = read(file_with(b"two\nlines", PRETTY))
    assert "two\nlines" in trace.names


@pytest.mark.parametrize("word", [b"inf", b"Infinity", b"-nan", b"NaN"])
def test_bare_numbers_are_read_as_what_they_mean(word: bytes) -> None:
    data = trace_bytes(kernel("k", 1, 1, **{"blocks per SM": "?"}), op("x", 2, 2))
    trace = read(data.replace(b'"?"', word))
    assert trace.source.repaired == {"NaN or infinity written as a bare word": 1}
    np.testing.assert_array_equal(
        trace.kernel_details.blocks_per_multiprocessor, [float(word.decode())]
    )
    assert b"inf" in repaired(b'{"inf": "inf", "a": inf}')[0]


def test_a_duration_without_a_number_is_set_aside() -> None:
    data = trace_bytes(op("x", 1, 777), op("y", 2, 2)).replace(b"777", b"NaN")
    trace = read(data)
    assert trace.source.set_aside == {"duration is missing or is no time": 1}


def test_commas_before_a_closing_bracket_are_dropped() -> None:
    data = trace_bytes(op("x", 1, 1), op("y", 2, 2), devices=()).replace(b"\n ]", b",\n ]")
    trace = read(data)
    assert len(trace) == 2
    assert trace.source.repaired == {"commas before a closing bracket": 1}


def test_zero_bytes_after_the_end_are_dropped() -> None:
    trace = read(trace_bytes(op("x", 1, 1)) + b"\0" * 100)
    assert trace.source.repaired == {"zero bytes after the end": 1}


def test_text_in_order_is_left_alone() -> None:
    data = trace_bytes(op('a "b" \\ \t 😀 [1,] nan,', 1, 1), op("\ud83d\ude00", 1, 1))
    assert repaired(data) == (data, {})
    assert repaired_names(data) == (data, {})


def test_members_swallowed_by_a_name_are_not_mended() -> None:
    line = b'"ph": "X", "name": "a", "pid": 1, "tid": "b" c", "ts": 3,\n'
    assert repaired_names(line) == (line, {})


def test_a_fault_that_cannot_be_mended_is_told_by_its_place() -> None:
    data = file_with(b"x", PRETTY).replace(b'"pid": 1', b'"pid" 1', 1)
    with pytest.raises(TraceError, match="line 6, column 9"):
        read(data)


def test_a_cut_off_file_with_other_faults_still_counts_as_cut_off() -> None:
    for name in (b"a \xff b", b"\\ud83d", b"tab\there"):
        data = file_with(name)
        with pytest.raises(TraceError, match="ends early"):
            read(data[:-10])


def test_large_faulty_lines_are_given_up_quickly() -> None:
    names = b'","a":"' * 200_000
    with pytest.raises(TraceError):
        read(file_with(b'"' + names))


def test_json_that_json_writes_is_never_mended() -> None:
    names = ["\\", '"', "\n", "\x00", "\u2028", "\\u00", '\\"', "C:\\", '{"ph": 1},{"ph"']
    data = json.dumps({"traceEvents": [op(name, 1, 1) for name in names]}).encode()
    for piece_bytes in (10, 300, 10**6):
        trace = read(data, limits=Limits(piece_bytes=piece_bytes))
        assert list(trace.names) == names
        assert trace.source.repaired == {}
