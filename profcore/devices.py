"""What named GPUs can do at most: dense arithmetic rates and memory bandwidth.

Vendor figures, dense (without structured sparsity), at boost clock; real programs reach a part of
them. torch's own table lists some of these with sparsity, which doubles them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from profcore.experiment import Dtype

_PER_TERA: Final = 1e12


@dataclass(frozen=True, kw_only=True, slots=True)
class Peaks:
    """The ceilings of one device."""

    name: str
    flops_per_s: dict[Dtype, float]
    """Dense matrix rate by number format; a format without an entry is not sped up there."""
    memory_bytes_per_s: float
    source: str


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


def find_peaks(device_name: str) -> Peaks | None:
    """Return the ceilings of a device by its name, or None for a device that is not listed."""
    for pattern, name, bf16, fp16, tf32, fp32, memory, sheet in _ROWS:
        if re.search(pattern, device_name, re.IGNORECASE):
            rates = {"bf16": bf16, "fp16": fp16, "tf32": tf32, "fp32": fp32}
            return Peaks(
                name=name,
                flops_per_s={
                    cast("Dtype", dtype): rate * _PER_TERA for dtype, rate in rates.items() if rate
                },
                memory_bytes_per_s=memory * _PER_TERA,
                source=f"NVIDIA's figures ({sheet}), dense",
            )
    return None
