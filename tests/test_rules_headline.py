"""The four numbers of a run, worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from profcore.analysis import Analysis
from profcore.estimate import estimate
from profcore.experiment import Experiment
from profcore.rules.headline import Headline, headline, peak_words
from profcore.trace import read
from tests.page_recordings import CPU, FAST, H200, cpu_rows, gpu_rows
from tests.rule_traces import MEASURED
from tests.trace_bytes import Row, trace_bytes

if TYPE_CHECKING:
    from profcore.devices import Ceilings
    from profcore.recording import Environment, Timings


def numbers(
    rows: list[Row],
    *,
    experiment: Experiment | None = None,
    timings: Timings | None = FAST,
    environment: Environment | None = H200,
    ceilings: Ceilings | None = None,
) -> Headline:
    trace = read(trace_bytes(*rows), name="made by hand")
    return headline(
        Analysis(
            trace,
            experiment=experiment or Experiment(),
            timings=timings,
            environment=environment,
            ceilings=ceilings,
        )
    )


def test_gpu_run() -> None:
    found = numbers(gpu_rows())
    assert (found.step_ns, found.step_p25_ns, found.step_p75_ns) == (33_000, 32_500, 34_100)
    # A GEMM of 3 µs and a sum of 2 µs, one after the other, in a step of 33 µs
    assert found.gpu_busy_ns == 5_000
    assert found.busy_fraction == pytest.approx(5 / 33)
    assert found.busy_is_unprofiled
    assert (found.launches, found.kernels) == (2, 2)
    assert not found.taken_after


def test_arithmetic_rate_against_the_peak_of_the_number_format() -> None:
    rate = numbers(gpu_rows()).rate
    assert rate is not None
    assert rate.is_flops
    # 2 × 64³ + 64² = 528,384 operations in 33 µs; an H200 does 989.5 TFLOP/s in bf16
    assert rate.per_s == pytest.approx(528_384 / 33e-6)
    assert rate.peak_fraction == pytest.approx(528_384 / 33e-6 / 989.5e12)
    assert rate.peak_of == "NVIDIA H200"
    assert peak_words(rate) == "the peak of an NVIDIA H200"


def test_what_was_measured_on_the_device_is_its_peak() -> None:
    rate = numbers(gpu_rows(), ceilings=MEASURED).rate
    assert rate is not None
    assert rate.peak_fraction == pytest.approx(528_384 / 33e-6 / 700e12)
    assert peak_words(rate) == "what this device was measured to do"
    assert rate.peak_source == "Measured on this device."
    moving = numbers(
        gpu_rows(), experiment=Experiment(workload="elementwise_chain"), ceilings=MEASURED
    ).rate
    assert moving is not None
    assert moving.peak_per_s == 4e12
    assert peak_words(moving) == "what a large copy here was measured to move"


def test_bytes_rate_where_the_step_is_not_about_arithmetic() -> None:
    experiment = Experiment(workload="elementwise_chain", size=1024)
    rate = numbers(gpu_rows(), experiment=experiment).rate
    assert rate is not None
    assert not rate.is_flops
    assert rate.per_s == pytest.approx(estimate(experiment).step_bytes / 33e-6)
    assert rate.peak_per_s == 4.8e12


def test_cpu_run_has_no_gpu_numbers_and_no_peak() -> None:
    found = numbers(cpu_rows(), environment=CPU)
    assert (found.gpu_busy_ns, found.busy_fraction) == (None, None)
    assert (found.launches, found.kernels) == (None, None)
    assert found.rate is not None
    assert found.rate.peak_fraction is None
    assert found.rate.peak_of == ""


def test_without_timings_the_share_is_of_the_profiled_window() -> None:
    found = numbers(gpu_rows(), timings=None)
    assert found.step_ns is None
    assert found.rate is None
    assert not found.busy_is_unprofiled
    # From the end of the first step's work to the end of the last one's: the steps begin 125, 121,
    # 122 and 120 µs after each other, and each brings 5 µs of work.
    assert found.busy_fraction == pytest.approx(4 * 5 / 488)


def test_timing_after_a_cold_start_is_marked() -> None:
    assert numbers(gpu_rows(), timings=replace(FAST, taken="after")).taken_after
