"""What was written comes back: every column exact, however the text is laid out and cut."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from profcore.trace import KINDS, Limits, Trace, read
from profcore.trace.model import MISSING

ORIGIN_NS = 1_712_195_495_406_752_804
CATEGORIES = {"cpu_op": "operator", "Kernel": "kernel", "cuda_runtime": "runtime", "x": "other"}


@dataclass(frozen=True)
class Row:
    name: str
    category: str
    start_ns: int
    duration_ns: int
    pid: int
    correlation: int


# Names that look like the places where the text is cut, or that need escapes.
names = st.one_of(
    st.sampled_from(['}, {"ph": "X"', '},{"ph":', "},\n{", '"', "\\", "]}", "ts", ""]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="@"), max_size=12),
)
rows = st.builds(
    Row,
    name=names,
    category=st.sampled_from(list(CATEGORIES)),
    start_ns=st.integers(0, 10**7),
    duration_ns=st.integers(0, 10**7),
    pid=st.integers(0, 3),
    correlation=st.integers(0, 2**63 - 1),
)


def micros(time_ns: int) -> str:
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


def element(row: Row, *, as_text: bool) -> dict[str, Any]:
    quote = '"' if as_text else ""
    return {
        "ph": "X",
        "cat": row.category,
        "name": row.name,
        "ts": f"@{quote}{micros(ORIGIN_NS + row.start_ns)}{quote}@",
        "dur": f"@{quote}{micros(row.duration_ns)}{quote}@",
        "pid": row.pid,
        "args": {"correlation": row.correlation, "list": [{"ph": 1}, {"ph": 2}]},
    }


def written(all_rows: list[Row], *, as_text: bool, as_list: bool, layout: int) -> bytes:
    events: Any = [element(row, as_text=as_text) for row in all_rows]
    data = events if as_list else {"schemaVersion": 1, "traceEvents": events, "traceName": "t"}
    indent = (None, 0, 2)[layout]
    text = json.dumps(data, indent=indent, ensure_ascii=layout == 1)
    return (
        text.replace('"@\\"', '"')
        .replace('\\"@"', '"')
        .replace('"@', "")
        .replace('@"', "")
        .encode()
    )


def rows_of(trace: Trace) -> list[tuple[Any, ...]]:
    return [
        (
            trace.name_of(index),
            KINDS[trace.kind[index]],
            int(trace.start_ns[index]),
            int(trace.duration_ns[index]),
            trace.lanes[int(trace.lane[index])].pid,
            int(trace.correlation[index]),
        )
        for index in range(len(trace))
    ]


@settings(max_examples=150, deadline=None)
@given(
    all_rows=st.lists(rows, min_size=1, max_size=12),
    as_text=st.booleans(),
    as_list=st.booleans(),
    layout=st.integers(0, 2),
    piece_bytes=st.integers(1, 600),
    packed=st.booleans(),
)
def test_reading_gives_back_what_was_written(
    all_rows: list[Row],
    *,
    as_text: bool,
    as_list: bool,
    layout: int,
    piece_bytes: int,
    packed: bool,
) -> None:
    # GIVEN
    data = written(all_rows, as_text=as_text, as_list=as_list, layout=layout)
    in_order = sorted(all_rows, key=lambda row: (row.start_ns, -row.duration_ns))
    origin_ns = in_order[0].start_ns
    linked = {"kernel", "runtime"}
    expected = [
        (
            row.name,
            CATEGORIES[row.category],
            row.start_ns - origin_ns,
            row.duration_ns,
            row.pid,
            row.correlation if CATEGORIES[row.category] in linked else MISSING,
        )
        for row in in_order
    ]
    # WHEN
    stored = gzip.compress(data) if packed else data
    trace = read(stored, limits=Limits(piece_bytes=piece_bytes))
    # THEN
    assert rows_of(trace) == expected
    assert trace.source.events == len(all_rows)
    assert trace.source.repaired == {}
    assert trace.source.set_aside == {}
