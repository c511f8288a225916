"""Can this trace be trusted? GPU work that was lost, leaked or comes from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    LEAK_SHARE_FRACTION,
    LOST_LAUNCH_FRACTION,
    THREAD_SHARE_FRACTION,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import H200, KINETO
from profcore.trace.model import MISSING
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


def _numbers(quantities: Quantities, positions: Iterable[int]) -> str:
    """Return "#3, #4" for positions in the steps table; a long list is cut."""
    numbers = [f"#{int(quantities.steps['number'].iloc[position])}" for position in positions]
    return ", ".join(numbers[:5]) + (f" and {len(numbers) - 5} more" if len(numbers) > 5 else "")  # noqa: PLR2004


# --- Q1 -----------------------------------------------------------------------------------------


def _q1_missing(quantities: Quantities) -> str | None:
    if reason := needs.events(quantities):
        return reason
    if quantities.has_gpu_work or quantities.gpu_was_expected:
        return None
    return needs.OTHER_ACCELERATOR if quantities.has_other_accelerator else needs.NO_GPU


def _q1(quantities: Quantities) -> Observation | None:
    if quantities.has_gpu_work:
        return None
    signs = []
    if quantities.environment is not None:
        signs.append(f"the run was made on {quantities.environment.device_name}")
    elif quantities.trace.devices:
        names = [device.name for device in quantities.trace.devices if device.name]
        signs.append(f"the file lists {names[0] if names else 'a GPU'}")
    if len(quantities.launches):
        signs.append(f"it has {count_text(len(quantities.launches), 'launch call')}")
    return Observation(
        text="No GPU activity was recorded, although "
        + (" and ".join(signs) if signs else "a GPU was asked for")
        + "."
    )


Q1 = Rule(
    id="Q1",
    title="GPU activity was not recorded",
    family="measurement quality",
    kind="trust",
    missing=_q1_missing,
    observe=_q1,
    meaning="The recording of the GPU failed. It does not mean that the GPU was idle.",
    advice="Run python -m profcore doctor. Usual causes: another profiler holds the GPU, missing "
    "rights in a container, Windows or WSL, a build of torch without CUPTI, or ProfilerActivity."
    "CUDA was not asked for.",
    source=f"{KINETO}; many reports of traces without GPU rows",
)

# --- Q2 -----------------------------------------------------------------------------------------


def _q2_missing(quantities: Quantities) -> str | None:
    if reason := needs.launch_calls(quantities) or needs.steps(quantities):
        return reason
    if (column(quantities.activities, "launch_row") != -1).any():
        return None
    return "No GPU work in this trace carries the number of its launch call."


def _while_capturing(quantities: Quantities, start_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which times lie between the begin and the end of a stream capture.

    Such a launch goes into a CUDA graph and runs nothing: it has no GPU work of its own.
    """

    def sorted_starts_ns(word: str) -> NDArray[np.int64]:
        rows = quantities.named(("runtime",), lambda name: word in name)
        return np.sort(quantities.trace.start_ns[rows])

    begins, ends = sorted_starts_ns("StreamBeginCapture"), sorted_starts_ns("StreamEndCapture")
    # As many captures begun before it as ended before it: outside of all of them.
    return np.searchsorted(begins, start_ns) > np.searchsorted(ends, start_ns)


def _lost(quantities: Quantities) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks over the launches: kernel launches that count, and those without GPU work.

    Launches after the last one with GPU work are left out: the recording may have ended there. So
    are those that were captured into a CUDA graph.
    """
    launches = quantities.launches
    number = column(launches, "correlation")
    has_work = np.isin(number, column(quantities.activities, "correlation"))
    calls = np.asarray(launches["is_kernel_launch"], np.bool_) & (column(launches, "step") >= 0)
    calls &= number != MISSING
    calls &= ~_while_capturing(quantities, column(launches, "start_ns"))
    if has_work.any():
        calls &= column(launches, "start_ns") <= column(launches, "start_ns")[has_work].max()
    return calls, calls & ~has_work


def _q2(quantities: Quantities) -> Observation | None:
    calls, lost = _lost(quantities)
    if not lost.any():
        return None
    step = column(quantities.launches, "step")
    empty = [
        int(place) for place in np.unique(step[lost]) if not (calls & ~lost)[step == place].any()
    ]
    share = lost.sum() / calls.sum()
    if share < LOST_LAUNCH_FRACTION and not empty:
        return None
    text = (
        f"{lost.sum():,} of {count_text(int(calls.sum()), 'kernel launch', 'kernel launches')} "
        "left no GPU work in the file"
    )
    if empty:
        steps = "step" if len(empty) == 1 else "steps"
        text += f"; {steps} {_numbers(quantities, empty)} lost all of it"
    return Observation(
        text=text + ".", evidence=evidence(quantities, column(quantities.launches, "row")[lost])
    )


Q2 = Rule(
    id="Q2",
    title="Launches without kernels",
    family="measurement quality",
    kind="trust",
    missing=_q2_missing,
    observe=_q2,
    meaning="Kernels were run but not recorded, so GPU times and counts are too low.",
    advice="Make a throw-away profile first, record fewer steps, or use a newer CUDA version.",
    source=f"PyTorch report 192021 (CUPTI 12.6 to 13.0); {H200}: 0 of 1,040 launches",
)

# --- Q3 -----------------------------------------------------------------------------------------


def _q3(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    unassigned = column(activities, "launch_row") == -1
    if not unassigned.any():
        return None
    rows = column(activities, "row")[unassigned]
    duration_ns = column(activities, "duration_ns")
    unassigned_ns = int(duration_ns[unassigned].sum())
    assigned_ns = int(duration_ns[~unassigned].sum())
    share = unassigned_ns / assigned_ns if assigned_ns else 1.0
    leaked = int((quantities.trace.external_id[rows] == MISSING).sum())
    if leaked == len(rows):
        why = "launched before the recording began"
    elif leaked:
        why = f"{leaked:,} launched before the recording began, the rest by unrecorded calls"
    else:
        why = "launched by calls that were not recorded"
    have = "1 GPU activity has" if len(rows) == 1 else f"{len(rows):,} GPU activities have"
    return Observation(
        text=f"{have} no launch call in the file ({why}). They take {time_text(unassigned_ns)}, "
        f"{percent_text(share)} of all other GPU work.",
        evidence=evidence(quantities, rows),
        kind="trust" if share >= LEAK_SHARE_FRACTION else "fact",
    )


Q3 = Rule(
    id="Q3",
    title="Kernels without a launch",
    family="measurement quality",
    kind="fact",
    missing=needs.unassigned_possible,
    observe=_q3,
    meaning="Adding up all kernels of the file and dividing by the steps gives too much. The "
    "figures per step here leave such work out.",
    advice="Synchronise before the first recorded step.",
    source=f"PyTorch reports 162481 and 165779; {H200}: 20 to 30 % or below 0.1 %",
)

# --- Q8, Q11 ------------------------------------------------------------------------------------


def _q8(quantities: Quantities) -> Observation | None:
    activities = column(quantities.steps, "activities")
    empty = np.flatnonzero(activities == 0)
    if not len(empty):
        return None
    return Observation(
        text=f"{count_text(len(empty), 'step')} of {len(activities):,} "
        f"{'has' if len(empty) == 1 else 'have'} no GPU work: {_numbers(quantities, empty)}.",
        evidence=evidence(quantities, column(quantities.steps, "row")[empty]),
    )


Q8 = Rule(
    id="Q8",
    title="Steps without GPU work",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu_steps,
    observe=_q8,
    meaning="Averages over all steps look healthy and are not. The figures per step here are taken "
    "over the steps with GPU work.",
    advice="Look whether the program skips work in those steps, or whether kernels were lost (Q2).",
    source="a TraceLens report: 30 of 32 steps were empty",
)


def _q11(quantities: Quantities) -> Observation | None:
    activities = column(quantities.steps, "activities")
    launches = column(quantities.steps, "launches")
    last = int(np.flatnonzero(activities > 0)[-1])
    tail = np.arange(last + 1, len(activities))
    tail = tail[launches[tail] > 0]
    if not len(tail):
        return None
    return Observation(
        text=f"The last {count_text(len(tail), 'step')} with launches "
        f"({_numbers(quantities, tail)}) {'has' if len(tail) == 1 else 'have'} no GPU work.",
        evidence=evidence(quantities, column(quantities.steps, "row")[tail]),
    )


Q11 = Rule(
    id="Q11",
    title="The recording stopped early",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu_steps,
    observe=_q11,
    meaning="The profiler's buffers were full, so it stopped recording the GPU while the program "
    "went on.",
    advice="Record fewer steps.",
    source=f"{KINETO}: recording stops beyond about 128 MB of buffers",
)

# --- Q13, Q14 -----------------------------------------------------------------------------------


def _q13(quantities: Quantities) -> Observation | None:
    trace, activities = quantities.trace, quantities.activities
    known = np.unique(trace.lane[trace.is_kind("operator")])
    launch_rows = column(activities, "launch_row")
    has_launch = launch_rows >= 0
    foreign = np.zeros(len(activities), np.bool_)
    foreign[has_launch] = ~np.isin(trace.lane[launch_rows[has_launch]], known)
    total_ns = int(column(activities, "duration_ns")[has_launch].sum())
    foreign_ns = int(column(activities, "duration_ns")[foreign].sum())
    if not total_ns or foreign_ns / total_ns < THREAD_SHARE_FRACTION:
        return None
    return Observation(
        text=f"{percent_text(foreign_ns / total_ns)} of the GPU time was launched by threads whose "
        "operators are not in the file.",
        evidence=evidence(quantities, column(activities, "row")[foreign]),
    )


Q13 = Rule(
    id="Q13",
    title="Other threads are missing",
    family="measurement quality",
    kind="trust",
    missing=needs.all_of(needs.gpu, needs.operators),
    observe=_q13,
    meaning="The profiler records the operators of the thread that started it. Work of other "
    "threads has kernels but no operators, so operator tables do not show it.",
    advice="Use torch._C._profiler._ExperimentalConfig(profile_all_threads=True).",
    source="Kineto report 443 and PyTorch report 64799",
)


def _q14(quantities: Quantities) -> Observation | None:
    analysis = quantities.analysis
    table_ns = int(analysis.kernels["sum_ns"].sum()) + int(analysis.copies["sum_ns"].sum())
    rows_ns = int(column(quantities.activities, "duration_ns").sum())
    if table_ns == rows_ns:
        return None
    return Observation(
        text=f"The tables of kernels and copies add up to {time_text(table_ns)}, their rows to "
        f"{time_text(rows_ns)}."
    )


Q14 = Rule(
    id="Q14",
    title="Sums do not agree",
    family="measurement quality",
    kind="trust",
    missing=needs.gpu,
    observe=_q14,
    meaning="Two ways to add up the same GPU time give different results: a fault of this program.",
    advice="Please report it with the trace.",
    source="a check of the program on itself",
)
