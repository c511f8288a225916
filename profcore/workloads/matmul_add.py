"""torch.add(torch.matmul(x, w), b): the experiment of "Profiling in PyTorch", part 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.experiment import DTYPE_BYTES
from profcore.workloads.model import Workload

if TYPE_CHECKING:
    import torch

    from profcore.experiment import Experiment


def _step(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.add(torch.matmul(x, w), b)  # (n, n) @ (n, n) + (n, n) or (n,)


def _bias_elements(experiment: Experiment) -> int:
    return experiment.size**2 if experiment.bias == "matrix" else experiment.size


def _step_flops(experiment: Experiment) -> int:
    n = experiment.size
    return 2 * n**3 + n**2


def _step_bytes(experiment: Experiment) -> int:
    n = experiment.size
    return (3 * n**2 + _bias_elements(experiment)) * DTYPE_BYTES[experiment.dtype]


def _shapes(experiment: Experiment) -> tuple[tuple[int, ...], ...]:
    n = experiment.size
    return (n, n), (n, n), ((n, n) if experiment.bias == "matrix" else (n,))


def _temporaries(experiment: Experiment) -> int:
    return 2 * experiment.size**2  # the product and the sum


WORKLOAD = Workload(
    name="matmul_add",
    title="Matrix product plus bias",
    question="Does the GPU work or wait? Small sizes wait for the CPU, large ones keep it busy.",
    formula="torch.add(torch.matmul(x, w), b)",
    uses_batch=False,
    uses_bias=True,
    step_flops=_step_flops,
    step_bytes=_step_bytes,
    cost_source="2·n³ for the product of two n×n matrices, n² for the sum; each input read once "
    "and the result written once (the least that can be moved)",
    shapes=_shapes,
    temporaries=_temporaries,
    step=_step,
    is_matmul=True,
)
