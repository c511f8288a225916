"""Self time per operator, on small tables made by hand."""

from __future__ import annotations

import pandas as pd

from profcore.charts.self_times import ROWS_BY_CPU, self_times_figure

COLUMNS = [
    "name",
    "kind",
    "calls",
    "self_cpu_ns",
    "total_cpu_ns",
    "self_gpu_ns",
    "total_gpu_ns",
    "self_cpu_fraction",
    "self_gpu_fraction",
]
# Self CPU sums to 1,000 µs, self GPU to 20 µs.
OPERATORS = pd.DataFrame(
    [
        ("ProfilerStep*", "annotation", 5, 500_000, 1_000_000, 0, 20_000, 0.5, 0.0),
        ("aten::mm", "operator", 5, 300_000, 400_000, 15_000, 15_000, 0.3, 0.75),
        ("cudaLaunchKernel", "runtime", 10, 200_000, 200_000, 0, 0, 0.2, 0.0),
        ("aten::fill_", "operator", 1, 0, 0, 5_000, 5_000, 0.0, 0.25),
    ],
    columns=COLUMNS,
).assign(median_row=[40, 41, 42, 43])
NO_OPERATORS = OPERATORS.iloc[:0]


def drawn(figure: object) -> pd.DataFrame:
    data: pd.DataFrame = figure.chart.data  # type: ignore[attr-defined]
    return data


def test_a_bar_per_side_with_its_time_in_the_unit_of_the_axis() -> None:
    figure = self_times_figure(OPERATORS, gpu_recorded=True)
    rows = drawn(figure)[["name", "side", "series", "self", "text"]].to_dict("split")["data"]
    # The largest bar is 500 µs, so the axis is in µs; bars of nothing are left out.
    assert rows == [
        ["ProfilerStep*", "CPU", "CPU work", 500.0, "500 µs"],
        ["aten::mm", "CPU", "CPU work", 300.0, "300 µs"],
        ["aten::mm", "GPU", "GPU work", 15.0, "15.0 µs"],
        ["cudaLaunchKernel", "CPU", "CPU call to the GPU driver", 200.0, "200 µs"],
        ["aten::fill_", "GPU", "GPU work", 5.0, "5.00 µs"],
    ]
    spec = figure.chart.to_dict()
    assert spec["layer"][0]["encoding"]["x"]["title"] == "Self time, all recorded steps (µs)"
    assert spec["layer"][0]["encoding"]["yOffset"]["sort"] == ["CPU", "GPU"]


def test_a_cpu_run_has_no_gpu_bars_and_no_gpu_columns() -> None:
    figure = self_times_figure(OPERATORS, gpu_recorded=False)
    assert set(drawn(figure)["side"]) == {"CPU"}
    assert "yOffset" not in figure.chart.to_dict()["layer"][0]["encoding"]
    assert list(figure.sheet.columns) == [
        "Name",
        "Self CPU (µs)",
        "Self CPU (%)",
        "Calls",
        "Total CPU (µs)",
        "Kind",
    ]
    assert "GPU" not in figure.takeaway


def test_takeaway_names_the_largest_on_both_sides() -> None:
    figure = self_times_figure(OPERATORS, gpu_recorded=True)
    assert figure.takeaway == (
        "On the CPU ProfilerStep* takes the most self time: 500 µs, 50.0 % of all. "
        "On the GPU it is aten::mm with 15.0 µs, 75.0 % of all."
    )


def test_table_has_every_row_in_shown_units() -> None:
    figure = self_times_figure(OPERATORS, gpu_recorded=True)
    sheet = figure.sheet
    assert sheet.loc[1].to_dict() == {
        "Name": "aten::mm",
        "Self CPU (µs)": 300.0,
        "Self CPU (%)": 30.0,
        "Self GPU (µs)": 15.0,
        "Self GPU (%)": 75.0,
        "Calls": 5,
        "Total CPU (µs)": 400.0,
        "Total GPU (µs)": 15.0,
        "Kind": "operator",
    }
    assert len(sheet) == len(OPERATORS)
    assert figure.rows == (40, 41, 42, 43)


def test_many_operators_are_cut_and_the_note_says_so() -> None:
    # GIVEN 30 operators on the CPU; the last one has all the GPU time
    many = pd.DataFrame(
        [
            (f"op{i}", "operator", 1, 3_000 - i, 3_000, 9 if i == 29 else 0, 0, 0.03, 0.0)
            for i in range(30)
        ],
        columns=COLUMNS,
    ).assign(median_row=range(30))
    figure = self_times_figure(many, gpu_recorded=True)
    # THEN the largest on the CPU are drawn, and the one of the GPU beside them
    names = drawn(figure)["name"].unique().tolist()
    assert names == [f"op{i}" for i in range(ROWS_BY_CPU)] + ["op29"]
    assert "10 largest of 30 rows are drawn" in figure.note
    assert len(figure.sheet) == 30


def test_waiting_calls_are_explained_where_they_stand() -> None:
    waits = OPERATORS.assign(name=["ProfilerStep*", "aten::mm", "cudaDeviceSynchronize", "x"])
    assert "waiting for the GPU" in self_times_figure(waits, gpu_recorded=True).note
    assert "waiting for the GPU" not in self_times_figure(OPERATORS, gpu_recorded=True).note


def test_no_operators_draw_an_empty_chart() -> None:
    figure = self_times_figure(NO_OPERATORS, gpu_recorded=True)
    assert figure.takeaway == "No operators were recorded."
    assert figure.chart.to_dict()
    assert figure.sheet.empty
