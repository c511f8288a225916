"""Where a visitor is led: to the result, to the knobs, from a CPU run to the examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from profcore.experiment import Experiment
from tests.page_app import Visit
from tests.page_recordings import CPU, cpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWN = "0123456789ab"


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def show(visit: Visit, **recording: object) -> None:
    write_recording(visit.library.root / OWN, **recording)  # type: ignore[arg-type]
    visit.open(run=OWN)


def scripts(visit: Visit, selector: str) -> int:
    """Return how many scripts bring this part of the page into view."""
    return sum(f'querySelector("{selector}")' in html.proto.body for html in visit.app.get("html"))


def test_the_knobs_come_into_view_when_they_take_settings_over(visit: Visit) -> None:
    show(visit)
    visit.press("use_settings")
    assert scripts(visit, ".st-key-setup") == 1
    visit.app.run()
    assert scripts(visit, ".st-key-setup") == 0


def test_a_result_comes_into_view_once(visit: Visit) -> None:
    show(visit)
    assert scripts(visit, "#result") == 1
    visit.app.run()
    assert scripts(visit, "#result") == 0


def test_a_cpu_run_leads_to_the_same_experiment_on_a_gpu(visit: Visit) -> None:
    visit.with_samples()
    show(visit, rows=cpu_rows(), environment=CPU, experiment=Experiment(device="cpu"))
    visit.press("same_on_a_gpu")
    assert visit.app.query_params["run"] == "h200-matmul-add-64"


def test_a_cpu_run_without_such_an_example_has_all_examples_below(visit: Visit) -> None:
    visit.with_samples()
    made = Experiment(device="cpu", size=96)
    show(visit, rows=cpu_rows(), environment=CPU, experiment=made)
    keys = [button.key for button in visit.app.button]
    assert "same_on_a_gpu" not in keys
    assert "open_h200-matmul-add-4096" in keys
