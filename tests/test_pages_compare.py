"""The comparison page: choose two runs, read what the change did, deep links, hostile names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
import streamlit as st

from profcore.experiment import Experiment
from tests.page_app import Visit
from tests.page_recordings import CPU, FAST, H200, cpu_rows, gpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profcore.recording import Timings

A, B, C = "0123456789aa", "0123456789ab", "0123456789ac"
EAGER = Experiment(device="cuda:0")
COMPILED = Experiment(device="cuda:0", compile="default")
HOSTILE = "![i](http://127.0.0.1:9/p.png) **x**"


@pytest.fixture
def visit(tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)  # type: ignore[arg-type]
    st.cache_resource.clear()


def times(step_us: float, cpu_us: float) -> Timings:
    return msgspec.structs.replace(
        FAST,
        step_ns_median=step_us * 1000,
        step_ns_p25=step_us * 990,
        step_ns_p75=step_us * 1010,
        cpu_ns_median=cpu_us * 1000,
    )


def eager_and_compiled(visit: Visit, **compiled: object) -> Visit:
    root = visit.library.root
    write_recording(root / A, experiment=EAGER, timings=times(33, 31))
    write_recording(
        root / B,
        experiment=COMPILED,
        timings=times(83, 81),
        **{"rows": gpu_rows(gemm="nvjet_other"), **compiled},  # type: ignore[arg-type]
    )
    return visit


def offered(visit: Visit) -> list[str]:
    """Keys of the buttons that show a comparison."""
    return [str(button.key) for button in visit.app.button]


def table_after(visit: Visit, column: str) -> list[list[object]]:
    """The rows of the first table that has this column."""
    frame = next(one.value for one in visit.app.dataframe if column in one.value.columns)
    rows: list[list[object]] = frame.values.tolist()
    return rows


def test_with_nothing_recorded_it_says_why_and_how_to_fill_it(visit: Visit) -> None:
    visit.open("compare_page")
    assert "There is nothing to compare yet" in visit.texts()
    assert not visit.app.selectbox


def test_examples_with_one_difference_are_offered(visit: Visit) -> None:
    visit.with_samples().open("compare_page")
    assert "**Small against large**" in visit.texts()
    assert "compare_h200-matmul-add-64_h200-matmul-add-4096" in offered(visit)
    assert "compare_h200-matmul-add-64_h200-matmul-add-64-cold" in offered(visit)
    assert "compare_h200-matmul-add-4096_h200-matmul-add-64-cold" not in offered(
        visit
    )  # two differ


def test_with_one_side_chosen_the_nearest_come_first(visit: Visit) -> None:
    eager_and_compiled(visit).with_samples().open("compare_page", a=A)
    choices = visit.app.selectbox(key="compare_b").options
    assert "differs in" in choices[0]
    assert choices[-1].endswith("the same setting")
    assert f"compare_{A}_{B}" in offered(visit)


def test_a_link_shows_verdict_arithmetic_noise_and_numbers(visit: Visit) -> None:
    # WHEN
    eager_and_compiled(visit).open("compare_page", a=A, b=B)
    # THEN: 83 ÷ 33 = 2.515
    texts = visit.texts()
    assert "All settings but one are the same" in texts
    assert "| compile | eager | default |" in texts
    assert "Compiled is 2.52× slower than eager: 83.0 µs against 33.0 µs a step" in texts
    assert "Their ratio is 2.515; between" in texts
    assert "Decided from one run each" in texts
    assert "| Step time, no profiler | 33.0 µs | 83.0 µs | 2.52× |" in texts
    assert "| its middle half | 32.7 µs to 33.3 µs | 82.2 µs to 83.8 µs |  |" in texts
    assert "| Launches | 2 | 2 |  |" in texts
    assert visit.app.get("vega_lite_chart")


def test_kernels_are_matched_and_can_be_filtered(visit: Visit) -> None:
    eager_and_compiled(visit).open("compare_page", a=A, b=B)
    rows = {str(row[0]): row[1:7] for row in table_after(visit, "Time, eager (µs)")}
    assert rows["nvjet_other"] == ["only compiled", 0, 1, 0.0, 3.0, 3.0]
    assert rows["vectorized_elementwise_kernel: CUDAFunctor_add"] == ["both", 1, 1, 2.0, 2.0, 0.0]
    visit.app.segmented_control(key="compare_kernels_where").set_value("A").run()
    visit.is_well()
    assert [row[1] for row in table_after(visit, "Time, eager (µs)")] == ["only eager"]


def test_operators_chains_and_findings(visit: Visit) -> None:
    rows = [row for row in gpu_rows() if row["name"] != "aten::matmul"]
    eager_and_compiled(visit, rows=rows).open("compare_page", a=A, b=B)
    operators = {str(row[0]): row[1] for row in table_after(visit, "Self CPU, eager (µs)")}
    assert operators["aten::matmul"] == "only eager"
    assert operators["aten::mm"] == "both"
    texts = visit.texts()
    assert "1. ` aten::matmul → aten::mm → nvjet" in texts
    assert ":blue-badge[only here]" in texts
    assert "**Vanished (" in texts
    assert "**matmul becomes mm**" in texts
    assert "Not checked on the other side: The program did not call aten::matmul." in texts


def test_other_runs_of_the_same_settings_count_unless_switched_off(visit: Visit) -> None:
    eager_and_compiled(visit)
    write_recording(visit.library.root / C, experiment=EAGER, timings=times(35, 33))
    visit.open("compare_page", a=A, b=B)
    assert "(1 for A, 0 for B)" in visit.app.toggle(key="compare_more").label
    assert "Decided from 2 and 1 runs" in visit.texts()
    visit.app.toggle(key="compare_more").set_value(False).run()
    visit.is_well()
    assert "Decided from one run each" in visit.texts()


def test_two_runs_of_one_setting_are_no_difference(visit: Visit) -> None:
    root = visit.library.root
    write_recording(root / A, timings=times(33, 31))
    write_recording(root / B, timings=times(33.5, 31))
    visit.open("compare_page", a=A, b=B)
    assert "All settings are the same" in visit.texts()
    assert "No difference beyond noise" in visit.texts()
    assert not visit.app.toggle  # nobody could say to which side a further run belongs


def test_unlike_runs_are_compared_with_care(visit: Visit) -> None:
    root = visit.library.root
    write_recording(root / A, environment=H200)
    write_recording(root / B, environment=CPU, rows=cpu_rows(), experiment=Experiment(device="cpu"))
    visit.open("compare_page", a=A, b=B)
    assert ":orange-badge[:material/warning: with care]" in visit.texts()
    assert "The devices differ: NVIDIA H200 and AMD EPYC." in visit.texts()


def test_two_cpu_runs_say_why_there_are_no_kernels(visit: Visit) -> None:
    root, small = visit.library.root, Experiment(device="cpu", dtype="fp32")
    write_recording(root / A, environment=CPU, rows=cpu_rows(), experiment=small)
    large = msgspec.structs.replace(small, size=256)
    write_recording(root / B, environment=CPU, rows=cpu_rows(), experiment=large)
    visit.open("compare_page", a=A, b=B)
    assert "Neither side has GPU work" in visit.texts()
    assert "` aten::matmul → aten::mm `" in visit.texts()


def test_swap(visit: Visit) -> None:
    eager_and_compiled(visit).open("compare_page", a=A, b=B)
    visit.press("compare_swap")
    assert visit.app.query_params["a"] == B
    assert "Eager is 2.52× faster than compiled" in visit.texts()


def test_runs_of_one_setting_are_told_apart_in_the_list(visit: Visit) -> None:
    # GIVEN three alike, two of them begun in the same second
    eager_and_compiled(visit)
    for run_id, when in ((C, "11:22:33"), ("0123456789ad", "12:22:33")):
        write_recording(
            visit.library.root / run_id, experiment=EAGER, created_at=f"2026-11-02T{when}Z"
        )
    visit.open("compare_page", a=C, b=B)
    options = visit.app.selectbox(key="compare_a").options
    assert len(set(options)) == len(options)
    assert sum("2 Nov 12:22:33" in option for option in options) == 1
    # WHEN something else is pressed
    visit.press("compare_swap")
    # THEN the address names the same two
    assert [visit.app.query_params[side] for side in "ab"] == [B, C]
    visit.app.run()
    values = [visit.app.query_params[side] for side in "ab"]
    assert [value[0] if isinstance(value, list) else value for value in values] == [B, C]


def test_an_offer_writes_the_address(visit: Visit) -> None:
    eager_and_compiled(visit).open("compare_page", a=A)
    visit.press(f"compare_{A}_{B}")
    assert (visit.app.query_params["a"], visit.app.query_params["b"]) == (A, B)
    assert "Compiled is 2.52× slower" in visit.texts()


def test_choosing_writes_the_address(visit: Visit) -> None:
    eager_and_compiled(visit).open("compare_page", a=A)
    visit.app.selectbox(key="compare_b").set_value(B).run()
    visit.is_well()
    assert visit.app.query_params["b"] == B
    assert "Compiled is 2.52× slower" in visit.texts()


@pytest.mark.parametrize("bad", ["nothing", "../../etc/passwd", "f" * 32, "f" * 12, "", HOSTILE])
def test_an_address_that_names_nothing_is_told(visit: Visit, bad: str) -> None:
    eager_and_compiled(visit).open("compare_page", a=A, b=bad or A)
    assert visit.app.warning or visit.app.info


def test_a_run_that_did_not_end_well_has_nothing_to_compare(visit: Visit) -> None:
    write_recording(visit.library.root / A)
    write_recording(visit.library.root / B, state="failed", message="It broke.")
    visit.open("compare_page", a=A, b=B)
    assert "has no trace, because it did not end well" in visit.texts()


def test_a_damaged_trace_is_one_sentence(visit: Visit) -> None:
    write_recording(visit.library.root / A)
    write_recording(visit.library.root / B, trace=b"\x1f\x8bno")
    visit.open("compare_page", a=A, b=B)
    assert len(visit.app.warning) == 1


def test_hostile_names_are_shown_and_not_obeyed(visit: Visit) -> None:
    root = visit.library.root
    write_recording(root / A, title=HOSTILE, rows=gpu_rows(gemm=HOSTILE))
    write_recording(root / B, title=f"`{HOSTILE}`", experiment=COMPILED)
    visit.open("compare_page", a=A, b=B)
    assert HOSTILE in visit.texts()
    shown = [one.value for kind in ("markdown", "caption") for one in getattr(visit.app, kind)]
    for text in shown:
        outside_code = text.split("`")[::2]
        assert not any("](" in part.replace("\\]", "") for part in outside_code), text
