"""The sweep page: choose a range, watch it, cancel, resume, read charts and break-evens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import streamlit as st

from profcore.devices import Ceilings
from profcore.errors import ExperimentError
from profcore.experiment import COMPILE_MODES, Experiment
from profcore.files import write_json, write_text
from profcore.jobs import JobView
from profcore.recording import CEILINGS_FILE, STATUS_FILE, TITLE_FILE, Phase, Point, Status, Timings
from profcore.sweep import POINTS_FOLDER, SWEEP_FILE, SweepPlan
from tests.page_app import CPU_DEVICE, GPU_MACHINE, Visit, machine
from tests.page_recordings import CPU, FAST, H200, cpu_rows, gpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ID = "0123456789aa"
GPU = Experiment(device="cuda:0")
HOSTILE = "![i](http://127.0.0.1:9/p.png) **x**"


class Sweeps:
    """What the played runner lacks: it takes sweeps."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.plans: list[SweepPlan] = []
        self.resumed: list[str] = []
        runner: Any = visit.runner
        runner.submit_sweep = self.submit_sweep
        runner.resume_sweep = self.resumed.append

    def submit_sweep(self, plan: SweepPlan) -> str:
        if self.visit.runner.refusal is not None:
            raise self.visit.runner.refusal
        self.plans.append(plan)
        sweep_id = self.visit.library.new_sweep_folder(plan).name
        self.visit.runner.move(sweep_id, "queued", position=1)
        return sweep_id


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    yield Visit(tmp_path, monkeypatch)
    st.cache_resource.clear()


@pytest.fixture
def taken(visit: Visit) -> Sweeps:
    return Sweeps(visit)


def times(step_us: float, *, first_call_ms: float = 10.0, **more: Any) -> Timings:
    return msgspec.structs.replace(
        FAST,
        step_ns_median=step_us * 1000,
        step_ns_p25=step_us * 990,
        step_ns_p75=step_us * 1010,
        cpu_ns_median=30_000.0,
        first_call_ns=round(first_call_ms * 1e6),
        **more,
    )


def write_sweep(
    root: Path,
    plan: SweepPlan,
    points: list[tuple[Experiment, Timings, list[Any]]],
    *,
    state: Any = "done",
    message: str = "",
    title: str = "",
) -> Path:
    """Write the folder of a sweep that has ended; its points are done."""
    folder = root / ID
    folder.mkdir(parents=True)
    write_json(folder / SWEEP_FILE, plan)
    (folder / POINTS_FOLDER).mkdir()
    for number, (experiment, timings, rows) in enumerate(points):
        write_recording(
            folder / POINTS_FOLDER / f"{number:03d}",
            experiment=experiment,
            timings=timings,
            rows=rows,
            environment=CPU if experiment.device == "cpu" else H200,
        )
    write_json(
        folder / STATUS_FILE,
        Status(state=state, message=message, created_at="2026-11-02T11:22:33Z"),
    )
    if title:
        write_text(folder / TITLE_FILE, title)
    return folder


def sized(size: int, **knobs: Any) -> Experiment:
    return msgspec.structs.replace(GPU, size=size, **knobs)


def gpu_sweep(root: Path, **more: Any) -> Path:
    """GPU work 5, 20 and 190 µs of steps of 50, 40 and 200 µs: busy 10, 50 and 95 %.

    The sum runs beside the last product.
    """
    points = [
        (sized(64), times(50), gpu_rows(gemm_us=3)),
        (sized(256), times(40), gpu_rows(gemm_us=18)),
        (sized(1024), times(200), gpu_rows(gemm_us=190)),
    ]
    return write_sweep(root, SweepPlan(base=GPU, sizes=(64, 256, 1024)), points, **more)


def mode_sweep(root: Path) -> Path:
    """Eager 50 µs; default 20 µs for 600 ms of compiling; max-autotune slower."""
    fresh: dict[str, Any] = {"compile_cache": "fresh"}
    modes = ("eager", "default", "max-autotune")
    points = [
        (sized(64), times(50, first_call_ms=10), gpu_rows()),
        (sized(64, compile="default"), times(20, first_call_ms=610, **fresh), gpu_rows()),
        (sized(64, compile="max-autotune"), times(90, first_call_ms=910, **fresh), gpu_rows()),
    ]
    return write_sweep(root, SweepPlan(base=GPU, compiles=modes), points)


def sheets(visit: Visit) -> list[Any]:
    return [one.value for one in visit.app.dataframe]


def sheet_with(visit: Visit, column: str) -> Any:
    """The last sheet with this column: the settings stand below the charts."""
    return [one for one in sheets(visit) if column in one.columns][-1]


def batched(visit: Visit) -> None:
    visit.open("sweep_page")
    visit.app.selectbox(key="workload").set_value("batched_matmul").run()
    visit.is_well()


def keys(visit: Visit) -> list[str]:
    return [str(button.key) for button in visit.app.button]


def links(visit: Visit) -> list[str]:
    return [link.proto.query_string for link in visit.app.get("page_link")]


class TestSetup:
    def test_without_a_gpu_it_offers_small_sizes_on_the_cpu(
        self, visit: Visit, taken: Sweeps
    ) -> None:
        visit.open("sweep_page")
        assert "There is no GPU here that PyTorch can use" in visit.texts()
        assert "No recorded sweep is installed" in visit.texts()
        assert "No sweep was made on this machine yet" in visit.texts()
        visit.press("sweep_button")
        assert taken.plans == [
            SweepPlan(
                base=Experiment(),
                sizes=(16, 32, 64, 128, 256, 512),
                dtypes=("fp32",),
                compiles=("eager",),
            )
        ]
        assert "Waiting, place 1 in the queue" in visit.texts()

    def test_on_a_gpu_the_range_is_wide_and_the_crossover_refined(
        self, visit: Visit, taken: Sweeps
    ) -> None:
        visit.runner.machine = GPU_MACHINE
        visit.open("sweep_page")
        visit.app.segmented_control(key="points").set_value("halves between").run()
        visit.app.pills(key="compiles").set_value(["eager", "default"]).run()
        visit.press("sweep_button")
        (plan,) = taken.plans
        assert plan.sizes[:4] == (16, 24, 32, 48)
        assert plan.sizes[-1] == 8192
        assert (plan.dtypes, plan.compiles, plan.refine) == (("bf16",), ("eager", "default"), 3)

    def test_one_press_runs_all_modes(self, visit: Visit, taken: Sweeps) -> None:
        visit.runner.machine = GPU_MACHINE
        visit.open("sweep_page", vary="compile modes")
        assert visit.app.button(key="sweep_button").label == "Run all modes"
        visit.press("sweep_button")
        (plan,) = taken.plans
        assert (plan.sizes, plan.dtypes, plan.compiles) == ((64,), ("bf16",), COMPILE_MODES)

    def test_eager_is_always_among_the_modes(self, visit: Visit, taken: Sweeps) -> None:
        visit.open("sweep_page", vary="compile modes")
        visit.app.pills(key="modes").set_value(["default"]).run()
        visit.press("sweep_button")
        assert taken.plans[0].compiles == ("eager", "default")

    def test_batches_and_warm_up_calls_are_lists(self, visit: Visit, taken: Sweeps) -> None:
        visit.app.query_params["batches"] = ["1", "4"]
        visit.app.query_params["warmups"] = ["1", "50"]
        batched(visit)
        texts = visit.texts()
        assert "The charts go over the size, with a line for each batch and number of warm" in texts
        assert next(one for one in visit.app.metric if one.label == "Points").value == "24"
        visit.press("sweep_button")
        (plan,) = taken.plans
        assert (plan.batches, plan.warmups) == ((1, 4), (1, 50))
        assert len(plan.experiments()) == 6 * 2 * 2

    def test_with_one_size_the_batch_becomes_the_axis(self, visit: Visit) -> None:
        batched(visit)
        visit.app.select_slider(key="sizes").set_value((64, 64)).run()
        visit.app.pills(key="batches").set_value([1, 4, 16]).run()
        visit.is_well()
        assert "The charts go over the batch. All points run" in visit.texts()
        assert visit.app.button(key="sweep_button").label == "Run the sweep"

    def test_too_many_points_are_refused(self, visit: Visit) -> None:
        batched(visit)
        visit.app.pills(key="batches").set_value([1, 2, 4, 8, 16, 32, 64]).run()
        visit.app.pills(key="warmups").set_value([1, 2, 3]).run()
        visit.is_well()
        assert "The sweep has 126 points; give at most 100." in visit.texts()

    def test_a_workload_without_a_batch_has_no_list_of_batches(self, visit: Visit) -> None:
        visit.open("sweep_page")
        assert "batches" not in [pills.key for pills in visit.app.pills]
        visit.app.pills(key="warmups").set_value([]).run()
        visit.is_well()
        assert "Choose at least one number of warm-up calls." in visit.texts()

    def test_nothing_chosen_is_told(self, visit: Visit) -> None:
        visit.open("sweep_page")
        visit.app.pills(key="dtypes").set_value([]).run()
        visit.is_well()
        assert "Choose at least one number format." in visit.texts()
        assert "sweep_button" not in keys(visit)

    def test_what_this_machine_cannot_do_is_refused_before_it_starts(self, visit: Visit) -> None:
        visit.open("sweep_page")
        visit.app.select_slider(key="sizes").set_value((16, 16384)).run()
        visit.is_well()
        assert visit.app.button(key="sweep_button").disabled
        assert "on this CPU the run would take" in visit.texts()

    def test_without_a_compiler_there_is_only_eager(self, visit: Visit) -> None:
        visit.runner.machine = machine(CPU_DEVICE, can_compile_cpu=False)
        visit.open("sweep_page")
        assert visit.app.pills(key="compiles").options == ["eager"]
        assert "torch.compile needs a C++ compiler" in visit.texts()

    def test_until_the_machine_is_known_there_are_no_knobs(self, visit: Visit) -> None:
        visit.runner.machine = None
        visit.open("sweep_page")
        assert not visit.app.pills

    def test_a_refusal_of_the_queue_is_told(self, visit: Visit, taken: Sweeps) -> None:
        visit.runner.refusal = ExperimentError("8 runs are *waiting* already.")
        visit.open("sweep_page")
        visit.press("sweep_button")
        assert taken.plans == []
        assert "Not started. 8 runs are *waiting* already." in visit.texts()


class TestUnderWay:
    def test_it_shows_how_far_it_is_and_what_is_there(self, visit: Visit) -> None:
        gpu_sweep(visit.library.root)
        visit.runner.views[ID] = JobView(
            run_id=ID,
            state="running",
            phases=(Phase(name="timing", began_s=0.0),),
            point=Point(number=2, count=3, text="matmul_add · 256"),
            elapsed_s=4.0,
        )
        visit.open("sweep_page", sweep=ID)
        progress = visit.app.get("progress")[0].proto
        assert progress.value == 33  # one of three is behind it
        assert "point 2 of 3" in progress.text
        assert len(visit.app.get("vega_lite_chart")) == 1
        visit.press("sweep_cancel")
        assert visit.runner.cancelled == [ID]

    def test_before_the_first_point_it_says_so(self, visit: Visit, taken: Sweeps) -> None:
        visit.open("sweep_page")
        visit.press("sweep_button")
        assert len(taken.plans) == 1
        assert "The first point will stand here as soon as it is timed." in visit.texts()


class TestResult:
    def test_the_crossover_is_stated_with_what_it_rests_on(self, visit: Visit) -> None:
        gpu_sweep(visit.library.root)
        visit.open("sweep_page", sweep=ID)
        # 80 % lies 2/3 of the way from 50 % at 256 to 95 % at 1,024: 256 × 4^(2/3) = 645.
        texts = visit.texts()
        assert (
            "On this NVIDIA H200 the crossover for bf16 matmul_add (eager) lies near size 650"
            in (texts)
        )
        assert "(50.0 % at 256, 95.0 % at 1,024)" in texts

    def test_the_charts_stand_beside_their_numbers(self, visit: Visit) -> None:
        folder = gpu_sweep(visit.library.root)
        measured = Ceilings(
            source="measured",
            source_text="Measured here on large products.",
            device_name="NVIDIA H200",
            flops_per_s={"bf16": 7e14},
            memory_bytes_per_s=4e12,
        )
        write_json(folder / CEILINGS_FILE, measured)
        visit.open("sweep_page", sweep=ID)
        assert len(visit.app.get("vega_lite_chart")) == 5
        columns = [set(sheet.columns) for sheet in sheets(visit)]
        for wanted in ("GPU busy (%)", "Launches", "Achieved (TFLOP/s)", "FLOP per byte"):
            assert any(wanted in names for names in columns), wanted
        assert "Measured here on large products." in visit.texts()

    def test_every_point_opens_as_a_recording(self, visit: Visit) -> None:
        gpu_sweep(visit.library.root)
        visit.open("sweep_page", sweep=ID)
        assert f"run={ID}-000" in links(visit)
        visit.app.selectbox(key="sweep_point").set_value(f"{ID}-002").run()
        visit.is_well()
        assert f"run={ID}-002" in links(visit)
        assert f"a={ID}-002" in links(visit)

    def test_the_points_of_a_sweep_can_be_compared(self, visit: Visit) -> None:
        gpu_sweep(visit.library.root)
        visit.open("compare_page", a=f"{ID}-000")
        assert len(visit.app.selectbox(key="compare_b").options) == 2
        assert f"compare_{ID}-000_{ID}-002" in keys(visit)

    def test_modes_show_what_compiling_costs_and_when_it_pays(self, visit: Visit) -> None:
        mode_sweep(visit.library.root)
        visit.open("sweep_page", sweep=ID)
        rows = sheet_with(visit, "Mode").set_index("Mode")
        assert rows["First call (ms)"].to_dict() == {
            "eager": 10.0, "default": 610.0, "max-autotune": 910.0,
        }  # fmt: skip
        assert rows["Step (µs)"].tolist() == [50.0, 20.0, 90.0]
        assert rows["CPU per step (µs)"].tolist() == [30.0, 30.0, 30.0]
        assert rows["Launches"].tolist() == [2, 2, 2]
        # 600 ms ÷ 30 µs
        assert rows["Pays after"].tolist() == ["-", "20,000 steps", "never"]
        texts = visit.texts()
        assert "Within the noise: " in texts
        assert "pays for itself after 20,000 steps, because each saves 30.0 µs" in texts
        assert "600 ms ÷ 30.0 µs = 20,000 steps, which take 400 ms." in texts
        assert "never, a compiled step takes 40.0 µs longer" in texts
        assert rows["Compiling (s)"].tolist() == [0, 0.6, 0.9]
        assert rows["Middle half"].tolist()[1] == "19.8 µs to 20.2 µs"
        assert (
            "At size 64 on this NVIDIA H200 compile default pays for itself after "
            "20,000 steps." in texts
        )
        assert "A step takes 50.0 µs eager and 20.0 µs in the fastest compiled mode" in texts
        assert "What does a step cost in each setting?" in texts
        assert len(visit.app.get("vega_lite_chart")) == 1  # one size is no course

    def test_modes_that_never_pay_are_said_to(self, visit: Visit) -> None:
        points = [
            (sized(64), times(50), gpu_rows()),
            (sized(64, compile="default"), times(90, first_call_ms=610), gpu_rows()),
        ]
        plan = SweepPlan(base=GPU, compiles=("eager", "default"))
        write_sweep(visit.library.root, plan, points)
        visit.open("sweep_page", sweep=ID)
        assert "At size 64 on this NVIDIA H200 no compile mode pays for itself." in visit.texts()
        assert "A step takes 50.0 µs eager and 90.0 µs in the fastest" in visit.texts()

    def test_with_one_size_the_charts_go_over_the_batch(self, visit: Visit) -> None:
        # GPU work 5, 20 and 190 µs of steps of 50, 40 and 200 µs: busy 10, 50 and 95 %
        small = sized(64, workload="batched_matmul")
        points = [
            (msgspec.structs.replace(small, batch=batch), times(step_us), gpu_rows(gemm_us=gpu_us))
            for batch, step_us, gpu_us in ((1, 50, 3), (4, 40, 18), (16, 200, 190))
        ]
        write_sweep(visit.library.root, SweepPlan(base=small, batches=(1, 4, 16)), points)
        visit.open("sweep_page", sweep=ID)
        # 80 % lies 2/3 of the way from 50 % at 4 to 95 % at 16: 4 × 4^(2/3) = 10.08
        texts = visit.texts()
        assert (
            "the crossover for bf16 batched_matmul of size 64 (eager) lies near batch 10: from "
            "there on the GPU works 80.0 %" in texts
        )
        assert "From which batch on is the GPU kept busy?" in texts
        assert len(visit.app.get("vega_lite_chart")) == 5
        assert sheet_with(visit, "Launches")["Batch"].tolist() == [1, 4, 16]
        assert "Size" not in sheet_with(visit, "Launches")

    def test_with_several_sizes_each_batch_has_a_line(self, visit: Visit) -> None:
        base = sized(64, workload="batched_matmul")
        points = [
            (msgspec.structs.replace(base, size=size, batch=batch), times(50), gpu_rows())
            for batch in (1, 4)
            for size in (64, 128)
        ]
        plan = SweepPlan(base=base, sizes=(64, 128), batches=(1, 4))
        write_sweep(visit.library.root, plan, points)
        visit.open("sweep_page", sweep=ID)
        assert sheet_with(visit, "Launches")["Row"].tolist() == ["batch 1"] * 2 + ["batch 4"] * 2
        assert "batch 4: 3 sizes or more would show where it crosses." in visit.texts()

    def test_warm_up_calls_have_an_answer_of_their_own(self, visit: Visit) -> None:
        points = [
            (sized(64, warmup=calls), times(step_us), gpu_rows())
            for calls, step_us in ((1, 40), (5, 41), (50, 40.5))
        ]
        write_sweep(visit.library.root, SweepPlan(base=GPU, warmups=(1, 5, 50)), points)
        visit.open("sweep_page", sweep=ID)
        texts = visit.texts()
        assert "from 1 to 50 warm-up calls the step time stays the same (40.0 µs to 41" in texts
        assert "Does the number of warm-up calls change the step time?" in texts
        assert len(visit.app.get("vega_lite_chart")) == 1
        assert sheet_with(visit, "Warm-up calls")["Warm-up calls"].tolist() == [1, 5, 50]
        assert "crossover" not in texts

    def test_formats_at_one_size_stand_side_by_side(self, visit: Visit) -> None:
        points = [(sized(64, dtype=dtype), times(50), gpu_rows()) for dtype in ("bf16", "fp32")]
        write_sweep(visit.library.root, SweepPlan(base=GPU, dtypes=("bf16", "fp32")), points)
        visit.open("sweep_page", sweep=ID)
        assert "The settings side by side" in visit.texts()
        assert sheet_with(visit, "CPU per step (µs)")["Setting"].tolist() == ["bf16", "fp32"]
        assert len(visit.app.get("vega_lite_chart")) == 1

    def test_several_formats_have_a_ceiling_each(self, visit: Visit) -> None:
        points = [
            (sized(size, dtype=dtype), times(50), gpu_rows())
            for dtype in ("bf16", "fp32")
            for size in (64, 128)
        ]
        plan = SweepPlan(base=GPU, sizes=(64, 128), dtypes=("bf16", "fp32"))
        write_sweep(visit.library.root, plan, points)
        visit.open("sweep_page", sweep=ID)
        choice = visit.app.segmented_control(key="sweep_ceiling_dtype")
        assert choice.options == ["bf16", "fp32"]
        roofs = next(one for one in sheets(visit) if "FLOP per byte" in one.columns)
        assert len(roofs) == 2

    def test_a_cpu_sweep_says_why_it_has_no_crossover(self, visit: Visit) -> None:
        cpu = Experiment(device="cpu", dtype="fp32")
        points = [
            (msgspec.structs.replace(cpu, size=size), times(size), cpu_rows()) for size in (64, 128)
        ]
        write_sweep(visit.library.root, SweepPlan(base=cpu, sizes=(64, 128)), points)
        visit.open("sweep_page", sweep=ID)
        assert "A sweep on the CPU has no crossover" in visit.texts()
        assert "How does the step time grow with the work?" in visit.texts()

    def test_a_cancelled_sweep_keeps_its_points_and_can_go_on(
        self, visit: Visit, taken: Sweeps
    ) -> None:
        points = [(sized(64), times(50), gpu_rows()), (sized(128), times(40), gpu_rows())]
        plan = SweepPlan(base=GPU, sizes=(64, 128, 256))
        write_sweep(
            visit.library.root, plan, points, state="cancelled", message="It was cancelled."
        )
        visit.open("sweep_page", sweep=ID)
        assert "This sweep was cancelled" in visit.texts()
        assert "2 points are recorded and stay; 1 of the plan are missing." in visit.texts()
        assert visit.app.get("vega_lite_chart")
        visit.press("sweep_resume")
        assert taken.resumed == [ID]

    def test_an_unreadable_point_does_not_hide_the_others(self, visit: Visit) -> None:
        folder = gpu_sweep(visit.library.root)
        (folder / POINTS_FOLDER / "001" / "trace.json.gz").write_bytes(b"\x1f\x8bno")
        visit.open("sweep_page", sweep=ID)
        assert "matmul_add · 256 · bf16 · eager · warm-up 3: " in visit.texts()
        assert visit.app.get("vega_lite_chart")

    @pytest.mark.parametrize("bad", ["nothing", "../../etc", "f" * 12, HOSTILE])
    def test_an_address_that_names_nothing_is_told(self, visit: Visit, bad: str) -> None:
        visit.open("sweep_page", sweep=bad)
        assert len(visit.app.warning) == 1

    def test_a_recording_is_no_sweep(self, visit: Visit) -> None:
        write_recording(visit.library.root / ID)
        visit.open("sweep_page", sweep=ID)
        assert "is a recording, not a sweep" in visit.texts()


def test_sweeps_made_here_are_listed_opened_and_deleted(visit: Visit) -> None:
    folder = gpu_sweep(visit.library.root, title=HOSTILE)
    visit.open("sweep_page")
    assert f"**{HOSTILE}**" in visit.texts()
    assert "3 points · NVIDIA H200" in visit.texts()
    assert f"open_{ID}" in keys(visit)
    for one in (*visit.app.markdown, *visit.app.caption):
        assert "](" not in one.value.replace("\\[", "")
    visit.press(f"sure_{ID}")
    assert not folder.exists()


def test_the_shipped_sweep_shows_the_crossover_without_a_gpu(visit: Visit) -> None:
    visit.with_shipped_samples().open("sweep_page")
    visit.press(next(key for key in keys(visit) if key.startswith("open_h200-sweep")))
    assert visit.app.query_params["sweep"].startswith("h200-sweep")
    assert "On this NVIDIA H200 the crossover for bf16 matmul_add (eager) lies near size" in (
        visit.texts()
    )
    assert "sweep_resume" not in keys(visit)
