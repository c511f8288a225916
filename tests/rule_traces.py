"""Hand-made traces for the rules, and the cases that hold each rule to its three answers.

Times are microseconds. A case is a trace, what is known beside it, and what one rule must say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from profcore.analysis import Analysis
from profcore.devices import Ceilings
from profcore.experiment import Experiment
from profcore.recording import Environment, Timings
from profcore.rules import RULES, Finding, check
from profcore.rules.quantities import Quantities
from tests.handmade import trace_of
from tests.trace_bytes import Row, annotation, kernel, launch, memcpy, op, row, step

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.rules.model import State

    Body = Callable[[float, int], list[Row]]

NVJET = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
SGEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3"
DTOD = "Memcpy DtoD (Device -> Device)"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One rule on one trace."""

    rule: str
    state: State
    rows: list[Row] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    """What goes to Analysis beside the trace (experiment, timings, ...) or to the header
    of the file (devices, cupti_version ...)."""
    says: tuple[str, ...] = ()
    """Texts that the observation, or the reason, must contain."""
    kind: str | None = None
    """Kind of the finding when it is not the rule's own."""

    @property
    def name(self) -> str:
        return f"{self.rule}-{self.state}-{self.says[0][:24] if self.says else ''}"

    twin: Case | None = None
    """The run to compare with."""

    def analysis(self) -> Analysis:
        twin = self.twin and self.twin.analysis()
        known = {key: value for key, value in self.known.items() if key in _BESIDE}
        header = {key: value for key, value in self.known.items() if key not in _BESIDE}
        return Analysis(trace_of(*self.rows, **header), **known, twin=twin)

    def quantities(self) -> Quantities:
        return Quantities.of(self.analysis())

    def finding(self) -> Finding:
        return finding_of(self.rule, self.analysis())


_BESIDE = ("experiment", "timings", "environment", "ceilings")


def finding_of(rule: str, analysis: Analysis) -> Finding:
    """Return what one rule says."""
    return check(next(known for known in RULES if known.id == rule), analysis)


def hold(case: Case) -> None:
    """Assert that the rule says what the case wants."""
    finding = case.finding()
    said = finding.observation or finding.reason
    assert finding.state == case.state, said
    for text in case.says:
        assert text in said
    if case.kind is not None:
        assert finding.kind == case.kind
    assert bool(finding.observation) == (finding.state == "fired")
    assert bool(finding.reason) == (finding.state == "not_checked")
    assert not said or said.endswith(".")
    assert "nan" not in said
    assert not finding.evidence or finding.state == "fired"
    for event in finding.evidence:
        assert event.text
        assert (event.start_ns is None) == (event.duration_ns is None)


def own_run(
    *, step_us: float, cpu_us: float = 20, device: str = "cuda:0", **knobs: Any
) -> dict[str, Any]:
    """Return what is known of a run of this program: knobs, unprofiled times, an H200."""
    taken = "after" if knobs.get("warmup") == 0 else "before"
    return {
        "experiment": Experiment(device=device, **knobs),
        "timings": Timings(
            taken=taken,
            repeats=20,
            steps_per_repeat=50,
            step_ns_median=step_us * 1000,
            step_ns_p25=step_us * 990,
            step_ns_p75=step_us * 1010,
            cpu_ns_median=cpu_us * 1000,
            cpu_ns_p25=cpu_us * 990,
            cpu_ns_p75=cpu_us * 1010,
            first_call_ns=1_000_000,
        ),
        "environment": environment(device),
    }


MEASURED = Ceilings(
    source="measured",
    source_text="Measured on this device.",
    device_name="NVIDIA H200",
    flops_per_s={"bf16": 700e12, "fp32": 50e12},
    memory_bytes_per_s=4e12,
)
"""What a sweep measured on this H200."""


def elsewhere(known: dict[str, Any], device_name: str) -> dict[str, Any]:
    """Return the same run on another device."""
    there = msgspec.structs.replace(known["environment"], device_name=device_name)
    return {**known, "environment": there}


def environment(device: str = "cuda:0") -> Environment:
    """Return an H200, or a CPU."""
    is_gpu = device != "cpu"
    return Environment(
        device=device,
        device_name="NVIDIA H200" if is_gpu else "Some CPU",
        compute_capability="9.0" if is_gpu else None,
        torch="2.11.0",
        python="3.12.3",
        platform="Linux",
        cpu_name="Some CPU",
        cpu_threads=8,
        recorded_at="2026-01-01T00:00:00+00:00",
    )


def loop(
    count: int,
    body: Body,
    *,
    every_us: float = 1000,
    cpu_us: float = 900,
    first_cpu_us: float | None = None,
) -> list[Row]:
    """Return steps #2, #3 ... that begin every `every_us`; `body(at, number)` fills each.

    A wider first step begins earlier, so that the second begins at `every_us`.
    """
    rows: list[Row] = []
    for place in range(count):
        at = every_us * place
        width = cpu_us
        if place == 0 and first_cpu_us is not None:
            width = first_cpu_us
            at = every_us - 100 - width
        rows += [step(place + 2, at, width), *body(at, 100 * (place + 1))]
    return rows


def product(kernel_us: float, *, name: str = NVJET, delay_us: float = 10) -> Body:
    """Return a body: aten::matmul [+10, +60] > aten::mm [+15, +50] > launch [+20, +30] of a GEMM.

    The kernel starts `delay_us` after the launch began.
    """

    def body(at: float, number: int) -> list[Row]:
        return [
            op("aten::matmul", at + 10, 50),
            op("aten::mm", at + 15, 35, external_id=number),
            launch(at + 20, 10, correlation=number, name="cuLaunchKernelEx", external_id=number),
            kernel(
                name, at + 20 + delay_us, kernel_us, correlation=number, **{"External id": number}
            ),
        ]

    return body


def product_and_add(gemm_us: float, add_us: float) -> Body:
    """Return a body: the product, then aten::add [+70, +90] with a launch at +75.

    The GEMM starts at +30, the add 2 us after it ends or at +85.
    """

    def body(at: float, number: int) -> list[Row]:
        return [
            *product(gemm_us)(at, number),
            op("aten::add", at + 70, 20, external_id=number + 1),
            launch(at + 75, 10, correlation=number + 1, external_id=number + 1),
            kernel(
                ADD,
                at + max(32 + gemm_us, 85),
                add_us,
                correlation=number + 1,
                **{"External id": number + 1},
            ),
        ]

    return body


def copy_before_product(
    copy_us: float, gemm_us: float, *, launch_name: str = "cudaMemcpyAsync"
) -> Body:
    """Return a body: compiled region [+5, +80] > aten::addmm [+20, +70] > copy, then GEMM."""

    def body(at: float, number: int) -> list[Row]:
        return [
            op("Torch-Compiled Region: 0/0", at + 5, 75),
            op("aten::addmm", at + 20, 50, external_id=number),
            launch(at + 22, 5, correlation=number, name=launch_name, external_id=number),
            launch(
                at + 40, 10, correlation=number + 1, name="cuLaunchKernelEx", external_id=number
            ),
            memcpy(
                at + 50,
                copy_us,
                name=DTOD,
                correlation=number,
                bytes=8192,
                **{"External id": number},
            ),
            kernel(
                NVJET, at + 52 + copy_us, gemm_us, correlation=number + 1, **{"External id": number}
            ),
        ]

    return body


def runtime(name: str, at: float, length: float) -> Row:
    """Return a runtime call that starts nothing."""
    return row(name, at, length, cat="cuda_runtime")


def cpu_only(count: int = 3) -> list[Row]:
    """Return steps of a CPU run: 900 us with aten::mm of 850 us inside "work"."""
    return loop(
        count,
        lambda at, _: [annotation("work", at + 10, 880), op("aten::mm", at + 20, 850)],
    )
