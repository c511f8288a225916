"""A workload with its inputs, ready to be called; cold ones touch the device only when called."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.profiler import record_function

from profcore import workloads

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.experiment import Dtype, Experiment

SEED: Final = 0
MOVE_INPUTS: Final = "move inputs to the device"
"""Annotation in the first step of a cold start: the first copy creates the CUDA context."""

_DTYPES: Final[dict[Dtype, torch.dtype]] = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "tf32": torch.float32,
    "fp32": torch.float32,
}


class Program:
    """One callable step. `first()` is the first call of a cold process, `step()` every other."""

    def __init__(self, experiment: Experiment, device: torch.device) -> None:
        self._experiment = experiment
        self._device = device
        self._workload = workloads.find(experiment.workload)
        self.name = self._workload.name
        self.step: Callable[[], torch.Tensor] = self._not_ready
        torch.manual_seed(SEED)
        self.set_precision()
        self._host_inputs: tuple[torch.Tensor, ...] = ()

    def set_precision(self) -> None:
        """Set how torch multiplies fp32 matrices: one setting for all programs of a process."""
        # "high" lets fp32 products use TF32 tensor cores; "highest" forbids it.
        precision = "high" if self._experiment.dtype == "tf32" else "highest"
        torch.set_float32_matmul_precision(precision)

    def prepare(self) -> None:
        """Make the inputs on the device and compile lazily: the ordinary, warm way."""
        self._bind(tuple(self._make(shape, self._device) for shape in self._shapes()))

    def prepare_cold(self) -> None:
        """Make the inputs in host memory; the device stays untouched until `first()`."""
        host = torch.device("cpu")
        self._host_inputs = tuple(self._make(shape, host) for shape in self._shapes())

    def first(self) -> torch.Tensor:
        """Move the inputs, wrap the step for compilation, and make the first call."""
        with record_function(MOVE_INPUTS):
            inputs = tuple(tensor.to(self._device) for tensor in self._host_inputs)
        self._host_inputs = ()
        self._bind(inputs)
        return self.step()

    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return self._workload.shapes(self._experiment)

    def _make(self, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
        dtype = _DTYPES[self._experiment.dtype]
        values = torch.randn(shape, device=device, dtype=dtype)
        # Products of n terms stay near 1, also in fp16.
        return values.mul_(shape[-1] ** -0.25)

    def _bind(self, inputs: tuple[torch.Tensor, ...]) -> None:
        step: Callable[..., Any] = self._workload.step
        mode = self._experiment.compile
        if mode != "eager":
            # Shapes are fixed for one run: no silent switch to dynamic shapes.
            step = torch.compile(step, mode=mode, dynamic=False)
        # A C-level partial: a Python wrapper would add its own time to every step.
        self.step = functools.partial(step, *inputs)

    def _not_ready(self) -> torch.Tensor:
        msg = "prepare() or first() must come before step()"
        raise RuntimeError(msg)
