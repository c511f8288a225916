"""Every sample that ships with the program opens, with all its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from profcore.experiment import describe
from profcore.library import sample_ids, samples
from tests.page_app import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch).with_shipped_samples()
    st.cache_resource.clear()


def test_the_first_page_offers_every_sample(visit: Visit) -> None:
    visit.open()
    offered = [b.key for b in visit.app.button if (b.key or "").startswith("open_")]
    assert offered == [f"open_{sample_id}" for sample_id in sample_ids()]
    assert "cannot be read" not in visit.texts()
    for sample in samples():
        assert describe(sample.experiment) in visit.texts()


@pytest.mark.parametrize("sample_id", sample_ids())
def test_sample_opens_whole(visit: Visit, sample_id: str) -> None:
    visit.open(run=sample_id)
    assert not visit.app.error
    assert "Recorded example" in visit.texts()
    assert "How this follows" in visit.texts()
    assert [number.label for number in visit.app.metric][-4:] == [
        "Step time, no profiler",
        "GPU busy",
        "Launches per step",
        "Achieved",
    ]
    charts = visit.app.get("vega_lite_chart")
    assert len(charts) >= 5  # a cold start draws its first step apart
    assert all(chart.proto.alt for chart in charts)
    assert len(visit.app.dataframe) == 5
    assert any(fold.label.startswith("Can this trace be trusted?") for fold in visit.app.expander)
