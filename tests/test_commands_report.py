"""The JSON answer: exactly the keys of the contract, and numbers that were worked out by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profcore.analysis import Analysis
from profcore.analysis.trust import CHECKS
from profcore.commands.report import report
from profcore.commands.text import summary
from profcore.experiment import Experiment
from profcore.recording import Environment, Timings
from profcore.rules import RULES, Evidence, Finding, Line, Verdict, check_all, judge
from tests import handmade

TIMINGS = Timings(
    taken="before",
    repeats=30,
    steps_per_repeat=10,
    step_ns_median=80_000.0,
    step_ns_p25=79_000.4,
    step_ns_p75=81_000.0,
    cpu_ns_median=70_000.0,
    cpu_ns_p25=69_000.0,
    cpu_ns_p75=71_000.0,
    first_call_ns=1_000_000,
)
VERDICT = Verdict(
    rule="B1",
    bound="balanced",
    sentence="Both matter.",
    arithmetic=(Line(text="40 of 80", table="steps"), Line(text="half", table="timings")),
    advice="Try both.",
)


def finding(**fields: Any) -> Finding:
    shown = {
        "rule": "X1",
        "title": "A rule",
        "family": "waiting",
        "kind": "note",
        "state": "clear",
        "observation": "",
        "meaning": "It means.",
        "advice": "Do.",
        "source": "here",
        "reason": "",
    }
    return Finding(**{**shown, **fields})  # type: ignore[arg-type]


def environment(device: str) -> Environment:
    return Environment(
        device=device,
        device_name="NVIDIA H200" if device != "cpu" else "Toy CPU",
        torch="2.13.0",
        python="3.11",
        platform="Linux",
        cpu_name="Toy CPU",
        cpu_threads=2,
        recorded_at="2026-01-01T00:00:00+00:00",
    )


@pytest.fixture
def plain() -> Analysis:
    return handmade.analysis_of(*handmade.plain_rows(), timings=TIMINGS)


def test_the_whole_answer(plain: Analysis) -> None:
    findings = [
        finding(
            state="fired",
            observation="Seen.",
            evidence=(
                Evidence(text="gemm", row=3, start_ns=60_000, duration_ns=30_500, step=2),
                Evidence(text="all of it"),
            ),
        ),
        finding(rule="X2", state="not_checked", reason="no steps were recorded"),
        finding(rule="X3"),
    ]
    answer = report(plain, findings, VERDICT)
    answer = json.loads(json.dumps(answer, allow_nan=False))
    source = answer.pop("source")
    assert set(source) == {"file", "bytes", "events", "set_aside", "repaired"}
    assert source["file"] == "handmade.json"
    trust = answer.pop("trust")
    assert [check["check"] for check in trust] == [name for name, _, _ in CHECKS]
    assert {tuple(check) for check in trust} == {("check", "title", "outcome", "text", "snippet")}
    assert trust[0] == {
        "check": "rows_set_aside",
        "title": "Rows that could not be read",
        "outcome": "fine",
        "text": "All 25 timed rows of the file are counted.",
        "snippet": None,
    }
    # Arithmetic: see handmade.plain_rows.
    relu = "void at::native::vectorized_elementwise_kernel<4, at::native::relu>(int)"
    assert answer == {
        "schema_version": 1,
        "device": {"name": "NVIDIA H200", "kind": "gpu", "count": 1},
        "totals": {
            "self_cpu_us": 310.0,
            "operator_cpu_us": 180.0,
            "gpu_kernel_sum_us": 120.0,
            "gpu_busy_us": 120.0,
            "gpu_span_us": 445.0,  # 60 to 505
            "kernels": 6,
            "launches": 6,
            "launch_delay_mean_us": 35.0,
            "memcpy_us": {},
            "profiler_overhead_us": 0.0,
        },
        "baseline": {
            "step_us_median": 80.0,
            "step_us_p25": 79.0,
            "step_us_p75": 81.0,
            "cpu_us_median": 70.0,
            "repeats": 30,
        },
        "steps": [
            {
                "number": number,
                "start_us": start_us,
                "cpu_us": 100.0,
                "gpu_busy_us": 40.0,
                "kernels": 2,
                "launches": 2,
            }
            for number, start_us in ((2, 0.0), (3, 200.0), (4, 400.0))
        ],
        "operators": [
            {
                "name": name,
                "calls": calls,
                "self_cpu_us": self_cpu_us,
                "total_cpu_us": total_cpu_us,
                "self_gpu_us": self_gpu_us,
                "total_gpu_us": total_gpu_us,
            }
            for name, calls, self_cpu_us, total_cpu_us, self_gpu_us, total_gpu_us in (
                ("aten::addmm", 3, 90.0, 120.0, 90.0, 90.0),
                ("work", 3, 90.0, 270.0, 0.0, 120.0),
                ("aten::relu", 3, 45.0, 60.0, 30.0, 30.0),
                ("cudaLaunchKernel", 6, 45.0, 45.0, 0.0, 0.0),
                ("ProfilerStep*", 3, 30.0, 300.0, 0.0, 120.0),
                ("cudaDeviceSynchronize", 1, 10.0, 10.0, 0.0, 0.0),
            )
        ],
        "kernels": [
            {
                "name": "gemm_64x64",
                "short_name": "gemm_64x64",
                "calls": 3,
                "total_us": 90.0,
                "mean_us": 30.0,
                "min_us": 30.0,
                "max_us": 30.0,
            },
            {
                "name": relu,
                "short_name": plain.kernels["short_name"][1],
                "calls": 3,
                "total_us": 30.0,
                "mean_us": 10.0,
                "min_us": 10.0,
                "max_us": 10.0,
            },
        ],
        "findings": [
            {
                "rule": "X1",
                "kind": "note",
                "state": "fired",
                "observation": "Seen.",
                "meaning": "It means.",
                "advice": "Do.",
                "evidence": [
                    {"text": "gemm", "start_us": 60.0, "duration_us": 30.5, "step": 2},
                    {"text": "all of it", "start_us": None, "duration_us": None, "step": None},
                ],
            },
            {
                "rule": "X2",
                "kind": "note",
                "state": "not_checked",
                "observation": "no steps were recorded",
                "meaning": "It means.",
                "advice": "Do.",
                "evidence": [],
            },
            {
                "rule": "X3",
                "kind": "note",
                "state": "clear",
                "observation": "",
                "meaning": "It means.",
                "advice": "Do.",
                "evidence": [],
            },
        ],
        "verdict": {"rule": "B1", "sentence": "Both matter.", "arithmetic": ["40 of 80", "half"]},
    }


def test_what_was_not_recorded_is_null_and_not_zero() -> None:
    analysis = handmade.analysis_of(*handmade.lost_gpu_rows())
    answer = report(analysis, [], VERDICT)
    totals = answer["totals"]
    for name in ("gpu_kernel_sum_us", "gpu_busy_us", "gpu_span_us", "launch_delay_mean_us"):
        assert totals[name] is None
    assert (totals["kernels"], totals["launches"]) == (0, 1)
    assert answer["baseline"] is None
    assert answer["device"] == {"name": "NVIDIA H200", "kind": "gpu", "count": 0}


def test_copies_by_direction() -> None:
    analysis = handmade.analysis_of(*handmade.graph_rows())
    assert report(analysis, [], VERDICT)["totals"]["memcpy_us"] == {"DtoD": 5.0}


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cuda:0", {"name": "NVIDIA H200", "kind": "gpu", "count": 1}),
        ("cpu", {"name": "Toy CPU", "kind": "cpu", "count": 1}),
    ],
)
def test_a_recording_knows_its_device(device: str, expected: dict[str, Any]) -> None:
    analysis = handmade.analysis_of(*handmade.plain_rows(), environment=environment(device))
    assert report(analysis, [], VERDICT)["device"] == expected


def test_two_devices_are_counted() -> None:
    analysis = handmade.analysis_of(*handmade.two_device_rows())
    assert report(analysis, [], VERDICT)["device"]["count"] == 2


def test_a_trace_without_a_device_is_a_cpu_trace() -> None:
    analysis = Analysis(handmade.trace_of(*handmade.cpu_rows(), devices=()))
    assert report(analysis, [], VERDICT)["device"] == {"name": None, "kind": "cpu", "count": 1}


def test_every_rule_is_in_the_answer(plain: Analysis) -> None:
    answer = report(plain, check_all(plain), judge(plain))
    assert [row["rule"] for row in answer["findings"]] == [rule.id for rule in RULES]
    assert {row["state"] for row in answer["findings"]} <= {"fired", "clear", "not_checked"}
    assert {row["kind"] for row in answer["findings"]} <= {"fact", "note", "warning", "trust"}
    for row in answer["findings"]:
        assert row["observation"] or row["state"] == "clear"


class TestText:
    def test_a_recording_of_a_gpu(self) -> None:
        analysis = handmade.analysis_of(
            *handmade.plain_rows(),
            timings=TIMINGS,
            experiment=Experiment(),
            environment=environment("cuda:0"),
        )
        findings = [
            finding(state="fired", observation="Seen."),
            finding(state="not_checked", reason="why not"),
        ]
        text = summary(analysis, findings, VERDICT)
        # Unprofiled 80 us a step, of which the GPU works 40.
        for line in (
            "matmul_add · 64 · bf16 · eager · warm-up 3",
            "recorded on NVIDIA H200 (torch 2.13.0), 2026-01-01T00:00:00+00:00",
            "Both matter.",
            "  40 of 80",
            "  Try: Try both.",
            "step without the profiler  80.0 µs",
            "GPU busy                   50.0 % of that",
            "launches per step          2",
            "   90.0 µs     120 µs   90.0 µs      3  aten::addmm",
            "  90.0 µs  75.0 %  30.0 µs      3  gemm_64x64",
            "note X1: A rule. Seen.",
            "not seen: 0 rules; not checked: 1 (--json says why)",
        ):
            assert line in text.splitlines(), text
        assert text.endswith("\n")
        assert not text.endswith("\n\n")

    def test_long_tables_and_names_are_cut(self) -> None:
        rows = [
            handmade.op(f"operator {number} {'x' * 200}", 100 * number, 50) for number in range(11)
        ]
        text = summary(handmade.analysis_of(*rows), [], VERDICT)
        assert "  and 3 more" in text.splitlines()
        assert max(len(line) for line in text.splitlines()) < 140

    def test_an_empty_trace_has_a_text(self) -> None:
        analysis = handmade.analysis_of(handmade.op("aten::mm", 0, 1))
        text = summary(analysis, check_all(analysis), judge(analysis))
        assert "aten::mm" in text
