"""Which call launched which GPU work: joined by the correlation number that both carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import columns
from profcore.trace.model import GPU_WORK, MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.trace import Trace

    Ints = NDArray[np.int64]

LAUNCH_WORDS: Final = (
    "LaunchKernel",
    "LaunchCooperative",
    "LaunchCluster",
    "LaunchMulti",
    "ModuleLaunch",
    "GraphLaunch",
    "urEnqueueKernelLaunch",
)
"""A runtime or driver call with one of these in its name launches a kernel or a graph: CUDA, HIP,
and the two spellings of Intel's XPU (urEnqueueKernelLaunch, zeCommandListAppendLaunchKernel)."""

GRAPH_WORD: Final = "GraphLaunch"

NO_LAUNCH: Final = -1
SEVERAL_LAUNCHES: Final = -2


@dataclass(frozen=True, kw_only=True, slots=True)
class Matching:
    """GPU work, the calls that start it, and who started what."""

    activity_row: Ints
    """(a,) rows of kernels, copies and fills, ascending."""
    call: Ints
    """(a,) position in `call_row` of the call that launched it; NO_LAUNCH when the file has none,
    SEVERAL_LAUNCHES when more than one call carries its number."""
    first_call: Ints
    """(a,) as `call`, but the first of several; -1 for none."""
    last_call: Ints
    """(a,) as `call`, but the last of several; -1 for none."""
    call_row: Ints
    """(c,) rows of calls that launch kernels or graphs, or that started any work; ascending."""
    is_kernel_launch: NDArray[np.bool_]
    """(c,) whether the call counts as a launch, by its name."""
    is_graph: NDArray[np.bool_]
    """(c,) whether it launches a CUDA or HIP graph."""


def _named(trace: Trace, words: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return an (n,) mask of the runtime calls whose name contains one of the words."""
    hits = [i for i, name in enumerate(trace.names) if any(word in name for word in words)]
    return trace.is_kind("runtime") & columns.is_named(trace, hits)


def match(trace: Trace) -> Matching:
    """Join GPU work and launch calls.

    A kernel looks among the launch calls first, then among all runtime calls (ROCm runs some
    copies as kernels); copies and fills look among all runtime calls, graph launches included.
    """
    activity = np.flatnonzero(trace.is_kind(*GPU_WORK))
    launch = _named(trace, LAUNCH_WORDS)
    runtime = np.flatnonzero(trace.is_kind("runtime") & (trace.correlation != MISSING))
    wanted = trace.correlation[activity]
    first, last = _lookup(trace, wanted, among=runtime[launch[runtime]])
    is_kernel = trace.is_kind("kernel")[activity]
    other = ~is_kernel | (first < 0)
    first[other], last[other] = _lookup(trace, wanted[other], among=runtime)
    is_call = launch.copy()
    is_call[first[first >= 0]] = True
    is_call[last[last >= 0]] = True
    call_row = np.flatnonzero(is_call)
    first_call = np.where(first >= 0, np.searchsorted(call_row, first), NO_LAUNCH)
    last_call = np.where(last >= 0, np.searchsorted(call_row, last), NO_LAUNCH)
    # "Several launches" is said of launches only; a kernel under several other calls has none.
    several = np.where(is_kernel & other, NO_LAUNCH, SEVERAL_LAUNCHES)
    return Matching(
        activity_row=activity,
        call=np.where(first_call == last_call, first_call, several),
        first_call=first_call,
        last_call=last_call,
        call_row=call_row,
        is_kernel_launch=launch[call_row],
        is_graph=_named(trace, (GRAPH_WORD,))[call_row],
    )


def _lookup(trace: Trace, wanted: Ints, *, among: Ints) -> tuple[Ints, Ints]:
    """Return the first and the last of the rows with each wanted number; -1 for none."""
    number = trace.correlation[among]
    order = np.argsort(number, kind="stable")
    number = number[order]
    left = np.searchsorted(number, wanted, side="left")
    right = np.searchsorted(number, wanted, side="right")
    found = (right > left) & (wanted != MISSING)
    first = np.full(len(wanted), NO_LAUNCH, np.int64)
    last = first.copy()
    first[found] = among[order[left[found]]]
    last[found] = among[order[right[found] - 1]]
    return first, last
