"""Columns become a Chrome trace again: for a viewer, when the file itself is gone.

Times, names, threads and the ids that join rows come back exactly; what was never kept (shapes,
stacks, launch facts) does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from profcore.trace.model import GPU_WORK, KINDS, MISSING, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profcore.trace.model import Trace

CATEGORIES: Final[dict[Kind, str]] = {
    "operator": "cpu_op",
    "annotation": "user_annotation",
    "runtime": "cuda_runtime",
    "overhead": "overhead",
    "python": "python_function",
    "kernel": "kernel",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "gpu_annotation": "gpu_user_annotation",
    "gpu_sync": "cuda_sync",
    "accelerator": "hpu_op",
    "other": "other",
}
"""The spelling written for each kind of row."""

_ARROW: Final = {"cat": "ac2g", "name": "ac2g"}
"""From a launch call to its GPU work, as PyTorch writes it."""


def chrome_text(trace: Trace) -> bytes:
    """Return a trace as the JSON that PyTorch's exporter writes, times from its earliest row."""
    events = [*_lane_names(trace), *_rows(trace), *_arrows(trace)]
    return msgspec.json.encode({"displayTimeUnit": "ms", "traceEvents": events})


def _micros(time_ns: int) -> msgspec.Raw:
    """Write nanoseconds as the microseconds of the format, none lost to a float."""
    return msgspec.Raw(f"{time_ns // 1000}.{time_ns % 1000:03d}".encode())


def _rows(trace: Trace) -> Iterator[dict[str, Any]]:
    args = {
        "correlation": trace.correlation.tolist(),
        "External id": trace.external_id.tolist(),
        "device": trace.device.tolist(),
        "stream": trace.stream.tolist(),
        "bytes": trace.size_bytes.tolist(),
    }
    columns = zip(
        trace.start_ns.tolist(),
        trace.duration_ns.tolist(),
        trace.kind.tolist(),
        trace.name.tolist(),
        trace.lane.tolist(),
        *args.values(),
        strict=True,
    )
    for start_ns, duration_ns, kind, name, lane, *values in columns:
        given = zip(args, values, strict=True)
        yield {
            "ph": "X",
            "cat": CATEGORIES[KINDS[kind]],
            "name": trace.names[name],
            "pid": trace.lanes[lane].pid,
            "tid": trace.lanes[lane].tid,
            "ts": _micros(start_ns),
            "dur": _micros(duration_ns),
            "args": {key: value for key, value in given if value != MISSING},
        }


def _lane_names(trace: Trace) -> Iterator[dict[str, Any]]:
    for lane in trace.lanes:
        names = {"process_name": lane.process_name, "thread_name": lane.thread_name}
        for key, name in names.items():
            if name:
                args = {"name": name}
                yield {"ph": "M", "name": key, "pid": lane.pid, "tid": lane.tid, "args": args}


def _arrows(trace: Trace) -> Iterator[dict[str, Any]]:
    """Write an arrow from each launch call to each of its GPU rows."""
    launch_of: dict[int, int] = {}
    for row in _joined(trace, "runtime"):
        launch_of.setdefault(int(trace.correlation[row]), row)
    for row in _joined(trace, *GPU_WORK):
        launch = launch_of.get(int(trace.correlation[row]))
        if launch is not None:
            yield {**_ARROW, **_end(trace, launch), "ph": "s", "id": row}
            yield {**_ARROW, **_end(trace, row), "ph": "f", "bp": "e", "id": row}


def _joined(trace: Trace, *kinds: Kind) -> list[int]:
    """Return the rows of these kinds that have a correlation; 0 joins nothing."""
    rows: list[int] = np.flatnonzero(trace.is_kind(*kinds) & (trace.correlation > 0)).tolist()
    return rows


def _end(trace: Trace, row: int) -> dict[str, Any]:
    lane = trace.lanes[int(trace.lane[row])]
    return {"pid": lane.pid, "tid": lane.tid, "ts": _micros(int(trace.start_ns[row]))}
