"""The app in a test: its own data folder, samples made by hand, and a runner that plays along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._panels import runner as runner_panel
from profcore import library as library_module
from profcore.jobs import JobView
from profcore.library import Library
from profcore.machine import Device, Machine
from profcore.recording import STATUS_FILE
from tests.page_recordings import write_recording, write_samples

if TYPE_CHECKING:
    import pytest

    from profcore.experiment import Experiment
    from profcore.recording import Phase, State

SHIPPED_SAMPLES = library_module._SAMPLES
APP = str(Path(__file__).resolve().parents[1] / "app.py")
RATES = {"fp32": 4e10, "tf32": 4e10, "bf16": 1e10, "fp16": 1e10}

CPU_DEVICE = Device(id="cpu", name="AMD EPYC", memory_bytes=16 * 1024**3, can_profile=True)
GPU_DEVICE = Device(id="cuda:0", name="NVIDIA H200", memory_bytes=140 * 1024**3, can_profile=True)


def machine(*devices: Device, can_compile_cpu: bool = True, notes: tuple[str, ...] = ()) -> Machine:
    return Machine(
        devices=devices,
        torch="2.13.0",
        cuda="13.0" if len(devices) > 1 else None,
        driver=None,
        python="3.11",
        platform="Linux",
        cpu_threads=2,
        cpu_flops_per_s=RATES,
        can_compile_cpu=can_compile_cpu,
        notes=notes,
    )


CPU_MACHINE = machine(CPU_DEVICE)
GPU_MACHINE = machine(GPU_DEVICE, CPU_DEVICE)


class PlayedRunner:
    """A JobRunner without children: a test moves its runs on."""

    def __init__(self, library: Library, machine: Machine | None) -> None:
        self.library = library
        self.machine = machine
        self.machine_problem = ""
        self.submitted: list[Experiment] = []
        self.cancelled: list[str] = []
        self.refusal: Exception | None = None
        self.views: dict[str, JobView] = {}
        self.besides: list[Experiment | None] = []

    def submit(self, experiment: Experiment, *, beside: Experiment | None = None) -> str:
        if self.refusal is not None:
            raise self.refusal
        self.submitted.append(experiment)
        self.besides.append(beside)
        run_id = self.library.new_folder(experiment).name
        self.move(run_id, "queued", position=1)
        return run_id

    def cancel(self, run_id: str) -> None:
        self.cancelled.append(run_id)

    def view(self, run_id: str) -> JobView | None:
        return self.views.get(run_id)

    def move(
        self, run_id: str, state: State, *, phases: tuple[Phase, ...] = (), **more: Any
    ) -> None:
        self.views[run_id] = JobView(run_id=run_id, state=state, phases=phases, **more)

    def finish(self, run_id: str, **recording: Any) -> None:
        """Put a recording made by hand in the place of the run."""
        folder = self.library.root / run_id
        made = write_recording(folder.with_name("made"), **recording)
        for file in made.iterdir():
            file.replace(folder / file.name)
        made.rmdir()
        assert (folder / STATUS_FILE).exists()
        self.move(run_id, "done")


class Visit:
    """One visitor's session with everything a test wants to see or move."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.library = Library(tmp_path / "data")
        self.runner = PlayedRunner(self.library, CPU_MACHINE)
        self.samples = tmp_path / "samples"
        self._patch = monkeypatch
        monkeypatch.setattr(library_module, "_SAMPLES", self.samples)
        monkeypatch.setattr(runner_panel, "Library", lambda _root: self.library)
        monkeypatch.setattr(runner_panel, "JobRunner", lambda *_given, **_limits: self.runner)
        st.cache_resource.clear()  # what the test before opened must not answer
        self.app = AppTest.from_file(APP, default_timeout=30)

    def with_samples(self) -> Visit:
        write_samples(self.samples)
        return self

    def with_shipped_samples(self) -> Visit:
        self._patch.setattr(library_module, "_SAMPLES", SHIPPED_SAMPLES)
        return self

    def open(self, page: str = "", **query: str) -> AppTest:
        """Open a page by the name of its file, with URL parameters."""
        for name, value in query.items():
            self.app.query_params[name] = value
        self.app.run()
        if page:
            self.app.switch_page(f"pages/{page}.py").run()
        self.is_well()
        return self.app

    def is_well(self) -> None:
        """No page failed."""
        assert not self.app.exception, [error.value for error in self.app.exception]

    def press(self, key: str) -> None:
        self.app.button(key=key).click().run()
        self.is_well()

    def texts(self) -> str:
        """Return all words on the page, Markdown signs and escapes taken off."""
        kinds = (
            *("title", "header", "subheader", "markdown", "caption", "text"),
            *("warning", "info", "error", "code"),
        )
        found = [element.value for kind in kinds for element in getattr(self.app, kind)]
        return "\n".join(str(text).replace("\\", "").replace("\u2060", "") for text in found)
