from __future__ import annotations

import msgspec
import pytest

from profcore.experiment import Experiment
from profcore.recording import Clocks
from profcore.rules import Verdict, judge
from tests.handmade import analysis_of
from tests.rule_traces import (
    ADD,
    MEASURED,
    SGEMM,
    Case,
    copy_before_product,
    cpu_only,
    elsewhere,
    finding_of,
    loop,
    own_run,
    product,
    product_and_add,
    runtime,
)
from tests.trace_bytes import Row, kernel, launch, memcpy, op, row

WAITING = loop(5, product(2), every_us=100, cpu_us=80)
HALF = loop(5, product(30), every_us=100, cpu_us=80)
BUSY = loop(5, product(95), every_us=100, cpu_us=80)


def texts(verdict: Verdict) -> str:
    return "\n".join(f"{line.text} [{line.table}]" for line in verdict.arithmetic)


class TestOwnRuns:
    def test_the_gpu_waits_for_the_cpu(self) -> None:
        # GIVEN 2 us of GPU work in steps of 40 us, 38 us of which the CPU needs
        verdict = judge(analysis_of(*WAITING, **own_run(step_us=40, cpu_us=38)))
        assert (verdict.rule, verdict.bound) == ("B1", "overhead-bound")
        assert verdict.sentence == (
            "Overhead-bound: the GPU works only 5.0 % of each step and waits for the CPU the rest."
        )
        assert texts(verdict) == (
            "GPU work per step: 2.00 µs (median of 5 steps; work that overlaps counts once). "
            "[steps]\n"
            "One step without the profiler: 40.0 µs (median of 20 repeats; the middle half: "
            "39.6 µs to 40.4 µs). [timings]\n"
            "2.00 µs ÷ 40.0 µs = 5.0 % busy. [timings]\n"
            "Below 50 %: the GPU waits for the CPU. [timings]\n"
            "The CPU needs 38.0 µs of the 40.0 µs to issue one step. [timings]\n"
            "The guide compares Self CPU with Self CUDA: 400 µs against 10.0 µs, 40×; without "
            "waiting and the profiler's own rows 40×. Far above 1 means overhead-bound: both "
            "agree. [operators]"
        )

    def test_the_arithmetic_is_the_limit(self) -> None:
        # GIVEN 4096² in bf16 in 190 us: 137.456 GFLOP is 723 TFLOP/s, 73.1 % of 989.5;
        # 4 x 33.5 MB is 706 GB/s, 14.7 % of 4.8 TB/s
        rows = loop(5, product_and_add(175, 15), every_us=200, cpu_us=150)
        verdict = judge(analysis_of(*rows, **own_run(step_us=200, size=4096)))
        assert verdict.bound == "compute-bound"
        assert "95.0 % of each step" in verdict.sentence
        assert "137 GFLOP in 190 µs is 723 TFLOP/s, 73.1 % of the peak" in texts(verdict)
        assert "128 MiB in 190 µs is 706 GB/s, 14.7 % of the peak" in texts(verdict)

    def test_what_was_measured_comes_before_the_vendors_figures(self) -> None:
        # GIVEN the same on a device that keeps up 700 TFLOP/s and copies 4 TB/s:
        # 723 is 103.4 % and 706 GB/s is 17.7 %
        rows = loop(5, product_and_add(175, 15), every_us=200, cpu_us=150)
        known = {**own_run(step_us=200, size=4096), "ceilings": MEASURED}
        verdict = judge(analysis_of(*rows, **known))
        assert verdict.bound == "compute-bound"
        assert "nearer the peak (103.4 %) than its memory (17.7 %)" in verdict.sentence
        assert (
            "723 TFLOP/s, 103.4 % of the 700 TFLOP/s that this device was measured to keep up "
            "(a short burst can be faster: under lasting load the clock falls)."
        ) in texts(verdict)
        assert "706 GB/s, 17.7 % of the 4.00 TB/s that a copy was measured to move" in texts(
            verdict
        )

    def test_memory_is_the_limit(self) -> None:
        # GIVEN 4096² pointwise in bf16, 21 x 33.55 MB in 176 us: 4.00 TB/s of 4.8, 83.4 %
        rows = loop(5, product(176, name=ADD), every_us=190, cpu_us=150)
        known = own_run(step_us=189, workload="elementwise_chain", size=4096)
        verdict = judge(analysis_of(*rows, **known))
        assert verdict.bound == "memory-bound"
        assert "4.00 TB/s, 83.4 % of the peak" in texts(verdict)

    def test_both_matter(self) -> None:
        verdict = judge(analysis_of(*HALF, **own_run(step_us=40)))
        assert verdict.bound == "balanced"
        assert "Between 50 % and 80 %" in texts(verdict)

    def test_copies_are_the_limit(self) -> None:
        rows = loop(5, copy_before_product(60, 30), every_us=100, cpu_us=90)
        verdict = judge(analysis_of(*rows, **own_run(step_us=95)))
        assert verdict.bound == "copy-bound"
        assert "copying takes 60.0 %" in verdict.sentence

    def test_a_step_of_more_than_the_time_is_capped(self) -> None:
        verdict = judge(analysis_of(*BUSY, **own_run(step_us=94)))
        assert "95.0 µs ÷ 94.0 µs = a little more than 1: 100 % busy." in texts(verdict)

    def test_an_unknown_device_is_named(self) -> None:
        known = elsewhere(own_run(step_us=100, size=4096), "GPU 9000")
        verdict = judge(analysis_of(*BUSY, **known))
        assert verdict.bound == "compute-bound"
        assert "what GPU 9000 can do at most is not known" in verdict.sentence
        assert "a sweep measures that for the runs made after it" in verdict.sentence
        # 137 GFLOP in 95 us is 1.45 PFLOP/s, 206.7 % of 700
        measured = judge(analysis_of(*BUSY, **known, ceilings=MEASURED))
        assert "its arithmetic is nearer the peak (206.7 %)" in measured.sentence
        assert "(something slowed the device while that was measured)" in texts(measured)

    def test_a_format_that_was_not_measured_has_the_vendors_figure(self) -> None:
        # GIVEN 137 GFLOP of fp16 in 190 us, and only bf16 and fp32 were measured: 73.1 % of 989.5
        rows = loop(5, product_and_add(175, 15), every_us=200, cpu_us=150)
        known = {**own_run(step_us=200, size=4096, dtype="fp16"), "ceilings": MEASURED}
        verdict = judge(analysis_of(*rows, **known))
        assert "723 TFLOP/s, 73.1 % of the peak of NVIDIA H200." in texts(verdict)
        assert "706 GB/s, 17.7 % of the 4.00 TB/s that a copy was measured to move." in texts(
            verdict
        )

    def test_a_lowered_clock_is_mentioned(self) -> None:
        known = own_run(step_us=100)
        clocks = Clocks(
            sm_mhz=1485,
            sm_max_mhz=1980,
            memory_mhz=3201,
            temperature_c=64,
            power_w=697.9,
            other_processes=0,
        )
        known["environment"] = msgspec.structs.replace(known["environment"], clocks=clocks)
        assert "1,485 of 1,980 MHz (698 W)" in texts(judge(analysis_of(*BUSY, **known)))

    def test_a_cold_run_says_so(self) -> None:
        # GIVEN a first step of 4,000 us and timings taken afterwards
        rows = loop(5, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000)
        verdict = judge(analysis_of(*rows, **own_run(step_us=40, warmup=0)))
        assert "median of 4 steps, the cold first one left out" in texts(verdict)
        assert "It was timed after profiling" in texts(verdict)
        assert verdict.suggestions[0].knobs == {"warmup": 3}
        assert "4.00 ms" in verdict.suggestions[0].why

    def test_why_the_gpu_waits(self) -> None:
        def synchronised(at: float, number: int) -> list[Row]:
            return [*product(2)(at, number), runtime("cudaDeviceSynchronize", at + 60, 20)]

        rows = loop(5, synchronised, every_us=100, cpu_us=80)
        verdict = judge(analysis_of(*rows, **own_run(step_us=40)))
        assert verdict.bound == "waiting"
        assert "(S5)" in verdict.sentence

    def test_a_compiler_in_the_cold_step_is_not_what_bounds_the_run(self) -> None:
        # GIVEN the compiler at work in the cold first step and in one of the four later ones, as
        # when a CUDA graph is recorded; and then in two of the four
        rows = loop(5, product(2), every_us=5000, cpu_us=80, first_cpu_us=4000)
        rows += [op("Torch-Compiled Region: 0/0", 4850, 10), op("entire_frame_compile", 1000, 100)]
        known = own_run(step_us=40, warmup=0, compile="default")
        once = [*rows, op("entire_frame_compile", 5062, 10)]
        assert judge(analysis_of(*once, **known)).bound == "overhead-bound"
        twice = [*once, op("entire_frame_compile", 10_062, 10)]
        assert judge(analysis_of(*twice, **known)).bound == "compiling"


class TestTheGuidesComparison:
    def test_differs_when_the_profiler_stretches_the_cpu_side(self) -> None:
        # GIVEN 400 us of CPU over 50 us of GPU work, 95 % busy without the profiler
        rows = loop(5, product(10), every_us=100, cpu_us=80)
        verdict = judge(analysis_of(*rows, **own_run(step_us=10.5, size=64)))
        assert verdict.bound in {"compute-bound", "memory-bound"}
        assert "looks overhead-bound" in texts(verdict)
        assert "the busy share counts" in texts(verdict)

    def test_agrees_when_the_gpu_is_the_limit(self) -> None:
        assert "both agree" in texts(judge(analysis_of(*BUSY, **own_run(step_us=100))))

    def test_shows_the_ratio_without_waiting_and_overhead(self) -> None:
        rows = [*BUSY, runtime("cudaDeviceSynchronize", 485, 75)]
        verdict = judge(analysis_of(*rows, **own_run(step_us=100)))
        # 475 over 475, and 400 over 475
        assert "475 µs against 475 µs, 1.00×" in texts(verdict)
        assert "rows 0.84×" in texts(verdict)


class TestOpenedTraces:
    def test_a_busy_gpu_is_the_limit(self) -> None:
        verdict = judge(analysis_of(*BUSY))
        assert (verdict.rule, verdict.bound) == ("B2", "compute-bound")
        assert "even while it was profiled" in verdict.sentence
        assert "cannot be told apart" in verdict.sentence
        assert verdict.suggestions == ()

    def test_an_idle_gpu_waits(self) -> None:
        verdict = judge(analysis_of(*WAITING))
        assert (verdict.rule, verdict.bound) == ("B2", "overhead-bound")
        assert "9.0 % of the time at most" in verdict.sentence
        assert "cannot say how long a step takes without the profiler" in texts(verdict)

    def test_in_between_nothing_is_claimed(self) -> None:
        verdict = judge(analysis_of(*HALF))
        assert verdict.bound == "cannot-tell"
        assert "30.0 %" in verdict.sentence
        assert verdict.advice == "Time one step without the profiler: that settles it."

    def test_without_steps_only_a_busy_gpu_is_beyond_doubt(self) -> None:
        busy = [launch(0, 5, correlation=1), kernel("k", 5, 95, correlation=1)]
        assert judge(analysis_of(*busy)).bound == "compute-bound"
        idle = [launch(0, 5, correlation=1), kernel("k", 5, 5, correlation=1), op("x", 0, 100)]
        verdict = judge(analysis_of(*idle))
        assert verdict.bound == "cannot-tell"
        assert "5.0 % of the recording" in verdict.sentence

    def test_gpu_work_that_was_not_recorded_is_no_idle_gpu(self) -> None:
        verdict = judge(analysis_of(op("aten::mm", 0, 50)))
        assert (verdict.rule, verdict.bound) == ("Q1", "cannot-tell")
        assert "not an idle GPU" in verdict.sentence

    def test_another_accelerator_is_named(self) -> None:
        rows = [op("aten::mm", 0, 5), row("k", 2, 3, cat="mtia_ccp_events", pid=0, tid=1)]
        assert "profcore does not read" in judge(analysis_of(*rows)).sentence


class TestCpuRuns:
    def test_the_largest_operator_takes_the_time(self) -> None:
        # GIVEN steps of 900 us with aten::mm of 850; 1024² in fp32: 2.149 GFLOP in 900 us
        known = own_run(step_us=900, device="cpu", dtype="fp32", size=1024)
        analysis = Case(
            rule="B1", state="not_checked", rows=cpu_only(), known={**known, "devices": ()}
        ).analysis()
        verdict = judge(analysis)
        assert verdict.bound == "cpu-run"
        assert "aten::mm takes 94.4 % of the recorded step time" in verdict.sentence
        assert "5.6 % of the recorded step time lies outside any operator" in texts(verdict)
        assert "2.15 GFLOP per step: 2.39 TFLOP/s" in texts(verdict)
        assert verdict.suggestions[0].knobs == {"size": 64}

    def test_python_and_dispatch_take_the_time(self) -> None:
        rows = loop(3, lambda at, _: [op("aten::mm", at + 10, 90)])  # 810 of 900 us are nothing
        known = own_run(step_us=100, device="cpu", size=64)
        case = Case(rule="B1", state="not_checked", rows=rows, known={**known, "devices": ()})
        verdict = judge(case.analysis())
        assert "90.0 % of the step is Python and dispatch" in verdict.sentence
        assert verdict.suggestions[0].knobs == {"size": 1024}


KNOBS = (
    {"size": 64},
    {"size": 64, "compile": "default"},
    {"size": 64, "compile": "reduce-overhead"},
    {"size": 16_384},
    {"size": 4096, "dtype": "fp32"},
    {"size": 4096, "dtype": "tf32", "compile": "max-autotune"},
    {"workload": "elementwise_chain", "size": 64},
    {"workload": "elementwise_chain", "size": 4096, "dtype": "fp32"},
    {"workload": "batched_matmul", "size": 512, "batch": 64, "warmup": 0},
    {"workload": "linear", "size": 4096, "compile": "default"},
)


@pytest.mark.parametrize("rows", [WAITING, HALF, BUSY], ids=["waiting", "balanced", "busy"])
@pytest.mark.parametrize("knobs", KNOBS, ids=str)
def test_suggestions_change_the_experiment_and_keep_it_valid(
    knobs: dict[str, object], rows: list[Row]
) -> None:
    experiment = Experiment(device="cuda:0", **knobs)
    verdict = judge(analysis_of(*rows, **own_run(step_us=100, **knobs)))
    assert len(verdict.suggestions) <= 3
    for suggestion in verdict.suggestions:
        changed = msgspec.structs.replace(experiment, **suggestion.knobs)
        assert Experiment(**msgspec.structs.asdict(changed)) != experiment
        assert all(getattr(experiment, knob) != value for knob, value in suggestion.knobs.items())
        assert suggestion.why.endswith(".")


def test_fp32_on_a_busy_gpu_is_first_told_of_tf32() -> None:
    rows = loop(5, product(950, name=SGEMM))
    verdict = judge(analysis_of(*rows, **own_run(step_us=1000, dtype="fp32", size=4096)))
    assert verdict.suggestions[0].knobs == {"dtype": "tf32"}


def test_a_compiled_matrix_bias_is_first_told_of_the_vector() -> None:
    rows = loop(5, copy_before_product(16, 178), every_us=200, cpu_us=150)
    known = own_run(step_us=200, compile="default", size=4096)
    assert judge(analysis_of(*rows, **known)).suggestions[0].knobs == {"bias": "vector"}


def test_a_waiting_gpu_is_first_told_of_a_larger_size() -> None:
    verdict = judge(analysis_of(*WAITING, **own_run(step_us=40)))
    assert verdict.suggestions[0].knobs == {"size": 4096}


def test_copies_alone_are_gpu_work_too() -> None:
    rows = [launch(0, 5, correlation=1, name="cudaMemcpyAsync"), memcpy(10, 90, correlation=1)]
    # 90 of 100 us
    assert judge(analysis_of(*rows)).bound == "copy-bound"


def test_what_the_gpu_does_in_the_recording_is_a_floor() -> None:
    # GIVEN a GPU that works 95 of 100 us in the recording, and 95 of 125 us by the unprofiled time:
    # it was timed at a lower clock
    analysis = analysis_of(
        *loop(5, product(95), every_us=100, cpu_us=90), **own_run(step_us=125, size=4096)
    )
    # THEN the recording counts, and both say so
    verdict = judge(analysis)
    assert verdict.bound == "compute-bound"
    assert "95.0 % of the recorded steps" in verdict.sentence
    assert any("profiling only adds waiting" in line.text for line in verdict.arithmetic)
    b1 = finding_of("B1", analysis)
    assert (
        "76.0 % busy, and 95.0 % even in the recording, so the GPU is the limit" in b1.observation
    )
