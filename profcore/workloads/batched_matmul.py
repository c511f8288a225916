"""The same product with a batch dimension: torch.matmul then becomes aten::bmm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.experiment import DTYPE_BYTES
from profcore.workloads.model import Workload

if TYPE_CHECKING:
    import torch

    from profcore.experiment import Experiment


def _step(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.add(torch.matmul(x, w), b)  # (k, n, n) @ (k, n, n) + (k, n, n) or (n,)


def _bias_elements(experiment: Experiment) -> int:
    if experiment.bias == "vector":
        return experiment.size
    return experiment.batch * experiment.size**2


def _step_flops(experiment: Experiment) -> int:
    k, n = experiment.batch, experiment.size
    return k * (2 * n**3 + n**2)


def _step_bytes(experiment: Experiment) -> int:
    k, n = experiment.batch, experiment.size
    return (3 * k * n**2 + _bias_elements(experiment)) * DTYPE_BYTES[experiment.dtype]


def _shapes(experiment: Experiment) -> tuple[tuple[int, ...], ...]:
    k, n = experiment.batch, experiment.size
    return (k, n, n), (k, n, n), ((k, n, n) if experiment.bias == "matrix" else (n,))


def _temporaries(experiment: Experiment) -> int:
    return 2 * experiment.batch * experiment.size**2


WORKLOAD = Workload(
    name="batched_matmul",
    title="Batched matrix product plus bias",
    question="What does a third dimension change? torch.matmul dispatches to bmm instead of mm.",
    formula="torch.add(torch.matmul(x, w), b)  # x, w: (batch, n, n)",
    uses_batch=True,
    uses_bias=True,
    step_flops=_step_flops,
    step_bytes=_step_bytes,
    cost_source="batch times the figures of one n×n product and sum",
    shapes=_shapes,
    temporaries=_temporaries,
    step=_step,
    is_matmul=True,
)
