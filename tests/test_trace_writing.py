"""Columns written as a Chrome trace and read again are the same columns."""

from __future__ import annotations

import json

import numpy as np
import pytest

from profcore.trace import KINDS, read
from profcore.trace.kinds import KIND_OF_CATEGORY
from profcore.trace.writing import CATEGORIES, chrome_text
from tests import handmade
from tests.trace_bytes import kernel, memcpy, op, row, trace_bytes

NAMED = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}}
COLUMNS = (
    *("start_ns", "duration_ns", "kind", "correlation", "external_id", "device", "stream"),
    "size_bytes",
)


@pytest.mark.parametrize("source", [handmade.plain_rows(), handmade.cpu_rows()])
def test_what_is_written_reads_as_the_same_columns(source: list[dict[str, object]]) -> None:
    more = [
        NAMED,
        memcpy(700.001, 3, bytes=4096, correlation=77),
        kernel('name "quoted" 😀 \\', 800.999, 0.001, device=0, stream=7),
        row("other", 900, 1, cat="something new"),
        op("late", 2**40, 5),
    ]
    trace = read(trace_bytes(*source, *more), name="a.json")
    again = read(chrome_text(trace), name="a.json")
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name), err_msg=name)
    for at in range(len(trace)):
        assert again.name_of(at) == trace.name_of(at)
        assert again.lanes[again.lane[at]] == trace.lanes[trace.lane[at]]


def test_every_kind_has_a_spelling_that_means_it() -> None:
    assert set(CATEGORIES) == set(KINDS)
    for kind, category in CATEGORIES.items():
        assert KIND_OF_CATEGORY.get(category, "other") == kind


def test_an_arrow_leads_from_each_launch_to_its_work() -> None:
    trace = read(trace_bytes(*handmade.plain_rows()), name="a.json")
    events = json.loads(chrome_text(trace))["traceEvents"]
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(ends) == int(trace.is_kind("kernel").sum()) == 6
    assert begins.keys() == ends.keys()
    for at, end in ends.items():
        (launch,) = [
            each
            for each in np.flatnonzero(trace.is_kind("runtime"))
            if trace.correlation[each] == trace.correlation[at]
        ]
        assert begins[at]["ts"] * 1000 == pytest.approx(trace.start_ns[launch])
        assert end["ts"] * 1000 == pytest.approx(trace.start_ns[at])
