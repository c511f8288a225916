"""The four numbers of an opened trace, which knows no time without the profiler."""

import streamlit as st

from pages._panels.numbers import UNKNOWN, number_card
from profcore.analysis.glance import Glance
from profcore.units import percent_text, time_text

_NOT_RECORDED = "not recorded"
_CPU_RUN = "the file names no GPU: a CPU run"


def trace_numbers_panel(glance: Glance) -> None:
    """Draw step time while profiled, the GPU's share, launches, and the time in kernels."""
    with st.grid(4, min_column_width=210):
        _step(glance)
        _busy(glance)
        _launches(glance)
        _kernels(glance)


def _step(glance: Glance) -> None:
    label = "Step on the CPU, profiled"
    explanation = (
        "Median length of the marked steps on the CPU side. The profiler makes them longer; how "
        "much, this file does not say."
    )
    if glance.step_cpu_ns is None:
        number_card(label, UNKNOWN, "no steps are marked in this file", explanation)
        return
    steps = "1 marked step" if glance.steps == 1 else f"median of {glance.steps:,} marked steps"
    number_card(label, time_text(glance.step_cpu_ns), steps, explanation)


def _busy(glance: Glance) -> None:
    label = "GPU busy, profiled"
    explanation = (
        "Time in which any kernel, copy or fill ran, overlaps counted once, as a share of the time "
        "from the first start to the last end of GPU work in the file."
    )
    if not glance.gpu_recorded:
        _without_gpu(glance, label, explanation)
    elif glance.busy_fraction is None or glance.gpu_span_ns is None:
        number_card(label, UNKNOWN, "the GPU work in the file lasts no time", explanation)
    else:
        below = f"{time_text(glance.gpu_busy_ns)} of {time_text(glance.gpu_span_ns)}"
        number_card(label, percent_text(glance.busy_fraction), below, explanation)


def _without_gpu(glance: Glance, label: str, explanation: str) -> None:
    if glance.gpu_expected:
        below = "a GPU was there, its activity is not in the file"
        number_card(label, _NOT_RECORDED, below, explanation)
    else:
        number_card(label, "no GPU work", _CPU_RUN, explanation)


def _launches(glance: Glance) -> None:
    explanation = (
        "Calls that start GPU work: one per kernel, or one for a whole CUDA graph. Each costs the "
        "CPU a few microseconds."
    )
    if glance.launches_per_step is not None and glance.launches:
        below = f"{glance.launches:,} in the whole file"
        number_card("Launches per step", f"{glance.launches_per_step:g}", below, explanation)
    elif glance.launches or glance.gpu_recorded:
        below = "no steps are marked" if glance.launches else "the CPU side was not recorded"
        number_card("Launches", f"{glance.launches:,}", below, explanation)
    else:
        number_card("Launches", "none", "no call in the file starts GPU work", explanation)


def _kernels(glance: Glance) -> None:
    label = "Time in kernels"
    explanation = "Durations of all kernels added up; those that ran at the same time count each."
    if not glance.gpu_recorded:
        _without_gpu(glance, label, explanation)
        return
    count = "1 kernel" if glance.kernels == 1 else f"{glance.kernels:,} kernels"
    number_card(label, time_text(glance.kernel_sum_ns), f"{count} in the file", explanation)
