"""What a first call costs: the cold first step and its signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import (
    COLD_RATIO,
    FIRST_OPERATOR_GAP_MIN_NS,
    FIRST_OPERATOR_GAP_RATIO,
    SLOW_LAUNCH_MIN_NS,
    SLOW_LAUNCH_RATIO,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, evidence_of
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import ratio_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- C1 -----------------------------------------------------------------------------------------


def _c1(quantities: Quantities) -> Observation | None:
    if not quantities.first_step_is_cold:
        return None
    cpu_ns = quantities.worked_ns
    typical_ns = float(np.median(cpu_ns[1:]))
    first_use = quantities.named(("runtime", "overhead"), words.is_first_use)
    first_use = first_use[quantities.steps_of(first_use) == 0]
    bar = evidence_of(quantities, int(quantities.steps["row"].iloc[0]))
    signs = ""
    if len(first_use):
        names = dict.fromkeys(quantities.trace.name_of(int(row)) for row in first_use)
        signs = f" It contains first-use calls: {', '.join(list(names)[:4])}."
    text = (
        f"The first recorded step took {time_text(int(cpu_ns[0]))} on the CPU, the others "
        f"{time_text(typical_ns)} (median): {ratio_text(int(cpu_ns[0]) / typical_ns)} as long."
    )
    shown = (bar, *evidence(quantities, first_use, limit=4))
    experiment = quantities.experiment
    if experiment is None or experiment.warmup == 0:
        return Observation(text=text + signs, evidence=shown)
    return Observation(
        text=text + signs,
        evidence=shown,
        kind="warning" if quantities.has_gpu_work else "note",
        meaning=f"The run had {count_text(experiment.warmup, 'warm-up call')}, so this is no plain "
        "first call: the machine was busy at that moment, or something was still set up. The "
        "first step is left out of every median here.",
        advice="Run it again on a quiet machine, or with more warm-up calls.",
    )


C1 = Rule(
    id="C1",
    title="The first step is much slower",
    family="cold start",
    kind="warning",
    missing=needs.steps_for_median,
    observe=_c1,
    meaning="A cold start: the first call sets up the GPU, loads libraries and kernels, lets "
    "cuBLAS choose an algorithm and takes memory from the driver. That happens once, so the "
    "first step is left out of every median here.",
    advice="Set warm-up to 3 to measure the steady state. The cost does not vanish: a short "
    "program still pays it once.",
    source=f"{ARTICLE_1}; gpuprof (3×); {H200}: warm at most 3.0×, cold 42× and 917×; the limit "
    f"is {COLD_RATIO:.0f}× and 1 ms",
)


# --- C2 -----------------------------------------------------------------------------------------


def _first_operator_gaps(quantities: Quantities) -> list[tuple[int, int, int]]:
    """Return (step position, annotation row, gap in ns) for each step with an annotation."""
    trace = quantities.trace
    annotations = quantities.program_annotations
    operators = quantities.named(("operator",), lambda name: name.startswith("aten::"))
    # Rows are ordered by start, wider first: the first of each step is its outermost annotation.
    positions, places = np.unique(quantities.steps_of(annotations), return_index=True)
    firsts = annotations[places[positions >= 0]]
    positions = positions[positions >= 0]
    gaps = []
    for lane in np.unique(trace.lane[firsts]):
        starts_ns = trace.start_ns[operators[trace.lane[operators] == lane]]
        mine = trace.lane[firsts] == lane
        begin_ns = trace.start_ns[firsts[mine]]
        end_ns = begin_ns + trace.duration_ns[firsts[mine]]
        following = np.searchsorted(starts_ns, begin_ns)
        padded_ns = np.append(starts_ns, np.iinfo(np.int64).max)  # nothing follows: never inside
        inside = padded_ns[following] < end_ns
        gap_ns = padded_ns[following] - begin_ns
        chosen = zip(positions[mine][inside], firsts[mine][inside], gap_ns[inside], strict=True)
        gaps += [(int(position), int(row), int(gap)) for position, row, gap in chosen]
    return sorted(gaps)


def _c2_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.steps_for_median, needs.operators)(quantities):
        return reason
    gaps = _first_operator_gaps(quantities)
    if len(gaps) > 1 and gaps[0][0] == 0:
        return None
    return (
        "The steps have no annotation of the program's own. Put the step into "
        'torch.profiler.record_function("step").'
    )


def _c2(quantities: Quantities) -> Observation | None:
    (_, row, first_ns), *others = _first_operator_gaps(quantities)
    typical_ns = float(np.median([gap_ns for _, _, gap_ns in others]))
    if first_ns < FIRST_OPERATOR_GAP_MIN_NS or first_ns < FIRST_OPERATOR_GAP_RATIO * typical_ns:
        return None
    return Observation(
        text=f"In the first step {time_text(first_ns)} pass between the start of "
        f"“{quantities.trace.name_of(row)}” and its first operator; later {time_text(typical_ns)} "
        "(median).",
        evidence=(evidence_of(quantities, row),),
    )


C2 = Rule(
    id="C2",
    title="A late first operator in the first step",
    family="cold start",
    kind="fact",
    missing=_c2_missing,
    observe=_c2,
    meaning="Part of the same first-use cost as a wide first step. Its absence proves nothing: a "
    "first step of 192 ms had a gap of only 100 µs.",
    advice="As for a cold first step: warm-up calls.",
    source=f"{ARTICLE_1}: 227.8 µs against 5.5 and 4.5 µs; {H200}",
)


# --- E4 -----------------------------------------------------------------------------------------


def _e4(quantities: Quantities) -> Observation | None:
    launches = quantities.launches
    calls = np.asarray(launches["is_kernel_launch"], np.bool_)
    duration_ns = column(launches, "duration_ns")[calls]
    if not len(duration_ns):
        return None
    rows: NDArray[np.int64] = column(launches, "row")[calls]
    typical_ns = float(np.median(duration_ns))
    slow = duration_ns >= max(SLOW_LAUNCH_MIN_NS, SLOW_LAUNCH_RATIO * typical_ns)
    if not slow.any():
        return None
    text = (
        f"{count_text(int(slow.sum()), 'kernel launch call')} took "
        f"{'' if slow.sum() == 1 else 'up to '}{time_text(int(duration_ns.max()))}; the median is "
        f"{time_text(typical_ns)}."
    )
    if quantities.limit != "gpu":
        return Observation(text=text, evidence=evidence(quantities, rows[slow]))
    return Observation(
        text=text,
        evidence=evidence(quantities, rows[slow]),
        kind="fact",
        meaning="The GPU is the limit here: the queue of launches was full, and the call had to "
        "wait for a place in it.",
        advice="",
    )


E4 = Rule(
    id="E4",
    title="A launch call that took very long",
    family="cold start",
    kind="note",
    missing=needs.launch_calls,
    observe=_e4,
    meaning="The call had to do more than launch: load the kernel's code or take memory on first "
    "use.",
    advice="More warm-up calls, if it happens at the first use.",
    source=f"{H200}: only in a cold run, 2,635 µs against 19 µs",
)
