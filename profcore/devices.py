"""What a device can do at most, and the vendors' figures for GPUs that have a name.

Vendor figures are dense (without structured sparsity), at boost clock; real programs reach a part
of them. torch's own table lists some of these with sparsity, which doubles them.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import msgspec

_PER_TERA: Final = 1e12

Rate = Annotated[float, msgspec.Meta(gt=0)]


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The highest rates of one device, and where they come from."""

    source: Literal["measured", "table"]
    source_text: str
    """One sentence for people: how they were measured, or whose figures they are."""
    device_name: str
    driver: str | None = None
    torch: str = ""
    """Empty in a table."""
    flops_per_s: dict[str, Rate]
    """Of a dense matrix product by number format; one without an entry is not known."""
    memory_bytes_per_s: Rate
    """Of a large copy inside the device: bytes read and bytes written."""
    launch_ns: float | None = None
    """CPU time to launch one kernel that does nothing; None in a table and on a CPU."""
    measured_at: str = ""
    """UTC, ISO 8601; empty in a table."""

    @property
    def is_measured(self) -> bool:
        """Whether this very device showed these rates."""
        return self.source == "measured"


# fmt: off
# pattern in the device name, name, TFLOP/s dense: bf16, fp16, tf32, fp32; memory TB/s; data sheet.
# The first match wins: a longer name stands before the shorter one that it contains.
_ROWS: Final[tuple[tuple[str, str, float, float, float, float, float, str], ...]] = (
    (r"\bB200\b", "NVIDIA B200", 2250, 2250, 1125, 75, 7.7, "HGX B200"),
    (r"\bGH200\b", "NVIDIA GH200", 989.5, 989.5, 494.7, 66.9, 4.0, "GH200, HBM3 edition"),
    (r"\bH200\b", "NVIDIA H200", 989.5, 989.5, 494.7, 66.9, 4.8, "H200 SXM"),
    (r"\bH100 PCIe\b", "NVIDIA H100 PCIe", 756, 756, 378, 51, 2.0, "H100 PCIe"),
    (r"\bH100\b", "NVIDIA H100 SXM", 989.5, 989.5, 494.7, 66.9, 3.35, "H100 SXM"),
    (r"\bA100.*80GB", "NVIDIA A100 80GB", 312, 312, 156, 19.5, 2.039, "A100 SXM 80GB"),
    (r"\bA100\b", "NVIDIA A100 40GB", 312, 312, 156, 19.5, 1.555, "A100 SXM 40GB"),
    (r"\bL40S\b", "NVIDIA L40S", 362, 362, 183, 91.6, 0.864, "L40S"),
    (r"\bL4\b", "NVIDIA L4", 121, 121, 60, 30.3, 0.3, "L4"),
    (r"\bA10G?\b", "NVIDIA A10", 125, 125, 62.5, 31.2, 0.6, "A10"),
    (r"\bV100\b", "NVIDIA V100", 0, 125, 0, 15.7, 0.9, "V100 SXM2"),
    (r"\bT4\b", "NVIDIA T4", 0, 65, 0, 8.1, 0.32, "T4"),
    (r"\bRTX 4090\b", "GeForce RTX 4090", 165.2, 165.2, 82.6, 82.6, 1.008, "Ada white paper"),
    (r"\bRTX 3090\b(?! Ti)", "GeForce RTX 3090", 71, 71, 35.6, 35.6, 0.936, "GA102 white paper"),
)
# fmt: on


def ceilings_with(
    measured: Ceilings | None, device_name: str | None, dtype: str | None = None
) -> Ceilings | None:
    """Return what was measured on a device, else the vendor's figures, else None.

    Args:
        measured: On that very device.
        device_name: None: not known.
        dtype: Only ceilings that have a rate for this number format count.
    """
    listed = vendor_peaks(device_name) if device_name else None
    for ceilings in (measured, listed):
        if ceilings is not None and (dtype is None or dtype in ceilings.flops_per_s):
            return ceilings
    return None


def vendor_peaks(device_name: str) -> Ceilings | None:
    """Return the vendor's figures for a device by its name, or None when it is not listed."""
    for pattern, name, bf16, fp16, tf32, fp32, memory, sheet in _ROWS:
        if re.search(pattern, device_name, re.IGNORECASE):
            rates = {"bf16": bf16, "fp16": fp16, "tf32": tf32, "fp32": fp32}
            return Ceilings(
                source="table",
                source_text=f"NVIDIA's figures ({sheet}), dense; real programs reach a part of "
                "them.",
                device_name=name,
                flops_per_s={dtype: rate * _PER_TERA for dtype, rate in rates.items() if rate},
                memory_bytes_per_s=memory * _PER_TERA,
            )
    return None
