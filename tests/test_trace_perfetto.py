"""Overlapping rows get threads of their own; every other byte of the file stays."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profcore import library
from profcore.errors import TraceError
from profcore.trace import perfetto
from tests import reference
from tests.trace_bytes import Row, kernel, op, trace_bytes

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}},
    kernel("a", 0, 10),
    kernel("b", 5, 10),
    kernel("c", 12, 3),
    op("outer", 0, 50),
    op("inner", 10, 10),
    op("overrun", 40, 20),
]


def rows_of(text: bytes) -> list[dict[str, Any]]:
    value = json.loads(text)
    return value["traceEvents"] if isinstance(value, dict) else value


def hidden(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows that Perfetto would drop: they end after a row that they begin in."""
    dropped = []
    stacks: dict[tuple[Any, Any], list[float]] = {}
    timed = [row for row in rows if row.get("ph") == "X"]
    for row in sorted(timed, key=lambda row: (row["ts"], -row["dur"])):
        stack = stacks.setdefault((row["pid"], row["tid"]), [])
        while stack and stack[-1] <= row["ts"]:
            stack.pop()
        if stack and row["ts"] + row["dur"] > stack[-1]:
            dropped.append(row["name"])
            continue
        stack.append(row["ts"] + row["dur"])
    return dropped


def test_overlapping_rows_get_a_thread_of_their_own() -> None:
    source = trace_bytes(*ROWS)
    assert hidden(rows_of(source)) == ["b", "overrun"]
    made = perfetto.for_perfetto(source)
    rows = rows_of(made.text)
    assert hidden(rows) == []
    tid = {row["name"]: row["tid"] for row in rows if row.get("ph") == "X"}
    # b [5, 15] begins inside a [0, 10]; c [12, 15] does not overlap a and stays
    assert tid["a"] == tid["c"] == 7
    assert tid["outer"] == tid["inner"] == 200
    assert tid["b"] >= perfetto.FIRST_TID
    assert tid["overrun"] >= perfetto.FIRST_TID
    assert made.moved == made.threads == 2
    names = {row["tid"]: row["args"]["name"] for row in rows if row.get("name") == "thread_name"}
    assert names[tid["b"]] == "stream 7 (overlapping rows 1)"
    assert names[tid["overrun"]] == "200 (overlapping rows 1)"


def test_every_other_byte_stays() -> None:
    source = (
        b'\n { "schemaVersion":1 , "x":{"traceEvents":[3]},"traceEvents" : [\r\n'
        b'{"ph":"X","name":"\\"tid\\": 7, }","pid":0,"tid":7,"ts":1.50,"dur":10,'
        b'"args":{"tid":7,"v":"tid"}} ,\n\n'
        b'{"tid" : "7" ,"args":{"a":[{"tid":7}]},"ph":"X","name":"tid","pid":0,"ts":5,"dur":10.0}'
        b',{"tid":7,"args":{},"ph":"X","name":"late","pid":0,"ts":6,"dur":30}\n] ,"z" : 1.0 }\n'
    )
    made = perfetto.for_perfetto(source)
    # "7" and 7 are two threads in the file, so only the third row moves
    expected = source.replace(b'{"tid":7,"args":{},', b'{"tid":1000000000,"args":{},').replace(
        b'"dur":30}', b'"dur":30},\n' + NAME
    )
    assert made.text == expected
    assert made.moved == 1


NAME = (
    b'{"ph":"M","name":"thread_name","pid":0,"tid":1000000000,'
    b'"args":{"name":"7 (overlapping rows 1)"}}'
)


def test_a_file_without_overlaps_stays_as_it_is() -> None:
    source = trace_bytes(
        kernel("a", 0, 10), kernel("b", 10, 10), op("x", 0, 5), op("y", 1, 4), op("z", 5, 1)
    )
    made = perfetto.for_perfetto(gzip.compress(source))
    assert made.text == source
    assert (made.moved, made.remark) == (0, "")


def test_a_list_at_the_top_and_text_threads() -> None:
    rows = [kernel("a", 0, 10), kernel("b", 5, 10)]
    for each in rows:
        each["tid"] = "stream 7"
    made = perfetto.for_perfetto(json.dumps(rows).encode())
    assert hidden(rows_of(made.text)) == []
    assert rows_of(made.text)[-1]["args"]["name"] == "stream 7 (overlapping rows 1)"


def test_arrows_move_with_their_rows() -> None:
    arrow = {"ph": "f", "id": 3, "pid": 0, "tid": 7, "ts": 5, "name": "ac2g", "bp": "e"}
    other = {**arrow, "ts": 0, "id": 4}
    made = perfetto.for_perfetto(trace_bytes(kernel("a", 0, 10), kernel("b", 5, 10), arrow, other))
    tids = {row["id"]: row["tid"] for row in rows_of(made.text) if row.get("ph") == "f"}
    assert tids == {3: perfetto.FIRST_TID, 4: 7}
    assert made.moved == 1


def test_a_number_that_is_taken_is_passed_over() -> None:
    taken = kernel("x", 0, 1)
    taken["tid"] = perfetto.FIRST_TID
    made = perfetto.for_perfetto(trace_bytes(kernel("a", 0, 10), kernel("b", 5, 10), taken))
    assert [row["tid"] for row in rows_of(made.text) if row.get("name") == "b"] == [
        perfetto.FIRST_TID + 1
    ]


@pytest.mark.parametrize(
    "source",
    [b'{"traceEvents":[{"ph":"X","ts":1,"dur":2,"blocks":inf}]}', b'{"other":1}', b"[1, 2", b"[7]"],
)
def test_what_is_no_clean_json_is_handed_over_as_it_is(source: bytes) -> None:
    made = perfetto.for_perfetto(source)
    assert made.text == source
    assert made.remark == perfetto.UNTOUCHED


def test_a_text_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.json.gz"
    path.write_bytes(gzip.compress(b" " * 10_000))
    with pytest.raises(TraceError, match="the limit"):
        perfetto.for_perfetto(path, text_max_bytes=5_000)


spans = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15), st.integers(0, 1)), max_size=25)


@settings(deadline=None)  # machines are shared
@given(spans)
def test_nothing_is_hidden_whatever_overlaps(given_rows: list[tuple[int, int, int]]) -> None:
    rows: list[Row] = [
        kernel(f"k{number}", start, length, stream=stream)
        for number, (start, length, stream) in enumerate(given_rows)
    ]
    made = perfetto.for_perfetto(trace_bytes(*rows))
    assert hidden(rows_of(made.text)) == []
    timed = [row for row in rows_of(made.text) if row.get("ph") == "X"]
    assert [{**row, "tid": 0} for row in timed] == [{**row, "tid": 0} for row in rows]


@pytest.mark.parametrize("recording", library.samples(), ids=lambda recording: recording.id)
def test_samples_come_out_whole(recording: library.Recording) -> None:
    made = perfetto.for_perfetto(recording.trace_path)
    assert made.remark == ""
    assert hidden(rows_of(made.text)) == []


@pytest.mark.traces
@pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON)
def test_a_public_trace_with_overlaps_comes_out_whole() -> None:
    name = "public/AMD-AGI__TraceLens__b200~eager_trace.json.gz"
    made = perfetto.for_perfetto(reference.FOLDER / name)
    assert made.moved > 0
    source = gzip.decompress((reference.FOLDER / name).read_bytes())
    # Threads put back and names taken out again, the file is the same to the byte
    names = rb',\n\{"ph":"M","name":"thread_name","pid":[^\n]*\(overlapping rows \d+\)"\}\}'
    text = re.sub(names, b"", made.text)
    assert len(re.findall(rb'"tid": ?1000000\d\d\d', text)) >= made.moved
    assert re.sub(rb'"tid": ?[^,}]*', b"", text) == re.sub(rb'"tid": ?[^,}]*', b"", source)
