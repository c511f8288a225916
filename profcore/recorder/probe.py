"""What this machine can record, found out by trying. It touches CUDA: run it in its own process."""

from __future__ import annotations

import platform
import shutil
import time
from typing import TYPE_CHECKING, Final

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, supported_activities

from profcore.machine import Device, Machine
from profcore.recorder.environment import cpu_name, driver_version, memory_bytes
from profcore.units import NS_PER_S

if TYPE_CHECKING:
    from profcore.experiment import Dtype

_RATE_SIZE: Final = 256
"""Rows of the matrices that measure the CPU: 34 MFLOP, a moment in every format."""
_RATE_CALLS: Final = 5
_RATE_DTYPES: Final[dict[Dtype, torch.dtype]] = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}


def probe() -> Machine:
    """Describe this machine: its devices, versions, and the speed of its CPU."""
    activities = supported_activities()
    devices = [
        _gpu(index, can_profile=ProfilerActivity.CUDA in activities)
        for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    ]
    driver = driver_version()
    notes = []
    if driver and not devices:
        notes.append(
            f"There is an NVIDIA driver ({driver}) but this torch ({torch.__version__}) cannot use "
            "a GPU: install a CUDA build of torch that this driver supports."
        )
    cpu = Device(id="cpu", name=cpu_name(), memory_bytes=memory_bytes(), can_profile=True)
    return Machine(
        devices=(*devices, cpu),
        torch=str(torch.__version__),
        cuda=torch.version.cuda or torch.version.hip,
        driver=driver,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpu_threads=torch.get_num_threads(),
        cpu_flops_per_s={name: _cpu_rate(dtype) for name, dtype in _RATE_DTYPES.items()},
        can_compile_cpu=any(shutil.which(name) for name in ("g++", "clang++", "c++", "cl")),
        notes=tuple(notes),
    )


def _gpu(index: int, *, can_profile: bool) -> Device:
    properties = torch.cuda.get_device_properties(index)
    return Device(
        id=f"cuda:{index}",
        name=properties.name,
        memory_bytes=properties.total_memory,
        compute_capability=f"{properties.major}.{properties.minor}",
        multiprocessors=properties.multi_processor_count,
        can_profile=can_profile,
    )


def _cpu_rate(dtype: torch.dtype) -> float:
    """Return FLOP/s of the fastest of a few small products; the first ones load the library."""
    matrix = torch.ones(_RATE_SIZE, _RATE_SIZE, dtype=dtype)  # (256, 256)
    elapsed_ns = []
    for _ in range(_RATE_CALLS):
        begin_ns = time.perf_counter_ns()
        torch.mm(matrix, matrix)
        elapsed_ns.append(max(time.perf_counter_ns() - begin_ns, 1))
    return float(2 * _RATE_SIZE**3 * NS_PER_S // min(elapsed_ns))


def check_recording(device_id: str) -> str | None:
    """Record one tiny operator on a device; return None, or one sentence on what is missing."""
    is_gpu = device_id != "cpu"
    activities = [ProfilerActivity.CPU]
    if is_gpu:
        if ProfilerActivity.CUDA not in supported_activities():
            return (
                f"This torch ({torch.__version__}) was built without CUPTI, so its profiler cannot "
                "record a GPU: install the official CUDA build."
            )
        activities.append(ProfilerActivity.CUDA)
        torch.cuda.set_device(torch.device(device_id))
    tensor = torch.ones(64, device=device_id)
    with profile(activities=activities) as profiler:
        tensor.add(1)
        if is_gpu:
            torch.cuda.synchronize()
    events = profiler.events() or []
    if not any(event.name == "aten::add" for event in events):
        return "The profiler recorded no operator: another profiler may hold it; close it."
    if is_gpu and not any(event.device_type == DeviceType.CUDA for event in events):
        return (
            "The profiler recorded no kernel. Usual causes: another profiler (Nsight) holds the "
            "GPU; a container without the right to trace (start it with --cap-add SYS_ADMIN, or "
            "set NVreg_RestrictProfilingToAdminUsers=0 on the host); WSL."
        )
    return None
