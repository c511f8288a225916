"""Where in the picture stands what the rules speak of: the first step, the closing wait ...

A landmark is drawn as a number on the timeline. It is shown only where its rule fired, so that the
picture and the table of observations never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules.rows import named
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

    from profcore.analysis import Analysis
    from profcore.rules.model import Finding
    from profcore.trace.model import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Landmark:
    """One thing to look at in a window."""

    rule: str
    text: str
    """What it is, in a few words, with its time."""
    row: int | None
    """Position in the trace; None: a stretch of time in which something is missing."""
    start_ns: int
    end_ns: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Named:
    rule: str
    label: str
    kinds: tuple[Kind, ...]
    match: Callable[[str], bool]


_NAMED: Final[tuple[_Named, ...]] = (
    _Named(
        rule="G1",
        label="The profiler's buffer request",
        kinds=("overhead",),
        match="Activity Buffer Request".__eq__,
    ),
    _Named(
        rule="C3",
        label="Occupancy query",
        kinds=("runtime",),
        match=lambda name: name.startswith(("cudaOccupancy", "hipOccupancy")),
    ),
    _Named(
        rule="K2",
        label="TorchDynamo checks its cache",
        kinds=("operator", "annotation"),
        match=lambda name: name.startswith("TorchDynamo Cache Lookup"),
    ),
    _Named(
        rule="K1",
        label="Compiled region",
        kinds=("operator", "annotation"),
        match=lambda name: name.startswith("Torch-Compiled Region"),
    ),
    _Named(
        rule="K3",
        label="AOT prologue",
        kinds=("operator", "annotation"),
        match=lambda name: name.startswith("AOTDispatcher Runtime Wrapper Prologue"),
    ),
    _Named(
        rule="K4",
        label="Call of the compiled graph",
        kinds=("operator", "annotation"),
        match=lambda name: name.startswith("## Call CompiledFxGraph"),
    ),
)


def landmarks(
    analysis: Analysis, findings: Collection[Finding], *, start_ns: int, end_ns: int
) -> tuple[Landmark, ...]:
    """Return what there is to see in [start_ns, end_ns), in order of time.

    Of a thing that comes several times in the window the first is numbered; the text says how often
    it comes and the time of all together.
    """
    fired = {finding.rule for finding in findings if finding.state == "fired"}
    found = [
        mark
        for mark in (*_steps(analysis), *_named_rows(analysis, start_ns, end_ns))
        if mark.rule in fired and mark.start_ns < end_ns and mark.end_ns > start_ns
    ]
    if any(mark.rule == "C1" for mark in found):
        found = [mark for mark in found if mark.rule != "V4"]  # the stronger word for the same step
    return tuple(sorted(found, key=lambda mark: (mark.start_ns, -mark.end_ns)))


def _steps(analysis: Analysis) -> Iterator[Landmark]:
    steps, trace = analysis.steps, analysis.trace
    if not len(steps):
        return
    first = steps.iloc[0]
    start_ns, cpu_ns = int(first["start_ns"]), int(first["cpu_ns"])
    for rule in ("C1", "V4"):
        yield Landmark(
            rule=rule,
            text=f"The first recorded step is wide: {time_text(cpu_ns)}",
            row=int(first["row"]),
            start_ns=start_ns,
            end_ns=start_ns + cpu_ns,
        )
    worked = steps[steps["activities"] > 0]
    if len(worked) and int(worked["gpu_start_ns"].iloc[0]) > int(worked["start_ns"].iloc[0]):
        begun = int(worked["start_ns"].iloc[0])
        gpu_ns = int(worked["gpu_start_ns"].iloc[0])
        yield Landmark(
            rule="G6",
            text=f"The lane of the GPU begins {time_text(gpu_ns - begun)} later",
            row=None,
            start_ns=begun,
            end_ns=gpu_ns,
        )
    kinds: tuple[Kind, ...] = ("runtime",)
    waits = named(trace, kinds, "cudaDeviceSynchronize".__eq__)
    last = steps.iloc[-1]
    closing = waits[trace.start_ns[waits] >= int(last["start_ns"] + last["cpu_ns"])]
    if len(closing):
        row = int(closing[-1])
        yield _of_row(analysis, row, rule="C5", text="The closing synchronise: the CPU waits")


def _named_rows(analysis: Analysis, start_ns: int, end_ns: int) -> Iterator[Landmark]:
    trace = analysis.trace
    for one in _NAMED:
        rows = _inside(analysis, named(trace, one.kinds, one.match), start_ns, end_ns)
        if len(rows):
            yield _first_of(analysis, rows, rule=one.rule, text=one.label)
    copies = _inside(analysis, _bias_copies(analysis), start_ns, end_ns)
    if len(copies):
        yield _first_of(analysis, copies, rule="G5", text="The bias is copied before the product")


def _bias_copies(analysis: Analysis) -> NDArray[np.int64]:
    """Return copies inside the GPU that an addmm asked for."""
    activities, trace = analysis.activities, analysis.trace
    is_copy = (activities["kind"] == "memcpy") & activities["name"].str.contains("DtoD")
    operator = activities["operator_row"].to_numpy()
    asked = np.array(
        [at >= 0 and trace.name_of(at) == "aten::addmm" for at in operator.tolist()], bool
    )
    rows: NDArray[np.int64] = activities["row"].to_numpy()[is_copy.to_numpy(bool) & asked]
    return rows


def _inside(
    analysis: Analysis, rows: NDArray[np.int64], start_ns: int, end_ns: int
) -> NDArray[np.int64]:
    start = analysis.trace.start_ns[rows]
    end = start + analysis.trace.duration_ns[rows]
    return rows[(start < end_ns) & (end > start_ns)]


def _first_of(analysis: Analysis, rows: NDArray[np.int64], *, rule: str, text: str) -> Landmark:
    mark = _of_row(analysis, int(rows[0]), rule=rule, text=text)
    if len(rows) == 1:
        return mark
    sum_ns = int(analysis.trace.duration_ns[rows].sum())
    return replace(mark, text=f"{text}, {len(rows):,} times here, {time_text(sum_ns)} together")


def _of_row(analysis: Analysis, row: int, *, rule: str, text: str) -> Landmark:
    start_ns, duration_ns = int(analysis.trace.start_ns[row]), int(analysis.trace.duration_ns[row])
    return Landmark(
        rule=rule,
        text=f"{text}, {time_text(duration_ns)}",
        row=row,
        start_ns=start_ns,
        end_ns=start_ns + duration_ns,
    )
