"""torch.nn.functional.linear: the bias goes into the matrix product's own call (addmm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.experiment import DTYPE_BYTES
from profcore.workloads.model import Workload

if TYPE_CHECKING:
    import torch

    from profcore.experiment import Experiment


def _step(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.nn.functional.linear(x, weight, bias)  # (n, n) @ (n, n).T + (n,)


def _step_flops(experiment: Experiment) -> int:
    n = experiment.size
    return 2 * n**3 + n**2


def _step_bytes(experiment: Experiment) -> int:
    n = experiment.size
    return (3 * n**2 + n) * DTYPE_BYTES[experiment.dtype]


def _shapes(experiment: Experiment) -> tuple[tuple[int, ...], ...]:
    n = experiment.size
    return (n, n), (n, n), (n,)


def _temporaries(experiment: Experiment) -> int:
    return experiment.size**2


WORKLOAD = Workload(
    name="linear",
    title="Linear layer",
    question="Where does the bias go? A linear layer adds it inside the matrix product (addmm).",
    formula="torch.nn.functional.linear(x, weight, bias)",
    uses_batch=False,
    uses_bias=False,
    step_flops=_step_flops,
    step_bytes=_step_bytes,
    cost_source="2·n³ for the product, n² for the bias; each input read once and the result "
    "written once",
    shapes=_shapes,
    temporaries=_temporaries,
    step=_step,
    is_matmul=True,
)
