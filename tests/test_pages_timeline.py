"""The Timeline page: recording, step, row and rule from the address; the ladder; bad input."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING

import pytest
import streamlit as st

from pages._panels import open_state, timeline_controls, timeline_perfetto, timeline_source
from profcore.experiment import Experiment
from profcore.opened.arrivals import arrive
from profcore.opened.reading import open_trace
from profcore.opened.shelf import OpenedTrace
from profcore.trace import perfetto, read
from profcore.trace.writing import chrome_text
from tests.page_app import Visit
from tests.page_recordings import CPU, GEMM, cpu_rows, gpu_rows, write_recording
from tests.trace_bytes import kernel, op, trace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = "0123456789ab"


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()
    st.cache_data.clear()


def show(visit: Visit, *, recording: dict[str, object] | None = None, **query: str) -> None:
    write_recording(visit.library.root / OWN, **(recording or {}))  # type: ignore[arg-type]
    visit.open("timeline_page", run=OWN, **query)


def alts(visit: Visit) -> list[str]:
    return [chart.proto.alt for chart in visit.app.get("vega_lite_chart")]


def test_without_a_recording_it_says_how_to_make_one(visit: Visit) -> None:
    visit.open("timeline_page")
    assert "Nothing was recorded yet" in visit.texts()
    assert alts(visit) == []


def test_the_first_recording_is_shown_and_another_can_be_chosen(visit: Visit) -> None:
    visit.with_samples().open("timeline_page")
    choice = visit.app.selectbox(key="timeline_recording")
    assert choice.value == "h200-matmul-add-64"
    choice.set_value("h200-matmul-add-4096").run()
    visit.is_well()
    assert visit.app.query_params["run"] == "h200-matmul-add-4096"


def test_recordings_of_one_name_can_be_told_apart(visit: Visit) -> None:
    # The browser sends back the words of a choice: of two alike the first would be meant
    for name in (OWN, "ba9876543210"):
        write_recording(visit.library.root / name)
    visit.open("timeline_page", run=OWN)
    options = visit.app.selectbox(key="timeline_recording").options
    assert len(options) == len(set(options)) == 2


def test_a_typical_step_is_shown_first(visit: Visit) -> None:
    show(visit)
    assert visit.app.selectbox(key=timeline_controls.STEP).value == "3"
    strip, picture = alts(visit)
    assert strip.startswith("5 steps, ")
    # A step of 91 us: annotation, two operators and one, two launches, and two kernels
    assert picture.startswith("9 rows in 2 lanes over 91.0 µs.")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        # Steps of 125, 121, 122, 120 and 121 us with what lies between, and the closing 12
        ({"step": "all"}, "46 rows in 2 lanes over 621 µs"),
        ({"step": "2"}, "9 rows in 2 lanes over 95.0 µs"),
        # The last picture goes on to the end of the closing synchronize: 121 + 12
        ({"step": "6"}, "10 rows in 2 lanes over 133 µs"),
        ({"step": "no such step"}, "9 rows in 2 lanes over 91.0 µs"),
    ],
)
def test_the_address_chooses_the_step(visit: Visit, query: dict[str, str], words: str) -> None:
    show(visit, **query)
    assert any(words in alt for alt in alts(visit)), alts(visit)


def test_a_part_of_a_stretch_can_be_drawn(visit: Visit) -> None:
    show(visit, step="3", part="50-100")
    # The second half of 91 us: from 45.5 on
    assert any("over 45.5 µs" in alt for alt in alts(visit)), alts(visit)
    visit.app.slider(key=timeline_controls.PART).set_value((0, 50)).run()
    visit.is_well()
    assert visit.app.query_params["part"] == "0-50"
    visit.app.slider(key=timeline_controls.PART).set_value((0, 100)).run()
    assert "part" not in visit.app.query_params


@pytest.mark.parametrize("part", ["", "5", "50-10", "0-200", "7-7", "a-b", "-1-5", "٣-٥"])
def test_a_part_that_is_none_is_passed_over(visit: Visit, part: str) -> None:
    show(visit, step="3", part=part)
    assert any("over 91.0 µs" in alt for alt in alts(visit))


def row_of(visit: Visit, name: str, nth: int = 0) -> str:
    """Return the row of a name, as text for the address."""
    rows = visit.app.session_state["timeline_rows"]
    names = visit.app.dataframe[-1].value["Name"].tolist()
    return str([row for row, each in zip(rows, names, strict=True) if each == name][nth])


def test_a_row_shows_its_ladder_and_its_step(visit: Visit) -> None:
    show(visit, step="all")
    row = row_of(visit, GEMM, nth=3)
    del visit.app.query_params["step"]
    visit.app.query_params["row"] = row
    visit.app.run()
    visit.is_well()
    assert visit.app.selectbox(key=timeline_controls.STEP).value == "5"
    ladder = [text.value for text in visit.app.markdown if "takes **" in text.value]
    assert len(ladder) == 6
    names = ["ProfilerStep#5", "matmul_add", "aten::matmul", "aten::mm", "cudaLaunchKernel", GEMM]
    for rung, name in zip(ladder, names, strict=True):
        assert name in rung
    assert "takes **36.0 µs**" in ladder[3]
    assert "28.0 µs of it its own" in ladder[3]
    assert "12.0 µs after its launch call began" in ladder[5]
    assert "Does this kernel always take the same time?" in visit.texts()


def test_another_call_of_a_step_can_be_followed(visit: Visit) -> None:
    show(visit, step="3")
    visit.app.query_params["row"] = row_of(visit, "ProfilerStep#3")
    visit.app.run()
    other = visit.app.selectbox(key="timeline_other_call")
    assert len(other.options) == 2
    other.select_index(1).run()
    visit.is_well()
    ladder = [text.value for text in visit.app.markdown if "takes **" in text.value]
    assert "aten::add" in ladder[2]


def test_choosing_a_step_forgets_the_row(visit: Visit) -> None:
    show(visit, row="3")
    visit.app.selectbox(key=timeline_controls.STEP).set_value("4").run()
    visit.is_well()
    assert visit.app.query_params["step"] == "4"
    assert "row" not in visit.app.query_params


def test_a_finding_outlines_its_events(visit: Visit) -> None:
    show(visit, step="all", rule="C5")
    assert "1 of its 1 events lie in this picture, outlined." in visit.texts()
    spec = visit.app.get("vega_lite_chart")[-1].proto
    assert any(dataset.name == "marked" for dataset in spec.datasets)
    visit.app.selectbox(key=timeline_controls.RULE).set_value(None).run()
    visit.is_well()
    assert "rule" not in visit.app.query_params
    assert "outlined" not in visit.texts()


def test_an_event_outside_the_picture_is_one_click_away(visit: Visit) -> None:
    show(visit, step="3", rule="C5")
    assert "0 of its 1 events lie in this picture" in visit.texts()
    visit.press("go_to_event")
    assert "1 of its 1 events lie in this picture" in visit.texts()


def test_what_to_look_at_is_linked_to_its_rule(visit: Visit) -> None:
    show(visit, step="2")
    links = [link.proto.label for link in visit.app.get("page_link")]
    assert any("begins 42.0 µs later (G6)" in link.replace("\\", "") for link in links)


def test_a_cpu_run_has_a_timeline_too(visit: Visit) -> None:
    show(
        visit,
        recording={
            "rows": cpu_rows(),
            "environment": CPU,
            "experiment": Experiment(device="cpu"),
        },
    )
    assert alts(visit)[-1] == "4 rows in 1 lane over 380 µs."


def test_a_trace_without_steps_is_shown_whole(visit: Visit) -> None:
    show(visit, recording={"rows": [op("aten::mm", 0, 10), op("aten::add", 20, 10)]})
    assert visit.app.selectbox(key=timeline_controls.STEP).options == ["The whole recording"]
    assert alts(visit) == ["2 rows in 1 lane over 30.0 µs."]


@pytest.mark.parametrize("row", ["-1", "99999999999999999999", "x", "²", "1e3"])
def test_a_row_that_is_not_there_is_passed_over(visit: Visit, row: str) -> None:
    show(visit, row=row)
    assert "Click a bar, or choose a row" in visit.texts()


@pytest.mark.parametrize("run", ["ffffffffffff", "../../etc/passwd", "![a](http://127.0.0.1:9/)"])
def test_an_unknown_recording_is_told(visit: Visit, run: str) -> None:
    visit.with_samples().open("timeline_page", run=run)
    assert len(visit.app.warning) == 1
    assert "http" not in visit.app.warning[0].value
    assert alts(visit) == []


def test_a_trace_that_cannot_be_read_is_told(visit: Visit) -> None:
    show(visit, recording={"trace": b"\x1f\x8bno gzip"})
    assert len(visit.app.warning) == 1


def test_hostile_names_are_never_markdown(visit: Visit) -> None:
    name = "gemm ![i](http://127.0.0.1:9/p.png) [l](http://127.0.0.1:9/) `x` <b>y</b>"
    show(visit, recording={"rows": gpu_rows(gemm=name), "title": name}, step="3")
    visit.app.query_params["row"] = row_of(visit, name)
    visit.app.run()
    visit.is_well()
    shown = [
        str(element.value)
        for kind in ("markdown", "caption", "subheader", "header")
        for element in getattr(visit.app, kind)
    ]
    hostile = [text for text in shown if "gemm" in text]
    assert hostile
    for text in hostile:
        outside = text.split("`` ")[0] + text.split(" ``")[-1] if "`` " in text else text
        assert "http://127" not in outside
        assert "<b>" not in outside


@pytest.fixture
def opened(visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenedTrace:
    """A file of the visitor that was opened, beside a recording."""
    monkeypatch.setattr(open_state, "default_root", lambda: tmp_path / "data")
    monkeypatch.setattr(timeline_source, "serves_this_machine_alone", lambda: True)
    write_recording(visit.library.root / OWN)
    shelf = open_state.get_shelf()
    name = "mine ![i](http://127.0.0.1:9/).json"
    rows = trace_bytes(*gpu_rows(), kernel("overlapping", 43, 10))
    found = open_trace(arrive(io.BytesIO(rows), name=name, root=shelf.root), shelf)
    assert isinstance(found, OpenedTrace)
    return found


class TestOpenedTrace:
    def test_it_has_a_timeline_with_chains(self, visit: Visit, opened: OpenedTrace) -> None:
        visit.open("timeline_page", trace=opened.id, step="3")
        assert visit.app.selectbox(key="timeline_recording").value == opened.id
        assert alts(visit)[-1].startswith("9 rows in 2 lanes over 91.0 µs.")
        visit.app.query_params["row"] = row_of(visit, GEMM)
        visit.app.run()
        visit.is_well()
        ladder = [text.value for text in visit.app.markdown if "takes **" in text.value]
        assert len(ladder) == 6
        assert "http://127" not in visit.texts()
        assert "Download the trace" not in [each.label for each in visit.app.download_button]

    def test_the_list_leads_there_and_back(self, visit: Visit, opened: OpenedTrace) -> None:
        visit.open("timeline_page", run=OWN, row="3")
        choice = visit.app.selectbox(key="timeline_recording")
        assert choice.value == OWN
        choice.set_value(opened.id).run()
        visit.is_well()
        assert visit.app.query_params["trace"] == opened.id
        assert not {"run", "row"} & set(visit.app.query_params)
        visit.app.selectbox(key="timeline_recording").set_value(OWN).run()
        visit.is_well()
        assert visit.app.query_params["run"] == OWN
        assert "trace" not in visit.app.query_params

    def test_others_are_not_listed_to_a_visitor_from_elsewhere(
        self, visit: Visit, opened: OpenedTrace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(timeline_source, "serves_this_machine_alone", lambda: False)
        visit.open("timeline_page", run=OWN)
        assert len(visit.app.selectbox(key="timeline_recording").options) == 1
        visit.app.query_params.clear()
        visit.open("timeline_page", trace=opened.id)
        assert len(visit.app.selectbox(key="timeline_recording").options) == 2

    @pytest.mark.parametrize("trace_id", ["f" * 32, "../../x", "![a](http://127.0.0.1:9/)"])
    def test_one_that_is_gone_is_told(
        self, visit: Visit, opened: OpenedTrace, trace_id: str
    ) -> None:
        assert opened.id != trace_id
        visit.open("timeline_page", trace=trace_id)
        assert len(visit.app.warning) == 1
        assert alts(visit) == []

    def test_the_page_of_the_file_leads_here(self, visit: Visit, opened: OpenedTrace) -> None:
        visit.open("open_page", trace=opened.id)
        visit.press("observations_more")
        queries = [
            link.proto.query_string
            for link in visit.app.get("page_link")
            if "timeline" in link.proto.label
        ]
        assert f"trace={opened.id}" in queries
        assert f"trace={opened.id}&rule=C5" in queries

    def test_its_rows_are_handed_over(self, visit: Visit, opened: OpenedTrace) -> None:
        visit.app.session_state["perfetto_wanted"] = opened.id
        visit.open("timeline_page", trace=opened.id)
        data = visit.app.get("bidi_component")[0].proto.bytes
        handed = gzip.decompress(data.partition(b"\n")[2])
        assert handed == perfetto.for_perfetto(chrome_text(opened.load())).text
        assert len(read(handed, name="x.json")) == len(opened.load())
        assert b"overlapping rows 1" in handed
        assert "its rows are written anew for Perfetto" in visit.texts()

    def test_too_many_rows_are_for_the_file_itself(
        self, visit: Visit, opened: OpenedTrace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(timeline_perfetto, "ROWS_MAX", 10)
        visit.open("timeline_page", trace=opened.id)
        header = json.loads(visit.app.get("bidi_component")[0].proto.bytes.partition(b"\n")[0])
        assert header["disabled"]
        assert "up to 10 can be handed over" in visit.texts()


class TestPerfetto:
    def test_why_a_trace_was_left_as_it_is_is_told(self, visit: Visit) -> None:
        # A number that is none: the reader mends it, Perfetto gets the file as it is
        broken = trace_bytes(*gpu_rows()).replace(
            b'"traceEvents": [', b'"traceEvents": [{"x": inf}, '
        )
        show(visit, recording={"trace": gzip.compress(broken)})
        assert perfetto.UNTOUCHED not in visit.texts()
        visit.app.session_state["perfetto_wanted"] = OWN
        visit.app.run()
        visit.is_well()
        captions = [text.value for text in visit.app.caption]
        assert captions.count(perfetto.UNTOUCHED) == 1
        visit.app.run()
        assert perfetto.UNTOUCHED in visit.texts()

    def test_the_result_of_a_run_hands_over_too(self, visit: Visit) -> None:
        write_recording(visit.library.root / OWN)
        visit.open("run_page", run=OWN)
        header = json.loads(visit.app.get("bidi_component")[0].proto.bytes.partition(b"\n")[0])
        assert header["label"] == "Open in Perfetto"
        assert not header["disabled"]

    def test_the_trace_is_not_sent_before_it_is_asked_for(self, visit: Visit) -> None:
        show(visit)
        data = visit.app.get("bidi_component")[0].proto.bytes
        head, _, payload = data.partition(b"\n")
        assert payload == b""
        header = json.loads(head)
        assert header["origin"] == "https://ui.perfetto.dev"
        assert header["label"] == "Open in Perfetto"
        assert not header["disabled"]

    def test_it_is_sent_when_it_is_asked_for(self, visit: Visit) -> None:
        show(visit)
        visit.app.session_state["perfetto_wanted"] = OWN
        visit.app.run()
        data = visit.app.get("bidi_component")[0].proto.bytes
        payload = data.partition(b"\n")[2]
        assert gzip.decompress(payload) == trace_bytes(*gpu_rows())

    def test_a_large_trace_is_for_the_download(
        self, visit: Visit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(timeline_perfetto, "STORED_MAX_BYTES", 100)
        show(visit)
        header = json.loads(visit.app.get("bidi_component")[0].proto.bytes.partition(b"\n")[0])
        assert header["disabled"]
        assert "up to 100 B can be handed over" in visit.texts()
        assert "Download the trace" in [button.label for button in visit.app.download_button]

    @pytest.mark.parametrize(
        ("setting", "origin"),
        [
            ("http://127.0.0.1:5000/path?x", "http://127.0.0.1:5000"),
            ("javascript:alert(1)", "https://ui.perfetto.dev"),
            ("", "https://ui.perfetto.dev"),
        ],
    )
    def test_the_address_is_a_setting(
        self, monkeypatch: pytest.MonkeyPatch, setting: str, origin: str
    ) -> None:
        monkeypatch.setenv(timeline_perfetto.ORIGIN_VARIABLE, setting)
        assert timeline_perfetto.origin() == origin
