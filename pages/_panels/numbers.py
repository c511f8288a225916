"""The four numbers of a run."""

import streamlit as st

from pages._panels.table_link import anchor_of
from pages._panels.text import plain
from profcore.rules.headline import Headline, Rate, peak_words
from profcore.units import bytes_rate_text, flops_rate_text, percent_text, time_text

UNKNOWN = "not known"


def numbers_panel(numbers: Headline) -> None:
    """Draw step time, the GPU's share of it, launches per step, and the achieved rate."""
    st.subheader("In four numbers", anchor=anchor_of("timings") or False)
    with st.grid(4, min_column_width=210):
        _step_time(numbers)
        _busy(numbers)
        _launches(numbers)
        _rate(numbers.rate)


def number_card(label: str, value: str, below: str, explanation: str) -> None:
    """Draw one number with what it rests on below it, and an explanation on demand."""
    with st.container(border=True, height="stretch", gap="xxsmall"):
        st.metric(label, value, help=explanation)
        st.caption(below)  # the delta of a metric is cut off where a caption wraps


def _step_time(numbers: Headline) -> None:
    label = "Step time, no profiler"
    explanation = (
        "Median time of a step measured without the profiler, many times over, waiting for the "
        "device. The middle half of the repeats says how much it varies."
    )
    if numbers.step_ns is None or numbers.step_p25_ns is None or numbers.step_p75_ns is None:
        number_card(label, UNKNOWN, "not measured in this recording", explanation)
        return
    low, high = time_text(numbers.step_p25_ns), time_text(numbers.step_p75_ns)
    below = f"half of the repeats: {low} to {high}"
    if numbers.taken_after:
        below += "; timed after profiling"
        explanation += (
            " A cold start must be profiled first, and code that waits for launches can be up to "
            "half as slow again after that."
        )
    number_card(label, time_text(numbers.step_ns), below, explanation)


def _busy(numbers: Headline) -> None:
    label = "GPU busy"
    explanation = (
        "Time in which the GPU worked in a step (kernels, copies and fills, overlaps counted "
        "once), as a share of the step time without the profiler."
    )
    if numbers.busy_fraction is None or numbers.gpu_busy_ns is None:
        number_card(label, "no GPU work", "nothing ran on a GPU in this recording", explanation)
        return
    below = f"{time_text(numbers.gpu_busy_ns)} of each step"
    if not numbers.busy_is_unprofiled:
        below += "; share of the profiled time"
    number_card(label, percent_text(numbers.busy_fraction), below, explanation)


def _launches(numbers: Headline) -> None:
    label = "Launches per step"
    explanation = (
        "Calls that start GPU work: one per kernel, or one for a whole CUDA graph. Each costs the "
        "CPU a few microseconds."
    )
    if numbers.launches is None or numbers.kernels is None:
        number_card(label, "none", "a CPU run launches nothing", explanation)
        return
    kernels = f"{numbers.kernels:g} kernel" + ("" if numbers.kernels == 1 else "s")
    number_card(label, f"{numbers.launches:g}", f"they start {kernels}", explanation)


def _rate(rate: Rate | None) -> None:
    if rate is None:
        number_card("Achieved", UNKNOWN, "it needs the step time", "Work per second of step time.")
        return
    value = flops_rate_text(rate.per_s) if rate.is_flops else bytes_rate_text(rate.per_s)
    explanation = (
        "Arithmetic of a step over its time without the profiler."
        if rate.is_flops
        else "Bytes a step must move over its time without the profiler. Data that stays in a "
        "cache can exceed the memory's peak."
    )
    if rate.peak_fraction is None:
        below = "this device's peak is not known here"
    else:
        below = f"{percent_text(rate.peak_fraction)} of {peak_words(rate)}"
        explanation += f" Peak: {plain(rate.peak_source)}"
    number_card("Achieved", value, below, explanation)
