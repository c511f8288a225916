"""Recordings made by hand, as folders on disk: what the page tests open.

The times are those of a small matrix product and a sum on a big GPU: the CPU takes some 90 µs per
profiled step, the GPU works for 5 µs of it, and without the profiler a step takes 33 µs.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

from profcore.experiment import Experiment
from profcore.files import write_json, write_text
from profcore.recording import (
    ENVIRONMENT_FILE,
    EXPERIMENT_FILE,
    LOG_FILE,
    STATUS_FILE,
    TABLE_FILE,
    TIMINGS_FILE,
    TITLE_FILE,
    TRACE_FILE,
    Environment,
    State,
    Status,
    Timings,
)
from tests.trace_bytes import Row, annotation, kernel, launch, op, row, step, trace_bytes

if TYPE_CHECKING:
    from pathlib import Path

GEMM = "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add"
    "<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)"
)
STEP_US = 120


def gpu_rows(
    *, steps: int = 5, first_us: int = 95, gemm: str = GEMM, gemm_us: float = 3.0
) -> list[Row]:
    """Return the rows of a matmul and add: per step two launches, a GEMM and a sum."""
    rows: list[Row] = []
    begin = 0.0
    for number in range(steps):
        width = first_us if number == 0 else 90 + number % 3
        first, second = 10 * number + 1, 10 * number + 2
        rows += [
            step(number + 2, begin, width),
            annotation("matmul_add", begin + 3, width - 5),
            op("aten::matmul", begin + 6, 40, external_id=first),
            op("aten::mm", begin + 8, 36, external_id=first),
            launch(begin + 30, 8, correlation=first, external_id=first),
            op("aten::add", begin + 50, 24, external_id=second),
            launch(begin + 60, 7, correlation=second, external_id=second),
            kernel(gemm, begin + 42, gemm_us, correlation=first, grid=[8, 1, 1]),
            kernel(ADD, begin + 72, 2, correlation=second, grid=[4, 1, 1]),
        ]
        begin += max(STEP_US, width + 30, gemm_us)  # the work of two steps never overlaps
    rows.append(row("cudaDeviceSynchronize", begin, 12, cat="cuda_runtime"))
    return rows


def cpu_rows(*, steps: int = 5) -> list[Row]:
    """Return the rows of the same program on a CPU."""
    rows: list[Row] = []
    for number in range(steps):
        begin = 400 * number
        rows += [
            step(number + 2, begin, 380),
            op("aten::matmul", begin + 10, 300),
            op("aten::mm", begin + 12, 290),
            op("aten::add", begin + 320, 30),
        ]
    return rows


H200 = Environment(
    device="cuda:0",
    device_name="NVIDIA H200",
    device_memory_bytes=150_000_000_000,
    compute_capability="9.0",
    multiprocessors=132,
    torch="2.11.0+cu130",
    cuda="13.0",
    driver="580.65",
    python="3.11.9",
    platform="Linux",
    cpu_name="Xeon",
    cpu_threads=16,
    recorded_at="2026-11-01T10:20:30Z",
)
CPU = Environment(
    device="cpu",
    device_name="AMD EPYC",
    torch="2.13.0+cpu",
    python="3.11.9",
    platform="Linux",
    cpu_name="AMD EPYC",
    cpu_threads=2,
    recorded_at="2026-11-02T11:22:33Z",
)
FAST = Timings(
    taken="before",
    repeats=20,
    steps_per_repeat=100,
    step_ns_median=33_000.0,
    step_ns_p25=32_500.0,
    step_ns_p75=34_100.0,
    cpu_ns_median=31_000.0,
    cpu_ns_p25=30_500.0,
    cpu_ns_p75=32_000.0,
    first_call_ns=120_000_000,
)


def write_recording(
    folder: Path,
    *,
    rows: list[Row] | None = None,
    experiment: Experiment | None = None,
    environment: Environment | None = H200,
    timings: Timings | None = FAST,
    state: State = "done",
    title: str = "",
    trace: bytes | None = None,
    **status: Any,
) -> Path:
    """Write the folder of a recording that has ended and return it."""
    folder.mkdir(parents=True)
    write_json(folder / EXPERIMENT_FILE, experiment or Experiment(device="cuda:0"))
    if environment is not None:
        write_json(folder / ENVIRONMENT_FILE, environment)
    if timings is not None:
        write_json(folder / TIMINGS_FILE, timings)
    if state == "done":
        packed = trace or gzip.compress(trace_bytes(*(rows or gpu_rows())))
        (folder / TRACE_FILE).write_bytes(packed)
        write_text(folder / TABLE_FILE, "Name  Self CPU\naten::mm  36.000us\n")
    if title:
        write_text(folder / TITLE_FILE, title + "\n")
    write_text(folder / LOG_FILE, "")
    known: dict[str, Any] = {"created_at": "2026-11-02T11:22:33Z", "run_s": 4.2}
    write_json(folder / STATUS_FILE, Status(state=state, **(known | status)))
    return folder


def write_samples(root: Path) -> None:
    """Write a folder of samples: an eager run of size 64, the same at 4096, and a cold start."""
    large = FAST.__class__(
        **{name: getattr(FAST, name) for name in FAST.__struct_fields__}
        | {"step_ns_median": 195_000.0, "step_ns_p25": 194_000.0, "step_ns_p75": 197_000.0}
    )
    write_recording(root / "h200-matmul-add-64", title="Small product: the GPU waits")
    write_recording(
        root / "h200-matmul-add-4096",
        title="Large product: the GPU is the limit",
        experiment=Experiment(size=4096, device="cuda:0"),
        rows=gpu_rows(gemm_us=190.0),
        timings=large,
    )
    write_recording(
        root / "h200-matmul-add-64-cold",
        title="Small product, cold start",
        experiment=Experiment(warmup=0, device="cuda:0"),
        rows=gpu_rows(first_us=120_000),
    )
    ids = ["h200-matmul-add-64", "h200-matmul-add-4096", "h200-matmul-add-64-cold"]
    write_text(root / "order.txt", "\n".join(ids) + "\n")
