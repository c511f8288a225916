"""What the object round the event list says: devices, options, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profcore.trace.model import DeviceProperties
from profcore.trace.whole import whole_numbers

if TYPE_CHECKING:
    from profcore.trace.schema import Header

_OPTIONS: Final = ("record_shapes", "with_stack", "profile_memory", "with_flops")
_VERSIONS: Final = (
    "cuda_driver_version",
    "cuda_runtime_version",
    "cupti_version",
    "hip_driver_version",
    "hip_runtime_version",
)
_DEVICE_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "memory_bytes": ("totalGlobalMem",),
    "compute_major": ("computeMajor",),
    "compute_minor": ("computeMinor",),
    "multiprocessors": ("numSms",),
    "shared_memory_per_block_bytes": ("sharedMemPerBlock",),
    "shared_memory_per_block_optin_bytes": ("sharedMemPerBlockOptin",),
    # The second name is ROCm's.
    "shared_memory_per_multiprocessor_bytes": (
        "sharedMemPerMultiprocessor",
        "maxSharedMemoryPerMultiProcessor",
    ),
    "registers_per_multiprocessor": ("regsPerMultiprocessor",),
    "threads_per_multiprocessor": ("maxThreadsPerMultiprocessor",),
    "warp_size": ("warpSize",),
}


def devices(header: Header) -> tuple[DeviceProperties, ...]:
    """Return the entries of `deviceProperties`; entries that are no objects are passed over."""
    listed = header.deviceProperties
    entries = listed if isinstance(listed, list) else []
    return tuple(_device(entry, index) for index, entry in enumerate(entries) if _is_dict(entry))


def options(header: Header) -> frozenset[str]:
    """Return the recording options that were on; a writer leaves out those that were off."""
    return frozenset(name for name in _OPTIONS if getattr(header, name))


def versions(header: Header) -> dict[str, str]:
    """Return the versions that the file gives, as text."""
    given = {name: getattr(header, name) for name in _VERSIONS}
    return {name: str(value) for name, value in given.items() if isinstance(value, int | str)}


def merged(first: Header, last: Header) -> Header:
    """Join the keys before the events with those after them."""
    for name in first.__struct_fields__:
        if name != "traceEvents" and getattr(first, name) is None:
            setattr(first, name, getattr(last, name))
    return first


def _is_dict(entry: Any) -> bool:
    return isinstance(entry, dict)


def _device(entry: dict[str, Any], index: int) -> DeviceProperties:
    known: dict[str, int | None] = {}
    for field, spellings in _DEVICE_FIELDS.items():
        values = [entry[spelling] for spelling in spellings if spelling in entry]
        known[field] = _whole(values[0]) if values else None
    number = _whole(entry.get("id"))
    name = entry.get("name")
    return DeviceProperties(
        id=index if number is None else number,
        name=name if isinstance(name, str) else "",
        **known,
    )


def _whole(value: Any) -> int | None:
    number = int(whole_numbers([value])[0][0])
    return None if number < 0 else number
