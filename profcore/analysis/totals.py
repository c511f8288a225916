"""The totals of the command line's contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import columns, intervals, lanes, stacks, steps
from profcore.analysis.activities import MISSING_DELAY
from profcore.analysis.matching import SEVERAL_LAUNCHES
from profcore.trace.model import GPU_WORK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis
    from profcore.trace import Trace

    Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Sums over a whole trace; times in nanoseconds."""

    self_cpu_ns: int
    """What torch prints as "Self CPU time total": per thread the union of all CPU-side rows."""
    operator_cpu_ns: int
    """Time covered by operators; runtime calls stay inside, annotations do not count."""
    gpu_kernel_sum_ns: int
    """Sum of the durations of kernels."""
    gpu_work_sum_ns: int
    """Sum of the durations of kernels, copies and fills."""
    gpu_busy_ns: int
    """Union of kernels, copies and fills, all devices and streams on one line."""
    gpu_span_ns: int | None
    """Last end minus first start of the same rows; None when there are none."""
    kernels: int
    activities: int
    """Kernels, copies and fills."""
    launches: int
    """Calls that launch a kernel or a graph, by name."""
    launch_delay_mean_ns: float | None
    """Kernel start minus launch start, over kernels with one launch call that is not a graph's
    and no negative delay; None when there are none."""
    launch_delay_median_ns: int | None
    """Upper median of the same."""
    graph_kernels: int
    """Kernels started by a graph launch."""
    unmatched_kernels: int
    """Kernels whose launch call is not in the file."""
    several_kernels: int
    """Kernels whose number more than one launch call carries."""
    negative_delays: int
    """Kernels that start before their launch call: the clocks disagree."""
    memcpy_ns: dict[str, int]
    """Sum of the durations of copies by direction."""
    profiler_overhead_ns: int
    """Union of the overhead rows."""
    gpu_recorded: bool
    """Whether any GPU work is in the file; False does not mean that the GPU was idle."""


def operator_self_ns(trace: Trace) -> tuple[Ints, Ints]:
    """Return the rows of operators and their self time among operators alone.

    Duration minus the parts covered by direct child operators on the same thread; runtime calls
    and annotations neither count nor are taken off. ProfilerStep#N is no operator.
    """
    is_step = columns.is_named(trace, steps.numbers(trace))
    row = np.flatnonzero(trace.is_kind("operator") & ~is_step)
    row = row[lanes.by_lane(trace.lane[row].astype(np.int64))]
    start = trace.start_ns[row]
    end = start + trace.duration_ns[row]
    parent = stacks.parents(start, end, trace.lane[row].astype(np.int64))
    own = end - start
    child = np.flatnonzero(parent >= 0)
    above = parent[child]
    np.subtract.at(own, above, np.minimum(end[child], end[above]) - start[child])
    return row, own


def compute(analysis: Analysis) -> Totals:
    """Return the totals of a trace."""
    trace, activities = analysis.trace, analysis.activities
    start = activities["start_ns"].to_numpy()
    end = start + activities["duration_ns"].to_numpy()
    is_kernel = (activities["kind"] == "kernel").to_numpy()
    graph = activities["is_graph"].to_numpy()
    several = activities["launch_row"].to_numpy() == SEVERAL_LAUNCHES
    delay = activities["delay_ns"].to_numpy()
    timed = is_kernel & (delay != MISSING_DELAY)
    used = np.sort(delay[timed & (delay >= 0)])
    copies = analysis.copies
    moved = copies[copies["kind"] == "memcpy"].groupby("direction", sort=True)["sum_ns"].sum()
    overhead = np.flatnonzero(trace.is_kind("overhead"))
    overhead_start = trace.start_ns[overhead]
    return Totals(
        self_cpu_ns=int(analysis.nesting.self_ns.sum()),
        operator_cpu_ns=int(operator_self_ns(trace)[1].sum()),
        gpu_kernel_sum_ns=int((end - start)[is_kernel].sum()),
        gpu_work_sum_ns=int((end - start).sum()),
        gpu_busy_ns=intervals.busy_ns(start, end),
        gpu_span_ns=int(end.max() - start.min()) if len(start) else None,
        kernels=int(is_kernel.sum()),
        activities=len(activities),
        launches=int(analysis.launches["is_kernel_launch"].sum()),
        launch_delay_mean_ns=float(used.mean()) if len(used) else None,
        launch_delay_median_ns=int(used[len(used) // 2]) if len(used) else None,
        graph_kernels=int((is_kernel & graph).sum()),
        unmatched_kernels=int((is_kernel & ~graph & ~several & ~timed).sum()),
        several_kernels=int((is_kernel & several).sum()),
        negative_delays=int((timed & (delay < 0)).sum()),
        memcpy_ns={str(key): int(value) for key, value in moved.items()},
        profiler_overhead_ns=intervals.busy_ns(
            overhead_start, overhead_start + trace.duration_ns[overhead]
        ),
        gpu_recorded=bool(trace.is_kind(*GPU_WORK).any()),
    )
