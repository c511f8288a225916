"""Claims about a sweep: crossover, break-even, roofline; by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from profcore.analysis import Analysis
from profcore.comparison.break_even import break_even, break_evens
from profcore.comparison.crossover import (
    Crossover,
    crossing_x,
    crossover_sentence,
    crossovers,
    range_sentence,
    x_text,
)
from profcore.comparison.points import COLUMNS, axis_of, points_table, row_names
from profcore.comparison.roofline import COLUMNS as ROOF_COLUMNS
from profcore.comparison.roofline import roof_of, roofline_table
from profcore.comparison.warmups import warmup_sentences
from profcore.devices import Ceilings
from profcore.experiment import Experiment
from profcore.recording import Beside, Recording, Status, Timings
from tests.handmade import trace_of
from tests.rule_traces import environment, loop, product

if TYPE_CHECKING:
    import pandas as pd


def timings(
    step_us: float, *, cpu_us: float = 20, queued_us: float | None = None, **more: Any
) -> Timings:
    return Timings(
        taken="before",
        repeats=30,
        steps_per_repeat=50,
        step_ns_median=step_us * 1000,
        step_ns_p25=step_us * 990,
        step_ns_p75=step_us * 1010,
        cpu_ns_median=cpu_us * 1000,
        cpu_ns_p25=cpu_us * 1000,
        cpu_ns_p75=cpu_us * 1000,
        gpu_queued_ns=None if queued_us is None else queued_us * 1000,
        **{"first_call_ns": 1_000_000, **more},
    )


def point(
    point_id: str, times: Timings | None, beside: Beside | None = None, **knobs: Any
) -> Recording:
    return Recording(
        id=point_id,
        folder=Path("/nowhere"),
        is_sample=False,
        title=point_id,
        experiment=Experiment(**{"device": "cuda:0", **knobs}),
        status=Status(state="done"),
        environment=environment(),
        timings=times,
        beside=beside,
    )


def sweep() -> pd.DataFrame:
    """Three eager sizes, busy 10, 40 and 90 %; one compiled size."""
    return points_table(
        [
            point("c", timings(200, queued_us=180), size=4096),
            point("a", timings(20, queued_us=2), size=64),
            point("b", timings(25, queued_us=10), size=1024),
            point("d", timings(80, cpu_us=78, queued_us=2), size=64, compile="default"),
            point("e", None, size=16),
        ]
    )


# --- points -------------------------------------------------------------------------------------


def test_points_stand_by_row_and_size() -> None:
    table = sweep()
    assert list(table.columns) == list(COLUMNS)
    assert table["id"].tolist() == ["a", "b", "c", "d"]
    assert table["row"].tolist() == ["eager", "eager", "eager", "compile default"]
    assert table["busy_fraction"].tolist() == [0.1, 0.4, 0.9, 0.025]
    assert set(table["gpu_source"]) == {"queue"}
    # 2·64³ + 64² = 528,384 FLOP in 20 µs; 4·64²·2 = 32,768 bytes.
    assert table["flops_per_s"].iloc[0] == pytest.approx(26.4192e9)
    assert table["step_bytes"].iloc[0] == 32_768


def test_a_recorded_point_takes_its_gpu_time_from_the_trace() -> None:
    one = point("a", timings(20, queued_us=9), size=64)
    analysis = Analysis(
        trace_of(*loop(3, product(5))), experiment=one.experiment, timings=one.timings
    )
    row = points_table([one], {"a": analysis}).iloc[0]
    assert (row["gpu_ns"], row["gpu_source"], row["busy_fraction"]) == (5000, "trace", 0.25)
    assert (row["launches"], row["kernels"]) == (1, 1)


def test_without_a_gpu_there_is_no_busy_share() -> None:
    row = points_table([point("a", timings(20), device="cpu")]).iloc[0]
    assert math.isnan(row["gpu_ns"])
    assert math.isnan(row["busy_fraction"])
    assert row["gpu_source"] == ""


def test_rows_are_named_by_what_differs() -> None:
    eager, compiled = Experiment(), Experiment(compile="default")
    assert row_names([eager, eager]) == ["eager", "eager"]
    assert row_names([eager, compiled]) == ["eager", "compile default"]
    assert row_names([eager, Experiment(dtype="fp32", compile="default")]) == [
        "eager, bf16",
        "compile default, fp32",
    ]
    assert row_names([Experiment(warmup=1), Experiment(warmup=3)]) == ["warm-up 1", "warm-up 3"]


def test_without_several_sizes_the_batch_is_the_axis_then_the_warm_up() -> None:
    def axis(*knobs: dict[str, Any]) -> str:
        return axis_of([Experiment(**one) for one in knobs])

    batched = {"workload": "batched_matmul"}
    assert axis({"size": 64, "warmup": 1}, {"size": 128, "warmup": 3}) == "size"
    assert axis({**batched, "batch": 1}, {**batched, "batch": 4, "warmup": 9}) == "batch"
    assert axis({"batch": 1, "warmup": 1}, {"batch": 4, "warmup": 9}) == "warmup"  # no batch here
    assert axis({"dtype": "bf16"}, {"dtype": "fp32"}) == "size"
    assert axis() == "size"


def test_points_over_the_batch_stand_in_one_row_by_batch() -> None:
    table = points_table(
        [
            point(str(batch), timings(9), workload="batched_matmul", size=64, batch=batch)
            for batch in (16, 1)
        ]
    )
    assert table[["row", "axis", "x"]].to_numpy().tolist() == [
        ["eager", "batch", 1],
        ["eager", "batch", 16],
    ]


def test_warm_up_calls_that_change_nothing_and_some_that_do() -> None:
    def said(*step_us: float) -> str:
        points = [
            point(str(n), timings(us), warmup=n) for n, us in zip((1, 5, 50), step_us, strict=True)
        ]
        (sentence,) = warmup_sentences(points_table(points))
        return sentence

    assert said(20, 20.5, 20.2) == (
        "eager: from 1 to 50 warm-up calls the step time stays the same (20.0 µs to 20.5 µs, 2.5 % "
        "apart)."
    )
    assert said(26, 20, 21) == (
        "eager: the step times lie 30.0 % apart: 26.0 µs with 1 warm-up call and 20.0 µs with 5."
    )
    assert (
        crossovers(points_table([point("a", timings(9, queued_us=3), warmup=n) for n in (1, 2)]))
        == ()
    )


# --- crossover ----------------------------------------------------------------------------------


def test_the_crossover_lies_between_two_sizes() -> None:
    half, most, *rest = crossovers(sweep())
    # 0.5 lies (0.5 - 0.4) / 0.5 = 0.2 of the way from ln 1024 to ln 4096: 1024 x 4^0.2 = 1351.2;
    # 0.8 lies 0.8 of the way: 1024 x 4^0.8 = 3104.2.
    assert half.x == pytest.approx(1351.2, abs=0.1)
    assert most.x == pytest.approx(3104.2, abs=0.1)
    assert half.sentence == (
        "eager: the GPU is busy 50.0 % of the step from about size 1,400 on (40.0 % at 1,024, "
        "90.0 % at 4,096)."
    )
    assert (half.below, half.above) == ((1024, 0.4), (4096, 0.9))
    assert [found.state for found in rest] == ["too few points", "too few points"]
    assert crossover_sentence(most, workload="matmul_add", dtype="bf16", device="NVIDIA H200") == (
        "On this NVIDIA H200 the crossover for bf16 matmul_add (eager) lies near size 3,100: from "
        "there on the GPU works 80.0 % of the step or more."
    )


def test_many_rows_share_one_headline() -> None:
    def rows(*shares: tuple[int, int, int]) -> list[Crossover]:
        points = [
            point(f"{n}{x}", timings(100, queued_us=us), size=x, dtype=dtype)
            for n, (row, dtype) in enumerate(zip(shares, ("bf16", "fp16", "fp32"), strict=False))
            for x, us in zip((64, 256, 1024), row, strict=True)
        ]
        return [one for one in crossovers(points_table(points)) if one.threshold == 0.8]

    # 0.8 lies half-way from 0.7 at 256 to 0.9 at 1,024: 512; and from 64 to 256: 128.
    found = rows((10, 70, 90), (70, 90, 95), (10, 20, 30))
    assert range_sentence(found, workload="matmul_add", device="NVIDIA H200") == (
        "On this NVIDIA H200 the crossover for matmul_add lies between size 130 (fp16) and 510 "
        "(bf16); it was found in 2 of 3 rows."
    )
    none = rows((10, 20, 30))
    assert range_sentence(none, workload="matmul_add", device="CPU") == (
        "On this CPU no crossover was found for matmul_add."
    )


def test_no_crossover_says_why() -> None:
    def states(*busy_us: float | None) -> list[str]:
        rows = [
            point(str(n), timings(100, queued_us=us), size=64 * 2**n)
            for n, us in enumerate(busy_us)
        ]
        return [found.state for found in crossovers(points_table(rows))]

    assert states(90, 95, 99) == ["always above", "always above"]
    assert states(60, 70, 75) == ["always above", "never reached"]
    assert states(10, 20, 30) == ["never reached", "never reached"]
    assert states(None, None, None) == ["no GPU", "no GPU"]
    assert crossovers(points_table([])) == ()
    flat = crossovers(
        points_table([point(str(n), timings(100, queued_us=9), size=64 * n) for n in (1, 2, 3)])
    )
    assert flat[0].sentence == "eager: the GPU is never busy 50.0 % of the step; at most 9.0 %."


def test_sizes_between_measured_ones_have_two_digits() -> None:
    assert crossing_x((100, 0.0), (400, 1.0), 0.5) == pytest.approx(200)
    assert [x_text(size) for size in (1888, 96.2, 12_340)] == ["1,900", "96", "12,000"]


# --- break-even ---------------------------------------------------------------------------------


def test_break_even_is_worked_out() -> None:
    # (2 s + 1 ms - 1 ms) / (189 - 71) µs = 2 s / 118 µs = 16,949.2 steps
    found = break_even(
        timings(189, cpu_us=63),
        timings(71, cpu_us=70, first_call_ns=2_001_000_000, compile_cache="fresh"),
        mode="default",
        where="size 4,096",
    )
    assert found.state == "pays"
    assert found.steps == pytest.approx(16_949.15, abs=0.01)
    assert found.sentence == (
        "compile default at size 4,096: pays for itself after 16,949 steps, because each saves "
        "118 µs."
    )
    assert found.arithmetic == (
        (
            "The first call took 2.00 s compiled and 1.00 ms eager: 2.00 s more, with an empty "
            "cache, so all of it was compiled."
        ),
        (
            "A step takes 71.0 µs compiled and 189 µs eager; such times may differ by 45.3 % by "
            "chance."
        ),
        "2.00 s ÷ 118 µs = 16,949 steps, which take 1.20 s.",
        # 71 ÷ 189 = 0.376; 1.453 either way: 0.259 and 0.546; 2 s ÷ (189 µs x 0.741 and 0.454).
        "Within the noise: 14,000 to 23,000 steps.",
    )


def test_a_slower_compiled_step_never_pays() -> None:
    found = break_even(
        timings(33, cpu_us=31),
        timings(83, cpu_us=80, first_call_ns=10**9, compile_cache="kept"),
        mode="default",
        where="size 64",
    )
    assert (found.state, found.steps, found.gain_ns) == ("never", None, -50_000)
    assert (
        found.sentence == "compile default at size 64: never, a compiled step takes 50.0 µs longer."
    )
    assert "much longer" in found.arithmetic[0]


def test_no_difference_is_no_gain() -> None:
    found = break_even(
        timings(100, cpu_us=30), timings(98, cpu_us=30), mode="default", where="size 4,096"
    )
    assert found.state == "no difference"
    assert found.compile_ns == 0
    assert found.sentence.endswith(
        "cannot be told; a compiled step takes 2.00 µs less, which is not beyond noise."
    )


def turns(eager_us: float, compiled_us: float, **knobs: Any) -> Beside:
    """What a compiled point holds of ten turns with another program."""
    return Beside(
        experiment=Experiment(**{"device": "cuda:0", "size": 64, **knobs}),
        step_ns=[compiled_us * 1000] * 10,
        other_step_ns=[eager_us * 1000] * 10,
    )


def test_a_cache_that_an_earlier_mode_filled_gives_the_least_number_of_steps() -> None:
    known = {"mode": "reduce-overhead", "where": "size 4,096"}
    first = timings(71, cpu_us=70, first_call_ns=2_001_000_000, compile_cache="fresh")
    later = timings(71, cpu_us=70, first_call_ns=201_000_000, compile_cache="shared")
    # 200 ms / 118 µs = 1,694.9
    found = break_even(timings(189, cpu_us=63), later, **known)
    assert found.is_least
    assert "after 1,695 steps or more, because" in found.sentence
    assert "in its cache: alone it can take longer" in found.arithmetic[0]
    assert not break_even(timings(189, cpu_us=63), first, **known).is_least


def test_turns_with_the_eager_program_decide_where_they_were_taken() -> None:
    # 20 and 28 µs of a CPU that sets the pace may be chance; 20.5 against 30.75 by turns is 1.5.
    points = [
        point("a", timings(20)),
        point("b", timings(28), compile="default", beside=turns(20.5, 30.75)),
        point("c", timings(28), compile="default", beside=turns(20.5, 30.75, size=128)),
    ]
    (_, sure), (_, unsure) = break_evens(points)
    assert (sure.state, unsure.state) == ("never", "no difference")
    assert sure.gain_ns == pytest.approx(-10_250)
    assert sure.arithmetic[1].startswith(
        "Timed by turns in one process, a step takes 30.8 µs compiled and 20.5 µs eager; such"
    )


# --- roofline -----------------------------------------------------------------------------------

CEILINGS = Ceilings(
    source="measured",
    source_text="Measured.",
    device_name="NVIDIA H200",
    flops_per_s={"bf16": 800e12, "fp32": 50e12},
    memory_bytes_per_s=4e12,
)


def test_the_roof_has_a_ridge() -> None:
    roof = roof_of(CEILINGS, dtype="bf16", is_matmul=True)
    assert roof is not None
    assert roof.ridge == 200
    assert (roof.at(50), roof.at(200), roof.at(1000)) == (200e12, 800e12, 800e12)
    pointwise = roof_of(CEILINGS, dtype="bf16", is_matmul=False)
    assert pointwise is not None
    assert (pointwise.flops_per_s, pointwise.format) == (50e12, "fp32")
    assert roof_of(CEILINGS, dtype="fp16", is_matmul=True) is None
    assert roof_of(None, dtype="bf16", is_matmul=True) is None


def test_points_stand_under_the_roof() -> None:
    table = roofline_table(sweep(), roof_of(CEILINGS, dtype="bf16", is_matmul=True))
    assert list(table.columns) == list(ROOF_COLUMNS)
    # 64: 528,384 / 32,768 = 16.125 FLOP per byte: memory, 16.125 x 4e12 = 64.5e12 allowed.
    # 4096: (2·4096³ + 4096²) / (8·4096²) = 1024.125: arithmetic.
    assert table["intensity"].tolist()[0] == 16.125
    assert table["roof_flops_per_s"].tolist()[0] == 64.5e12
    assert table["intensity"].tolist()[2] == 1024.125
    assert table["limit"].tolist() == ["memory", "arithmetic", "arithmetic", "memory"]
    # 137.456 GFLOP in 200 µs = 687.3 TFLOP/s of 800.
    assert table["roof_fraction"].tolist()[2] == pytest.approx(0.85909, abs=1e-4)


def test_without_ceilings_the_roof_is_empty() -> None:
    table = roofline_table(sweep(), None)
    assert list(table.columns) == list(ROOF_COLUMNS)
    assert table["roof_fraction"].isna().all()
    assert set(table["limit"]) == {""}


def test_every_compiled_point_is_weighed_against_its_eager_one() -> None:
    points = [
        point("a", timings(189, cpu_us=63), size=4096),
        point("b", timings(71, first_call_ns=10**9), size=4096, compile="default"),
        point("c", timings(71, first_call_ns=10**9), size=2048, compile="default"),
        point("d", None, size=4096, compile="reduce-overhead"),
    ]
    assert [(found.id, even.state) for found, even in break_evens(points)] == [("b", "pays")]


def test_break_evens_go_up_by_size_also_where_a_size_was_added() -> None:
    points = [
        point(f"{mode[0]}{size}", timings(50), size=size, compile=mode)
        for mode in ("eager", "default")
        for size in (64, 4096, 1456)
    ]
    assert [found.id for found, _ in break_evens(points)] == ["d64", "d1456", "d4096"]


def test_a_break_even_names_what_else_differs() -> None:
    points = [
        point(f"{mode}{dtype}{warmup}", timings(50), compile=mode, dtype=dtype, warmup=warmup)
        for mode in ("eager", "default")
        for dtype in ("bf16", "fp32")
        for warmup in (1, 3)
    ]
    assert [even.sentence.partition(":")[0] for _, even in break_evens(points)][1] == (
        "compile default at size 64, bf16, warm-up 3"
    )
