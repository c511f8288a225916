"""The workloads, in the order in which they are offered. Adding one is a file and a line here.

Importing this needs no torch; only calling a workload's `step` does.
"""

from __future__ import annotations

from typing import Final

from profcore.workloads import batched_matmul, elementwise_chain, linear, matmul_add
from profcore.workloads.model import Workload

WORKLOADS: Final[tuple[Workload, ...]] = (
    matmul_add.WORKLOAD,
    batched_matmul.WORKLOAD,
    linear.WORKLOAD,
    elementwise_chain.WORKLOAD,
)


def find(name: str) -> Workload:
    """Return the workload of this name.

    Raises:
        KeyError: no such workload; an `Experiment` never names one.
    """
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    raise KeyError(name)


__all__ = ["WORKLOADS", "Workload", "find"]
