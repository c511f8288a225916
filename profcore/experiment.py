"""What to run: the knobs, their bounds, their JSON form and their URL form.

Bounds are checked here and nowhere else. What a machine can bear is another question: see
`profcore.estimate`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import msgspec

from profcore.errors import ExperimentError

if TYPE_CHECKING:
    from collections.abc import Mapping

WorkloadName = Literal["matmul_add", "batched_matmul", "linear", "elementwise_chain"]
Dtype = Literal["bf16", "fp16", "tf32", "fp32"]
Bias = Literal["matrix", "vector"]
CompileMode = Literal[
    "eager", "default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"
]

WORKLOAD_NAMES: Final[tuple[WorkloadName, ...]] = get_args(WorkloadName)
DTYPES: Final[tuple[Dtype, ...]] = get_args(Dtype)
BIASES: Final[tuple[Bias, ...]] = get_args(Bias)
COMPILE_MODES: Final[tuple[CompileMode, ...]] = get_args(CompileMode)

SIZE_MIN, SIZE_MAX = 16, 16_384
BATCH_MIN, BATCH_MAX = 1, 64
WARMUP_MIN, WARMUP_MAX = 0, 50
STEPS_MIN, STEPS_MAX = 1, 50
"""CUPTI stops recording past about 128 MB of buffers; 50 small steps stay far below."""

DEVICE_PATTERN: Final = re.compile(r"auto|cpu|cuda:\d{1,2}")

DTYPE_BYTES: Final[dict[Dtype, int]] = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4}
"""Bytes of one element in memory. TF32 is a way to multiply fp32 values, not a storage format."""


class Experiment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run, fully described. Building one checks it.

    Raises:
        ExperimentError: a knob is out of range; the message has one sentence per fault.
    """

    workload: WorkloadName = "matmul_add"
    size: int = 64
    """Rows and columns of each matrix."""
    batch: int = 8
    """Matrices multiplied at once; used by `batched_matmul` alone."""
    dtype: Dtype = "bf16"
    bias: Bias = "matrix"
    """`matrix`: as large as the product (as in the article). `vector`: one value per column."""
    compile: CompileMode = "eager"
    warmup: int = 3
    """Calls before anything is measured; 0 records the cold start."""
    steps: int = 5
    """Steps recorded by the profiler."""
    device: str = "auto"
    """`cuda:N`, `cpu`, or `auto`: the first GPU if there is one, else the CPU."""
    shapes: bool = False
    """Record input shapes too; it slows the CPU side."""

    def __post_init__(self) -> None:
        if faults := list_faults(self):
            raise ExperimentError(" ".join(faults))


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "workload": WORKLOAD_NAMES,
    "dtype": DTYPES,
    "bias": BIASES,
    "compile": COMPILE_MODES,
}
_RANGES: Final[dict[str, tuple[int, int, str]]] = {
    "size": (SIZE_MIN, SIZE_MAX, "rows and columns of each matrix"),
    "batch": (BATCH_MIN, BATCH_MAX, "matrices multiplied at once"),
    "warmup": (WARMUP_MIN, WARMUP_MAX, "calls before the measurement, 0 for a cold start"),
    "steps": (STEPS_MIN, STEPS_MAX, "recorded steps"),
}


def list_faults(experiment: Experiment) -> list[str]:
    """Return one sentence per knob that is out of bounds, in the order of the fields."""
    faults = []
    for name in experiment.__struct_fields__:
        value = getattr(experiment, name)
        if name in _CHOICES and value not in _CHOICES[name]:
            faults.append(f"{name} is {value!r}; choose one of {', '.join(_CHOICES[name])}.")
        elif name in _RANGES:
            low, high, meaning = _RANGES[name]
            if type(value) is not int or not low <= value <= high:
                faults.append(f"{name} is {value!r}; give {low} to {high:,} ({meaning}).")
        elif name == "device" and not (isinstance(value, str) and DEVICE_PATTERN.fullmatch(value)):
            faults.append(f"device is {value!r}; give auto, cpu or cuda:0 (cuda:1 and so on).")
        elif name == "shapes" and not isinstance(value, bool):
            faults.append(f"shapes is {value!r}; give true or false.")
    return faults


def from_json(data: bytes | str) -> Experiment:
    """Read the JSON form.

    Raises:
        ExperimentError: not JSON, an unknown knob, or a value out of bounds.
    """
    try:
        return msgspec.json.decode(data, type=Experiment)
    except msgspec.DecodeError as error:
        msg = f"The experiment cannot be read: {error}."
        raise ExperimentError(msg) from error


def to_json(experiment: Experiment) -> bytes:
    """Return the JSON form, all knobs spelled out."""
    return msgspec.json.encode(experiment)


def to_query(experiment: Experiment) -> dict[str, str]:
    """Return the URL form: only the knobs that differ from their default, as text."""
    default = Experiment()
    query = {}
    for name in experiment.__struct_fields__:
        value = getattr(experiment, name)
        if value != getattr(default, name):
            query[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return query


def from_query(query: Mapping[str, str]) -> Experiment:
    """Read the URL form; parameters that are no knobs are left alone.

    Raises:
        ExperimentError: a knob that cannot be read or is out of bounds.
    """
    knobs: dict[str, Any] = {}
    for name in Experiment.__struct_fields__:
        if name not in query:
            continue
        text = query[name]
        if name in _RANGES:
            try:
                knobs[name] = int(text)
            except ValueError:
                low, high, meaning = _RANGES[name]
                msg = f"{name} is {text!r}; give {low} to {high:,} ({meaning})."
                raise ExperimentError(msg) from None
        elif name == "shapes":
            knobs[name] = {"true": True, "false": False}.get(text.lower(), text)
        else:
            knobs[name] = text
    return Experiment(**knobs)


def describe(experiment: Experiment) -> str:
    """Return one line that names the experiment, for lists: "matmul_add · 64 · bf16 · eager"."""
    parts = [experiment.workload, f"{experiment.size:,}"]
    if experiment.workload == "batched_matmul":
        parts[-1] = f"{experiment.batch} × {parts[-1]}"
    parts.append(experiment.dtype)
    parts.append("eager" if experiment.compile == "eager" else f"compile {experiment.compile}")
    if experiment.bias == "vector" and experiment.workload in {"matmul_add", "batched_matmul"}:
        parts.append("vector bias")
    parts.append("cold start" if experiment.warmup == 0 else f"warm-up {experiment.warmup}")
    return " · ".join(parts)
