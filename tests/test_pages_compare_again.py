"""“Record both again” on the comparison page: offer, cost, progress, cancel, what counts then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import streamlit as st
from msgspec.structs import replace

from pages._panels.compare_again import all_series
from profcore.errors import QueueFullError
from profcore.experiment import Experiment
from profcore.files import write_json
from profcore.recording import BESIDE_FILE, Beside, Environment, Phase
from tests.page_app import CPU_MACHINE, GPU_MACHINE, Visit
from tests.page_recordings import CPU, FAST, H200, cpu_rows, write_recording
from tests.processes import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from profcore.jobs.series import Series

A, B, C = "0123456789aa", "0123456789ab", "0123456789ac"
SMALL = Experiment(device="cpu", dtype="fp32")
LARGE = replace(SMALL, size=128)
HERE = replace(CPU_MACHINE, torch=CPU.torch)


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    visit = Visit(tmp_path, monkeypatch)
    visit.runner.machine = HERE
    yield visit
    for series in all_series().values():
        series.cancel()
    for run_id in list(visit.runner.views):
        visit.runner.move(run_id, "cancelled")
    for series in all_series().values():
        until(lambda series=series: not series.is_active, "the end of a series")
    st.cache_resource.clear()


def own(visit: Visit, run_id: str, experiment: Experiment, **more: Any) -> None:
    known: dict[str, Any] = {"environment": CPU, "rows": cpu_rows(), "experiment": experiment}
    write_recording(visit.library.root / run_id, **(known | more))


def both(visit: Visit, **more: Any) -> Visit:
    own(visit, A, SMALL, **more)
    own(visit, B, LARGE, **more)
    return visit


def address(visit: Visit) -> tuple[str, ...]:
    values = [visit.app.query_params[side] for side in "ab"]
    return tuple(value[0] if isinstance(value, list) else value for value in values)


def offers(visit: Visit) -> bool:
    return any(button.key == "again_button" for button in visit.app.button)


def series_of(visit: Visit) -> Series:
    assert visit.runner.views
    (series,) = all_series().values()
    return series


def finish(visit: Visit, experiment: Experiment, **more: Any) -> None:
    """Let the run under way end well, and wait until the series has seen it."""
    series = series_of(visit)
    until(lambda: series.view().run is not None, "a run")
    before, run = series.view().done, series.view().run
    assert run is not None
    known: dict[str, Any] = {"environment": CPU, "rows": cpu_rows(), "experiment": experiment}
    visit.runner.finish(run.run_id, **(known | more))
    until(lambda: series.view().done == before + 1, "the end of a run")


def choose(visit: Visit, count: int) -> None:
    visit.app.segmented_control(key="again_count").set_value(count).run()
    visit.is_well()


def test_the_cost_follows_from_the_recordings_own_runs(visit: Visit) -> None:
    # 4.2 s each, 5 s each for the import of torch, 3 s each for the turns: 2 x 12.2 s = 24 s
    both(visit).open("compare_page", a=A, b=B)
    assert visit.app.segmented_control(key="again_count").options == [
        "1 · about 25 s",
        "2 · about 50 s",
        "4 · about 2 min",
    ]
    button = visit.app.button(key="again_button")
    assert (button.label, button.disabled) == ("Record both once more", False)


def test_a_run_whose_process_was_started_for_it_shows_its_import(visit: Visit) -> None:
    # 2 x (4.2 + 3) s = 14 s
    both(visit, started_cold=True).open("compare_page", a=A, b=B)
    assert visit.app.segmented_control(key="again_count").options[0] == "1 · about 15 s"


def test_four_more_of_each_are_counted(visit: Visit) -> None:
    # GIVEN
    both(visit).open("compare_page", a=A, b=B)
    assert "Decided from one run each" in visit.texts()

    # WHEN
    choose(visit, 4)
    visit.press("again_button")
    for number in range(4):
        slower = replace(FAST, step_ns_median=FAST.step_ns_median * (1.5 + number / 100))
        finish(visit, SMALL)
        finish(visit, LARGE, timings=slower)
    until(lambda: not series_of(visit).is_active, "the end")
    visit.app.run()

    # THEN
    visit.is_well()
    assert visit.runner.submitted == [SMALL, LARGE] * 4
    assert "Decided from the medians of 5 and 5 runs by rank" in visit.texts()
    assert len(visit.library.list()) == 10
    assert address(visit) == (A, B)
    assert offers(visit)


def test_the_turns_of_a_run_decide(visit: Visit) -> None:
    # GIVEN
    both(visit).open("compare_page", a=A, b=B)

    # WHEN each takes turns with the other: 20 against 22 µs, whatever the machine does
    visit.press("again_button")
    for own, other, own_us, other_us in ((SMALL, LARGE, 20, 22), (LARGE, SMALL, 22, 20)):
        until(lambda: series_of(visit).view().run is not None, "a run")
        run = series_of(visit).view().run
        assert run is not None
        turns = Beside(
            experiment=other, step_ns=[own_us * 1000.0] * 9, other_step_ns=[other_us * 1000.0] * 9
        )
        write_json(visit.library.root / run.run_id / BESIDE_FILE, turns)
        finish(visit, own)
    until(lambda: not series_of(visit).is_active, "the end")
    visit.app.run()

    # THEN
    visit.is_well()
    assert visit.runner.besides == [LARGE, SMALL]
    assert "Decided from turns: in 2 processes the two were timed alternately" in visit.texts()
    assert "A step with size 128 takes 1.10× as long" in visit.texts()


def test_a_cold_start_takes_no_turns(visit: Visit) -> None:
    own(visit, A, SMALL)
    own(visit, B, replace(SMALL, warmup=0))
    visit.open("compare_page", a=A, b=B)
    # 4 x 2 x 9.2 s = 74 s
    assert visit.app.segmented_control(key="again_count").options[0] == "4 · about 75 s"
    visit.press("again_button")
    assert visit.runner.besides == [None]


def test_progress_names_the_run_and_its_phase(visit: Visit) -> None:
    both(visit).open("compare_page", a=A, b=B)
    choose(visit, 4)
    visit.press("again_button")
    assert "**Recording both again** · run 1 of 8: A, size 64" in visit.texts()
    assert not offers(visit)
    finish(visit, SMALL)
    until(lambda: (series_of(visit).view().run) is not None, "the second run")
    run = series_of(visit).view().run
    assert run is not None
    visit.runner.move(run.run_id, "running", phases=(Phase(name="warming up", began_s=0.0),))
    visit.app.run()
    assert "run 2 of 8: B, size 128" in visit.texts()
    assert visit.app.get("progress")[0].proto.text == "warming up"
    assert "s so far; about" in visit.texts()


def test_progress_is_seen_with_the_sides_swapped(visit: Visit) -> None:
    both(visit).open("compare_page", a=A, b=B)
    visit.press("again_button")
    visit.press("compare_swap")
    assert "run 1 of 2: B, size 64" in visit.texts()


def test_cancel_keeps_what_is_there(visit: Visit) -> None:
    both(visit).open("compare_page", a=A, b=B)
    visit.press("again_button")
    finish(visit, SMALL)
    until(lambda: (series_of(visit).view().run) is not None, "the second run")
    run = series_of(visit).view().run
    assert run is not None
    visit.press("again_cancel")
    assert visit.runner.cancelled == [run.run_id]
    visit.runner.move(run.run_id, "cancelled")
    until(lambda: not series_of(visit).is_active, "the end")
    visit.app.run()
    assert "Cancelled: 1 of 2 runs were made and are kept." in visit.texts()
    assert "Decided from 2 and 1 runs" in visit.texts()
    assert offers(visit)


def test_a_run_that_fails_says_why(visit: Visit) -> None:
    both(visit).open("compare_page", a=A, b=B)
    visit.press("again_button")
    run = series_of(visit).view().run
    assert run is not None
    visit.runner.move(run.run_id, "failed", message="Not *enough* memory.")
    until(lambda: not series_of(visit).is_active, "the end")
    visit.app.run()
    assert "0 of 2 runs were made and are kept; then: Not *enough* memory." in visit.texts()


def test_a_full_queue_is_one_sentence(visit: Visit) -> None:
    both(visit).open("compare_page", a=A, b=B)
    visit.runner.refusal = QueueFullError("8 runs are waiting already.")
    visit.press("again_button")
    assert "Not started. 8 runs are waiting already." in visit.texts()
    assert not all_series()
    assert offers(visit)


def test_what_this_machine_cannot_run_is_refused(visit: Visit) -> None:
    own(visit, A, replace(SMALL, size=16_384))
    own(visit, B, SMALL)
    visit.open("compare_page", a=A, b=B)
    assert visit.app.button(key="again_button").disabled
    assert "Not here: One step is" in visit.texts()


def test_while_the_machine_is_not_known_it_waits(visit: Visit) -> None:
    visit.runner.machine = None
    both(visit).open("compare_page", a=A, b=B)
    assert visit.app.button(key="again_button").disabled
    assert "Looking at this machine; this takes a few seconds." in visit.texts()


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        (H200, "Both were recorded on NVIDIA H200, which is not here."),
        (replace(CPU, torch="2.5.0"), "Both were recorded with torch 2.5.0 (here is 2.13.0+cpu)."),
    ],
)
def test_runs_from_elsewhere_are_made_anew_and_those_compared(
    visit: Visit, environment: Environment, sentence: str
) -> None:
    # GIVEN
    for run_id, experiment in ((A, SMALL), (B, LARGE)):
        there = replace(experiment, device=environment.device)
        own(visit, run_id, there, environment=environment)
    visit.open("compare_page", a=A, b=B)
    assert sentence in visit.texts()
    assert "Both would be recorded here on AMD EPYC, and those runs compared" in visit.texts()

    # WHEN
    choose(visit, 4)
    assert visit.app.button(key="again_button").label == "Record both 4 times here"
    visit.press("again_button")
    for _ in range(4):
        finish(visit, SMALL)
        finish(visit, LARGE)
    until(lambda: not series_of(visit).is_active, "the end")
    visit.app.run()

    # THEN the new runs are one press away
    asked = {experiment.device for experiment in visit.runner.submitted}
    assert asked == {"auto" if environment is H200 else "cpu"}
    assert "The runs made here do not count with those on show" in visit.texts()
    visit.press("again_show")
    made = series_of(visit).view().made
    assert address(visit) == (made[0][0], made[1][0])
    assert "Decided from the medians of 4 and 4 runs by rank" in visit.texts()


def test_examples_name_their_machine(visit: Visit) -> None:
    visit.runner.machine = GPU_MACHINE
    visit.with_samples()
    visit.open("compare_page", a="h200-matmul-add-64", b="h200-matmul-add-4096")
    assert "Both were recorded on another machine (NVIDIA H200)." in visit.texts()
    assert "would be recorded here on NVIDIA H200" in visit.texts()


def test_two_runs_of_one_setting_have_no_button(visit: Visit) -> None:
    own(visit, A, SMALL)
    own(visit, B, SMALL)
    visit.open("compare_page", a=A, b=B)
    assert "No difference beyond noise" in visit.texts()
    assert not offers(visit)


def test_without_times_there_is_nothing_to_sharpen(visit: Visit) -> None:
    both(visit, timings=None).open("compare_page", a=A, b=B)
    assert not offers(visit)
