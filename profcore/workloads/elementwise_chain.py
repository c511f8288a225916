"""Eight pointwise operators in a row: what torch.compile fuses best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore.experiment import DTYPE_BYTES
from profcore.workloads.model import Workload

if TYPE_CHECKING:
    import torch

    from profcore.experiment import Experiment

OPERATORS: Final = 8
_EAGER_PASSES: Final = 21
"""Reads and writes of whole tensors when every operator is a kernel of its own: the lines of
`_step` move 3 + 3 + 2 + 2 + 3 + 2 + 3 + 3 tensors."""
_FUSED_PASSES: Final = 4
"""Three inputs read once, one result written once."""


def _step(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    import torch

    y = torch.mul(x, w)  # every tensor is (n, n); two read, one written
    y = torch.add(y, b)
    y = torch.relu(y)  # one read, one written
    y = torch.mul(y, 0.5)
    y = torch.sub(y, x)
    y = torch.sigmoid(y)
    y = torch.mul(y, w)
    return torch.add(y, b)


def _step_flops(experiment: Experiment) -> int:
    return OPERATORS * experiment.size**2


def _step_bytes(experiment: Experiment) -> int:
    passes = _EAGER_PASSES if experiment.compile == "eager" else _FUSED_PASSES
    return passes * experiment.size**2 * DTYPE_BYTES[experiment.dtype]


def _shapes(experiment: Experiment) -> tuple[tuple[int, ...], ...]:
    n = experiment.size
    return (n, n), (n, n), (n, n)


def _temporaries(experiment: Experiment) -> int:
    return 2 * experiment.size**2  # the last value and the one being written


WORKLOAD = Workload(
    name="elementwise_chain",
    title="Chain of pointwise operators",
    question="What does torch.compile save? Eight small kernels and their trips to memory become "
    "one.",
    formula="add(mul(sigmoid(sub(mul(relu(add(mul(x, w), b)), 0.5), x)), w), b)",
    uses_batch=False,
    uses_bias=False,
    step_flops=_step_flops,
    step_bytes=_step_bytes,
    cost_source="one operation per element and operator; eager: every operator reads its inputs "
    "and writes its result (21 tensors), compiled: 3 inputs read and 1 result written",
    shapes=_shapes,
    temporaries=_temporaries,
    step=_step,
    is_matmul=False,
)
