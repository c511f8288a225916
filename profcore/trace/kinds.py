"""Category spellings of the writers, from 2020 to today, and the kind of row each one means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.trace.model import KINDS, Kind, kind_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profcore.trace.lanes import LaneCodes

KIND_OF_CATEGORY: Final[Mapping[str, Kind]] = {
    "cpu_op": "operator",
    "operator": "operator",  # 2020 to 2021
    "user_annotation": "annotation",
    "cuda_runtime": "runtime",  # ROCm calls stand here too
    "cuda_driver": "runtime",
    "runtime": "runtime",  # 2020 to 2022
    "hip_runtime": "runtime",
    "hip_driver": "runtime",
    "xpu_runtime": "runtime",
    "xpu_driver": "runtime",
    "mtia_runtime": "runtime",
    "glow_runtime": "runtime",
    "privateuse1_runtime": "runtime",
    "privateuse1_driver": "runtime",
    "overhead": "overhead",
    "python_function": "python",
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",  # 2020 to 2021
    "gpu_memset": "memset",
    "memset": "memset",  # 2020 to 2021
    "gpu_user_annotation": "gpu_annotation",
    "cuda_sync": "gpu_sync",
    "hip_sync": "gpu_sync",
    "xpu_sync": "gpu_sync",
    "mtia_ccp_events": "accelerator",
    "mtia_workloadd": "accelerator",
    "mtia_insight": "accelerator",
    "hpu_op": "accelerator",
}
"""Categories in lower case; compare `cat` in lower case. Source: Kineto, ActivityType, and the
files of 2020 to 2022. What is not listed is `other`."""

NO_CATEGORY: Final = len(KINDS)
"""Kind code, while reading, of a row without `cat`: its process decides later."""

GPU_SIDE: Final[tuple[Kind, ...]] = (
    "kernel",
    "memcpy",
    "memset",
    "gpu_annotation",
    "gpu_sync",
    "accelerator",
)
"""Rows whose pid and tid are a device and a stream, not a process and a thread."""

_PROCESS_KINDS: Final[tuple[tuple[str, Kind], ...]] = (
    ("cpu functions", "operator"),  # torch.autograd.profiler until 2021
    ("cuda functions", "kernel"),
    ("ascend hardware", "accelerator"),
    ("/device:", "accelerator"),  # XLA: /device:GPU:0, /device:TPU:0
)


class KindCodes(dict["str | None", int]):
    """From the `cat` of a row to its kind code; every spelling is looked at once."""

    def __missing__(self, category: str | None) -> int:
        """Work out the code of a spelling not seen before."""
        if not category:
            code = NO_CATEGORY
        else:
            code = kind_code(KIND_OF_CATEGORY.get(category.lower(), "other"))
        self[category] = code
        return code

    def of(self, categories: list[str | None]) -> NDArray[np.uint8]:
        """Return the kind codes of (n,) categories; NO_CATEGORY where there is none."""
        return np.frombuffer(bytes(map(self.__getitem__, categories)), np.uint8)


def flags(*kinds: Kind) -> NDArray[np.bool_]:
    """Return a table to index with kind codes, NO_CATEGORY included: is it one of these kinds."""
    return np.array([*(kind in kinds for kind in KINDS), False], np.bool_)


def by_process(
    kind: NDArray[np.uint8], lane: NDArray[np.int32], lanes: LaneCodes
) -> NDArray[np.uint8]:
    """Replace NO_CATEGORY by what the process of the row says, else by `other`.

    Only writers whose process names are unmistakable are read this way; "CPU functions" and
    "CUDA functions" were the pid itself.

    Args:
        kind: (n,) kind codes.
        lane: (n,) codes of `lanes`.
        lanes: the processes and their names.
    """
    unknown = kind == NO_CATEGORY
    if not unknown.any():
        return kind
    codes = [_kind_of_process(lanes.process_texts(code)) for code in range(len(lanes.keys_seen))]
    return np.where(unknown, np.array(codes, np.uint8)[lane], kind)


def _kind_of_process(texts: tuple[str, str]) -> int:
    for start, kind in _PROCESS_KINDS:
        if any(text.lower().startswith(start) for text in texts):
            return kind_code(kind)
    return kind_code("other")
