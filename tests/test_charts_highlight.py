"""Which bars belong to the events of an observation, and how they stand out; traces by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from profcore.charts import kernels_figure, self_times_figure, steps_figure
from profcore.charts.figure import TEXT_COLOR
from profcore.charts.highlight import NOTHING, Highlight, highlight, named
from profcore.charts.kernels import ROWS_MAX
from profcore.charts.outline import FADED, OUTLINE_PX
from profcore.charts.self_times import ROWS_BY_CPU
from profcore.charts.steps import STEPS_DRAWN_MAX
from profcore.rules import Evidence
from profcore.rules.quantities import Quantities
from profcore.rules.rows import evidence_of
from tests.handmade import analysis_of, overhead_rows, plain_rows
from tests.trace_bytes import memcpy, op, row, step

if TYPE_CHECKING:
    from profcore.analysis import Analysis

RELU = "void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int)"


@pytest.fixture(scope="module")
def plain() -> Analysis:
    return analysis_of(*plain_rows())


def rows_named(analysis: Analysis, name: str) -> list[int]:
    trace = analysis.trace
    return [place for place in range(len(trace)) if trace.name_of(place) == name]


def bars_of(analysis: Analysis, *places: int) -> Highlight:
    quantities = Quantities.of(analysis)
    return highlight(analysis, [evidence_of(quantities, place) for place in places])


class TestWhichBars:
    def test_an_operator_has_both_its_bars_and_its_step(self, plain: Analysis) -> None:
        # Steps 2, 3 and 4; the second call of aten::addmm lies in step 3.
        assert bars_of(plain, rows_named(plain, "aten::addmm")[1]) == Highlight(
            operators=frozenset(
                {("aten::addmm", "operator", "CPU"), ("aten::addmm", "operator", "GPU")}
            ),
            steps=frozenset({3}),
        )

    def test_a_kernel_has_its_bar_and_the_gpu_bar_of_who_asked_for_it(
        self, plain: Analysis
    ) -> None:
        assert bars_of(plain, rows_named(plain, RELU)[0]) == Highlight(
            operators=frozenset({("aten::relu", "operator", "GPU")}),
            gpu_work=frozenset({(RELU, "kernel")}),
            steps=frozenset({2}),
        )

    def test_a_call_to_the_driver_and_the_profilers_work_have_their_rows(self) -> None:
        analysis = analysis_of(*overhead_rows())
        launch, loading = (
            rows_named(analysis, name)[0] for name in ("cudaLaunchKernel", "Lazy Function Loading")
        )
        marked = bars_of(analysis, launch, loading)
        assert {(name, kind) for name, kind, _ in marked.operators} == {
            ("cudaLaunchKernel", "runtime"),
            ("Lazy Function Loading", "overhead"),
        }
        assert not marked.gpu_work

    def test_a_step_is_its_bar_in_the_step_chart_alone(self, plain: Analysis) -> None:
        (place,) = rows_named(plain, "ProfilerStep#4")
        assert bars_of(plain, place) == Highlight(steps=frozenset({4}))

    def test_a_gap_is_no_row_and_has_the_steps_meanwhile(self, plain: Analysis) -> None:
        # Steps last from 0 to 100, 200 to 300 and 400 to 500 µs.
        gap = Evidence(text="idle", start_ns=250_000, duration_ns=160_000)
        assert highlight(plain, [gap]) == Highlight(steps=frozenset({3, 4}))
        between = Evidence(text="idle", start_ns=100_000, duration_ns=100_000)
        assert highlight(plain, [between]) == NOTHING

    def test_gpu_work_without_a_known_launch_has_its_own_bar_alone(self) -> None:
        analysis = analysis_of(step(1, 0, 100), op("aten::mm", 5, 20), memcpy(50, 9, name="copy"))
        (place,) = rows_named(analysis, "copy")
        assert bars_of(analysis, place) == Highlight(gpu_work=frozenset({("copy", "memcpy")}))

    def test_a_python_frame_has_no_bar_but_its_step(self) -> None:
        analysis = analysis_of(
            step(1, 0, 100),
            row("train.py(3): loop", 5, 20, cat="python_function"),
            op("aten::mm", 30, 20),
        )
        (place,) = rows_named(analysis, "train.py(3): loop")
        assert bars_of(analysis, place) == Highlight(steps=frozenset({1}))

    def test_names_in_a_sentence_are_few(self) -> None:
        assert named(["a", "b"]) == "a, b"
        assert named(list("abcdef")) == "a, b, c, d and 2 more"


def data_of(chart: Any) -> pd.DataFrame:
    """The bars' data, which Altair keeps at the top when all layers share it."""
    shared = chart.data
    return shared if isinstance(shared, pd.DataFrame) else chart.layer[1].data


def layers(chart: Any) -> list[dict[str, Any]]:
    spec: dict[str, Any] = chart.to_dict()
    return spec["layer"]  # type: ignore[no-any-return]


class TestHowTheyStandOut:
    """Operators of the plain rows: addmm 30 µs and relu 15 µs a step on the CPU, 30 and 10 on
    the GPU."""

    MARKED = Highlight(
        operators=frozenset({("aten::relu", "operator", "GPU")}),
        gpu_work=frozenset({(RELU, "kernel")}),
        steps=frozenset({2, 3, 9}),
    )

    def test_the_operators_bar_is_outlined_on_its_side(self, plain: Analysis) -> None:
        figure = self_times_figure(plain.operators, gpu_recorded=True, marked=self.MARKED)
        data = data_of(figure.chart)
        assert data[data["outlined"]][["name", "side"]].to_dict("split")["data"] == [
            ["aten::relu", "GPU"]
        ]
        assert figure.outlined == ("aten::relu on the GPU",)

    def test_the_kernels_bar_is_outlined(self, plain: Analysis) -> None:
        figure = kernels_figure(plain.kernels, plain.copies, marked=self.MARKED)
        assert data_of(figure.chart)["outlined"].tolist() == [False, True]
        assert figure.outlined == ("vectorized_elementwise_kernel",)

    def test_the_steps_bars_are_outlined(self, plain: Analysis) -> None:
        figure = steps_figure(
            plain.steps, unprofiled_ns=30_000.0, gpu_recorded=True, marked=self.MARKED
        )
        data = data_of(figure.chart)
        assert data[data["outlined"]]["step"].tolist() == ["2", "2", "3", "3"]
        assert figure.outlined == ("steps 2 to 3",)

    def test_others_fade_and_an_outline_and_a_band_do_not_need_colour(
        self, plain: Analysis
    ) -> None:
        for figure in (
            self_times_figure(plain.operators, gpu_recorded=True, marked=self.MARKED),
            kernels_figure(plain.kernels, plain.copies, marked=self.MARKED),
            steps_figure(plain.steps, unprofiled_ns=1.0, gpu_recorded=True, marked=self.MARKED),
        ):
            band, bars, *_ = layers(figure.chart)
            assert band["transform"] == [{"filter": "datum.outlined"}]
            assert band["mark"]["type"] == "rect"
            # The text colour of the page, so that it is seen in light and in dark.
            assert band["mark"]["color"] == TEXT_COLOR
            test = {"test": "datum.outlined"}
            encoding = bars["encoding"]
            assert encoding["opacity"] == {"condition": {**test, "value": 1}, "value": FADED}
            assert encoding["stroke"]["condition"] == {**test, "value": TEXT_COLOR}
            assert encoding["strokeWidth"]["condition"] == {**test, "value": OUTLINE_PX}

    def test_with_nothing_marked_a_chart_is_as_ever(self, plain: Analysis) -> None:
        elsewhere = Highlight(
            operators=frozenset({("aten::conv2d", "operator", "CPU")}), steps=frozenset({77})
        )
        for figure in (
            self_times_figure(plain.operators, gpu_recorded=True, marked=elsewhere),
            kernels_figure(plain.kernels, plain.copies, marked=elsewhere),
            steps_figure(plain.steps, unprofiled_ns=1.0, gpu_recorded=True, marked=elsewhere),
        ):
            assert figure.outlined == ()
            assert "opacity" not in layers(figure.chart)[0]["encoding"]

    def test_a_cold_first_step_drawn_apart_is_outlined_there(self) -> None:
        table = many_steps(2).assign(number=[1, 2], cpu_ns=[4_000_000, 1_000])
        marked = Highlight(steps=frozenset({1}))
        figure = steps_figure(table, unprofiled_ns=None, gpu_recorded=False, marked=marked)
        assert figure.first is not None
        assert data_of(figure.first)["outlined"].tolist() == [True]
        assert data_of(figure.chart)["outlined"].tolist() == [False]


def many_operators(count: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"op{place}" for place in range(count)],
            "kind": "operator",
            "calls": 1,
            "self_cpu_ns": [1_000 * (count - 1 - place) for place in range(count)],
            "total_cpu_ns": 1_000,
            "self_gpu_ns": 0,
            "total_gpu_ns": 0,
            "self_cpu_fraction": 0.1,
            "self_gpu_fraction": 0.0,
            "median_row": range(count),
        }
    )


def many_steps(count: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "number": range(count),
            "row": range(count),
            "cpu_ns": 1_000,
            "gpu_busy_ns": 0,
            "kernels": 0,
            "launches": 0,
        }
    )


class TestBeyondWhatIsDrawn:
    def test_a_small_operator_comes_into_view(self) -> None:
        marked = Highlight(operators=frozenset({("op25", "operator", "CPU")}))
        figure = self_times_figure(many_operators(30), gpu_recorded=False, marked=marked)
        # Its place is by size, below the nine that are always drawn.
        assert data_of(figure.chart)["name"].tolist() == [
            *(f"op{place}" for place in range(ROWS_BY_CPU)),
            "op25",
        ]
        assert data_of(figure.chart)["outlined"].tolist() == [False] * ROWS_BY_CPU + [True]
        assert "The 9 largest of 30 rows are drawn, and 1 that is highlighted" in figure.note

    def test_an_operator_without_a_bar_is_named(self) -> None:
        # The last one has no self time.
        marked = Highlight(operators=frozenset({("op29", "operator", "CPU")}))
        figure = self_times_figure(many_operators(30), gpu_recorded=False, marked=marked)
        assert figure.outlined == ()
        assert "No self time, so no bar: op29." in figure.note

    def test_a_short_kernel_comes_into_view(self) -> None:
        names = [f"k{place}" for place in range(20)]
        kernels = pd.DataFrame(
            {
                "name": names,
                "short_name": names,
                "family": "gemm",
                "calls": 1,
                "sum_ns": [1_000 * (20 - place) for place in range(20)],
                "median_ns": 1_000.0,
                "min_ns": 1_000,
                "max_ns": 1_000,
                "overlong_calls": 0,
                "median_row": range(20),
            }
        )
        copies = pd.DataFrame({"name": [], "kind": [], "calls": [], "sum_ns": [], "median_row": []})
        marked = Highlight(gpu_work=frozenset({("k3", "kernel"), ("k17", "kernel")}))
        figure = kernels_figure(kernels, copies, marked=marked)
        assert data_of(figure.chart)["name"].tolist() == [*names[:ROWS_MAX], "k17"]
        assert figure.outlined == ("k3", "k17")
        assert "The 12 longest of 20 are drawn, and 1 that is highlighted." in figure.note

    def test_a_late_step_comes_into_view(self) -> None:
        marked = Highlight(steps=frozenset({200, 201, 210}))
        figure = steps_figure(
            many_steps(300), unprofiled_ns=None, gpu_recorded=False, marked=marked
        )
        data = data_of(figure.chart)
        assert len(data) == STEPS_DRAWN_MAX + 3
        assert data["step"].tolist()[-3:] == ["200", "201", "210"]
        assert figure.outlined == ("steps 200 to 201", "step 210")
        assert "The first 120 of 300 steps are drawn, and 3 that are highlighted." in figure.note
