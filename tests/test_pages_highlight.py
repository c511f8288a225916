"""Highlighting what an observation rests on, on pages made by hand: choose, see, clear."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st

from pages._panels import open_state
from tests.page_app import GPU_MACHINE, Visit
from tests.page_recordings import GEMM, gpu_rows, write_recording
from tests.trace_bytes import kernel, launch, op, trace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = "0123456789ab"
SHORT = "Kernels too short for their launches"
"""Rule E1: all ten kernels are shorter than a launch; its evidence is the longest of either name,
both of step 2, then those of 3 µs of the next three steps."""


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def show(visit: Visit, **query: str) -> None:
    if not (visit.library.root / OWN).exists():
        write_recording(visit.library.root / OWN, rows=gpu_rows())
    visit.open(run=OWN, **query)


def charts(visit: Visit) -> list[Any]:
    return [
        (chart.proto.alt, json.loads(chart.proto.spec))
        for chart in visit.app.get("vega_lite_chart")
    ]


def fades(spec: dict[str, Any]) -> bool:
    return any("opacity" in layer["encoding"] for layer in spec.get("layer", [spec]))


def test_a_button_highlights_the_evidence_in_the_three_charts(visit: Visit) -> None:
    show(visit)
    assert not any(fades(spec) for _, spec in charts(visit))
    visit.press("highlight_E1")

    assert f"Highlighted in the charts below: the evidence of the observation **{SHORT}**" in (
        visit.texts()
    )
    by_chart = charts(visit)
    assert [fades(spec) for _, spec in by_chart] == [True, True, True, False, False]
    assert by_chart[0][0].endswith("Outlined: aten::mm on the GPU, aten::add on the GPU.")
    assert by_chart[1][0].endswith("Outlined: steps 2 to 5.")
    assert f"Outlined: {GEMM}, " in by_chart[2][0]
    # It stands in the address: a link shows the same.
    assert visit.app.query_params["rule"] == "E1"


def test_one_piece_of_evidence_is_highlighted_alone(visit: Visit) -> None:
    show(visit)
    # One of each name first, then equal ones in the order of the trace: the third is of step 3.
    visit.app.radio(key="evidence_E1").set_value(2).run()
    visit.is_well()
    assert "evidence of the observation" in visit.texts()
    assert charts(visit)[1][0].endswith("Outlined: step 3.")
    assert visit.app.query_params["event"] == "3"


def test_choosing_another_observation_lets_go_of_the_first(visit: Visit) -> None:
    show(visit, rule="E1", event="2")
    assert visit.app.radio(key="evidence_E1").value == 1
    visit.press("observations_more")
    visit.press("highlight_D2")
    assert visit.app.query_params["rule"] == "D2"
    assert "event" not in visit.app.query_params
    assert visit.app.radio(key="evidence_E1").value is None


def test_a_link_to_an_observation_that_only_explains_shows_it_also_when_cleared(
    visit: Visit,
) -> None:
    show(visit, rule="D2")
    visit.press("unhighlight_D2")
    assert visit.app.button(key="highlight_D2")


@pytest.mark.parametrize("button", ["clear_charts", "unhighlight_E1"])
def test_it_can_be_cleared_above_the_charts_and_in_its_row(visit: Visit, button: str) -> None:
    show(visit, rule="E1", event="1")
    assert any(fades(spec) for _, spec in charts(visit))
    visit.press(button)
    assert not any(fades(spec) for _, spec in charts(visit))
    assert "Highlighted in" not in visit.texts()
    assert "rule" not in visit.app.query_params
    assert "event" not in visit.app.query_params


@pytest.mark.parametrize("rule", ["", "X9", "B1", "S1", "<b>"])
def test_an_address_that_asks_for_nothing_seen_shows_the_charts_as_ever(
    visit: Visit, rule: str
) -> None:
    # B1 was seen and rests on no event; S1 was not seen.
    show(visit, rule=rule)
    assert not any(fades(spec) for _, spec in charts(visit))
    assert "Highlighted in" not in visit.texts()


@pytest.mark.parametrize("event", ["0", "99", "-1", "x"])
def test_an_event_that_is_not_there_is_all_of_them(visit: Visit, event: str) -> None:
    show(visit, rule="E1", event=event)
    assert "the evidence of the observation" in visit.texts()


def test_another_recording_starts_without_a_highlight(visit: Visit) -> None:
    visit.runner.machine = GPU_MACHINE
    show(visit, rule="E1")
    visit.press("try_0")
    assert visit.runner.submitted
    assert "rule" not in visit.app.query_params


def test_an_opened_trace_is_highlighted_too(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_state, "default_root", lambda: tmp_path / "data")
    data = trace_bytes(*gpu_rows())
    visit.open("open_page")
    visit.app.file_uploader[0].upload("trace.json", data, "application/json").run()
    visit.is_well()
    visit.press("highlight_E1")
    assert [fades(spec) for _, spec in charts(visit)][:3] == [True, True, True]
    visit.press("clear_charts")
    assert not any(fades(spec) for _, spec in charts(visit))


def test_events_without_a_bar_are_told(visit: Visit) -> None:
    # GIVEN a file without steps, in which the GPU is idle between two kernels
    rows = [
        *(op("aten::mm", 0, 30), launch(5, 5, correlation=1)),
        *(op("aten::mm", 90, 30), launch(95, 5, correlation=2)),
        *(kernel("gemm", 12, 20, correlation=1), kernel("gemm", 110, 20, correlation=2)),
    ]
    write_recording(visit.library.root / OWN, rows=rows)
    visit.open(run=OWN, rule="B4")
    assert "No bar of the charts below shows the evidence of the observation" in visit.texts()
    assert not any(fades(spec) for _, spec in charts(visit))


def test_hostile_names_are_shown_and_never_obeyed(visit: Visit) -> None:
    name = "gemm ![i](http://127.0.0.1:9/p.png) `x` <b>y</b> $x$"
    write_recording(visit.library.root / OWN, rows=gpu_rows(gemm=name))
    visit.open(run=OWN, rule="E1")
    lines = [str(text.value) for text in visit.app.markdown if "Outlined" in text.value]
    assert any("gemm" in line for line in lines)
    assert not any("http://127" in line or "](" in line or "<b>" in line for line in lines)
