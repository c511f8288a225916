"""The Run page before and during a run: machine, knobs, cost, start, progress, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import streamlit as st

from pages._panels import machine as machine_panel
from profcore.errors import QueueFullError
from profcore.experiment import Experiment, from_query
from profcore.recording import Phase
from tests.page_app import CPU_DEVICE, CPU_MACHINE, GPU_MACHINE, Visit, machine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


def metric(visit: Visit, label: str) -> str:
    return next(str(number.value) for number in visit.app.metric if number.label == label)


class TestMachine:
    def test_without_a_gpu_the_samples_stand_before_the_knobs(self, visit: Visit) -> None:
        visit.with_samples().open()
        assert "There is no GPU here" in visit.texts()
        keys = [button.key for button in visit.app.button]
        assert keys.index("open_h200-matmul-add-64") < keys.index("run_button")

    def test_with_a_gpu_the_knobs_stand_first(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        visit.with_samples().open()
        assert "This machine: NVIDIA H200 · PyTorch 2.13.0, CUDA 13.0" in visit.texts()
        keys = [button.key for button in visit.app.button]
        assert keys.index("run_button") < keys.index("open_h200-matmul-add-64")
        assert visit.app.selectbox(key="device").options == ["auto", "cuda:0", "cpu"]

    @pytest.mark.parametrize(("drivers", "knobs_first"), [(("/dev/null",), True), ((), False)])
    def test_the_order_while_it_looks_is_the_one_that_will_be(
        self,
        visit: Visit,
        monkeypatch: pytest.MonkeyPatch,
        drivers: tuple[str, ...],
        knobs_first: bool,  # noqa: FBT001 - a case of the table above
    ) -> None:
        monkeypatch.setattr(machine_panel, "_DRIVER_FILES", drivers)
        visit.runner.machine = None
        visit.with_samples().open()
        keys = [button.key for button in visit.app.button]
        first = keys.index("run_button") < keys.index("open_h200-matmul-add-64")
        assert first is knobs_first

    def test_while_it_looks_nothing_can_be_run_and_then_it_can(self, visit: Visit) -> None:
        visit.runner.machine = None
        visit.open()
        assert "Looking at this machine" in visit.texts()
        assert visit.app.button(key="run_button").disabled

        visit.runner.machine = CPU_MACHINE
        visit.app.run()
        assert "Looking at this machine" not in visit.texts()
        assert not visit.app.button(key="run_button").disabled

    def test_a_device_of_a_link_is_kept_while_it_looks(self, visit: Visit) -> None:
        visit.runner.machine = None
        visit.open(device="cuda:0")
        assert visit.app.selectbox(key="device").value == "cuda:0"
        visit.runner.machine = GPU_MACHINE
        visit.app.run()
        assert visit.app.selectbox(key="device").value == "cuda:0"

    def test_a_device_that_is_not_there_cannot_be_chosen(self, visit: Visit) -> None:
        visit.open(device="cuda:0")
        assert visit.app.selectbox(key="device").value == "auto"
        assert visit.app.selectbox(key="device").options == ["auto", "cpu"]

    def test_a_failed_look_is_told_and_a_cpu_run_can_be_tried(self, visit: Visit) -> None:
        visit.runner.machine = None
        visit.runner.machine_problem = "The driver *does not* answer."
        visit.open()
        assert "The driver *does not* answer." in visit.texts()
        assert not visit.app.button(key="run_button").disabled

    def test_notes_of_the_machine_are_shown(self, visit: Visit) -> None:
        visit.runner.machine = machine(CPU_DEVICE, notes=("A driver is there, but no CUDA build.",))
        visit.open()
        assert "A driver is there, but no CUDA build." in visit.texts()

    def test_no_samples_are_told(self, visit: Visit) -> None:
        visit.open()
        assert "No recorded examples are installed" in visit.texts()


class TestKnobs:
    def test_every_knob_comes_from_the_link(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        query = {
            "workload": "batched_matmul",
            "size": "384",
            "batch": "16",
            "dtype": "fp16",
            "bias": "vector",
            "compile": "reduce-overhead",
            "warmup": "0",
            "steps": "7",
            "device": "cuda:0",
            "shapes": "true",
        }
        assert set(query) == set(Experiment.__struct_fields__)
        visit.open(**query)
        visit.press("run_button")
        assert visit.runner.submitted == [from_query(query)]

    def test_defaults_are_those_of_an_experiment(self, visit: Visit) -> None:
        visit.open()
        visit.press("run_button")
        assert visit.runner.submitted == [Experiment()]

    def test_a_size_between_the_stops_is_taken_from_the_link(self, visit: Visit) -> None:
        visit.open(size="100")
        slider = visit.app.select_slider(key="size")
        assert slider.value == 100
        assert [slider.options[slider.options.index("100") + i] for i in (-1, 1)] == ["96", "128"]
        visit.press("run_button")
        assert visit.runner.submitted == [Experiment(size=100)]

    @pytest.mark.parametrize("size", ["15", "16385", "abc", "-64", "1e3", "²", ""])
    def test_a_size_out_of_bounds_falls_back_to_the_default(self, visit: Visit, size: str) -> None:
        visit.open(size=size)
        assert visit.app.select_slider(key="size").value == 64

    def test_stops_are_powers_of_two_and_the_halves_between(self, visit: Visit) -> None:
        visit.open()
        stops = [int(text) for text in visit.app.select_slider(key="size").options]
        assert stops[:6] == [16, 24, 32, 48, 64, 96]
        assert stops[-3:] == [8192, 12288, 16384]
        assert len(stops) == 21

    @pytest.mark.parametrize(
        ("workload", "has_batch", "has_bias"),
        [
            ("matmul_add", False, True),
            ("batched_matmul", True, True),
            ("linear", False, False),
            ("elementwise_chain", False, False),
        ],
    )
    def test_a_workload_shows_the_knobs_it_uses(
        self, visit: Visit, workload: str, *, has_batch: bool, has_bias: bool
    ) -> None:
        visit.open(workload=workload)
        assert ("batch" in {slider.key for slider in visit.app.slider}) == has_batch
        assert ("bias" in {group.key for group in visit.app.button_group}) == has_bias

    def test_compile_needs_a_compiler_on_the_cpu(self, visit: Visit) -> None:
        visit.runner.machine = machine(CPU_DEVICE, can_compile_cpu=False)
        visit.open(compile="default")
        assert visit.app.selectbox(key="compile").options == ["eager"]
        assert visit.app.selectbox(key="compile").value == "eager"
        assert "needs a C++ compiler" in visit.texts()

    def test_zero_warm_up_calls_are_called_a_cold_start(self, visit: Visit) -> None:
        visit.open(warmup="0")
        assert "0 = cold start" in visit.texts()


class TestCost:
    def test_cost_follows_the_size(self, visit: Visit) -> None:
        # 64: 2 × 64³ + 64² = 528,384 operations; 4 matrices of 64² × 2 bytes = 32 KiB
        visit.open()
        assert metric(visit, "Arithmetic per step") == "528 kFLOP"
        assert metric(visit, "Data moved per step") == "32.0 KiB"
        # 128: 2 × 128³ + 128² = 4,210,688; 128 KiB
        visit.app.select_slider(key="size").set_value(128).run()
        assert metric(visit, "Arithmetic per step") == "4.21 MFLOP"
        assert metric(visit, "Data moved per step") == "128 KiB"

    def test_what_takes_too_long_here_cannot_be_started(self, visit: Visit) -> None:
        visit.open(size="16384")
        assert visit.app.button(key="run_button").disabled
        assert "choose a smaller size" in visit.texts()

    def test_what_does_not_fit_cannot_be_started(self, visit: Visit) -> None:
        # 64 × 16384² × 2 bytes = 32 GiB for one operand, five of them in all; 140 GiB are there
        visit.runner.machine = GPU_MACHINE
        visit.open(workload="batched_matmul", size="16384", batch="64")
        assert visit.app.button(key="run_button").disabled
        assert "NVIDIA H200 has 140 GiB" in visit.texts()


class TestStart:
    def test_run_puts_its_id_into_the_link_and_shows_the_queue(self, visit: Visit) -> None:
        visit.open()
        visit.press("run_button")
        (run_id,) = visit.runner.views
        assert visit.app.query_params["run"] == run_id
        assert "Waiting, place 1 in the queue" in visit.texts()

    def test_phases_have_names_and_times(self, visit: Visit) -> None:
        visit.open()
        visit.press("run_button")
        (run_id,) = visit.runner.views
        phases = (Phase(name="warming up", began_s=0.5), Phase(name="recording", began_s=2.0))
        visit.runner.move(run_id, "running", phases=phases, elapsed_s=2.75)
        visit.app.run()
        visit.is_well()
        # warming up from 0.5 to 2.0 s, recording from 2.0 s until now
        assert ":material/check: warming up · 1.5 s" in visit.texts()
        assert ":material/arrow_forward: **recording** · 0 s" in visit.texts()

    def test_cancel_reaches_the_runner(self, visit: Visit) -> None:
        visit.open()
        visit.press("run_button")
        (run_id,) = visit.runner.views
        visit.press("cancel")
        assert visit.runner.cancelled == [run_id]

    def test_the_end_of_a_run_shows_its_result(self, visit: Visit) -> None:
        visit.open()
        visit.press("run_button")
        (run_id,) = visit.runner.views
        visit.runner.move(run_id, "running", elapsed_s=1.0)
        visit.app.run()
        assert "Overhead-bound" not in visit.texts()
        visit.runner.finish(run_id)
        visit.app.run()
        visit.is_well()
        assert "Overhead-bound" in visit.texts()
        assert "cancel" not in {button.key for button in visit.app.button}

    def test_a_full_queue_is_told_once(self, visit: Visit) -> None:
        visit.open()
        visit.runner.refusal = QueueFullError("8 runs are waiting already; try again later.")
        visit.press("run_button")
        assert "Not started. 8 runs are waiting already" in visit.texts()
        assert "run" not in visit.app.query_params
        visit.app.run()
        assert "Not started" not in visit.texts()
