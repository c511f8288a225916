"""The rules on traces from other people's programs, where these are present."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from profcore.analysis import Analysis
from profcore.rules import RULES, check_all, judge
from profcore.trace import read
from tests import reference

if TYPE_CHECKING:
    from profcore.rules import Finding

pytestmark = [
    pytest.mark.traces,
    pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON),
]

PUBLIC = "public/"
HTA = f"{PUBLIC}facebookresearch__HolisticTraceAnalysis__"
KERNELFORGE = f"{PUBLIC}marcalph__kernelforge__"
TRACELENS = f"{PUBLIC}AMD-AGI__TraceLens__"

FIRES: tuple[tuple[str, set[str]], ...] = (
    # PyTorch's own sample of 2020: data loader, single-tensor optimizer, whole microseconds
    (
        f"{PUBLIC}pytorch__kineto__resnet50_num_workers_0~worker0.pt.trace.json.gz",
        {"S6", "O1", "O2", "Q3", "Q5", "C3", "C4", "E4"},
    ),
    # CUDA graphs, several streams, communication
    (f"{HTA}trace_diff~test~test.json.gz", {"R4", "E11", "N2", "Q16", "G5", "S7", "O5", "Q3"}),
    # five steps of a V100, nanoseconds
    (f"{HTA}ns_resolution_trace~rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz", {"G3", "V4"}),
    # a transformer layer in fp32 on a GH200
    (
        f"{KERNELFORGE}lambda-logs~log~transformer~192-222-51-72_4336.1774353536539013415.pt.trace.json",
        {"N1", "E7", "L2", "D4"},
    ),
    # flash attention, 436 kernels without a launch
    (
        f"{TRACELENS}h100~Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        {"A4", "A5", "A6", "A7", "Q3", "D2", "D3", "E10", "E8"},
    ),
    # buffer requests inside the recording, short overlaps on one stream
    (f"{TRACELENS}b200~eager_trace.json.gz", {"G1", "G2", "Q4", "C6", "K1", "K2", "K3", "Q6"}),
    # Triton on ROCm
    (f"{TRACELENS}torch_compile_triton~trace.json.gz", {"L7", "K1"}),
    # a GPU is named, nothing was recorded
    (f"{PUBLIC}harryjmoss__particle_transformer__profiler_trace.json", {"Q1", "Q19"}),
    (f"{HTA}amd_trace~mi250_minitoy_train_ROCm6_2_kineto.json.gz", {"Q7", "Q15", "T1"}),
)


@cache
def findings(name: str) -> dict[str, Finding]:
    analysis = Analysis(read(reference.FOLDER / name))
    judge(analysis)
    return {finding.rule: finding for finding in check_all(analysis)}


@pytest.mark.parametrize(("name", "rules"), FIRES, ids=[name.split("__")[-1] for name, _ in FIRES])
def test_rules_fire_on_what_other_people_recorded(name: str, rules: set[str]) -> None:
    fired = {rule for rule, finding in findings(name).items() if finding.state == "fired"}
    assert rules <= fired


@pytest.mark.parametrize("name", [name for name, _ in FIRES], ids=lambda name: name.split("__")[-1])
def test_every_rule_answers_in_sentences(name: str) -> None:
    answers = findings(name)
    assert list(answers) == [rule.id for rule in RULES]
    for finding in answers.values():
        said = finding.observation or finding.reason
        assert not said or said.endswith(".")
        assert "nan" not in said.split()
        assert "inf" not in said.split()
