"""Kernels by time, on small tables made by hand."""

from __future__ import annotations

import pandas as pd

from profcore.analysis.names import reading
from profcore.charts.kernels import FULL_NAME, ROWS_MAX, kernels_figure

KERNEL_COLUMNS = [
    "name",
    "short_name",
    "family",
    "calls",
    "sum_ns",
    "mean_ns",
    "median_ns",
    "min_ns",
    "max_ns",
    "share_fraction",
    "overlong_calls",
]
SHORT = "vectorized_elementwise_kernel"
LONG = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add>(int)"
KERNELS = pd.DataFrame(
    [
        ("gemm_a", "gemm_a", "gemm", 5, 12_000, 2_400.0, 2_000.0, 1_900, 4_000, 0.75, 0),
        (
            LONG,
            "vectorized_elementwise_kernel",
            "elementwise",
            5,
            4_000,
            800.0,
            800.0,
            700,
            900,
            0.25,
            0,
        ),
    ],
    columns=KERNEL_COLUMNS,
).assign(median_row=[50, 51])
COPIES = pd.DataFrame(
    [
        ("Memcpy DtoD (Device -> Device)", "memcpy", "DtoD", 4, 8_000, 8_192, 0.3),
        ("Memset (Device)", "memset", "", 1, 1_000, 4, 0.05),
    ],
    columns=["name", "kind", "direction", "calls", "sum_ns", "size_bytes", "share_fraction"],
).assign(median_row=[52, 53])
NO_COPIES, NO_KERNELS = COPIES.iloc[:0], KERNELS.iloc[:0]


def test_copies_stand_among_the_kernels_and_shares_are_of_the_common_sum() -> None:
    figure = kernels_figure(KERNELS, COPIES)
    data = figure.chart.data
    # 12 + 8 + 4 + 1 = 25 µs
    assert data["sum"].tolist() == [12.0, 8.0, 4.0, 1.0]
    assert data["end"].tolist() == [
        "48.0 % · 5 × 2.00 µs",  # the typical call is the median, not the mean of 2.4 µs
        "32.0 % · 4 × 2.00 µs",
        "16.0 % · 5 × 800 ns",
        "4.0 % · 1 × 1.00 µs",
    ]
    assert data["family"].tolist() == ["gemm", "copy", "elementwise", "fill"]
    assert figure.sheet["Share (%)"].sum() == 100.0
    assert figure.rows == (50, 52, 51, 53)


def test_names_are_short_in_the_chart_and_whole_in_table_and_tooltip() -> None:
    figure = kernels_figure(KERNELS, NO_COPIES)
    data = figure.chart.data
    assert data["label"].tolist() == ["gemm_a", "vectorized_elem…e_kernel"]
    assert data["name"].tolist() == ["gemm_a", LONG]
    assert figure.sheet["Name"].tolist() == ["gemm_a", SHORT]
    assert figure.sheet[FULL_NAME].tolist() == ["gemm_a", LONG]
    assert figure.sheet["In words"].tolist()[1] == reading(LONG)


def test_kernels_with_doubtful_calls_do_not_rank_silently() -> None:
    figure = kernels_figure(KERNELS.assign(overlong_calls=[1, 0]), NO_COPIES)
    assert figure.chart.data["end"].tolist()[0] == "75.0 % · 5 × 2.00 µs · 1 doubtful"
    assert "1 of these calls cannot have lasted as long" in figure.takeaway
    assert "the rank of such a kernel mislead" in figure.note
    assert figure.sheet["Doubtful calls"].tolist() == [1, 0]
    assert "doubtful" not in kernels_figure(KERNELS, NO_COPIES).takeaway.lower()


def test_table_says_what_is_not_known_of_copies() -> None:
    sheet = kernels_figure(KERNELS, COPIES).sheet.set_index("Name")
    assert sheet.loc["gemm_a", "Longest (µs)"] == 4.0
    assert pd.isna(sheet.loc["Memset (Device)", "Longest (µs)"])


def test_takeaway_names_the_two_longest() -> None:
    assert kernels_figure(KERNELS, COPIES).takeaway == (
        "gemm_a takes 48.0 % of the GPU time: 12.0 µs in 5 calls. "
        "Next is Memcpy DtoD (Device -> Device) with 32.0 %."
    )


def test_copies_alone_can_fill_the_chart() -> None:
    figure = kernels_figure(NO_KERNELS, COPIES)
    assert figure.takeaway.startswith("Memcpy DtoD (Device -> Device) takes 88.9 %")


def test_many_kernels_are_cut_and_the_note_says_so() -> None:
    many = pd.concat([KERNELS.iloc[:1].assign(name=f"k{i}", short_name=f"k{i}") for i in range(20)])
    figure = kernels_figure(many.reset_index(drop=True), NO_COPIES)
    assert len(figure.chart.data) == ROWS_MAX
    assert "12 longest of 20" in figure.note


def test_nothing_draws_an_empty_chart() -> None:
    figure = kernels_figure(NO_KERNELS, NO_COPIES)
    assert figure.takeaway == "No kernels were recorded."
    assert figure.chart.to_dict()
    assert figure.sheet.empty
