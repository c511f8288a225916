"""“Confirm it” on recordings made by hand: what is offered, what is started, and the answer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st
from msgspec.structs import replace

from profcore.errors import QueueFullError
from profcore.experiment import Experiment
from tests.page_app import CPU_MACHINE, GPU_MACHINE, Visit
from tests.page_recordings import CPU, FAST, cpu_rows, gpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


OWN, OTHER = "0123456789ab", "ba9876543210"
SMALL = Experiment(size=64, device="cuda:0")
LARGE = Experiment(size=4096, device="cuda:0")
LARGE_TIMES = replace(FAST, step_ns_median=195_000, step_ns_p25=194_000, step_ns_p75=197_000)
PREDICTION = "At size 4,096 the GPU will be busy at least 80 % of the step."


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    visit = Visit(tmp_path, monkeypatch)
    yield visit
    st.cache_resource.clear()


def own(visit: Visit, run_id: str = OWN, **recording: Any) -> None:
    known = {"experiment": SMALL} | recording
    write_recording(visit.library.root / run_id, **known)


large = partial(
    own, experiment=LARGE, rows=gpu_rows(gemm_us=190.0), timings=LARGE_TIMES, run_id=OTHER
)


def query(visit: Visit) -> dict[str, str]:
    """The parameters of the URL, the knobs left out."""
    names = ("run", "confirms", "before")
    found = {name: visit.app.query_params.get(name) for name in names}
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in found.items()
        if value
    }


class TestOffer:
    def test_the_prediction_stands_before_the_run(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        own(visit)
        visit.open(run=OWN)
        assert f"*Prediction:* {PREDICTION}" in visit.texts()
        button = visit.app.button(key="confirm_E1")
        assert (button.label, button.disabled) == ("Confirm it: run it", False)

    def test_a_click_runs_the_changed_experiment_and_remembers_why(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        own(visit)
        visit.open(run=OWN)
        visit.press("confirm_E1")
        assert visit.runner.submitted == [LARGE]
        run_id = next(iter(visit.runner.views))
        assert query(visit) == {"run": run_id, "confirms": "E1", "before": OWN}

    def test_the_verdict_has_one_too(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        own(visit)
        visit.open(run=OWN)
        visit.press("confirm_B1")
        assert visit.runner.submitted == [LARGE]

    def test_a_sample_offers_its_pair(self, visit: Visit) -> None:
        visit.with_samples().open(run="h200-matmul-add-64")
        button = visit.app.button(key="confirm_E1")
        assert (button.label, button.disabled) == ("Confirm it: open the two examples", False)
        visit.press("confirm_E1")
        assert visit.runner.submitted == []
        assert query(visit)["run"] == "h200-matmul-add-4096"
        assert "It held. Predicted: at least 80.0 %; measured: 97.4 %" in visit.texts()

    def test_a_sample_without_a_pair_is_run_twice_here(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        visit.with_samples()
        folder = visit.samples / "h200-matmul-add-4096"
        (folder / "experiment.json").write_text('{"size": 2048, "device": "cuda:0"}')
        visit.open(run="h200-matmul-add-64")
        assert visit.app.button(key="confirm_E1").label == "Confirm it: run both"
        visit.press("confirm_E1")
        assert visit.runner.submitted == [SMALL, LARGE]
        first, second = visit.runner.views
        assert query(visit) == {"run": second, "confirms": "E1", "before": first}

    def test_without_a_gpu_it_says_why_not(self, visit: Visit) -> None:
        visit.runner.machine = CPU_MACHINE
        own(visit)
        visit.open(run=OWN)
        assert visit.app.button(key="confirm_E1").disabled
        assert "Not here: Only a GPU can tell, and there is none here." in visit.texts()

    def test_a_refusal_is_told(self, visit: Visit) -> None:
        visit.runner.machine = GPU_MACHINE
        own(visit)
        visit.open(run=OWN)
        visit.runner.refusal = QueueFullError("8 runs are waiting already.")
        visit.press("confirm_E1")
        assert "Not started. 8 runs are waiting already." in visit.texts()
        assert query(visit) == {"run": OWN}

    def test_a_rule_that_no_knob_can_test_has_no_button(self, visit: Visit) -> None:
        own(visit)
        visit.open(run=OWN)
        with pytest.raises(KeyError):
            visit.app.button(key="confirm_C5")

    def test_a_cpu_run_can_be_confirmed_on_a_cpu(self, visit: Visit) -> None:
        own(
            visit,
            experiment=Experiment(device="cpu", warmup=0),
            environment=CPU,
            rows=cpu_rows(),
        )
        # A cold first step of 8 ms, then 380 us
        visit.open(run=OWN)
        with pytest.raises(KeyError):
            visit.app.button(key="confirm_E1")


class TestAnswer:
    def test_what_held_is_shown_before_beside_after(self, visit: Visit) -> None:
        own(visit)
        large(visit)
        visit.open(run=OTHER, confirms="E1", before=OWN)
        texts = visit.texts()
        assert "Predicted and measured" in texts
        assert "It held" in texts
        # 5 of 33 us, then 190 of 195 us: the kernel of the sum lies inside the product's
        assert "| at least 80.0 % | 15.2 % | 97.4 % |" in texts
        assert "Rule E1 (Kernels too short for their launches)" in texts
        links = [link.proto.query_string for link in visit.app.get("page_link")]
        assert f"a={OWN}&b={OTHER}" in links

    def test_what_did_not_hold_is_said_plainly(self, visit: Visit) -> None:
        own(visit)
        own(visit, OTHER, experiment=LARGE)
        visit.open(run=OTHER, confirms="B1", before=OWN)
        texts = visit.texts()
        assert "It did not hold" in texts
        assert "measured: 15.2 % (before: 15.2 %)" in texts
        assert "A prediction that fails is news" in texts
        assert "The verdict on the run before made this prediction." in texts

    def test_what_cannot_be_told_says_why(self, visit: Visit) -> None:
        own(visit)
        large(visit, timings=None)
        visit.open(run=OTHER, confirms="E1", before=OWN)
        assert "Cannot be told" in visit.texts()
        assert "the step time without the profiler" in visit.texts()

    @pytest.mark.parametrize(
        ("rule", "before"), [("E1", ""), ("", OWN), ("X9", OWN), ("E1", OTHER)]
    )
    def test_other_runs_and_other_rules_show_nothing(
        self, visit: Visit, rule: str, before: str
    ) -> None:
        own(visit)
        large(visit)
        visit.open(run=OTHER, confirms=rule, before=before)
        assert "Predicted and measured" not in visit.texts()

    @pytest.mark.parametrize("before", ["../../etc", "ffffffffffff", "no-such-sample"])
    def test_a_run_before_that_is_gone_is_told(self, visit: Visit, before: str) -> None:
        large(visit)
        visit.open(run=OTHER, confirms="E1", before=before)
        assert "The prediction cannot be judged. There is no recording" in visit.texts()

    def test_a_run_before_that_failed_is_told(self, visit: Visit) -> None:
        own(visit, state="failed", message="Not enough *memory*.")
        large(visit)
        visit.open(run=OTHER, confirms="E1", before=OWN)
        assert "the run before it has no result. Not enough *memory*." in visit.texts()
