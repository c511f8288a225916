from __future__ import annotations

import json

import numpy as np
import pytest

from profcore.errors import TraceError
from profcore.trace import KINDS, Limits, Trace, read
from profcore.trace.model import MISSING
from tests.trace_bytes import (
    GPU,
    annotation,
    kernel,
    launch,
    list_bytes,
    memcpy,
    memory,
    op,
    overhead,
    row,
    step,
    trace_bytes,
)


def kinds(trace: Trace) -> list[str]:
    return [KINDS[code] for code in trace.kind]


def names(trace: Trace) -> list[str]:
    return [trace.name_of(index) for index in range(len(trace))]


def test_read_orders_rows_by_start_then_longer_first_then_as_in_the_file() -> None:
    trace = read(
        trace_bytes(op("late", 30, 1), op("short", 10, 2), op("long", 10, 20), op("again", 10, 2))
    )
    assert names(trace) == ["long", "short", "again", "late"]
    assert trace.start_ns.tolist() == [0, 0, 0, 20_000]
    assert trace.duration_ns.tolist() == [20_000, 2_000, 2_000, 1_000]


def test_read_fills_the_columns_of_a_launch_and_its_kernel() -> None:
    trace = read(
        trace_bytes(
            op("aten::mm", 10, 30, external_id=3),
            launch(20, 5, correlation=7, external_id=3),
            kernel("gemm", 40, 50, correlation=7, device=1, stream=20, **{"External id": 3}),
            memcpy(95, 1, correlation=8, bytes=4096),
        )
    )
    assert kinds(trace) == ["operator", "runtime", "kernel", "memcpy"]
    assert trace.correlation.tolist() == [MISSING, 7, 7, 8]
    assert trace.external_id.tolist() == [3, 3, 3, MISSING]
    assert trace.device.tolist() == [MISSING, MISSING, 1, 0]
    assert trace.stream.tolist() == [MISSING, MISSING, 20, 7]
    assert trace.size_bytes.tolist() == [MISSING, MISSING, MISSING, 4096]
    assert [(lane.pid, lane.tid) for lane in trace.lanes] == [(100, 200), (1, 20), (0, 7)]
    assert trace.lane.tolist() == [0, 0, 1, 2]


def test_read_keeps_kernel_details_in_order_of_the_rows() -> None:
    trace = read(
        trace_bytes(
            kernel("second", 50, 1, grid=[4, 5, 6], block=[32, 1, 1], **{"shared memory": 1024}),
            op("cpu", 0, 1),
            kernel("bare", 60, 1),
            kernel(
                "first",
                40,
                1,
                grid=[8, 1, 1],
                block=[256, 2, 1],
                **{
                    "registers per thread": 90,
                    "shared memory": 0,
                    "est. achieved occupancy %": 31,
                    "blocks per SM": 0.25,
                },
            ),
        )
    )
    details = trace.kernel_details
    assert names(trace) == ["cpu", "first", "second", "bare"]
    assert details.row.tolist() == [1, 2]
    assert details.grid.tolist() == [[8, 1, 1], [4, 5, 6]]
    assert details.block.tolist() == [[256, 2, 1], [32, 1, 1]]
    assert details.registers_per_thread.tolist() == [90, MISSING]
    assert details.shared_memory_bytes.tolist() == [0, 1024]
    np.testing.assert_array_equal(details.occupancy_percent, [31, np.nan])
    np.testing.assert_array_equal(details.blocks_per_multiprocessor, [0.25, np.nan])


@pytest.mark.parametrize("grid", [[1, 2], [1, 2, 3, 4], "1,2,3", None, [1, 2, None], {"x": 1}])
def test_a_grid_that_is_no_triple_is_missing(grid: object) -> None:
    trace = read(trace_bytes(kernel("a", 0, 1, grid=grid), kernel("b", 1, 1, grid=[9, 8, 7])))
    assert trace.kernel_details.grid[-1].tolist() == [9, 8, 7]
    assert MISSING in trace.kernel_details.grid[0]


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("cpu_op", "operator"),
        ("Operator", "operator"),
        ("user_annotation", "annotation"),
        ("cuda_runtime", "runtime"),
        ("Runtime", "runtime"),
        ("cuda_driver", "runtime"),
        ("hip_runtime", "runtime"),
        ("xpu_runtime", "runtime"),
        ("python_function", "python"),
        ("overhead", "overhead"),
        ("Kernel", "kernel"),
        ("KERNEL", "kernel"),
        ("Memcpy", "memcpy"),
        ("gpu_memset", "memset"),
        ("gpu_user_annotation", "gpu_annotation"),
        ("cuda_sync", "gpu_sync"),
        ("mtia_ccp_events", "accelerator"),
        ("Trace", "other"),
        ("", "other"),
    ],
)
def test_every_spelling_of_a_category_has_its_kind(category: str, kind: str) -> None:
    assert kinds(read(trace_bytes(row("x", 1, 2, cat=category)))) == [kind]


def test_process_zero_thread_zero_is_one_lane_per_side() -> None:
    trace = read(
        trace_bytes(
            row("frame", 0, 9, cat="python_function", pid=0, tid=0),
            kernel("k", 1, 2, stream=0),
        )
    )
    assert [(lane.pid, lane.tid) for lane in trace.lanes] == [(0, 0), (0, 0)]
    assert trace.lane.tolist() == [0, 1]


def test_a_number_and_the_same_number_as_text_are_one_lane_with_its_names() -> None:
    trace = read(
        trace_bytes(
            row("a", 0, 1, cat="cpu_op", pid=5, tid="6"),
            row("b", 1, 1, cat="cpu_op", pid="5", tid=6),
            row("k", 1, 1, cat="Kernel", pid=0, tid="stream 7"),
            {"ph": "M", "name": "process_name", "pid": 5, "args": {"name": "python"}},
            {"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": {"name": "main"}},
            {"ph": "M", "name": "thread_name", "pid": 5, "tid": 6, "args": None},
            {"ph": "M", "name": "process_sort_index", "pid": 5, "args": {"sort_index": 1}},
        )
    )
    first, second = trace.lanes
    assert (first.pid, first.tid, first.process_name, first.thread_name) == (5, 6, "python", "main")
    assert (second.pid, second.tid) == (0, "stream 7")
    assert trace.source.untimed == {"names of processes and threads": 4}


def test_rows_of_known_accelerators_without_category_are_recognised_by_their_process() -> None:
    trace = read(
        list_bytes(
            {"ph": "M", "name": "process_name", "pid": 800, "args": {"name": "Ascend Hardware"}},
            {"ph": "X", "name": "MatMul", "pid": 800, "tid": 3, "ts": "1.0", "dur": 2},
            {"ph": "X", "name": "acl", "pid": 900, "tid": 3, "ts": "2.0", "dur": 2},
            {"ph": "X", "name": "mul", "pid": "CPU functions", "tid": 1, "ts": 3, "dur": 4},
            {"ph": "X", "name": "mul", "pid": "CUDA functions", "tid": 0, "ts": 4, "dur": 4},
        )
    )
    assert kinds(trace) == ["accelerator", "other", "operator", "kernel"]


def test_begin_and_end_rows_are_joined_innermost_first() -> None:
    rows = [
        {"ph": "B", "name": "outer", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 10},
        {"ph": "B", "name": "inner", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 12.5},
        {
            "ph": "B",
            "name": "other",
            "cat": "kernel",
            "pid": 0,
            "tid": 7,
            "ts": 11,
            "args": {"correlation": 4, "grid": [1, 2, 3]},
        },
        {"ph": "E", "pid": 1, "tid": 1, "ts": 13},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 20},
        {"ph": "E", "pid": 0, "tid": 7, "ts": 12},
        {"ph": "B", "name": "open", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 30},
        {"ph": "E", "pid": 9, "tid": 9, "ts": 30},
        {"ph": "E", "pid": 9, "tid": 9},
    ]
    trace = read(list_bytes(*rows))
    assert names(trace) == ["outer", "other", "inner"]
    assert trace.start_ns.tolist() == [0, 1_000, 2_500]
    assert trace.duration_ns.tolist() == [10_000, 1_000, 500]
    assert trace.correlation.tolist() == [MISSING, 4, MISSING]
    assert trace.kernel_details.grid.tolist() == [[1, 2, 3]]
    assert trace.source.set_aside == {
        "begin without an end": 1,
        "end without a begin": 1,
        "begin or end without a time": 1,
    }
    assert trace.source.untimed == {"end of a begin/end pair": 3}


def test_rows_that_cannot_be_used_are_set_aside_and_counted_once() -> None:
    trace = read(
        trace_bytes(
            op("good", 5, 1),
            op("negative", 5, -1600),
            op("negative by a nanosecond", 5, -0.001),
            row("none", 5, 1, cat="cpu_op") | {"dur": None},
            op("text", 5, "abc"),
            op("infinite", 5, "Infinity"),
            op("no start", "soon", 1),
            op("no start, negative", "soon", -1),
            kernel("zero", 0, 0),
            op("zero on the CPU", 0, 0),
            op("far", "1e30", 1),
        )
    )
    assert names(trace) == ["zero on the CPU", "good"]
    assert trace.source.set_aside == {
        "start time is missing or is no time": 3,
        "duration is missing or is no time": 3,
        "duration is negative": 2,
        "GPU row with start 0 and duration 0": 1,
    }


def test_every_element_of_the_event_list_is_accounted_for() -> None:
    elements = [
        op("good", 5, 1),
        op("negative", 5, -1),
        {"ph": "s", "id": 1, "ts": 1, "pid": 1, "tid": 1, "cat": "ac2g"},
        {"ph": "C", "name": "memory", "ts": 1, "args": {"bytes": 4}},
        {"ph": "Q"},
        {"name": "no phase"},
        {"ph": 7, "name": 8, "cat": 9, "pid": 1.5, "tid": [], "args": 3},
        None,
        42,
        "text",
        [1, 2],
        {},
    ]
    trace = read(json.dumps({"traceEvents": elements}).encode())
    source = trace.source
    assert source.events == len(elements) == 12
    assert source.set_aside == {
        "duration is negative": 1,
        "elements of the event list that are no readable objects": 4,
    }
    assert source.untimed == {
        "arrows between rows": 1,
        "counters": 1,
        "elements of an unknown phase": 1,
        "elements without a phase": 3,
    }
    rest = sum(source.set_aside.values()) + sum(source.untimed.values())
    assert source.events == len(trace) + rest


def test_strange_values_in_one_row_do_not_refuse_the_file() -> None:
    trace = read(
        trace_bytes(
            kernel("a", 0, 1) | {"args": {"device": [], "stream": 2.0, "correlation": "12"}},
            kernel("b", 1, 1) | {"args": None, "name": 5, "pid": None, "tid": True},
            kernel("c", 2, 1) | {"args": {"correlation": 2**70, "stream": 1.5, "grid": "x"}},
            kernel("d", 3, 1) | {"args": [1], "cat": "KERNEL"},
            op("e", 4, 1) | {"cat": 3, "name": None},
        )
    )
    assert names(trace) == ["a", "5", "c", "d", ""]
    assert kinds(trace) == ["kernel"] * 4 + ["other"]
    assert trace.correlation.tolist() == [12] + [MISSING] * 4
    assert trace.stream.tolist() == [2] + [MISSING] * 4
    assert trace.source.repaired == {"whole numbers beyond 64 bits left out": 1}


def test_the_external_id_of_2021_is_read_and_its_zero_means_none() -> None:
    trace = read(
        trace_bytes(
            row("a", 0, 1, cat="Runtime", args={"external id": 3}),
            row("b", 1, 1, cat="Runtime", args={"external id": 0}),
            row("c", 2, 1, cat="cpu_op", args={"External id": 0}),
        )
    )
    assert trace.external_id.tolist() == [3, MISSING, 0]


def test_text_of_thousands_of_digits_is_no_number() -> None:
    trace = read(trace_bytes(launch(0, 1) | {"args": {"correlation": "9" * 5000}}))
    assert trace.correlation.tolist() == [MISSING]


def test_numbers_beyond_64_bits_in_unused_arguments_do_not_matter() -> None:
    trace = read(trace_bytes(row("x", 0, 1, cat="cpu_op", args={"hash": 2**70})))
    assert trace.source.repaired == {}


def test_memory_rows_come_in_order_of_time_from_the_same_origin() -> None:
    trace = read(
        trace_bytes(
            memory(30, -512, allocated=512, reserved=2048),
            op("aten::empty", 10, 5),
            memory(12.5, 1024, allocated=1024, reserved=2048),
            memory(9, 64, allocated=64, reserved=0, device=-1),
            memory("never", 64, allocated=64, reserved=0),
        )
    )
    rows = trace.memory
    assert rows.start_ns.tolist() == [-1_000, 2_500, 20_000]
    assert rows.size_bytes.tolist() == [64, 1024, -512]
    assert rows.device_type.tolist() == [0, 1, 1]
    assert rows.device.tolist() == [-1, 0, 0]
    assert rows.allocated_bytes.tolist() == [64, 1024, 512]
    assert rows.reserved_bytes.tolist() == [0, 2048, 2048]
    assert trace.source.untimed == {"memory rows": 3}
    assert trace.source.set_aside == {"start time is missing or is no time": 1}


def test_memory_rows_of_other_writers_may_lack_facts() -> None:
    rows = [memory(1, 5, allocated=5, reserved=9), memory(2, 6, allocated=2**70, reserved=1)]
    del rows[0]["args"]["Total Reserved"], rows[1]["args"]["Device Id"]
    trace = read(trace_bytes(op("x", 0, 1), *rows, {**rows[0], "args": None}))
    assert trace.memory.size_bytes.tolist() == [5, MISSING, 6]
    assert trace.memory.reserved_bytes.tolist() == [MISSING, MISSING, 1]
    assert trace.memory.allocated_bytes.tolist() == [5, MISSING, MISSING]
    assert trace.memory.device.tolist() == [0, MISSING, MISSING]


def test_the_header_tells_devices_options_and_versions() -> None:
    rocm = {"id": 1, "name": "", "numSms": "304", "maxSharedMemoryPerMultiProcessor": 65536}
    trace = read(
        trace_bytes(
            op("x", 0, 1),
            devices=(GPU, rocm, 5),  # type: ignore[arg-type]
            record_shapes=1,
            with_stack=0,
            with_flops=True,
            cupti_version=26,
            hip_driver_version=[1],
        )
    )
    first, second = trace.devices
    assert (first.id, first.name, first.multiprocessors) == (0, "NVIDIA H200", 132)
    assert first.shared_memory_per_block_optin_bytes == 232448
    assert (second.id, second.name, second.multiprocessors) == (1, "", 304)
    assert second.shared_memory_per_multiprocessor_bytes == 65536
    assert second.memory_bytes is None
    assert trace.options == {"record_shapes", "with_flops"}
    assert trace.versions == {"cupti_version": "26"}


def test_header_keys_may_follow_the_events() -> None:
    events = [op(f"op {number}", number, 1) for number in range(50)]
    data = json.dumps({"a": 1, "traceEvents": events, "deviceProperties": [GPU], "with_stack": 1})
    for piece_bytes in (100, 10**6):
        trace = read(data.encode(), limits=Limits(piece_bytes=piece_bytes))
        assert len(trace) == 50
        assert trace.devices[0].name == "NVIDIA H200"
        assert trace.options == {"with_stack"}


def test_a_number_beyond_all_bounds_in_the_header_does_not_refuse_the_file() -> None:
    data = trace_bytes(op("x", 0, 1), record_shapes=7777).replace(b"7777", b"1e999")
    trace = read(data)
    assert trace.names == ("x",)
    assert trace.options == frozenset()
    assert sum(trace.source.repaired.values()) == 1


def test_objects_of_another_list_are_not_taken_for_events() -> None:
    others = [{"ph": "X", "name": "no event", "ts": 1, "dur": 1} for _ in range(20)]
    events = [op(f"op {number}", number, 1) for number in range(20)]
    for data in (
        {"before": others, "traceEvents": events, "after": others},
        {"traceEvents": [*events, op("nested", 50, 1) | {"args": {"list": others}}]},
    ):
        for piece_bytes in (64, 200, 1000, 10**6):
            trace = read(json.dumps(data).encode(), limits=Limits(piece_bytes=piece_bytes))
            assert "no event" not in names(trace)
            assert len(trace) == len(data["traceEvents"])


def test_source_says_what_the_file_was() -> None:
    data = trace_bytes(step(0, 0, 9), overhead(1, 1), annotation("a", 2, 1))
    source = read(data, name="mine.json").source
    assert source.file == "mine.json"
    assert source.size_bytes == len(data)
    assert source.events == 3


def test_columns_cannot_be_changed() -> None:
    trace = read(trace_bytes(op("x", 0, 1)))
    with pytest.raises(ValueError, match="read-only"):
        trace.start_ns[0] = 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"traceEvents": []}', "no events"),
        (b"[]", "no events"),
        (b'{"traceEvents": null}', "traceEvents are null"),
        (b'{"traceEvents": {}}', "traceEvents are no list"),
        (b'{"traceEvents": 5}', "traceEvents are no list"),
        (b'{"a": 1}', "without traceEvents"),
        (b"[1, 2]", "no timed events"),
        (trace_bytes({"ph": "M", "name": "process_name"}), "no timed events"),
        (trace_bytes(op("x", 0, -1)), "no timed events, only 1 duration is negative"),
    ],
)
def test_a_file_without_timed_events_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(TraceError, match=words) as caught:
        read(data, name="f.json")
    assert str(caught.value).startswith("f.json ")
    assert "\n" not in str(caught.value)
