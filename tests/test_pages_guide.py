"""The field guide: every rule, its meaning, and the recordings that showed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from profcore.rules import FAMILIES, RULES
from tests.page_app import Visit
from tests.page_recordings import gpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def rule_labels(visit: Visit) -> dict[str, str]:
    """Labels of the folds of rules, by rule id."""
    keys = {rule.id: f"rule_{rule.id}" for rule in RULES}
    found = {}
    for rule_id, key in keys.items():
        try:
            found[rule_id] = visit.app.expander(key=key).label.replace("\\", "")
        except KeyError:
            continue
    return found


def test_every_rule_has_its_place(visit: Visit) -> None:
    visit.open("guide_page")
    assert set(rule_labels(visit)) == {rule.id for rule in RULES}
    families = [heading.value.lower() for heading in visit.app.subheader]
    used = {rule.family for rule in RULES}
    assert families == [family.lower() for family in FAMILIES if family in used]


def test_every_rule_says_meaning_advice_and_source(visit: Visit) -> None:
    visit.open("guide_page")
    for rule in RULES:
        fold = visit.app.expander(key=f"rule_{rule.id}")
        texts = [text.value for text in fold.text]
        assert texts == [rule.meaning, rule.advice or "Nothing: this only explains."]
        captions = [text.value.replace("\\", "").replace("\u2060", "") for text in fold.caption]
        assert f"Rule {rule.id} · Source: {' '.join(rule.source.split())}" in captions


def test_rules_link_to_the_recordings_that_showed_them(visit: Visit) -> None:
    # GIVEN samples, one of them a cold start, and an own recording with another name
    visit.with_samples()
    write_recording(visit.library.root / "0123456789ab", title="Mine")
    visit.open("guide_page")
    # THEN
    assert "4 recordings on this machine were looked through" in visit.texts()
    assert rule_labels(visit)["C1"].endswith("seen in 1")
    links = visit.app.expander(key="rule_C1").get("page_link")
    assert [(link.proto.label, link.proto.query_string) for link in links] == [
        ("Small product\\, cold start", "run=h200-matmul-add-64-cold")
    ]
    # E1 (many tiny kernels): the small products, the own one included, not the large one
    assert rule_labels(visit)["E1"].endswith("seen in 3")


def test_nothing_seen_is_said(visit: Visit) -> None:
    visit.open("guide_page")
    assert "0 recordings on this machine" in visit.texts()
    assert "No recording on this machine has shown it." in visit.texts()


def test_search_and_filter(visit: Visit) -> None:
    visit.with_samples().open("guide_page")
    visit.app.text_input(key="guide_search").set_value("OCCUPANCY query").run()
    visit.is_well()
    found = rule_labels(visit)
    assert "C3" in found
    assert len(found) < len(RULES)

    visit.app.text_input(key="guide_search").set_value("").run()
    visit.app.toggle(key="guide_seen").set_value(True).run()
    visit.is_well()
    assert all("seen in" in label for label in rule_labels(visit).values())
    assert "C1" in rule_labels(visit)

    visit.app.text_input(key="guide_search").set_value("no such word").run()
    assert "No observation matches" in visit.texts()


def test_recordings_that_cannot_be_read_are_counted(visit: Visit) -> None:
    write_recording(visit.library.root / "0123456789ab", trace=b"\x1f\x8bno")
    write_recording(visit.library.root / "0123456789ac", state="failed")
    visit.open("guide_page")
    assert "0 recordings on this machine were looked through. 1 could not be read" in visit.texts()


def test_names_from_files_are_shown_as_they_are(visit: Visit) -> None:
    name = "![i](http://127.0.0.1:9/p.png)"
    write_recording(visit.library.root / "0123456789ab", title=name, rows=gpu_rows(gemm=name))
    visit.open("guide_page")
    labels = [link.proto.label for link in visit.app.get("page_link")]
    hostile = [label for label in labels if "127" in label]
    assert hostile
    assert all("](" not in label and "://" not in label for label in hostile)
