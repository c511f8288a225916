"""Chrome-trace JSON from short descriptions of rows, for tests.

    read(trace_bytes(
        step(0, 0, 100),
        op("aten::mm", 10, 30),
        launch(20, 5, correlation=7),
        kernel("gemm", 40, 50, correlation=7),
    ))

Times are microseconds: int, float or text go into the file as they are.
"""

from __future__ import annotations

import json
from typing import Any

Time = int | float | str
Row = dict[str, Any]

CPU_PID = 100
CPU_TID = 200
GPU = {
    "id": 0,
    "name": "NVIDIA H200",
    "totalGlobalMem": 150_000_000_000,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65536,
    "warpSize": 32,
    "sharedMemPerBlock": 49152,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerBlockOptin": 232448,
    "sharedMemPerMultiprocessor": 233472,
}


def row(
    name: str,
    ts: Time,
    dur: Time,
    *,
    cat: str,
    pid: int | str = CPU_PID,
    tid: int | str = CPU_TID,
    args: dict[str, Any] | None = None,
) -> Row:
    """Return a timed row (ph X) of any category."""
    fields = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    return {**fields, "args": args or {}}


def op(
    name: str, ts: Time, dur: Time, *, tid: int = CPU_TID, external_id: int | None = None
) -> Row:
    """Return an operator on the CPU side."""
    args = {} if external_id is None else {"External id": external_id}
    return row(name, ts, dur, cat="cpu_op", tid=tid, args=args)


def annotation(name: str, ts: Time, dur: Time, *, tid: int = CPU_TID) -> Row:
    """Return a record_function range."""
    return row(name, ts, dur, cat="user_annotation", tid=tid)


def step(number: int, ts: Time, dur: Time, *, tid: int = CPU_TID) -> Row:
    """Return a ProfilerStep#N row of the CPU side."""
    return annotation(f"ProfilerStep#{number}", ts, dur, tid=tid)


def launch(
    ts: Time,
    dur: Time,
    *,
    correlation: int | None = None,
    name: str = "cudaLaunchKernel",
    tid: int = CPU_TID,
    external_id: int | None = None,
) -> Row:
    """Return a runtime call; give it another `name` for cudaMemcpyAsync and the like."""
    args: dict[str, Any] = {} if correlation is None else {"correlation": correlation}
    if external_id is not None:
        args["External id"] = external_id
    return row(name, ts, dur, cat="cuda_runtime", tid=tid, args=args)


def overhead(ts: Time, dur: Time, *, name: str = "Activity Buffer Request") -> Row:
    """Return work of the profiler itself, on the thread of the operators."""
    return row(name, ts, dur, cat="overhead")


def kernel(
    name: str,
    ts: Time,
    dur: Time,
    *,
    correlation: int | None = None,
    device: int = 0,
    stream: int = 7,
    **args: Any,
) -> Row:
    """Return a GPU kernel; further keywords become args (`grid=[8, 1, 1]`).

    Arg names that are no Python names: `**{"registers per thread": 90}`.
    """
    return _gpu_row(name, ts, dur, "kernel", correlation, device, stream, args)


def memcpy(
    ts: Time,
    dur: Time,
    *,
    name: str = "Memcpy HtoD (Pageable -> Device)",
    correlation: int | None = None,
    device: int = 0,
    stream: int = 7,
    **args: Any,
) -> Row:
    """Return a copy; give its size as `bytes=...`."""
    return _gpu_row(name, ts, dur, "gpu_memcpy", correlation, device, stream, args)


def memset(
    ts: Time,
    dur: Time,
    *,
    correlation: int | None = None,
    device: int = 0,
    stream: int = 7,
    **args: Any,
) -> Row:
    """Return a fill; give its size as `bytes=...`."""
    return _gpu_row("Memset (Device)", ts, dur, "gpu_memset", correlation, device, stream, args)


def memory(ts: Time, size_bytes: int, *, allocated: int, reserved: int, device: int = 0) -> Row:
    """Return a [memory] instant of a CUDA device (device -1: of the CPU)."""
    args = {
        "Device Type": 1 if device >= 0 else 0,
        "Device Id": device,
        "Bytes": size_bytes,
        "Total Allocated": allocated,
        "Total Reserved": reserved,
    }
    fields = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "ts": ts}
    return {**fields, "pid": CPU_PID, "tid": CPU_TID, "args": args}


def trace_bytes(*rows: Row, devices: tuple[dict[str, Any], ...] = (GPU,), **header: Any) -> bytes:
    """Return the bytes of a trace as torch writes it, one event after another.

    `header` are further keys at the top (`record_shapes=1`).
    """
    top = {"schemaVersion": 1, "deviceProperties": list(devices), **header}
    return json.dumps({**top, "traceEvents": list(rows)}, indent=1).encode()


def list_bytes(*rows: Row) -> bytes:
    """Return the bytes of a trace of the old form: a list of events and nothing round it."""
    return json.dumps(list(rows)).encode()


def _gpu_row(
    name: str,
    ts: Time,
    dur: Time,
    cat: str,
    correlation: int | None,
    device: int,
    stream: int,
    args: dict[str, Any],
) -> Row:
    facts: dict[str, Any] = {"device": device, "stream": stream}
    if correlation is not None:
        facts["correlation"] = correlation
    return row(name, ts, dur, cat=cat, pid=device, tid=stream, args={**facts, **args})
