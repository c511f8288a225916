"""What a machine can record: plain data, found out by a child process that imports torch."""

from __future__ import annotations

import msgspec


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One place where an experiment can run."""

    id: str
    """`cuda:0`, `cuda:1`, ..., or `cpu`."""
    name: str
    memory_bytes: int | None = None
    """All of it, free or not; None when unknown."""
    compute_capability: str | None = None
    multiprocessors: int | None = None
    can_profile: bool
    """Whether torch's profiler says that it can record this kind of device."""

    @property
    def is_gpu(self) -> bool:
        """Whether this is not the CPU."""
        return self.id != "cpu"


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of this machine and the versions that matter."""

    devices: tuple[Device, ...]
    """GPUs first, the CPU last."""
    torch: str
    cuda: str | None
    """CUDA (or ROCm) version torch was built with; None in a CPU build."""
    driver: str | None
    """Version of the NVIDIA driver; None where there is none."""
    python: str
    platform: str
    cpu_threads: int
    """Threads torch uses for CPU operators."""
    cpu_flops_per_s: dict[str, float]
    """Matrix rate of this CPU by number format, measured on small matrices by the probe."""
    can_compile_cpu: bool
    """Whether a C++ compiler is there, which torch.compile needs on the CPU."""
    notes: tuple[str, ...] = ()
    """Sentences worth knowing: a driver without a usable torch build and the like."""

    @property
    def gpu(self) -> Device | None:
        """The first GPU, or None."""
        return next((device for device in self.devices if device.is_gpu), None)

    def find(self, device_id: str) -> Device | None:
        """Return the device with this id, or None."""
        return next((device for device in self.devices if device.id == device_id), None)

    def resolve(self, device: str) -> Device | None:
        """Return the device an experiment names; `auto` is the first GPU, else the CPU."""
        if device == "auto":
            return self.devices[0] if self.devices else None
        return self.find(device)
