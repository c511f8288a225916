"""What the reader alone can show of the public and synthetic traces."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from profcore.errors import TraceError
from profcore.trace import KINDS, Limits, Trace, read
from tests import reference

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON),
]

FILES = sorted(reference.files().items())
OPENS = [(name, facts) for name, facts in FILES if facts["expect"] == "opens"]
CUT_SIZES = (10_000, 10**9)
SMALL_FILE_EVENTS = 30_000


@cache
def opened(name: str) -> Trace:
    return read(reference.FOLDER / name)


def any_of(expected: Any) -> list[Any]:
    return expected["any_of"] if isinstance(expected, dict) else [expected]


def matches(trace: Trace, pattern: str) -> np.ndarray:
    named = np.array([bool(re.fullmatch(pattern, name)) for name in trace.names], np.bool_)
    return named[trace.name]


def sum_us(trace: Trace, rows: np.ndarray) -> float:
    return int(trace.duration_ns[rows].sum()) / 1000


def busy_us(trace: Trace, rows: np.ndarray) -> float:
    """Sum of the gaps-free parts, by the running maximum of ends; rows come in order of start."""
    start, end = trace.start_ns[rows], (trace.start_ns + trace.duration_ns)[rows]
    if not len(start):
        return 0.0
    reach = np.maximum.accumulate(end)
    fresh = np.maximum(start[1:], reach[:-1])
    return float((end[0] - start[0] + np.maximum(end[1:] - fresh, 0).sum()) / 1000)


@pytest.mark.parametrize(("name", "facts"), OPENS, ids=[name for name, _ in OPENS])
def test_an_opened_file_has_the_values_of_the_reference(name: str, facts: dict[str, Any]) -> None:
    trace = opened(name)
    totals = facts["totals"]
    kernels = trace.is_kind("kernel")
    work = trace.is_kind("kernel", "memcpy", "memset")
    assert trace.source.events == facts["events"]
    assert sum(trace.source.set_aside.values()) == facts["rows_set_apart"]
    assert int(kernels.sum()) == totals["kernels"]
    assert sum_us(trace, kernels) == pytest.approx(totals["gpu_kernel_sum_us"] or 0, abs=1e-4)
    assert busy_us(trace, kernels) == pytest.approx(totals["gpu_kernel_union_us"] or 0, abs=1e-4)
    assert busy_us(trace, work) == pytest.approx(totals["gpu_busy_us"] or 0, abs=1e-4)
    operators = trace.is_kind("operator") & ~matches(trace, r"ProfilerStep#\d+")
    assert int(operators.sum()) == totals["cpu_ops"]
    launches = trace.is_kind("runtime") & matches(
        trace,
        ".*(Launch(Kernel|Cooperative|Cluster|Multi)|ModuleLaunch|GraphLaunch|KernelLaunch).*",
    )
    assert int(launches.sum()) in any_of(totals["launches"] or 0)
    assert list(dict.fromkeys(device.name for device in trace.devices)) == facts["gpu_names"]
    assert len(trace.devices) == facts["gpus_listed"]


@pytest.mark.parametrize(("name", "facts"), OPENS, ids=[name for name, _ in OPENS])
def test_copies_steps_and_streams_are_those_of_the_reference(
    name: str, facts: dict[str, Any]
) -> None:
    trace = opened(name)
    for copy, expected in facts["memcpy_by_name"].items():
        rows = trace.is_kind("memcpy") & matches(trace, re.escape(copy))
        assert int(rows.sum()) == expected["count"]
        assert sum_us(trace, rows) == pytest.approx(expected["us"], abs=1e-4)
        sizes = trace.size_bytes[rows]
        known = int(sizes[sizes >= 0].sum()) if (sizes >= 0).any() else None
        assert known == expected["bytes"]
    assert int(trace.is_kind("memset").sum()) == facts["memset"]["count"]
    is_step = trace.is_kind("operator", "annotation") & matches(trace, r"ProfilerStep#\d+")
    steps = np.flatnonzero(is_step).tolist()
    numbers = [int(trace.name_of(row).partition("#")[2]) for row in steps]
    if "steps" in facts:  # not where each row is there twice
        assert numbers == [step["number"] for step in facts["steps"]]
        assert [trace.duration_ns[row] / 1000 for row in steps] == pytest.approx(
            [step["cpu_us"] for step in facts["steps"]], abs=1e-4
        )
    kernels = np.flatnonzero(trace.is_kind("kernel"))
    streams: dict[str, list[float]] = {}
    for row in kernels.tolist():
        lane = trace.lanes[trace.lane[row]]
        device, stream = int(trace.device[row]), int(trace.stream[row])
        key = f"{device if device >= 0 else lane.pid}/{stream if stream >= 0 else lane.tid}"
        streams.setdefault(key, []).append(trace.duration_ns[row] / 1000)
    found = {key: (len(us), sum(us)) for key, us in streams.items()}
    assert found == {
        key: (value["calls"], pytest.approx(value["us"])) for key, value in facts["streams"].items()
    }


@pytest.mark.parametrize(("name", "facts"), FILES, ids=[name for name, _ in FILES])
def test_every_file_opens_or_is_refused_in_words(name: str, facts: dict[str, Any]) -> None:
    path = reference.FOLDER / name
    try:
        trace = opened(name)
    except TraceError as error:
        message = str(error)
        assert facts["expect"] in {"refused", "opens or refused"}
        assert "\n" not in message
        assert any(word in message.lower() for word in facts["names_one_of"])
        return
    assert facts["expect"] in {"opens", "opens or refused"}
    source = trace.source
    assert source.size_bytes == path.stat().st_size
    assert source.events == len(trace) + sum((*source.set_aside.values(), *source.untimed.values()))
    totals = facts["totals"]
    assert int(trace.is_kind("kernel").sum()) in any_of(totals["kernels"])


@pytest.mark.parametrize(("name", "facts"), OPENS, ids=[name for name, _ in OPENS])
def test_where_the_text_is_cut_changes_nothing(name: str, facts: dict[str, Any]) -> None:
    if facts["events"] > SMALL_FILE_EVENTS:
        pytest.skip("the size of the pieces is tried on the smaller files")
    path = reference.FOLDER / name
    small, whole = (read(path, limits=Limits(piece_bytes=size)) for size in CUT_SIZES)
    for column in ("start_ns", "duration_ns", "kind", "name", "lane", "correlation", "device"):
        np.testing.assert_array_equal(getattr(small, column), getattr(whole, column))
    assert (small.names, small.lanes, small.devices) == (whole.names, whole.lanes, whole.devices)
    assert (small.options, small.versions) == (whole.options, whole.versions)
    np.testing.assert_array_equal(small.kernel_details.grid, whole.kernel_details.grid)


def test_the_ascend_file_shows_device_rows_of_their_own_kind() -> None:
    name = next(name for name, _ in OPENS if "Ascend" in name)
    trace = opened(name)
    assert {KINDS[code] for code in trace.kind} >= {"operator", "accelerator"}
    assert int(trace.is_kind("accelerator").sum()) == 276
    assert int(trace.is_kind("kernel").sum()) == 0
