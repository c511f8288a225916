"""What a workload is: a recipe for one step, and what one step costs by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from profcore.experiment import Experiment, WorkloadName


LIBRARY_BYTES: Final = 64 * 1024**2
"""Room for workspaces: cuBLAS takes 32 MiB on Hopper and as much again when compiled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A named recipe. Everything but `shapes` and `step` works without torch."""

    name: WorkloadName
    title: str
    """For people."""
    question: str
    """What running it can show, in one sentence."""
    formula: str
    """The step as one line of PyTorch."""
    uses_batch: bool
    uses_bias: bool
    step_flops: Callable[[Experiment], int]
    """Floating-point operations of one step, multiply and add counted as two."""
    step_bytes: Callable[[Experiment], int]
    """Bytes one step must move between memory and the device's cores."""
    cost_source: str
    """Where the two formulas come from."""
    shapes: Callable[[Experiment], tuple[tuple[int, ...], ...]]
    """Shapes of the inputs, in the order `step` takes them."""
    temporaries: Callable[[Experiment], int]
    """Elements that exist besides the inputs at the worst moment, the result included."""
    step: Callable[..., torch.Tensor]
    """The step itself; it gets the inputs and returns the result."""
    is_matmul: bool
    """Whether a matrix product does the work, so that FLOP/s is the figure to look at."""
