"""The headline: what bounds this run, with its arithmetic and what to run next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore.rules import arithmetic, cpu_run, needs
from profcore.rules.check import check_all
from profcore.rules.compiling import compiler_rows
from profcore.rules.constants import (
    BUSY_HIGH_FRACTION,
    BUSY_LOW_FRACTION,
    LOADER_WARN_FRACTION,
)
from profcore.rules.data_loading import loader_fraction
from profcore.rules.idle import copy_only_fraction
from profcore.rules.limits import gpu_bound
from profcore.rules.model import Bound, Line, Verdict
from profcore.rules.peaks import MEASURE_FIRST
from profcore.rules.quantities import Quantities
from profcore.rules.suggestions import suggest
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.analysis import Analysis

_ADVICE: Final[dict[Bound, str]] = {
    "overhead-bound": "Give the GPU more work per launch: a larger size or batch, fused operators, "
    "CUDA graphs. Faster kernels would change nothing.",
    "compute-bound": "Make the GPU work cheaper: a smaller number format, a fused kernel. Less CPU "
    "overhead would change nothing.",
    "memory-bound": "Move fewer bytes: fuse operators, use a smaller number format. Faster "
    "arithmetic would change nothing.",
    "copy-bound": "Copy less or sooner: keep data on the GPU, use pinned memory, overlap copies "
    "with kernels.",
    "waiting": "Ask for results less often, so that the CPU can run ahead of the GPU.",
    "input-bound": "Feed the loop faster: more loader workers, pinned memory, a larger batch.",
    "compiling": "Add warm-up calls, so that the compiler is done before the recording starts.",
    "balanced": "Try both sides: a larger size for the CPU side, a smaller number format for the "
    "GPU side.",
    "cpu-run": "Open a recorded sample to see what a GPU does with such a program.",
    "cannot-tell": "",
}
_REASONS: Final[tuple[tuple[str, Bound, str], ...]] = (
    ("R1", "compiling", "torch.compile is at work inside the recorded steps"),
    ("S6", "input-bound", "the loop waits for its data loader"),
    ("S1", "waiting", "the CPU stops for results and the GPU runs dry meanwhile"),
    ("S5", "waiting", "the program synchronises inside its steps"),
)
"""Rules that say why the CPU is the limit: (rule, verdict, words), the first that fired counts."""


def judge(analysis: Analysis) -> Verdict:
    """Return what bounds the run."""
    quantities = Quantities.of(analysis)
    if not len(quantities.trace):
        return _cannot_tell("B2", needs.NO_EVENTS, advice="Record at least one step.")
    if not quantities.has_gpu_work:
        return _without_gpu_work(quantities)
    if quantities.busy_unprofiled_fraction is not None:
        return _of_limit(quantities, rule="B1", lines=arithmetic.unprofiled_lines(quantities))
    if quantities.limit_from_trace is not None:
        return _of_limit(quantities, rule="B2", lines=arithmetic.trace_only_lines(quantities))
    return _from_window(quantities)


def _cannot_tell(rule: str, sentence: str, *, advice: str, lines: tuple[Line, ...] = ()) -> Verdict:
    return Verdict(
        rule=rule, bound="cannot-tell", sentence=sentence, arithmetic=lines, advice=advice
    )


def _without_gpu_work(quantities: Quantities) -> Verdict:
    if quantities.has_other_accelerator:
        return _cannot_tell(
            "Q1",
            f"Cannot tell what bounds this run. {needs.OTHER_ACCELERATOR}",
            advice="Its CPU side can still be read.",
        )
    if quantities.gpu_was_expected:
        return _cannot_tell(
            "Q1",
            "Cannot tell what bounds this run: a GPU was to be recorded, but the file has no GPU "
            "work. That is a failed recording, not an idle GPU.",
            advice="Run python -m profcore doctor: it says what is missing and what to do.",
        )
    return _cpu_run(quantities)


def _cpu_run(quantities: Quantities) -> Verdict:
    lines = cpu_run.cpu_run_lines(quantities)
    where = "This ran on the CPU"
    outside = quantities.unrecorded_fraction
    largest = cpu_run.largest_operator(quantities)
    loading = loader_fraction(quantities)
    if loading >= LOADER_WARN_FRACTION:
        where += f": {percent_text(loading)} of the step waits for the data loader (S6)"
    elif outside is not None and outside >= BUSY_LOW_FRACTION:
        where += f": {percent_text(outside)} of the step is Python and dispatch, not arithmetic"
    elif largest is not None:
        name, share = largest
        where += f": {name} takes {percent_text(share)} of {cpu_run.share_of(quantities)}"
    cold = cpu_run.cold_start(quantities)
    return Verdict(
        rule="B1",
        bound="cpu-run",
        sentence=f"{where}. {cold}{' ' if cold else ''}Whether a GPU would wait for the CPU "
        "cannot be seen without a GPU.",
        arithmetic=tuple(lines),
        advice=_ADVICE["cpu-run"],
        suggestions=suggest(quantities, "cpu-run"),
    )


def _of_limit(quantities: Quantities, *, rule: str, lines: list[Line]) -> Verdict:
    limit = quantities.limit
    roof = arithmetic.roofline(quantities)
    if limit == "gpu":
        bound, sentence = _gpu_limited(quantities, roof)
        if roof is not None:
            lines += arithmetic.roofline_lines(quantities, roof)
    elif limit == "cpu":
        bound, sentence = _cpu_limited(quantities)
    elif limit == "both":
        bound, sentence = "balanced", "Balanced: both the CPU and the GPU matter."
    else:
        bound = "cannot-tell"
        sentence = (
            f"Cannot tell from this trace alone: the GPU was busy "
            f"{percent_text(quantities.busy_profiled_fraction or 0.0)} while it was profiled, and "
            f"up to {percent_text(quantities.busy_at_most_fraction or 0.0)} without the profiler."
        )
    guide = arithmetic.guide_line(quantities)
    if guide is not None:
        lines.append(guide)
    advice = _ADVICE[bound] or "Time one step without the profiler: that settles it."
    return Verdict(
        rule=rule,
        bound=bound,
        sentence=sentence,
        arithmetic=tuple(lines),
        advice=advice,
        suggestions=suggest(quantities, bound),
    )


def _busy_text(quantities: Quantities) -> str:
    if quantities.recording_decides:
        return f"{percent_text(quantities.busy_profiled_fraction or 0.0)} of the recorded steps"
    busy = percent_text(quantities.busy_fraction or 0.0)
    if quantities.busy_unprofiled_fraction is not None:
        return f"{busy} of each step"
    return f"{busy} of the time, even while it was profiled"


def _gpu_limited(quantities: Quantities, roof: arithmetic.Roofline | None) -> tuple[Bound, str]:
    busy = _busy_text(quantities)
    copying = copy_only_fraction(quantities)
    flops = None if roof is None else roof.flops_fraction
    moved = None if roof is None else roof.bytes_fraction
    bound = gpu_bound(copying=copying, flops_fraction=flops, bytes_fraction=moved)
    sentence = f"{_NAMES[bound]}: the GPU is busy {busy}"
    if bound == "copy-bound":
        return bound, f"{sentence}, and copying takes {percent_text(copying or 0.0)} of the time."
    if flops is None or moved is None:
        unknown = (
            "its arithmetic and bytes are not known, so compute and memory cannot be told apart"
            if quantities.experiment is None
            else f"what {quantities.device_name or 'this device'} can do at most is not known, so "
            "compute and memory cannot be told apart"
        )
        if quantities.experiment is not None and roof is None:
            unknown += f"; {MEASURE_FIRST}"
        return bound, f"{sentence} ({unknown})."
    if bound == "memory-bound":
        return bound, (
            f"{sentence}, and moving bytes is nearer its peak ({percent_text(moved)}) than the "
            f"arithmetic ({percent_text(flops)})."
        )
    return bound, (
        f"{sentence}, and its arithmetic is nearer the peak ({percent_text(flops)}) than its "
        f"memory ({percent_text(moved)})."
    )


def _cpu_limited(quantities: Quantities) -> tuple[Bound, str]:
    if quantities.busy_unprofiled_fraction is not None:
        busy = (
            f"the GPU works only {percent_text(quantities.busy_unprofiled_fraction)} of each step"
        )
    else:
        at_most = percent_text(quantities.busy_at_most_fraction or 0.0)
        busy = f"the GPU works {at_most} of the time at most"
    fired = {
        finding.rule
        for finding in check_all(quantities.analysis)
        if finding.state == "fired" and finding.kind in {"warning", "note"}
    }
    for rule, bound, words in _REASONS:
        if rule == "R1" and not quantities.in_most_kept_steps(compiler_rows(quantities)):
            continue  # the first steps compiled; the median is of those that did not
        if rule in fired:
            return bound, f"{_NAMES[bound]}: {busy}, because {words} ({rule})."
    return "overhead-bound", f"Overhead-bound: {busy} and waits for the CPU the rest."


_NAMES: Final[dict[Bound, str]] = {
    "compute-bound": "Compute-bound",
    "memory-bound": "Memory-bound",
    "copy-bound": "Copy-bound",
    "compiling": "Compiling",
    "input-bound": "Input-bound",
    "waiting": "Waiting",
}


def _from_window(quantities: Quantities) -> Verdict:
    """Judge a trace with too few steps: only a GPU that is busy all the time is beyond doubt."""
    trace, busy_ns = quantities.trace, quantities.analysis.totals.gpu_busy_ns
    why = (
        needs.gpu_steps_for_median(quantities)
        or "The recorded steps do not show how busy the GPU was."
    )
    span_ns = int((trace.start_ns + trace.duration_ns).max() - trace.start_ns.min())
    if not span_ns:
        return _cannot_tell("B2", f"Cannot tell what bounds this run. {why}", advice="")
    busy = busy_ns / span_ns
    lines = [
        Line(text=why, table="steps"),
        Line(
            text=f"Over the whole recording ({time_text(span_ns)}) the GPU was busy "
            f"{time_text(busy_ns)}: {percent_text(busy)}.",
            table="activities",
        ),
    ]
    if guide := arithmetic.guide_line(quantities):
        lines.append(guide)
    if busy >= BUSY_HIGH_FRACTION:
        copying = copy_only_fraction(quantities) or 0.0
        bound = gpu_bound(copying=copying, flops_fraction=None, bytes_fraction=None)
        return Verdict(
            rule="B2",
            bound=bound,
            sentence=f"{_NAMES[bound]}, as far as a recording with so few marked steps can tell: "
            f"the GPU is busy {percent_text(busy)} of it, even while it was profiled.",
            arithmetic=tuple(lines),
            advice=_ADVICE[bound],
            suggestions=suggest(quantities, bound),
        )
    return Verdict(
        rule="B2",
        bound="cannot-tell",
        sentence=f"Cannot tell for sure: the GPU was busy {percent_text(busy)} of the recording, "
        "and with so few marked steps nobody knows how much of the rest the profiler caused.",
        arithmetic=tuple(lines),
        advice="Record at least three steps with a schedule, and time one step without the "
        "profiler.",
    )
