"""Opened recordings: trace read, tables computed, rules checked; kept for the next visitor."""

from dataclasses import dataclass

import streamlit as st

from profcore.analysis import Analysis
from profcore.charts import Figure, kernels_figure, self_times_figure, steps_figure
from profcore.recording import Recording
from profcore.rules import Finding, Verdict, check_all, judge
from profcore.rules.headline import Headline, headline
from profcore.trace import read

_VERSION = 1
"""Part of the key: raise it when the same trace must be read anew after an update."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a page shows of a trace. Shared by all visitors: nobody writes into it."""

    analysis: Analysis
    findings: tuple[Finding, ...]
    verdict: Verdict
    numbers: Headline
    figures: tuple[Figure, ...]


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
    return _load(recording, recording.id, *_stamp(recording), _VERSION)


def summarize(recording: Recording) -> Summary:
    """Return the verdict and the fired rules of a finished recording.

    Raises:
        TraceError: its trace cannot be read.
    """
    return _summarize(recording, recording.id, *_stamp(recording), _VERSION)


def _stamp(recording: Recording) -> tuple[int, int]:
    """Size and time of the trace: they change when the file does."""
    try:
        stat = recording.trace_path.stat()
    except OSError:
        return 0, 0  # reading it will say what is wrong
    return stat.st_size, stat.st_mtime_ns


# A leading underscore keeps an argument out of the key.


@st.cache_resource(show_spinner="Reading the trace ...", max_entries=8)
def _load(
    _recording: Recording, recording_id: str, size_bytes: int, mtime_ns: int, version: int
) -> Result:
    del recording_id, size_bytes, mtime_ns, version  # they are the key
    analysis = Analysis.of_recording(_recording, read(_recording.trace_path))
    return Result(
        analysis=analysis,
        findings=tuple(check_all(analysis)),
        verdict=judge(analysis),
        numbers=headline(analysis),
        figures=_figures(analysis),
    )


@st.cache_resource(show_spinner=False, max_entries=512)
def _summarize(
    _recording: Recording, recording_id: str, size_bytes: int, mtime_ns: int, version: int
) -> Summary:
    del recording_id, size_bytes, mtime_ns, version  # they are the key
    analysis = Analysis.of_recording(_recording, read(_recording.trace_path))
    verdict = judge(analysis)
    return Summary(
        bound=verdict.bound,
        sentence=verdict.sentence,
        fired=frozenset(f.rule for f in check_all(analysis) if f.state == "fired"),
    )


def _figures(analysis: Analysis) -> tuple[Figure, ...]:
    has_gpu = analysis.totals.gpu_recorded
    step_ns = analysis.timings.step_ns_median if analysis.timings else None
    figures = [
        self_times_figure(analysis.operators, gpu_recorded=has_gpu),
        steps_figure(analysis.steps, unprofiled_ns=step_ns, gpu_recorded=has_gpu),
    ]
    if has_gpu:
        figures.append(kernels_figure(analysis.kernels, analysis.copies))
    return tuple(figures)
