"""What fills the GPU lane, and what happens on the CPU while the GPU has nothing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis import intervals
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import BUSY_LOW_FRACTION, GAP_MIN_NS, OVERHEAD_GAP_MIN_NS
from profcore.rules.model import Evidence, Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import ARTICLE_1, H200, KINETO
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

    Times = NDArray[np.int64]


def gpu_window_ns(quantities: Quantities) -> tuple[int, int] | None:
    """Return the window of the recorded steps, or of all GPU work when there are too few."""
    if quantities.gpu_window_ns is not None:
        return quantities.gpu_window_ns
    start_ns = column(quantities.activities, "start_ns")
    end_ns = start_ns + column(quantities.activities, "duration_ns")
    if not len(start_ns) or end_ns.max() <= start_ns.min():
        return None
    return int(start_ns.min()), int(end_ns.max())


def gaps_ns(quantities: Quantities, window_ns: tuple[int, int]) -> tuple[Times, Times]:
    """Return the idle gaps of the GPU inside a window that are longer than back to back."""
    start_ns = column(quantities.activities, "start_ns")
    end_ns = start_ns + column(quantities.activities, "duration_ns")
    gap_start_ns, gap_end_ns = intervals.complement(
        start_ns, end_ns, from_ns=window_ns[0], to_ns=window_ns[1]
    )
    idle = gap_end_ns - gap_start_ns > GAP_MIN_NS
    return gap_start_ns[idle], gap_end_ns[idle]


# --- B3 -----------------------------------------------------------------------------------------


def copy_only_fraction(quantities: Quantities) -> float | None:
    """Return the share of the window in which the GPU does nothing but copy."""
    window_ns = gpu_window_ns(quantities)
    if window_ns is None:
        return None
    is_copy = quantities.activity_kind("memcpy")
    everything = np.ones(len(is_copy), np.bool_)
    copy_only_ns = quantities.union_ns(everything, window_ns) - quantities.union_ns(
        ~is_copy, window_ns
    )
    return copy_only_ns / (window_ns[1] - window_ns[0])


def _b3(quantities: Quantities) -> Observation | None:
    window_ns = gpu_window_ns(quantities)
    copy_only = copy_only_fraction(quantities)
    if window_ns is None or copy_only is None:
        return None
    length_ns = window_ns[1] - window_ns[0]
    is_copy = quantities.activity_kind("memcpy")
    everything = np.ones(len(is_copy), np.bool_)
    any_ns = quantities.union_ns(everything, window_ns)
    compute_ns = quantities.union_ns(~is_copy, window_ns)
    copy_ns = quantities.union_ns(is_copy, window_ns)
    both_ns = compute_ns + copy_ns - any_ns
    gap_start_ns, gap_end_ns = gaps_ns(quantities, window_ns)
    idle_ns = int((gap_end_ns - gap_start_ns).sum())
    parts = [
        ("computing", compute_ns - both_ns),
        ("copying", copy_ns - both_ns),
        ("doing both", both_ns),
        ("idle", idle_ns),
        ("switching between kernels", length_ns - any_ns - idle_ns),
    ]
    listed = ", ".join(f"{percent_text(ns / length_ns)} {text}" for text, ns in parts if ns)
    text = f"Of {time_text(length_ns)} on the GPU lane: {listed}."
    if copy_only >= BUSY_LOW_FRACTION:
        return Observation(
            text=text,
            meaning="The GPU is busy, but mostly with copies: they are the limit, not the "
            "arithmetic.",
            advice="Copy less or sooner: keep data on the GPU, use pinned memory, overlap copies "
            "with kernels.",
        )
    return Observation(text=text)


B3 = Rule(
    id="B3",
    title="What the GPU does with its time",
    family="what bounds it",
    kind="fact",
    missing=needs.gpu,
    observe=_b3,
    meaning="“Busy” can be computing or copying. Gaps of at most 5 µs are the normal distance "
    "between two kernels; longer ones are idle time.",
    advice="",
    source=f"{H200}: a run that was 98 % busy computed 47 µs in 13 ms and copied the rest",
)


# --- B4 -----------------------------------------------------------------------------------------

_CAUSES: Final = (
    "the CPU waited for the GPU's results",
    "the loop waited for the data loader",
    "torch.compile was at work",
    "the profiler was at work",
    "an operator or a launch call was under way",
    "nothing was recorded (Python or other code)",
)


def _b4_missing(quantities: Quantities) -> str | None:
    if reason := needs.gpu(quantities):
        return reason
    if quantities.launching_lane is None:
        return "No thread of this trace launches GPU work, so the gaps cannot be explained."
    return None


def _b4(quantities: Quantities) -> Observation | None:
    window_ns = gpu_window_ns(quantities)
    if window_ns is None:
        return None
    gap_start_ns, gap_end_ns = gaps_ns(quantities, window_ns)
    if not len(gap_start_ns):
        return None
    cause = _cause_of(quantities, gap_start_ns, gap_end_ns)
    length_ns = gap_end_ns - gap_start_ns
    idle_ns = int(length_ns.sum())
    sums_ns = np.bincount(cause, weights=length_ns, minlength=len(_CAUSES))
    listed = "; ".join(
        f"{percent_text(sums_ns[place] / idle_ns)} while {_CAUSES[place]}"
        for place in np.argsort(-sums_ns, kind="stable")
        if sums_ns[place]
    )
    longest = np.argsort(-length_ns, kind="stable")[:3]
    return Observation(
        text=f"The GPU is idle for {time_text(idle_ns)} in {count_text(len(gap_start_ns), 'gap')}: "
        f"{listed}.",
        evidence=tuple(
            Evidence(
                text=f"idle while {_CAUSES[cause[place]]}, {time_text(int(length_ns[place]))}",
                start_ns=int(gap_start_ns[place]),
                duration_ns=int(length_ns[place]),
            )
            for place in longest
        ),
    )


def _cause_of(quantities: Quantities, gap_start_ns: Times, gap_end_ns: Times) -> Times:
    """Return for each gap the place in `_CAUSES` of the first cause seen during it."""
    trace = quantities.trace
    mine = trace.lane == quantities.launching_lane
    loader = quantities.loader_rows
    compiler = quantities.named(("operator", "annotation"), words.is_compiler_work)
    blocking = np.concatenate((quantities.waits, quantities.blocking_copies))
    working = np.flatnonzero(mine & trace.is_kind("operator", "runtime"))
    of_cause = (
        blocking[mine[blocking]],
        loader[mine[loader]],
        compiler[mine[compiler]],
        quantities.overhead_rows,  # a lane of its own in most files
        working,
    )
    cause = np.full(len(gap_start_ns), len(of_cause), np.int64)
    for place in reversed(range(len(of_cause))):
        rows = of_cause[place]
        hit = overlaps(
            gap_start_ns,
            gap_end_ns,
            trace.start_ns[rows],
            trace.start_ns[rows] + trace.duration_ns[rows],
        )
        cause[hit] = place
    return cause


def overlaps(
    start_ns: Times, end_ns: Times, other_start_ns: Times, other_end_ns: Times
) -> NDArray[np.bool_]:
    """Say for each interval whether any of the others shares time with it."""
    union_start_ns, union_end_ns = intervals.union(other_start_ns, other_end_ns)
    if not len(union_start_ns):
        return np.zeros(len(start_ns), np.bool_)
    following = np.searchsorted(union_end_ns, start_ns, side="right")
    inside = following < len(union_start_ns)
    return inside & (union_start_ns[np.minimum(following, len(union_start_ns) - 1)] < end_ns)


B4 = Rule(
    id="B4",
    title="What the CPU does while the GPU is idle",
    family="what bounds it",
    kind="fact",
    missing=_b4_missing,
    observe=_b4,
    meaning="The cause of idle GPU time, as the profiled CPU side shows it. “An operator or a "
    "launch call” means that the GPU waits because launching takes longer than the kernels.",
    advice="",
    source=f"HolisticTraceAnalysis' idle breakdown, refined; {H200}",
)


# --- G2 -----------------------------------------------------------------------------------------


def profiler_writes_overhead(quantities: Quantities) -> str | None:
    """Say why the file cannot show the profiler's own work, or None."""
    if reason := needs.gpu(quantities):
        return reason
    if len(quantities.overhead_rows):
        return None
    if quantities.is_amd:
        return "ROCm does not record the profiler's own work."
    version = quantities.trace.versions.get("cupti_version", "")
    if not version.isdigit():
        return "The trace does not say which version of CUPTI wrote it."
    if int(version) < words.CUPTI_WITH_BUFFER_REQUESTS:
        return "CUPTI before 12.7 does not record its own buffer requests."
    return None


def _g2(quantities: Quantities) -> Observation | None:
    window_ns = gpu_window_ns(quantities)
    if window_ns is None or not len(quantities.overhead_rows):
        return None
    gap_start_ns, gap_end_ns = gaps_ns(quantities, window_ns)
    long = gap_end_ns - gap_start_ns >= OVERHEAD_GAP_MIN_NS
    gap_start_ns, gap_end_ns = gap_start_ns[long], gap_end_ns[long]
    rows = quantities.overhead_rows
    row_start_ns = quantities.trace.start_ns[rows]
    row_end_ns = row_start_ns + quantities.trace.duration_ns[rows]
    hit = overlaps(gap_start_ns, gap_end_ns, row_start_ns, row_end_ns)
    if not hit.any():
        return None
    causes = rows[overlaps(row_start_ns, row_end_ns, gap_start_ns[hit], gap_end_ns[hit])]
    idle_ns = int((gap_end_ns - gap_start_ns)[hit].sum())
    return Observation(
        text=f"{count_text(int(hit.sum()), 'gap')} on the GPU lane, {time_text(idle_ns)} "
        f"together, {'falls' if hit.sum() == 1 else 'fall'} on work of the profiler itself.",
        evidence=evidence(quantities, causes),
    )


G2 = Rule(
    id="G2",
    title="Gaps on the GPU lane made by the profiler",
    family="measurement quality",
    kind="fact",
    missing=profiler_writes_overhead,
    observe=_g2,
    meaning="The profiler was filling or fetching a buffer while the GPU had nothing to do. The "
    "gap would not be there without the profiler.",
    advice="Record more steps: a gap that comes once is the profiler's.",
    source=f"{ARTICLE_1}; {KINETO}",
)
