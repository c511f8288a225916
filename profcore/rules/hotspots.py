"""Where the time goes: the largest kernel, the most called operator, totals against self times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import short_name
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import (
    HOTSPOT_FRACTION,
    KERNEL_SHORT_NS,
    KERNEL_VAR_MIN_NS,
    KERNEL_VAR_RATIO,
    MANY_CALLS,
    STEPS_FOR_SPREAD,
    TOTAL_OVER_SELF_RATIO,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

LaunchShape = tuple[int, ...]


def launch_shapes(quantities: Quantities) -> dict[int, LaunchShape]:
    """Return grid and block of every row that carries them."""
    details = quantities.trace.kernel_details
    shapes = np.concatenate((details.grid, details.block), axis=1)
    return dict(zip(details.row.tolist(), map(tuple, shapes.tolist()), strict=True))


# --- T3 -----------------------------------------------------------------------------------------


def _t3(quantities: Quantities) -> Observation | None:
    shapes = launch_shapes(quantities)
    activities = quantities.activities
    is_kernel = quantities.activity_kind("kernel") & quantities.counted
    sums: dict[tuple[str, LaunchShape], int] = {}
    rows: dict[tuple[str, LaunchShape], list[int]] = {}
    for name, row, duration_ns in zip(
        activities["name"][is_kernel],
        column(activities, "row")[is_kernel].tolist(),
        column(activities, "duration_ns")[is_kernel].tolist(),
        strict=True,
    ):
        key = (name, shapes.get(row, ())[:3])
        sums[key] = sums.get(key, 0) + duration_ns
        rows.setdefault(key, []).append(row)
    if not sums:
        return None
    key = max(sums, key=lambda candidate: sums[candidate])
    share = sums[key] / quantities.gpu_sum_ns if quantities.gpu_sum_ns else 0.0
    if share < HOTSPOT_FRACTION:
        return None
    return Observation(
        text=f"{short_name(key[0])} takes {percent_text(share)} of the GPU time: "
        f"{time_text(sums[key])} in {count_text(len(rows[key]), 'call')}.",
        evidence=evidence(quantities, np.array(rows[key], np.int64)),
    )


T3 = Rule(
    id="T3",
    title="One kernel takes most of the GPU time",
    family="kernels and precision",
    kind="fact",
    missing=needs.kernels,
    observe=_t3,
    meaning="Whatever makes this one kernel faster makes the GPU side faster; the others hardly "
    "matter.",
    advice="Look at this kernel first: its name, its number format, its share of the peak.",
    source=f"{ARTICLE_1}; half of the GPU time is the project's own limit",
)


# --- T4 -----------------------------------------------------------------------------------------


def _t4(quantities: Quantities) -> Observation | None:
    if quantities.limit != "cpu":
        return None
    operators = quantities.in_steps(np.flatnonzero(quantities.trace.is_kind("operator")))
    codes, counts = np.unique(quantities.trace.name[operators], return_counts=True)
    for code, count in sorted(zip(codes, counts, strict=True), key=lambda pair: -pair[1]):
        name = quantities.trace.names[code]
        calls_per_step = count / len(quantities.steps)
        if calls_per_step < MANY_CALLS:
            return None
        if name in words.VIEW_OPERATORS or name == "aten::item":
            continue
        rows = operators[quantities.trace.name[operators] == code]
        durations_ns = _kernel_durations_ns(quantities, rows)
        if len(durations_ns) and np.median(durations_ns) < KERNEL_SHORT_NS:
            return Observation(
                text=f"{name} is called {calls_per_step:,.0f} times per step and its kernels "
                f"last {time_text(float(np.median(durations_ns)))} (median).",
                evidence=evidence(quantities, rows),
            )
    return None


def _kernel_durations_ns(quantities: Quantities, operators: NDArray[np.int64]) -> NDArray[np.int64]:
    activities = quantities.activities
    theirs = np.isin(column(activities, "operator_row"), operators)
    return column(activities, "duration_ns")[theirs & quantities.activity_kind("kernel")]


T4 = Rule(
    id="T4",
    title="One operator is called very often",
    family="launches and dispatch",
    kind="note",
    missing=needs.all_of(needs.steps, needs.operators, needs.limit),
    observe=_t4,
    meaning="Each call pays for its own trip through Python and the dispatcher, and the kernels "
    "are too short to hide that.",
    advice="Do the work of many calls in one (a batched operator), or let torch.compile fuse them.",
    source=f"{ARTICLE_1}: “huge number of calls”; 50 per step is the project's own limit",
)


# --- T5 -----------------------------------------------------------------------------------------


def _t5(quantities: Quantities) -> Observation | None:
    operators = quantities.analysis.operators
    own = operators[(operators["kind"] == "operator") & (operators["self_cpu_ns"] > 0)]
    wide = own[own["total_cpu_ns"] >= TOTAL_OVER_SELF_RATIO * own["self_cpu_ns"]]
    if wide.empty:
        return None
    top = wide.sort_values("total_cpu_ns", ascending=False, kind="stable").iloc[0]
    rows = quantities.named(("operator",), lambda name: name == top["name"])
    return Observation(
        text=f"{top['name']} takes {time_text(int(top['total_cpu_ns']))} in total, of which "
        f"{time_text(int(top['self_cpu_ns']))} itself "
        f"({count_text(int(top['calls']), 'call')}).",
        evidence=evidence(quantities, rows, limit=1),
    )


T5 = Rule(
    id="T5",
    title="Total time far above self time",
    family="launches and dispatch",
    kind="fact",
    missing=needs.operators,
    observe=_t5,
    meaning="The operator does little itself: its cost lies in the operators and launch calls it "
    "makes. Self time leaves them out, total time contains them; totals of nested rows must not "
    "be added up.",
    advice="Look at the operators inside it.",
    source=f"{ARTICLE_1}; {H200}: aten::matmul 386 µs in total, 23 µs itself",
)


# --- G3 -----------------------------------------------------------------------------------------


def _g3(quantities: Quantities) -> Observation | None:
    worst: tuple[float, NDArray[np.int64]] | None = None
    for rows in _same_place(quantities):
        if len(rows) < STEPS_FOR_SPREAD:
            continue
        durations_ns = quantities.trace.duration_ns[rows]
        median_ns, max_ns = float(np.median(durations_ns)), int(durations_ns.max())
        if max_ns - median_ns < KERNEL_VAR_MIN_NS or max_ns < KERNEL_VAR_RATIO * median_ns:
            continue
        if worst is None or max_ns - median_ns > worst[0]:
            worst = (max_ns - median_ns, rows)
    if worst is None:
        return None
    rows = worst[1]
    durations_ns = quantities.trace.duration_ns[rows]
    median_ns, max_ns = float(np.median(durations_ns)), int(durations_ns.max())
    return Observation(
        text=f"{short_name(quantities.trace.name_of(int(rows[0])))} takes "
        f"{time_text(int(durations_ns.min()))} to {time_text(max_ns)} in "
        f"{count_text(len(rows), 'step')}, {time_text(median_ns)} in the middle: up to "
        f"{ratio_text(max_ns / max(median_ns, 1.0))}.",
        evidence=evidence(quantities, rows),
    )


def _same_place(quantities: Quantities) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each kernel at one place of the step, over the steps that count.

    The same kernel at different places of a step may do different work, so the place counts: the
    n-th call of one name, grid and block.
    """
    shapes = launch_shapes(quantities)
    activities = quantities.activities
    chosen = quantities.activity_kind("kernel") & quantities.counted
    seen: dict[tuple[int, str, LaunchShape], int] = {}
    places: dict[tuple[str, LaunchShape, int], list[int]] = {}
    for step, name, row in zip(
        column(activities, "step")[chosen].tolist(),
        activities["name"][chosen],
        column(activities, "row")[chosen].tolist(),
        strict=True,
    ):
        shape = shapes.get(row, ())
        turn = seen.get((step, name, shape), 0)
        seen[step, name, shape] = turn + 1
        places.setdefault((name, shape, turn), []).append(row)
    for rows in places.values():
        yield np.array(rows, np.int64)


G3 = Rule(
    id="G3",
    title="The same kernel takes different times",
    family="kernels and precision",
    kind="note",
    missing=needs.all_of(needs.kernels, needs.gpu_steps, needs.steps_for_spread),
    observe=_g3,
    meaning="Same kernel, same place in the step, different time: clock speed, temperature, power "
    "limits, another program on the GPU, or work of the driver.",
    advice="Quote the median and the range, not the mean. Record more steps, or warm up longer.",
    source=f"{ARTICLE_1}: mean 1084 µs, typical 580 µs; {H200}: at most 1.04× where it matters",
)
