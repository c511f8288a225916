"""Costs by arithmetic, and what a machine refuses before anything starts."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from profcore import workloads
from profcore.devices import vendor_peaks
from profcore.estimate import estimate, refusal
from profcore.experiment import WORKLOAD_NAMES, Experiment
from profcore.machine import Device, Machine

GIB = 1024**3
LAPTOP = Machine(
    devices=(Device(id="cpu", name="Some CPU", memory_bytes=16 * GIB, can_profile=True),),
    torch="2.13.0",
    cuda=None,
    driver=None,
    python="3.12.1",
    platform="Linux x86_64",
    cpu_threads=4,
    cpu_flops_per_s={"fp32": 100e9, "tf32": 100e9, "bf16": 2e9, "fp16": 2e9},
    can_compile_cpu=True,
)
SERVER = msgspec.structs.replace(
    LAPTOP,
    devices=(
        Device(id="cuda:0", name="NVIDIA T4", memory_bytes=2 * GIB, can_profile=True),
        *LAPTOP.devices,
    ),
)


def test_registry_has_the_workloads_the_knob_offers_in_that_order() -> None:
    assert tuple(workload.name for workload in workloads.WORKLOADS) == WORKLOAD_NAMES


def test_costs_of_a_matrix_product_and_sum() -> None:
    # 2·64³ = 524,288 for the product, 64² = 4,096 for the sum.
    # Four 64×64 bf16 tensors move: 4 · 4,096 · 2 bytes.
    cost = estimate(Experiment(size=64))
    assert cost.step_flops == 528_384
    assert cost.step_bytes == 32_768
    # Five of them are alive (x, w, b, product, sum), and 64 MiB for libraries.
    assert cost.memory_bytes == 5 * 8_192 + 64 * 1024**2


def test_a_vector_bias_moves_one_row_instead_of_a_matrix() -> None:
    matrix = estimate(Experiment(size=64)).step_bytes
    vector = estimate(Experiment(size=64, bias="vector")).step_bytes
    assert matrix - vector == (64 * 64 - 64) * 2


def test_a_batch_costs_that_many_products() -> None:
    one = estimate(Experiment(workload="batched_matmul", batch=1, size=64))
    eight = estimate(Experiment(workload="batched_matmul", batch=8, size=64))
    assert one.step_flops == estimate(Experiment(size=64)).step_flops
    assert eight.step_flops == 8 * one.step_flops
    assert eight.step_bytes == 8 * one.step_bytes


def test_linear_reads_input_and_weight_and_writes_the_result() -> None:
    # Three 32×32 fp32 matrices and a bias of 32: (3 · 1,024 + 32) · 4 bytes.
    cost = estimate(Experiment(workload="linear", size=32, dtype="fp32"))
    assert cost.step_bytes == 12_416
    assert cost.step_flops == 2 * 32**3 + 32**2


def test_fusing_the_chain_moves_4_tensors_instead_of_21() -> None:
    eager = estimate(Experiment(workload="elementwise_chain", size=100))
    compiled = estimate(Experiment(workload="elementwise_chain", size=100, compile="default"))
    assert eager.step_bytes == 21 * 10_000 * 2
    assert compiled.step_bytes == 4 * 10_000 * 2
    assert eager.step_flops == compiled.step_flops == 8 * 10_000


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
@pytest.mark.parametrize("size", [16, 16_384])
def test_every_workload_has_costs_at_both_ends(name: str, size: int) -> None:
    cost = estimate(Experiment(workload=name, size=size))
    assert cost.step_flops > 0
    assert cost.memory_bytes > cost.step_bytes // 21 * 3


def test_nothing_is_refused_while_the_machine_is_unknown() -> None:
    assert refusal(Experiment(size=16_384, device="cpu"), None, run_time_s=300) is None


def test_small_things_run_everywhere() -> None:
    assert refusal(Experiment(), LAPTOP, run_time_s=300) is None
    assert refusal(Experiment(), SERVER, run_time_s=300) is None


def test_a_large_product_on_a_cpu_is_refused_with_its_time() -> None:
    # 2·16384³ + 16384² = 8.796 TFLOP; half of 100 GFLOP/s counts: 176 s a step;
    # 3 warm-up + 6 unrecorded + 5 recorded calls: 2,463 s.
    sentence = refusal(Experiment(size=16_384, dtype="fp32"), LAPTOP, run_time_s=300)
    assert sentence == (
        "One step is 8.80 TFLOP in fp32; on this CPU the run would take about 2,463 s and the "
        "limit is 300 s: choose a smaller size."
    )


def test_a_16_bit_format_on_a_cpu_is_told_the_cure() -> None:
    sentence = refusal(Experiment(size=4096), LAPTOP, run_time_s=300)
    assert sentence is not None
    assert "or fp32, which CPUs multiply faster" in sentence
    assert refusal(Experiment(size=4096, dtype="fp32"), LAPTOP, run_time_s=300) is None


def test_what_does_not_fit_is_refused_with_its_size() -> None:
    # Five 16384×16384 fp32 tensors are 5.00 GiB; with libraries and context 5.65 GiB.
    sentence = refusal(Experiment(size=16_384, dtype="fp32"), SERVER, run_time_s=300)
    assert sentence == (
        "This needs about 5.65 GiB and NVIDIA T4 has 2.00 GiB; choose a smaller size or batch."
    )


def test_a_device_that_is_not_there_is_refused_with_those_that_are() -> None:
    sentence = refusal(Experiment(device="cuda:1"), SERVER, run_time_s=300)
    assert sentence == "This machine has no device cuda:1; choose one of cuda:0, cpu."


def test_compiling_on_a_cpu_needs_a_compiler() -> None:
    bare = msgspec.structs.replace(LAPTOP, can_compile_cpu=False)
    sentence = refusal(Experiment(compile="default"), bare, run_time_s=300)
    assert sentence is not None
    assert "install g++" in sentence
    assert refusal(Experiment(), bare, run_time_s=300) is None


@pytest.mark.parametrize(
    ("name", "bf16_tflops"),
    [
        ("NVIDIA H200", 989.5),
        ("NVIDIA GH200 480GB", 989.5),
        ("NVIDIA H100 PCIe", 756),
        ("NVIDIA H100 80GB HBM3", 989.5),
        ("NVIDIA A100-SXM4-80GB", 312),
        ("Tesla T4", None),
        ("NVIDIA A10G", 125),
    ],
)
def test_peaks_by_the_names_drivers_give(name: str, bf16_tflops: float | None) -> None:
    peaks = vendor_peaks(name)
    assert peaks is not None
    assert peaks.flops_per_s.get("bf16") == (bf16_tflops and bf16_tflops * 1e12)


@pytest.mark.parametrize("name", ["AMD EPYC", "NVIDIA GeForce GTX 1080", "", "NVIDIA A1000"])
def test_no_peaks_for_what_is_not_listed(name: str) -> None:
    assert vendor_peaks(name) is None


def test_costs_need_no_torch() -> None:
    code = (
        "import sys; from profcore import estimate, experiment; "
        "estimate.estimate(experiment.Experiment()); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
