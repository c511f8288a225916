"""The pictures of the timeline page: what is drawn, where, and in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from profcore.analysis import Analysis, blocks, gaps, timeline
from profcore.charts import (
    kernel_variation,
    step_strip,
    timeline_bars,
    timeline_style,
    timeline_texts,
    timeline_words,
)
from profcore.charts import timeline as chart
from profcore.charts.figure import CPU, DRIVER, GPU, PROFILER, SERIES
from profcore.charts.timeline_layout import BAR_PX, LEVEL_PX, layout
from profcore.rules import check_all
from profcore.rules.landmarks import Landmark, landmarks
from tests import handmade
from tests.trace_bytes import annotation, kernel, launch, memcpy, op, overhead, row, step

if TYPE_CHECKING:
    from profcore.charts import Figure


def figure_of(analysis: Analysis, *, end_us: int = 105, **more: Any) -> Figure:
    window = {"start_ns": 0, "end_ns": end_us * 1000}
    line = timeline.timeline(analysis, **window)
    return chart.timeline_figure(line, blocks.blocks(line), gaps.gaps(analysis, **window), **more)


def layers(figure: Figure) -> list[dict[str, Any]]:
    spec = figure.chart.to_dict()
    assert spec["autosize"]["type"] == "fit-x"
    return spec["layer"]


def rows_of(figure: Figure, layer: int) -> pd.DataFrame:
    spec = figure.chart.to_dict()
    return pd.DataFrame(spec["datasets"][spec["layer"][layer]["data"]["name"]])


PLAIN = handmade.plain_rows()


class TestTimeline:
    def test_bars_stand_where_the_marks_are(self) -> None:
        bars = rows_of(figure_of(handmade.analysis_of(*PLAIN)), 1)
        gemm = bars[bars["tip"].str.startswith("gemm_64x64")].iloc[0]
        assert (gemm["from"], gemm["to"]) == (60, 90)
        assert gemm["bottom"] - gemm["top"] == BAR_PX
        assert gemm["series"] == GPU
        assert gemm["tip"] == "gemm_64x64: kernel on the GPU, 30.0 µs, starts at 60.0 µs"
        addmm = bars[bars["tip"].str.startswith("aten::addmm")].iloc[0]
        assert addmm["tip"] == (
            "aten::addmm: operator, 40.0 µs, 30.0 µs of it its own, starts at 10.0 µs"
        )
        step_top = bars[bars["tip"].str.startswith("ProfilerStep")]["top"].iloc[0]
        assert addmm["top"] == step_top + 2 * LEVEL_PX

    def test_drawn_sums_are_those_of_the_tables(self) -> None:
        analysis = handmade.analysis_of(*PLAIN)
        figure = figure_of(analysis, end_us=520)
        bars = rows_of(figure, 1)
        drawn_us = (bars["to"] - bars["from"])[bars["series"] == GPU].sum()
        assert drawn_us * 1000 == pytest.approx(analysis.totals.gpu_work_sum_ns)
        titles = rows_of(figure, len(layers(figure)) - 1)["text"].tolist()
        assert titles[0] == "CPU thread 200 · 310 µs covered"
        assert titles[-1] == "GPU 0, stream 7 · 120 µs of work"

    def test_gaps_have_their_cause_in_words(self) -> None:
        figure = figure_of(handmade.analysis_of(*PLAIN), end_us=305)
        spec = figure.chart.to_dict()
        name = spec["layer"][0]["layer"][0]["data"]["name"]
        tips = [record["tip"] for record in spec["datasets"][name]]
        # 0 to 60 before the first work; 105 to 260 until the next GEMM is launched and starts
        assert (
            "Before the first GPU work: the GPU's lane begins later than the CPU's: 60.0 µs, "
            "from 0 ns" in tips
        )
        assert "Host-bound: the CPU has not launched the next work yet: 155 µs, from 105 µs" in tips
        assert "The GPU is idle for 225 µs of it" in figure.takeaway  # 60 + 5 + 155 + 5

    def test_every_kind_has_a_colour_by_the_place_of_its_meaning(self) -> None:
        assert timeline_bars.SERIES[:4] == SERIES[:4]
        analysis = handmade.analysis_of(
            op("x", 0, 10), launch(1, 2), overhead(4, 2), kernel("k", 20, 5), memcpy(30, 5)
        )
        series = rows_of(figure_of(analysis), 1)["series"].tolist()
        assert sorted(series) == sorted([CPU, DRIVER, PROFILER, GPU, timeline_bars.COPY])

    def test_labels_and_waits_are_outlines(self) -> None:
        analysis = handmade.analysis_of(
            annotation("label", 0, 50),
            op("aten::mm", 5, 10),
            row("cudaDeviceSynchronize", 20, 10, cat="cuda_runtime"),
        )
        figure = figure_of(analysis)
        assert rows_of(figure, 0)["faint"].tolist() == [True, False, True]
        # No gaps without a GPU: the first two layers share the bars, by their style
        full, faint = layers(figure)[:2]
        assert full["transform"] == [{"filter": "!datum.faint"}]
        assert faint["transform"] == [{"filter": "datum.faint"}]
        style = figure.chart.to_dict()["config"]["style"]
        assert style[full["mark"]["style"]]["fillOpacity"] == timeline_style.FULL
        assert style[faint["mark"]["style"]]["fillOpacity"] == timeline_style.FAINT

    def test_outlined_rows_stand_in_a_dataset_of_their_own(self) -> None:
        analysis = handmade.analysis_of(*PLAIN)
        without = figure_of(analysis).chart.to_dict()
        outlined = figure_of(analysis, outlined=[2]).chart.to_dict()
        assert analysis.trace.name_of(2) == "aten::addmm"
        (record,) = outlined["datasets"].pop(chart.MARKED)
        assert (record["from"], record["to"]) == (10, 50)
        # Without a choice the record lies outside the picture; nothing else differs
        assert without["datasets"].pop(chart.MARKED)[0]["to"] < 0
        assert without == outlined

    def test_landmarks_are_numbered_at_their_bars(self) -> None:
        marks = [
            Landmark(rule="C5", text="wait", row=2, start_ns=10_000, end_ns=50_000),
            Landmark(rule="G6", text="offset", row=None, start_ns=0, end_ns=60_000),
        ]
        figure = figure_of(handmade.analysis_of(*PLAIN), landmarks=marks)
        numbers = rows_of(figure, len(layers(figure)) - 2)
        assert numbers["number"].tolist() == ["❶", "❷"]
        assert numbers["from"].tolist() == [10, 0]
        bars = rows_of(figure, 1).set_index("row")["top"]
        assert numbers["top"].tolist()[0] == bars[2]
        assert timeline_words.numeral(10) == "❿"
        assert timeline_words.numeral(11) == "(11)"

    def test_blocks_say_how_many_rows_they_stand_for(self) -> None:
        many = [kernel("k", number, 0.4) for number in range(12_000)]
        figure = figure_of(handmade.analysis_of(*many), end_us=12_000)
        bars = rows_of(figure, 1)
        assert len(bars) == 1000
        assert figure.note.startswith("12,000 events drawn as 1,000 blocks")
        assert bars["tip"][0].startswith("12 rows drawn as one block, 4.80 µs together")

    def test_few_bars_are_elements_with_words_many_are_a_canvas(self) -> None:
        def drawn(count: int) -> dict[str, Any]:
            rows = [op("aten::mm", at * 10, 8) for at in range(count)]
            return figure_of(handmade.analysis_of(*rows), end_us=count * 10).chart.to_dict()

        few, many = drawn(timeline_bars.CANVAS_OVER), drawn(timeline_bars.CANVAS_OVER + 1)
        assert few["usermeta"]["embedOptions"]["renderer"] == "svg"
        assert few["layer"][0]["mark"]["description"] == {"expr": "datum.tip"}
        assert many["usermeta"]["embedOptions"]["renderer"] == "canvas"
        assert many["layer"][0]["mark"]["aria"] is False
        assert "stroke" in many["layer"][0]["encoding"]

    def test_dense_bars_cost_as_little_as_they_can(self) -> None:
        # Each channel of a bar is evaluated anew at every zoom step: places, colour and words are
        # what a bar needs, the rest stands in styles
        rows = [op("aten::mm", at * 10, 8) for at in range(timeline_bars.EDGED_MAX + 1)]
        full = layers(figure_of(handmade.analysis_of(*rows), end_us=30_000))[0]
        assert set(full["encoding"]) == {"x", "x2", "y", "y2", "fill"}
        assert set(full["mark"]) == {"type", "clip", "style", "tooltip", "aria"}
        assert "params" not in full

    def test_nothing_is_written_in_a_colour_that_a_canvas_does_not_know(self) -> None:
        text = figure_of(handmade.analysis_of(*PLAIN)).chart.to_json()
        assert "currentColor" not in text

    def test_many_gaps_have_no_edges(self) -> None:
        def gap_box(count: int) -> dict[str, Any]:
            rows = [kernel("k", 10 * at, 4) for at in range(count + 1)]
            figure = figure_of(handmade.analysis_of(*rows), end_us=10 * count + 4)
            mark: dict[str, Any] = layers(figure)[0]["layer"][0]["mark"]
            return mark

        few = gap_box(timeline_texts.GAPS_EDGED_MAX)
        assert few["stroke"] == {"expr": "ink"}
        assert few["style"] == timeline_style.GAP_STYLE
        many = gap_box(timeline_texts.GAPS_EDGED_MAX + 1)
        assert "stroke" not in many
        assert many["style"] == timeline_style.MANY_GAPS_STYLE

    def test_a_cpu_run_has_no_row_of_gaps(self) -> None:
        figure = figure_of(handmade.analysis_of(*handmade.cpu_rows()), end_us=300)
        assert "idle" not in figure.takeaway
        assert len(layers(figure)) == 6

    def test_lanes_stand_below_each_other(self) -> None:
        line = timeline.timeline(handmade.analysis_of(*PLAIN), start_ns=0, end_ns=105_000)
        places = layout(line, pd.DataFrame({"duration_ns": [1]}))
        assert places.idle_px is not None
        assert places.lane_px[0] < places.idle_px < places.lane_px[1] < places.height_px
        assert places.bar_px(np.array([0]), np.array([2]))[0] == places.lane_px[0] + 2 * LEVEL_PX


class TestStepStrip:
    def test_one_bar_per_step_and_the_chosen_one_outlined(self) -> None:
        steps = handmade.analysis_of(*PLAIN).steps
        figure = step_strip.step_strip_figure(
            steps, unprofiled_ns=33_000, gpu_recorded=True, chosen=1
        )
        spec = figure.chart.to_dict()
        bars = pd.DataFrame(spec["datasets"][spec["layer"][0]["data"]["name"]])
        assert bars["edge"].tolist() == [0, 2, 0]
        assert bars["cpu_time"].tolist() == [100, 100, 100]
        assert bars["gpu_time"].tolist() == [40, 40, 40]
        assert "GPU busy 40.0 µs, 2 kernels" in bars["tip"][0]
        assert figure.first is None
        assert figure.takeaway == (
            "3 steps, 100 µs on the CPU (median); without the profiler a step takes 33.0 µs."
        )

    def test_a_wide_first_step_stands_apart(self) -> None:
        rows = [step(0, 0, 1000), op("a", 1, 5), step(1, 1000, 100), step(2, 1100, 90)]
        analysis = handmade.analysis_of(*rows, op("b", 1001, 5), op("c", 1101, 5))
        figure = step_strip.step_strip_figure(
            analysis.steps, unprofiled_ns=None, gpu_recorded=False, chosen=0
        )
        assert figure.first is not None
        assert figure.first_takeaway == "The first step took 1.00 ms on the CPU."
        spec = figure.chart.to_dict()
        bars = pd.DataFrame(spec["datasets"][spec["data"]["name"]])
        assert bars["position"].tolist() == [1, 2]

    def test_many_steps_are_cut_and_counted(self) -> None:
        rows = [each for at in range(450) for each in (step(at, at * 10, 9), op("x", at * 10, 5))]
        figure = step_strip.step_strip_figure(
            handmade.analysis_of(*rows).steps, unprofiled_ns=None, gpu_recorded=False, chosen=None
        )
        assert figure.note == "The first 400 of 450 steps."


class TestKernelVariation:
    def test_every_call_is_a_point(self) -> None:
        rows = [step(0, 0, 100), step(1, 100, 100)]
        for number, (at, length) in enumerate(((10, 4), (20, 5), (110, 8)), start=1):
            rows += [
                launch(at, 2, correlation=number),
                kernel("gemm", at + 5, length, correlation=number),
            ]
        rows.append(kernel("gemm", 300, 6))
        analysis = handmade.analysis_of(*rows)
        figure = kernel_variation.kernel_variation_figure(
            analysis.activities, analysis.steps, name="gemm"
        )
        assert figure.sheet["Step"].tolist() == ["#0", "#0", "#1", "no step"]
        assert figure.sheet["Time (µs)"].tolist() == [4, 5, 8, 6]
        assert figure.takeaway == (
            "gemm: median 5.50 µs, from 4.00 µs to 8.00 µs in 4 calls; the longest is 2.00× the "
            "shortest."
        )
        figure.chart.to_dict()

    def test_a_name_that_is_not_there_is_told(self) -> None:
        analysis = handmade.analysis_of(*PLAIN)
        figure = kernel_variation.kernel_variation_figure(
            analysis.activities, analysis.steps, name="other"
        )
        assert figure.takeaway == "other was not recorded."


class TestLandmarks:
    def found(self, *rows: dict[str, Any], end_us: int = 100_000) -> dict[str, str]:
        analysis = handmade.analysis_of(*rows)
        marks = landmarks(analysis, check_all(analysis), start_ns=0, end_ns=end_us * 1000)
        return {mark.rule: mark.text for mark in marks}

    def test_only_rules_that_fired_have_landmarks(self) -> None:
        analysis = handmade.analysis_of(*PLAIN)
        assert landmarks(analysis, (), start_ns=0, end_ns=520_000) == ()

    def test_offset_and_closing_wait(self) -> None:
        found = self.found(*PLAIN)
        assert found["G6"] == "The lane of the GPU begins 60.0 µs later"
        assert found["C5"] == "The closing synchronise: the CPU waits, 10.0 µs"
        assert "C5" not in self.found(*PLAIN, end_us=300)

    def test_compile_rows_and_the_bias_copy(self) -> None:
        rows = []
        for number, at in enumerate((0, 200, 400)):
            rows += [
                step(number, at, 100),
                op("TorchDynamo Cache Lookup", at + 1, 5),
                op("Torch-Compiled Region: 0/0", at + 10, 80),
                op("AOTDispatcher Runtime Wrapper Prologue", at + 12, 4),
                op("## Call CompiledFxGraph fabc ##", at + 20, 60),
                op("aten::addmm", at + 30, 40, external_id=number + 1),
                launch(at + 32, 5, correlation=2 * number + 1, name="cudaMemcpyAsync",
                       external_id=number + 1),
                memcpy(at + 40, 9, name="Memcpy DtoD (Device -> Device)",
                       correlation=2 * number + 1, **{"External id": number + 1}),
                launch(at + 45, 5, correlation=2 * number + 2, external_id=number + 1),
                kernel("nvjet_sm90_tst_64x8_h_badd_NNT", at + 60, 10,
                       correlation=2 * number + 2, **{"External id": number + 1}),
            ]  # fmt: skip
        found = self.found(*rows)
        assert {"K1", "K2", "K3", "K4", "G5"} <= set(found)
        assert found["K2"] == ("TorchDynamo checks its cache, 3 times here, 15.0 µs together")

    def test_a_cold_step_is_named_once(self) -> None:
        rows = [step(0, 0, 9000), op("a", 10, 8000), overhead(20, 2500)]
        rows += [
            row("cudaOccupancyMaxActiveClusters", 3000 + at, 3, cat="cuda_runtime") for at in (0, 5)
        ]
        for number in (1, 2, 3):
            rows += [step(number, 9000 + 100 * number, 90), op("a", 9005 + 100 * number, 50)]
        rows += [launch(8000, 5, correlation=1), kernel("k", 8010, 5, correlation=1)]
        found = self.found(*rows)
        assert found["C1"] == "The first recorded step is wide: 9.00 ms"
        assert "V4" not in found
        assert found["G1"] == "The profiler's buffer request, 2.50 ms"
        assert found["C3"] == "Occupancy query, 2 times here, 6.00 µs together"
