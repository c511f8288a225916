"""The page that opens traces: upload, path, sample, archive, refusal, reload, hostile names."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages._panels import open_sources, open_state
from profcore.opened import reading
from profcore.opened.arrivals import arrive
from profcore.opened.shelf import Shelf
from tests import handmade, reference
from tests.page_app import Visit
from tests.trace_bytes import annotation, kernel, launch, op, step, trace_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from streamlit.runtime.uploaded_file_manager import UploadedFile

PLAIN = trace_bytes(*handmade.plain_rows())
PAGE = "open_page"


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    monkeypatch.setattr(open_state, "default_root", lambda: tmp_path / "data")
    monkeypatch.setattr(open_sources, "serves_this_machine_alone", lambda: True)
    yield Visit(tmp_path, monkeypatch).with_samples()
    st.cache_resource.clear()


def upload(visit: Visit, data: bytes = PLAIN, name: str = "trace.json") -> None:
    visit.open(PAGE)
    visit.app.file_uploader[0].upload(name, data, "application/json").run()
    visit.is_well()


def trace_id(visit: Visit) -> str:
    found = visit.app.query_params["trace"]
    return found[0] if isinstance(found, list) else str(found)


def folds(visit: Visit) -> list[str]:
    return [fold.label for fold in visit.app.expander]


def test_an_upload_shows_verdict_numbers_charts_and_observations(visit: Visit) -> None:
    upload(visit)
    texts = visit.texts()
    assert "trace.json" in texts
    assert "A trace holds no step time measured without the profiler" in texts
    assert "How sure:" in texts
    metrics = {number.label: str(number.value) for number in visit.app.metric}
    # handmade.plain_rows: three steps of 100 µs, two launches each, six kernels of 120 µs in all;
    # busy 120 of 445 µs.
    assert metrics == {
        "Step on the CPU, profiled": "100 µs",
        "GPU busy, profiled": "27.0 %",
        "Launches per step": "2",
        "Time in kernels": "120 µs",
    }
    assert len(visit.app.get("vega_lite_chart")) == 5
    assert "There are no memory rows in this file; record with profile_memory=True" in texts
    assert any(fold.startswith("Can this trace be trusted? 15 checks") for fold in folds(visit))
    assert "What was seen, and what it likely means" in texts


def test_the_server_keeps_no_file_of_the_upload(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts, files = [], []

    def context() -> object:
        contexts.append(get_script_run_ctx())
        return contexts[-1]

    def arriving(file: UploadedFile, **given: Any) -> object:
        files.append(file.file_id)
        return arrive(file, **given)

    monkeypatch.setattr(open_sources, "get_script_run_ctx", context)
    monkeypatch.setattr(open_sources, "arrive", arriving)
    upload(visit)
    (found,) = contexts
    assert len(files) == 1
    assert found.uploaded_file_mgr.get_files(found.session_id, files) == []
    assert visit.app.file_uploader[0].value is None
    kept = [path.name for path in (visit.library.root / "opened").rglob("*") if path.is_file()]
    assert sorted(kept) == ["about.json", "columns.npz", "trace.json"]


def test_the_link_shows_it_again_without_reading(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(visit)
    link = trace_id(visit)
    monkeypatch.setattr(reading, "Child", None)  # starting one would fail
    st.cache_resource.clear()  # as after a restart of the server
    visit.app.run()
    visit.is_well()
    assert trace_id(visit) == link
    assert "How sure:" in visit.texts()
    upload(visit, name="the same under another name.json")
    assert trace_id(visit) == link


def test_a_moved_widget_does_not_lose_the_trace(visit: Visit) -> None:
    upload(visit)
    visit.app.button_group(key="observation_state").set_value("clear").run()
    visit.is_well()
    assert "How sure:" in visit.texts()
    visit.app.selectbox(key="kernel_name").set_value(1).run()
    visit.is_well()
    full = "void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int)"
    assert full in [block.value for block in visit.app.code]


def test_a_refused_file_shows_its_sentence_and_no_charts(visit: Visit) -> None:
    upload(visit, PLAIN[:-60], "cut.json")
    assert "This file cannot be opened. cut.json ends early" in visit.texts()
    assert not visit.app.get("vega_lite_chart")
    assert "trace" not in visit.app.query_params


def test_an_unknown_link_is_a_sentence(visit: Visit) -> None:
    visit.open(PAGE)
    visit.app.query_params["trace"] = "../" * 5
    visit.app.run()
    visit.is_well()
    assert "There is no opened trace of this address" in visit.texts()


def test_a_path_of_this_machine(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "on disk.json"
    path.write_bytes(PLAIN)
    visit.open(PAGE)
    visit.app.text_input(key="open_path").set_value(str(path))
    visit.app.button(key="open_path_button").click().run()
    visit.is_well()
    assert "on disk.json" in visit.texts()
    assert "How sure:" in visit.texts()


def test_a_path_that_leads_nowhere(visit: Visit) -> None:
    visit.open(PAGE)
    visit.app.text_input(key="open_path").set_value("/no/such/file")
    visit.app.button(key="open_path_button").click().run()
    visit.is_well()
    assert "There is no file /no/such/file; check the path." in visit.texts()


def test_paths_and_earlier_traces_are_offered_on_a_lone_machine_only(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(visit)
    monkeypatch.setattr(open_sources, "serves_this_machine_alone", lambda: False)
    visit.app.run()
    visit.is_well()
    assert "open_path" not in [box.key for box in visit.app.text_input]


@pytest.mark.parametrize(
    ("address", "url", "headers", "alone"),
    [
        ("127.0.0.1", "http://localhost:8501/open", {}, True),
        ("localhost", "http://127.0.0.1:8501/open", {}, True),
        ("127.0.0.1", "http://[::1]:8501/open", {}, True),
        (".".join("0000"), "http://localhost:8501/open", {}, False),
        ("", "http://localhost:8501/open", {}, False),
        ("127.0.0.1", "https://demo.example.org/open", {}, False),
        ("127.0.0.1", "http://localhost/open", {"X-Forwarded-For": "10.0.0.1"}, False),
        ("127.0.0.1", "", {}, False),
    ],
)
def test_who_may_give_a_path(
    monkeypatch: pytest.MonkeyPatch, address: str, url: str, headers: dict[str, str], *, alone: bool
) -> None:
    class Context:
        pass

    context = Context()
    context.url, context.headers = url, headers  # type: ignore[attr-defined]
    monkeypatch.setattr(open_sources.st, "context", context)
    monkeypatch.setattr(open_sources.st, "get_option", lambda _name: address)
    assert open_sources.serves_this_machine_alone() is alone


def test_a_sample_is_opened_as_a_bare_trace(visit: Visit) -> None:
    visit.open(PAGE)
    visit.press("open_sample_button")
    assert "trace.json.gz" in visit.texts()
    assert "How sure:" in visit.texts()


def test_an_archive_offers_its_traces(visit: Visit) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("rank0.json", PLAIN)
        file.writestr("rank1.json", trace_bytes(op("only_here", 0, 5)))
    upload(visit, data.getvalue(), "ranks.zip")
    assert "ranks.zip is an archive of 2 traces: choose one." in visit.texts()
    visit.app.selectbox(key="open_member_box").set_value("rank1.json").run()
    visit.press("open_member_button")
    assert "ranks.zip / rank1.json" in visit.texts()
    assert visit.app.dataframe[0].value["Name"].tolist() == ["only_here"]


def test_doubts_stand_above_the_verdict(visit: Visit) -> None:
    upload(visit, trace_bytes(*handmade.leaked_rows(), op("bad", 600, -5)))
    headings = [heading.value for heading in visit.app.subheader]
    assert headings[0] == "Before you trust these numbers"
    texts = visit.texts()
    assert "1 row is in no count and no sum" in texts
    assert "1 × duration is negative" in texts
    assert "1 piece of GPU work has no launch call in the file" in texts


def test_a_gpu_that_was_not_recorded_is_never_idle(visit: Visit) -> None:
    upload(visit, trace_bytes(step(1, 0, 100), op("aten::mm", 10, 50)))
    metrics = {number.label: str(number.value) for number in visit.app.metric}
    assert metrics["GPU busy, profiled"] == "not recorded"
    assert metrics["Time in kernels"] == "not recorded"
    assert "GPU activity was not recorded" in visit.texts()


def test_hostile_names_are_never_markdown(visit: Visit) -> None:
    name = "gemm ![i](http://127.0.0.1:9/p.png) [l](http://127.0.0.1:9/) `x` <b>y</b> $x$"
    rows = [
        step(1, 0, 100),
        annotation(name, 5, 90),
        op(name, 10, 60),
        launch(20, 5, correlation=1),
        kernel(name + "y" * 6000, 40, 50, correlation=1),
    ]
    upload(visit, trace_bytes(*rows), f"{name}.json")
    kinds = ("title", "header", "subheader", "markdown", "caption", "warning", "info", "error")
    shown = [str(element.value) for kind in kinds for element in getattr(visit.app, kind)]
    hostile = [text for text in shown if "gemm" in text]
    assert hostile
    for text in hostile:
        assert "http://127" not in text
        assert "](" not in text
        assert "<b>" not in text
        assert len(text) < 3000
    cells = visit.app.dataframe[2].value["Full name"].tolist()
    assert [len(cell) for cell in cells] == [5001]  # cut for the table, whole in the fold
    assert any(block.value == name + "y" * 6000 for block in visit.app.code)


@pytest.mark.traces
@pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON)
@pytest.mark.parametrize(
    "file",
    [
        "markup-in-names",
        "graph-launch",
        "memory-events",
        "xpu-no-stream",
        "legacy-list",
        "overlong-kernel",
    ],
)
def test_odd_files_have_a_page(visit: Visit, file: str) -> None:
    upload(visit, (reference.FOLDER / f"synthetic/{file}.json").read_bytes(), f"{file}.json")
    assert "How sure:" in visit.texts()


def test_shelf_and_library_lie_in_one_folder(visit: Visit) -> None:
    upload(visit)
    shelf = Shelf(visit.library.root)
    assert [one.id for one in shelf.newest_first()] == [trace_id(visit)]
    assert visit.library.list() == []
    assert visit.library.damaged() == []
