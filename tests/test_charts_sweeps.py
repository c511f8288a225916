"""Charts of sweeps and comparisons, on small tables made by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pandas as pd
import pytest

from profcore.charts.busy_fraction import busy_fraction_figure
from profcore.charts.compare_times import compare_times_figure
from profcore.charts.figure import CPU, GPU, UNPROFILED
from profcore.charts.rate_unit import rate_unit
from profcore.charts.roofline import roofline_figure
from profcore.charts.sweep_settings import sweep_settings_figure
from profcore.charts.sweep_times import sweep_times_figure
from profcore.charts.throughput import throughput_figure
from profcore.comparison import Comparison
from profcore.comparison.crossover import crossovers
from profcore.comparison.points import points_table
from profcore.comparison.roofline import roof_of, roofline_table
from tests.test_comparison import compiled, eager
from tests.test_comparison_sweeps import CEILINGS, point, sweep, timings

ROOF = roof_of(CEILINGS, dtype="bf16", is_matmul=True)


def layers(chart: Any) -> list[Any]:
    return list(getattr(chart, "layer", [chart]))


def test_times_over_size_have_three_lines_per_row_and_the_crossovers() -> None:
    points = sweep()
    figure = sweep_times_figure(points, crossovers(points))
    rules, lines, _, _ = layers(figure.chart)
    assert rules.data["x"].round(1).tolist() == [1351.2, 3104.2]
    assert len(lines.data) == 12  # 4 points, 3 series
    at_64 = lines.data[(lines.data["x"] == 64) & (lines.data["row"] == "eager")]
    assert dict(zip(at_64["series"], at_64["duration"], strict=True)) == {
        UNPROFILED: 20.0,
        CPU: 20.0,
        GPU: 2.0,
    }
    step = at_64[at_64["series"] == UNPROFILED].iloc[0]
    assert (round(step["low"], 3), round(step["high"], 3)) == (19.8, 20.2)
    spec = figure.chart.to_dict()["layer"][1]["encoding"]
    assert (spec["x"]["scale"]["type"], spec["y"]["scale"]["type"]) == ("log", "log")
    assert spec["x"]["axis"]["values"] == [64, 1024, 4096]
    assert figure.takeaway.startswith(
        "eager: a step takes 20.0 µs at 64 and 200 µs at 4,096. compile default: a step takes"
    )
    assert "about size 1,400" in figure.takeaway
    assert "by events" in figure.note
    assert figure.sheet["Size"].tolist() == [64, 1024, 4096, 64]


def test_without_a_gpu_there_is_no_gpu_line_and_no_word_of_one() -> None:
    points = points_table(
        [point(str(n), timings(10 * n), size=16 * n, device="cpu") for n in (1, 2, 4)]
    )
    figure = sweep_times_figure(points, crossovers(points))
    assert len(layers(figure.chart)) == 3
    # On a CPU a step is over when its call returns: one line says both.
    assert set(figure.chart.data["series"]) == {UNPROFILED}
    assert "GPU" not in figure.note
    assert "GPU busy (%)" not in figure.sheet
    assert figure.question == "How does the step time grow with the work?"


def test_the_busy_share_has_its_thresholds() -> None:
    points = sweep()
    figure = busy_fraction_figure(points, crossovers(points))
    thresholds, rules, lines, _ = layers(figure.chart)
    assert thresholds.data["busy"].tolist() == [50.0, 80.0]
    assert len(rules.data) == 2
    assert lines.data["busy"].tolist() == [10.0, 40.0, 90.0, 2.5]
    assert figure.takeaway.startswith("eager: the GPU is busy 50.0 %")


def test_throughput_stands_below_its_ceiling() -> None:
    figure = throughput_figure(sweep(), ROOF, is_matmul=True)
    ceiling, lines, _ = layers(figure.chart)
    assert ceiling.data["rate"].tolist() == [800.0]
    assert lines.data["rate"].round(1).tolist()[2] == 687.3
    assert lines.data["share"].tolist()[2] == "85.9 %"
    assert figure.takeaway == "At most 687 TFLOP/s, at size 4,096 (eager): 85.9 % of the ceiling."
    assert figure.note.endswith("Dashed: the ceiling, 800 TFLOP/s. Measured.")


def test_a_point_above_the_roof_of_the_memory_is_explained() -> None:
    # 134.2 MB in 200 us is 671 GB/s, of 0.5 TB/s
    small = msgspec.structs.replace(CEILINGS, memory_bytes_per_s=0.5e12)
    figure = throughput_figure(
        sweep(), roof_of(small, dtype="bf16", is_matmul=False), is_matmul=False
    )
    cached = " (more than memory gives: the data stays in a cache)."
    assert figure.takeaway.endswith(f"134.2 % of the ceiling{cached}")
    # 687.3 of the 1,024 x 0.5 TFLOP/s that the memory allows
    low = roof_of(small, dtype="bf16", is_matmul=True)
    figure = roofline_figure(roofline_table(sweep(), low), low)
    assert figure.takeaway.endswith(f"reaches 134.2 % of it{cached}")


def test_without_a_ceiling_the_points_stand_alone() -> None:
    figure = throughput_figure(sweep(), None, is_matmul=False)
    assert len(layers(figure.chart)) == 2
    assert "No ceiling of this device is known." in figure.note
    # 4·4096²·2 bytes = 134.2 MB in 200 µs
    assert figure.sheet["Achieved (GB/s)"].round(1).tolist()[2] == 671.1
    table = roofline_table(sweep(), None)
    assert len(layers(roofline_figure(table, None).chart)) == 1


@pytest.mark.parametrize(
    ("highest", "name", "per_s"),
    [
        (687e12, "TFLOP/s", 1e12),
        (1e12, "TFLOP/s", 1e12),
        (999e9, "GFLOP/s", 1e9),
        (2e6, "MFLOP/s", 1e6),
        (5.0, "MFLOP/s", 1e6),
    ],
)
def test_rates_are_short_to_read(highest: float, name: str, per_s: float) -> None:
    unit = rate_unit(pd.Series([1.0, highest]), "FLOP/s")
    assert (unit.name, unit.per_s) == (name, per_s)


def test_the_roof_has_its_corner_at_the_ridge() -> None:
    figure = roofline_figure(roofline_table(sweep(), ROOF), ROOF)
    roof, points = layers(figure.chart)
    assert roof.data["intensity"].tolist()[1] == 200
    assert roof.data["rate"].tolist()[1:] == [800, 800]
    assert roof.data["intensity"].tolist()[0] == 16.125 / 2
    assert len(points.data) == 4
    assert figure.takeaway == (
        "The roof is memory up to 200 FLOP per byte and arithmetic beyond; 2 of 4 points lie "
        "under the arithmetic part. The nearest, size 4,096 (eager), reaches 85.9 % of it."
    )


def test_two_runs_side_by_side() -> None:
    comparison = Comparison(a=eager(), b=compiled())
    figure = compare_times_figure(*comparison.figures, names=comparison.names)
    bars = figure.chart  # both layers draw the same data
    assert bars.data[["side", "series", "duration"]].to_dict("split")["data"] == [
        ["eager", UNPROFILED, 33.0],
        ["eager", CPU, 31.0],
        ["eager", GPU, 3.0],
        ["compiled", UNPROFILED, 83.0],
        ["compiled", CPU, 80.0],
        ["compiled", GPU, 3.0],
    ]
    assert bars.data["low"].tolist()[0] == pytest.approx(32.67)
    assert figure.takeaway.startswith("eager: step time without the profiler 33.0 µs, CPU work 31")


def test_nothing_timed_yet_is_drawn_without_a_fault() -> None:
    empty = points_table([])
    for figure in (
        sweep_times_figure(empty, ()),
        sweep_settings_figure(empty),
        busy_fraction_figure(empty, ()),
        throughput_figure(empty, ROOF, is_matmul=True),
        roofline_figure(roofline_table(empty, ROOF), ROOF),
    ):
        figure.chart.to_dict()
        assert figure.takeaway.endswith(".")


def test_many_rows_show_the_step_time_alone_in_colours_of_their_own() -> None:
    points = points_table(
        [
            point(f"{batch}{size}", timings(10 * batch, queued_us=5), size=size, batch=batch,
                  workload="batched_matmul")
            for batch in (1, 2, 4, 8, 16, 32)
            for size in (64, 128, 256)
        ]
    )  # fmt: skip
    figure = sweep_times_figure(points, ())
    assert set(figure.chart.data["series"]) == {UNPROFILED}
    spec = figure.chart.to_dict()["layer"][0]["encoding"]
    assert spec["color"]["field"] == "row"
    assert spec["color"]["scale"]["scheme"] == "tableau10"
    assert "only the step time is drawn" in figure.note
    assert "CPU (µs)" in figure.sheet


def test_over_the_batch_the_words_follow_the_axis() -> None:
    points = points_table(
        [
            point(str(batch), timings(20, queued_us=batch), batch=batch, workload="batched_matmul")
            for batch in (1, 4, 16)
        ]
    )
    found = crossovers(points)
    busy = busy_fraction_figure(points, found)
    spec = busy.chart.to_dict()["layer"][-1]["encoding"]
    assert spec["x"]["title"] == "Batch (matrices multiplied at once)"
    assert spec["x"]["axis"]["values"] == [1, 4, 16]
    assert spec["tooltip"][0] == {"field": "x_text", "title": "Batch", "type": "nominal"}
    assert busy.question == "From which batch on is the GPU kept busy?"
    assert busy.sheet["Batch"].tolist() == [1, 4, 16]
    times = sweep_times_figure(points, found)
    assert times.takeaway.startswith("eager: a step takes 20.0 µs at batch 1 and 20.0 µs at batch")
    # Busy 20 % at 4 and 80 % at 16: half lies half-way, at 8.
    assert "busy 50.0 % of the step from about batch 8.0 on" in times.takeaway
    fast = throughput_figure(points, None, is_matmul=True)
    assert fast.takeaway.startswith("At most")
    assert "at batch 16 (eager)" in fast.takeaway


def test_settings_at_one_size_stand_as_bars_with_their_spread() -> None:
    points = points_table(
        [
            point("a", timings(20, cpu_us=19, queued_us=3)),
            point("b", timings(30, cpu_us=28, queued_us=2), compile="default"),
        ]
    )
    figure = sweep_settings_figure(points)
    bars, spreads = layers(figure.chart)
    assert len(figure.chart.data) == 6
    step = figure.chart.data.iloc[3]
    assert (step["row"], step["duration"], step["low"], step["high"]) == (
        "compile default", 30.0, pytest.approx(29.7), pytest.approx(30.3),
    )  # fmt: skip
    assert [layer.to_dict()["mark"]["type"] for layer in (bars, spreads)] == ["bar", "rule"]
    assert (
        figure.takeaway
        == "A step takes: eager 20.0 µs; compile default 30.0 µs. The fastest is eager."
    )
    assert figure.sheet["GPU work (µs)"].tolist() == [3.0, 2.0]
    assert "GPU work (µs)" not in sweep_settings_figure(points.assign(gpu_ns=math.nan)).sheet
