"""The list of recordings: open, rename, delete; empty, damaged and hostile ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from profcore.errors import RecordingError
from profcore.library import TITLE_MAX
from tests.page_app import Visit
from tests.page_recordings import write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST, SECOND = "0123456789aa", "0123456789ab"


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def links(visit: Visit) -> list[str]:
    return [link.proto.query_string for link in visit.app.get("page_link")]


def test_an_empty_list_says_why_and_how_to_fill_it(visit: Visit) -> None:
    visit.open("recordings_page")
    assert "Nothing was recorded on this machine yet. Run an experiment" in visit.texts()
    assert "No recorded examples are installed" in visit.texts()


def test_own_recordings_stand_newest_first_before_the_samples(visit: Visit) -> None:
    visit.with_samples()
    write_recording(visit.library.root / FIRST, created_at="2026-11-01T00:00:00Z")
    write_recording(visit.library.root / SECOND, created_at="2026-11-03T00:00:00Z")
    visit.open("recordings_page")
    assert links(visit) == [
        f"run={SECOND}",
        f"run={FIRST}",
        "run=h200-matmul-add-64",
        "run=h200-matmul-add-4096",
        "run=h200-matmul-add-64-cold",
    ]


def test_a_row_says_when_where_what_and_the_verdict(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST, title="Mine")
    visit.open("recordings_page")
    assert "**Mine**" in visit.texts()
    assert (
        "matmul_add · 64 · bf16 · eager · warm-up 3 · NVIDIA H200 · 2026-11-02 11:22 UTC"
        in visit.texts()
    )
    assert "[overhead bound]" in visit.texts()


def test_a_run_without_result_says_how_it_ended(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST, state="timeout", message="It took *too* long.")
    visit.open("recordings_page")
    assert ":red-badge[took too long] It took *too* long." in visit.texts()


def test_rename(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST)
    visit.open("recordings_page")
    visit.app.text_input(key=f"title_{FIRST}").set_value("Before the change").run()
    visit.press(f"save_{FIRST}")
    assert visit.library.open(FIRST).title == "Before the change"
    assert "**Before the change**" in visit.texts()


def test_a_title_is_cut_where_the_field_ends(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST)
    visit.open("recordings_page")
    visit.app.text_input(key=f"title_{FIRST}").set_value("x" * (TITLE_MAX + 1)).run()
    visit.press(f"save_{FIRST}")
    assert visit.library.open(FIRST).title == "x" * TITLE_MAX


def test_delete_asks_first(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST)
    visit.open("recordings_page")
    assert "deletes the recording and its trace" in visit.texts()
    visit.press(f"sure_{FIRST}")
    with pytest.raises(RecordingError):
        visit.library.open(FIRST)
    assert f"run={FIRST}" not in links(visit)


def test_a_recording_that_somebody_else_deleted_is_told(visit: Visit) -> None:
    write_recording(visit.library.root / FIRST)
    visit.open("recordings_page")
    visit.library.delete(FIRST)
    visit.press(f"sure_{FIRST}")
    assert "There is no recording" in visit.texts()


def test_samples_cannot_be_changed(visit: Visit) -> None:
    visit.with_samples().open("recordings_page")
    assert not visit.app.button


def test_damaged_recordings_are_listed_and_can_be_deleted(visit: Visit) -> None:
    folder = write_recording(visit.library.root / FIRST)
    (folder / "experiment.json").write_text("{", encoding="utf-8")
    write_recording(visit.library.root / SECOND, trace=b"\x1f\x8bno")
    visit.open("recordings_page")
    assert ":red-badge[damaged]" in visit.texts()
    assert ":red-badge[cannot be read]" in visit.texts()
    visit.press(f"sure_{FIRST}")
    assert not folder.exists()


def test_many_recordings_are_shown_page_by_page(visit: Visit) -> None:
    for number in range(17):
        write_recording(
            visit.library.root / f"{number:012x}",
            state="cancelled",
            created_at=f"2026-11-01T00:00:{number:02d}Z",
        )
    visit.open("recordings_page")
    assert len(links(visit)) == 15
    assert links(visit)[0] == f"run={16:012x}"
    visit.app.session_state["recordings_page"] = 2
    visit.app.run()
    visit.is_well()
    assert links(visit) == [f"run={1:012x}", f"run={0:012x}"]


def test_hostile_titles_are_shown_as_they_are(visit: Visit) -> None:
    name = "![i](http://127.0.0.1:9/p.png) **x**"
    write_recording(visit.library.root / FIRST, title=name)
    visit.open("recordings_page")
    assert name in visit.texts()
    for text in visit.app.markdown:
        assert "](" not in text.value.replace("\\[", "")
        assert "://" not in text.value
