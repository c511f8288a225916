"""Facts about the machine and the device, as torch and the driver tell them."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch

from profcore.recording import Clocks, Environment

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_CPUINFO: Final = Path("/proc/cpuinfo")
_MILLIWATT_PER_WATT: Final = 1000.0


def describe_environment(device: torch.device, clocks: Clocks | None) -> Environment:
    """Collect the facts. It touches the device: in a cold start call it after the recording."""
    is_gpu = device.type == "cuda"
    properties = torch.cuda.get_device_properties(device) if is_gpu else None
    return Environment(
        device=str(device),
        device_name=properties.name if properties else cpu_name(),
        device_memory_bytes=properties.total_memory if properties else memory_bytes(),
        compute_capability=f"{properties.major}.{properties.minor}" if properties else None,
        multiprocessors=properties.multi_processor_count if properties else None,
        torch=str(torch.__version__),
        cuda=torch.version.cuda or torch.version.hip,
        driver=driver_version() if is_gpu else None,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        cpu_name=cpu_name(),
        cpu_threads=torch.get_num_threads(),
        boot=boot_mark(),
        clocks=clocks,
        recorded_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def cpu_name() -> str:
    """Return the processor's model name, or what the platform calls it."""
    with contextlib.suppress(OSError):
        for line in _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def boot_mark() -> str:
    """Return eight hex digits of this machine's present run, or an empty text where unknown."""
    try:
        boot_id = _BOOT_ID.read_bytes()
    except OSError:
        return ""
    # Hashed: a recording may be shown to others.
    return hashlib.sha256(boot_id).hexdigest()[:8]


def memory_bytes() -> int | None:
    """Return the machine's memory, or None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return None


def driver_version() -> str | None:
    """Return the NVIDIA driver's version, or None without one."""
    with _nvml() as nvml:
        return str(nvml.nvmlSystemGetDriverVersion()) if nvml else None


def read_clocks(device: torch.device) -> Clocks | None:
    """Return clock facts of a CUDA device; None where NVML does not tell them."""
    with _nvml() as nvml:
        if nvml is None:
            return None
        try:
            handle = _nvml_handle(nvml, device)
            own = os.getpid()
            users = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            return Clocks(
                sm_mhz=nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
                sm_max_mhz=nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM),
                memory_mhz=nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
                temperature_c=nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
                power_w=nvml.nvmlDeviceGetPowerUsage(handle) / _MILLIWATT_PER_WATT,
                # In a container the driver may list this process under another number: then the
                # one entry that is there is this one.
                other_processes=max(0, len(users) - 1)
                if all(user.pid != own for user in users)
                else sum(user.pid != own for user in users),
            )
        except nvml.NVMLError:  # a virtual or partitioned GPU hides some of these
            return None


def _nvml_handle(nvml: Any, device: torch.device) -> Any:
    """Find the device by UUID: CUDA_VISIBLE_DEVICES renumbers torch's devices, not NVML's."""
    uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
    if uuid is not None:
        return nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    return nvml.nvmlDeviceGetHandleByIndex(device.index or 0)


@contextlib.contextmanager
def _nvml() -> Iterator[Any]:
    """Yield the initialised NVML bindings, or None where there is no NVIDIA driver."""
    try:
        import pynvml
    except ImportError:
        yield None
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield None
        return
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()
