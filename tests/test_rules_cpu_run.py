"""The verdict on a CPU run that began cold: what the first call cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profcore.analysis import Analysis
from profcore.rules import judge
from tests.handmade import trace_of
from tests.rule_traces import own_run
from tests.trace_bytes import op, step

if TYPE_CHECKING:
    from profcore.rules import Verdict


def cpu_run(*first_us: float, experiment: bool = True, **knobs: Any) -> Verdict:
    """The verdict on steps of the given lengths, each one aten::mm, without a GPU."""
    rows, at = [], 0.0
    for number, length_us in enumerate(first_us):
        rows += [step(number, at, length_us), op("aten::mm", at, length_us)]
        at += length_us + 10
    known = own_run(step_us=100, device="cpu", **knobs) if experiment else {}
    return judge(Analysis(trace_of(*rows, devices=()), **known))


def texts(verdict: Verdict) -> list[str]:
    return [line.text for line in verdict.arithmetic]


class TestColdCpuRuns:
    """The first step takes 20 ms, the later ones 100, 120 and 100 µs: 200 times their median."""

    STEPS = (20_000, 100, 120, 100)
    SAID = (
        "The first recorded step took 20.0 ms, the later ones 100 µs (median): 200× as long. "
        "That is the cold start."
    )

    def test_the_first_call_is_in_the_sentence_and_in_the_arithmetic(self) -> None:
        verdict = cpu_run(*self.STEPS, warmup=0)
        assert self.SAID in verdict.sentence
        assert f"{self.SAID} It is left out of what follows." in texts(verdict)

    def test_compiling_is_part_of_it(self) -> None:
        verdict = cpu_run(*self.STEPS, warmup=0, compile="default")
        assert "took 20.0 ms, compiling included, the later ones" in verdict.sentence

    def test_a_cold_start_that_costs_little_says_so_too(self) -> None:
        verdict = cpu_run(150, 100, 100, warmup=0)
        assert "took 150 µs, the later ones 100 µs (median): 1.50× as long" in verdict.sentence
        assert "left out" not in "".join(texts(verdict))

    def test_with_one_step_there_is_nothing_to_compare(self) -> None:
        verdict = cpu_run(150, warmup=0)
        assert "took 150 µs. That is the cold start; no later step" in verdict.sentence

    def test_a_warm_run_says_nothing_of_it(self) -> None:
        # A slow first step after warm-up calls is rule C1's to explain.
        assert "cold start" not in cpu_run(*self.STEPS, warmup=3).sentence

    def test_of_an_opened_trace_the_first_step_tells(self) -> None:
        assert self.SAID in cpu_run(*self.STEPS, experiment=False).sentence
        assert "cold start" not in cpu_run(150, 100, 100, experiment=False).sentence
