"""Columns in order of the file become a Trace in order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profcore.trace import header as headers
from profcore.trace.kinds import GPU_SIDE, by_process, flags
from profcore.trace.model import Source, Trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.trace.columns import Columns
    from profcore.trace.schema import Header

_IS_GPU: Final = flags(*GPU_SIDE)


def ordered(
    rows: dict[str, NDArray[Any]], columns: Columns, header: Header, source: Source
) -> Trace:
    """Put the rows in order of start, then longer first, then as in the file.

    Args:
        rows: what `columns.finish` returned, at least one row; used up.
        columns: names, lanes, kernel facts and memory rows.
        header: what stood round the event list.
        source: where all of it came from.
    """
    rows["kind"] = by_process(rows["kind"], rows["lane"], columns.lanes)
    rows["lane"], lanes = columns.lanes.lanes(rows["lane"], _IS_GPU[rows["kind"]])
    origin_ns = int(rows["start_ns"].min())
    rows["start_ns"] = rows["start_ns"] - origin_ns
    order = np.lexsort((-rows["duration_ns"], rows["start_ns"]))
    position_of = np.empty_like(order)
    position_of[order] = np.arange(len(order))
    for name, column in rows.items():
        rows[name] = column[order]
        rows[name].flags.writeable = False  # one Trace may serve many readers
    return Trace(
        **rows,
        names=tuple(columns.names.texts),
        lanes=lanes,
        kernel_details=columns.kernel_facts.details(position_of),
        memory=columns.memory.rows(origin_ns),
        devices=headers.devices(header),
        options=headers.options(header),
        versions=headers.versions(header),
        source=source,
    )
