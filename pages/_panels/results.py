"""Opened recordings: trace read, tables computed, rules checked; kept for the next visitor."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from profcore.analysis import Analysis
from profcore.charts import (
    Figure,
    idle_figure,
    kernels_figure,
    memory_figure,
    queue_figure,
    self_times_figure,
    steps_figure,
)
from profcore.charts.highlight import NOTHING, Highlight
from profcore.charts.memory import NO_ROWS
from profcore.opened.shelf import OpenedTrace
from profcore.recording import Recording
from profcore.rules import Finding, Verdict, check_all, judge
from profcore.rules.headline import Headline, headline
from profcore.trace import read

OPENED_KEPT = 3
"""Opened traces whose tables are in memory, for all visitors together; they can be large."""
NO_STEPS = (
    "No chart per step: the file marks no steps. Record with a schedule and call profiler.step()."
)
NO_IDLE = "What the GPU waited for is drawn between steps; fewer than two steps have GPU work here."
NO_GPU_CHARTS = (
    "A run on a GPU has three more charts here: which kernels fill the GPU's time, what it waits "
    "for, and how much launched work waits for it. The recorded examples show them."
)
NO_QUEUE = "How much launched work waits cannot be drawn: no GPU work has its launch in this file."

_VERSION = 2
"""Part of the key: raise it when the same trace must be read anew after an update."""


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class Result:
    """What a page shows of a trace. Shared by all visitors: nobody writes into it."""

    analysis: Analysis
    findings: tuple[Finding, ...]
    verdict: Verdict
    numbers: Headline
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...]
    """Which charts are not drawn, why, and what would bring them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a list needs to know of a recording; small, so that many can be kept."""

    bound: str
    sentence: str
    fired: frozenset[str]
    """Ids of the rules that fired."""


def load(recording: Recording) -> Result:
    """Open a finished recording.

    Raises:
        TraceError: its trace cannot be read.
    """
    return _load(recording, recording.id, _stamp(recording), _VERSION)


def held_lightly(result: Result, again: Callable[[], Analysis]) -> Callable[[], Result]:
    """Return what gives the result, and does not keep it in memory.

    Streamlit keeps what buttons and fragments refer to for as long as a session, minutes beyond
    its end; the tables of a trace can be hundreds of megabytes.
    """
    reference = weakref.ref(result)

    def get() -> Result:
        return reference() or _result(again())

    return get


def load_opened(opened: OpenedTrace) -> Result:
    """Return what an opened trace shows; its columns are read, its file is not parsed again.

    Raises:
        TraceError: it was cleared away meanwhile, or is damaged.
    """
    return _load_opened(opened, opened.id, opened.about.opened_at, _VERSION)


def summarize(recording: Recording) -> Summary:
    """Return the verdict and the fired rules of a finished recording.

    Raises:
        TraceError: its trace cannot be read.
    """
    return _summarize(recording, recording.id, _stamp(recording), _VERSION)


def _stamp(recording: Recording) -> tuple[int, int, str]:
    """Size and time of the trace, and when its device was measured: what may change."""
    measured_at = recording.ceilings.measured_at if recording.ceilings else ""
    try:
        stat = recording.trace_path.stat()
    except OSError:
        return 0, 0, measured_at  # reading it will say what is wrong
    return stat.st_size, stat.st_mtime_ns, measured_at


# A leading underscore keeps an argument out of the key.


@st.cache_resource(show_spinner="Reading the trace ...", max_entries=8)
def _load(
    _recording: Recording, recording_id: str, stamp: tuple[int, int, str], version: int
) -> Result:
    del recording_id, stamp, version  # they are the key
    return _result(Analysis.of_recording(_recording, read(_recording.trace_path)))


@st.cache_resource(show_spinner="Computing the tables ...", max_entries=OPENED_KEPT)
def _load_opened(_opened: OpenedTrace, trace_id: str, opened_at: str, version: int) -> Result:
    del trace_id, opened_at, version  # they are the key
    return _result(Analysis(_opened.load()))


def _result(analysis: Analysis) -> Result:
    figures, remarks = _figures(analysis)
    return Result(
        analysis=analysis,
        findings=tuple(check_all(analysis)),
        verdict=judge(analysis),
        numbers=headline(analysis),
        figures=figures,
        remarks=remarks,
    )


@st.cache_resource(show_spinner=False, max_entries=512)
def _summarize(
    _recording: Recording, recording_id: str, stamp: tuple[int, int, str], version: int
) -> Summary:
    del recording_id, stamp, version  # they are the key
    analysis = Analysis.of_recording(_recording, read(_recording.trace_path))
    verdict = judge(analysis)
    return Summary(
        bound=verdict.bound,
        sentence=verdict.sentence,
        fired=frozenset(f.rule for f in check_all(analysis) if f.state == "fired"),
    )


def figures_with(result: Result, marked: Highlight) -> tuple[Figure, ...]:
    """Return the figures of a result with some bars highlighted."""
    drawn_anew = _figures_of_rows(result.analysis, marked)
    return (*drawn_anew, *result.figures[len(drawn_anew) :])


def _figures(analysis: Analysis) -> tuple[tuple[Figure, ...], tuple[str, ...]]:
    figures, remarks = _figures_of_rows(analysis, NOTHING), []
    if not len(analysis.steps):
        remarks.append(NO_STEPS)
    if analysis.totals.gpu_recorded:
        if len(analysis.idle):
            figures.append(idle_figure(analysis.idle, analysis.steps))
        elif len(analysis.steps):
            remarks.append(NO_IDLE)
        if len(analysis.queue):
            figures.append(queue_figure(analysis.queue))
        else:
            remarks.append(NO_QUEUE)
    elif analysis.experiment is not None:
        remarks.append(NO_GPU_CHARTS)
    if len(analysis.memory):
        figures.append(memory_figure(analysis.memory))
    elif analysis.experiment is None:  # the knobs of an experiment do not record memory
        remarks.append(NO_ROWS)
    return tuple(figures), tuple(remarks)


def _figures_of_rows(analysis: Analysis, marked: Highlight) -> list[Figure]:
    """Return the figures in which events have bars: operators, steps, kernels."""
    has_gpu = analysis.totals.gpu_recorded
    step_ns = analysis.timings.step_ns_median if analysis.timings else None
    figures = [self_times_figure(analysis.operators, gpu_recorded=has_gpu, marked=marked)]
    if len(analysis.steps):
        figures.append(
            steps_figure(analysis.steps, unprofiled_ns=step_ns, gpu_recorded=has_gpu, marked=marked)
        )
    if has_gpu:
        figures.append(kernels_figure(analysis.kernels, analysis.copies, marked=marked))
    return figures
