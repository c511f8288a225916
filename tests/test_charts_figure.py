"""Units, labels and colours that all charts share."""

from __future__ import annotations

import pytest

from profcore.charts.figure import LABEL_CHARS, SERIES, color, labels, shorten, unit_for


@pytest.mark.parametrize(
    ("largest_ns", "name", "ns"),
    [
        (0, "µs", 1_000),
        (999_999, "µs", 1_000),
        (1_000_000, "ms", 1_000_000),
        (999_999_999, "ms", 1_000_000),
        (1_000_000_000, "s", 1_000_000_000),
    ],
)
def test_unit_is_chosen_by_the_largest_value(largest_ns: int, name: str, ns: int) -> None:
    unit = unit_for(largest_ns)
    assert (unit.name, unit.ns) == (name, ns)


def test_short_names_stay_whole() -> None:
    assert shorten("aten::mm") == "aten::mm"


def test_long_names_keep_both_ends() -> None:
    # 24 characters: 15 from the front (two thirds of 23), the mark, 8 from the end
    short = shorten("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_nn")
    assert short == "ampere_bf16_s16…s_32x6_nn"[:15] + "…" + "_32x6_nn"
    assert len(short) == LABEL_CHARS


def test_line_breaks_in_names_become_spaces() -> None:
    assert shorten("a\n\tb") == "a b"


def test_labels_differ_even_where_the_cut_names_do_not() -> None:
    first, second = "x" * 40 + "_a_" + "y" * 40, "x" * 40 + "_b_" + "y" * 40
    one, two, three = labels([first, second, "z"])
    assert one == "x" * 15 + "…" + "y" * 8
    assert two == f"{one} (2)"
    assert three == "z"


def test_a_series_has_the_same_colour_in_every_chart() -> None:
    # GIVEN legends with and without the first series, THEN the domain, and so the place in the
    # palette, is the same
    for legend in ([], ["GPU work"], list(SERIES)):
        assert color("series", legend).to_dict()["scale"] == {"domain": list(SERIES)}
    assert color("series", []).to_dict()["legend"] is None
    assert color("series", ["GPU work"]).to_dict()["legend"]["values"] == ["GPU work"]
