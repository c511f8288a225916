"""Time per step, on small tables made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

from profcore.charts.figure import UNPROFILED
from profcore.charts.steps import STEPS_DRAWN_MAX, steps_figure


def steps(*cpu_ns: int, gpu_busy_ns: int = 5_000) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "number": range(10, 10 + len(cpu_ns)),
            "row": range(70, 70 + len(cpu_ns)),
            "cpu_ns": cpu_ns,
            "gpu_busy_ns": gpu_busy_ns,
            "kernels": 2,
            "launches": 2,
        }
    )


def layers(chart: Any) -> list[Any]:
    return list(getattr(chart, "layer", [chart]))


def test_two_bars_per_step_and_a_line() -> None:
    figure = steps_figure(steps(90_000, 80_000), unprofiled_ns=30_000.0, gpu_recorded=True)
    bars, line = layers(figure.chart)
    assert bars.data[["step", "series", "duration"]].to_dict("split")["data"] == [
        ["10", "CPU work", 90.0],
        ["10", "GPU work", 5.0],
        ["11", "CPU work", 80.0],
        ["11", "GPU work", 5.0],
    ]
    assert line.data["unprofiled"].tolist() == [30.0]
    assert line.data["series"].tolist() == [UNPROFILED]
    assert figure.first is None
    assert figure.takeaway == (
        "2 steps of 85.0 µs on the CPU (median), the GPU busy for 5.00 µs of each; "
        "without the profiler a step takes 30.0 µs."
    )


def test_the_axis_reaches_above_a_line_that_lies_above_all_bars() -> None:
    figure = steps_figure(steps(10_000, 10_000), unprofiled_ns=40_000.0, gpu_recorded=False)
    top_us = figure.chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    assert top_us == 42.0  # 40 µs and 5 % of it


def test_without_timings_there_is_no_line_and_no_word_of_one() -> None:
    figure = steps_figure(steps(90_000), unprofiled_ns=None, gpu_recorded=True)
    assert len(layers(figure.chart)) == 1
    assert "profiler" not in figure.takeaway
    assert "profiler" not in figure.note
    assert figure.takeaway.startswith("1 step of 90.0 µs")


def test_a_first_step_far_longer_than_the_others_is_drawn_apart() -> None:
    # GIVEN a cold start: 4 ms against a median of 100 µs, 40 times as long
    figure = steps_figure(
        steps(4_000_000, 100_000, 90_000, 110_000), unprofiled_ns=30_000.0, gpu_recorded=True
    )
    # THEN each part has the unit of its own times, and the words say it
    assert figure.first is not None
    first, (rest, _) = layers(figure.first)[0], layers(figure.chart)
    assert first.data["duration"].tolist() == [4.0, 0.005]
    assert first.encoding.y.to_dict()["title"] == "Time (ms)"
    assert rest.data["step"].unique().tolist() == ["11", "12", "13"]
    assert rest.encoding.y.to_dict()["title"] == "Time (µs)"
    assert figure.first_takeaway == ("The first step took 4.00 ms, 40× the median of the others.")
    assert figure.note.startswith(figure.first_takeaway)
    assert len(figure.sheet) == 4


def test_a_first_step_three_times_as_long_stays_with_the_others() -> None:
    figure = steps_figure(steps(300_000, 100_000, 100_000), unprofiled_ns=None, gpu_recorded=True)
    assert figure.first is None


def test_one_step_is_never_apart() -> None:
    assert steps_figure(steps(300_000), unprofiled_ns=1.0, gpu_recorded=True).first is None


def test_cpu_runs_have_one_bar_per_step() -> None:
    figure = steps_figure(steps(90_000, 80_000), unprofiled_ns=30_000.0, gpu_recorded=False)
    assert layers(figure.chart)[0].data["series"].tolist() == ["CPU work", "CPU work"]
    assert list(figure.sheet.columns) == ["Step", "CPU (µs)"]
    assert "GPU" not in figure.question + figure.takeaway + figure.note


def test_very_many_steps_are_cut_and_the_note_says_so() -> None:
    figure = steps_figure(steps(*[1_000] * 130), unprofiled_ns=None, gpu_recorded=False)
    assert len(layers(figure.chart)[0].data) == STEPS_DRAWN_MAX
    assert "first 120 of 130 steps" in figure.note
    assert len(figure.sheet) == 130


def test_no_steps_draw_an_empty_chart() -> None:
    figure = steps_figure(steps(), unprofiled_ns=None, gpu_recorded=True)
    assert figure.takeaway == "No steps were recorded."
    assert figure.chart.to_dict()


def test_a_line_above_all_bars_of_a_cpu_run_is_explained() -> None:
    # The profiler can only add time: 80 µs without it and 50 µs with it were not the same machine.
    odd = steps_figure(steps(50_000, 40_000), unprofiled_ns=80_000.0, gpu_recorded=False)
    assert "the machine was busier while it was taken" in odd.note
    # A GPU may work on after the CPU has launched everything: there it is no wonder.
    on_gpu = steps_figure(steps(50_000, 40_000), unprofiled_ns=80_000.0, gpu_recorded=True)
    assert "busier" not in on_gpu.note
    usual = steps_figure(steps(50_000, 40_000), unprofiled_ns=45_000.0, gpu_recorded=False)
    assert "busier" not in usual.note
