"""The knobs of a sweep. As on the Run page each is bound to the URL under its own name."""

from typing import Any

import streamlit as st

from pages._panels.knobs import BIAS_MEANING, COMPILE_MEANING, DEFAULT, DTYPE_MEANING, SIZES
from profcore import workloads
from profcore.errors import ExperimentError
from profcore.experiment import (
    BATCH_MAX,
    BATCH_MIN,
    BIASES,
    COMPILE_MODES,
    DTYPES,
    WARMUP_MAX,
    WORKLOAD_NAMES,
    Experiment,
)
from profcore.machine import Machine
from profcore.sweep import SweepPlan

OVER_SIZES, OVER_MODES = "sizes", "compile modes"
KINDS = (OVER_SIZES, OVER_MODES)
KIND_MEANING = {
    OVER_SIZES: "The same program with growing matrices: where does the GPU become the limit? With "
    "one size alone the charts go over the batch or the warm-up calls.",
    OVER_MODES: "One setting, every compile mode: which is fastest, and when has compiling paid?",
}
BATCHES = (1, 2, 4, 8, 16, 32, 64)
WARMUPS = (1, 2, 3, 5, 10, 20, 50)
POWERS = [size for size in SIZES if size & (size - 1) == 0]
GPU_SIZES, CPU_SIZES = (16, 8192), (16, 512)
"""First and last size at the start: on a CPU, large products take minutes."""
STEP_POWERS, STEP_HALVES = "every doubling", "halves between"
REFINE = 3
"""Sizes added to each row: the crossover is then known to about 10 %."""


WARMUP_HELP = (
    "Calls made before each point is measured. A cold start needs a process of its own: run it on "
    "the Run page."
)
_KNOBS = {"warmups": "warmup", "batches": "batch"}
"""List of the plan -> knob of a single value."""
BATCH_HELP = "Matrices multiplied at once. Several make a line each, or the axis of the charts."
_LISTS = {
    "dtypes": "number format",
    "compiles": "compile mode",
    "warmups": "number of warm-up calls",
    "batches": "batch",
}


def sweep_knobs(machine: Machine | None) -> SweepPlan | str:
    """Draw all knobs; return the plan they describe, or the sentence that says why not."""
    kind = st.segmented_control(
        "What to vary", KINDS, default=OVER_SIZES, required=True, key="vary", bind="query-params"
    )
    st.caption(KIND_MEANING.get(str(kind), ""))
    first, second = st.columns(2)
    with first:
        base: dict[str, Any] = {"workload": _workload()}
    with second:
        base["device"] = _device(machine)
    device = machine.resolve(str(base["device"])) if machine else None
    has_gpu = device is not None and device.is_gpu
    can_compile = has_gpu or machine is None or machine.can_compile_cpu
    try:
        if kind == OVER_MODES:
            lists = _modes(has_gpu=has_gpu, can_compile=can_compile)
        else:
            lists = _sizes(has_gpu=has_gpu, can_compile=can_compile)
        lists |= _more(base, is_list=kind != OVER_MODES)
        for axis, words in _LISTS.items():
            if axis in lists and not lists[axis]:
                return f"Choose at least one {words}."
        for axis, knob in _KNOBS.items():
            if len(lists.get(axis, ())) == 1:
                (base[knob],) = lists.pop(axis)
        return SweepPlan(base=Experiment(**base), **lists)
    except ExperimentError as error:
        return str(error)


def _workload() -> str | None:
    name = st.selectbox("Workload", WORKLOAD_NAMES, key="workload", bind="query-params")
    workload = workloads.find(name if name in WORKLOAD_NAMES else DEFAULT.workload)
    st.caption(f"{workload.title}: `{workload.formula}`")
    return name


def _device(machine: Machine | None) -> str | None:
    known = [device for device in machine.devices if device.can_profile] if machine else []
    chosen = st.selectbox(
        "Device",
        ["auto", *(device.id for device in known)],
        key="device",
        bind="query-params",
        help="auto is the first GPU, or the CPU where there is none.",
    )
    device = machine.resolve(str(chosen)) if machine else None
    st.caption(device.name if device else "")
    return chosen


def _sizes(*, has_gpu: bool, can_compile: bool) -> dict[str, Any]:
    """A range of sizes, and a line in the charts per number format and compile mode."""
    low, high = st.select_slider(
        "Sizes from and to",
        POWERS,
        value=GPU_SIZES if has_gpu else CPU_SIZES,
        key="sizes",
        bind="query-params",
        help="Rows and columns of each matrix.",
    )
    first, second = st.columns(2)
    with first:
        density = st.segmented_control(
            "Points",
            (STEP_POWERS, STEP_HALVES),
            default=STEP_POWERS,
            required=True,
            key="points",
            bind="query-params",
        )
    stops = SIZES if density == STEP_HALVES else POWERS
    sizes = tuple(size for size in stops if low <= size <= high)
    refine = 0
    with second:
        if has_gpu:
            closer = st.toggle(
                "Look closer at the crossover",
                value=True,
                key="closer",
                bind="query-params",
                help=f"Adds up to {REFINE} sizes to each line, where the GPU becomes the limit.",
            )
            refine = REFINE if closer and len(sizes) > 1 else 0
    first, second = st.columns(2)
    with first:
        dtypes = st.pills(
            "Number formats",
            DTYPES,
            selection_mode="multi",
            default=[DEFAULT.dtype if has_gpu else "fp32"],
            key="dtypes",
            bind="query-params",
        )
    with second:
        compiles = _compile_modes("compiles", ["eager"], can_compile=can_compile)
    return {
        "sizes": sizes,
        "dtypes": tuple(dtypes),
        "compiles": tuple(compiles),
        "refine": refine,
    }


def _modes(*, has_gpu: bool, can_compile: bool) -> dict[str, Any]:
    """One size and number format; eager is always among the modes, to be compared with."""
    first, second = st.columns(2)
    with first:
        size = st.select_slider("Size", SIZES, value=DEFAULT.size, key="size", bind="query-params")
    with second:
        dtype = st.segmented_control(
            "Number format",
            DTYPES,
            default=DEFAULT.dtype if has_gpu else "fp32",
            required=True,
            key="dtype",
            bind="query-params",
        )
        st.caption(DTYPE_MEANING.get(str(dtype), ""))
    # Two modes change nothing but the launching on a GPU, and each costs a minute on a small CPU.
    start = list(COMPILE_MODES) if has_gpu else ["eager", "default"]
    chosen = _compile_modes("modes", start, can_compile=can_compile)
    compiles = tuple(mode for mode in COMPILE_MODES if mode == "eager" or mode in chosen)
    return {"sizes": (size,), "dtypes": (str(dtype),), "compiles": compiles}


def _compile_modes(key: str, start: list[str], *, can_compile: bool) -> list[str]:
    options = COMPILE_MODES if can_compile else ("eager",)
    chosen: list[str] = st.pills(
        "Compile modes",
        options,
        selection_mode="multi",
        default=[mode for mode in start if mode in options],
        key=key,
        bind="query-params",
        wrap=True,
        help="  \n".join(f"**{mode}**: {COMPILE_MEANING[mode]}" for mode in options),
    )
    if not can_compile:
        st.caption("torch.compile needs a C++ compiler on the CPU, and none was found here.")
    return chosen


def _more(base: dict[str, Any], *, is_list: bool) -> dict[str, Any]:
    """Draw warm-up, batch and bias; put single values into `base` and return the lists."""
    workload = workloads.find(base["workload"] or DEFAULT.workload)
    lists: dict[str, Any] = {}
    first, second = st.columns(2)
    with first:
        if is_list:
            lists["warmups"] = _numbers("Warm-up calls", WARMUPS, "warmups", help_text=WARMUP_HELP)
        else:
            base["warmup"] = st.slider(
                "Warm-up calls",
                1,
                WARMUP_MAX,
                DEFAULT.warmup,
                key="warmup",
                bind="query-params",
                help=WARMUP_HELP,
            )
    with second:
        if workload.uses_bias:
            bias = base["bias"] = st.segmented_control(
                "Bias",
                BIASES,
                default=DEFAULT.bias,
                required=True,
                key="bias",
                bind="query-params",
            )
            st.caption(BIAS_MEANING.get(str(bias), ""))
        if workload.uses_batch and is_list:
            lists["batches"] = _numbers("Batch", BATCHES, "batches", help_text=BATCH_HELP)
        elif workload.uses_batch:
            base["batch"] = st.slider(
                "Batch", BATCH_MIN, BATCH_MAX, DEFAULT.batch, key="batch", bind="query-params"
            )
    return lists


def _numbers(label: str, values: tuple[int, ...], key: str, *, help_text: str) -> tuple[int, ...]:
    """Draw a choice of several numbers; return them ascending."""
    chosen = st.pills(
        label,
        values,
        selection_mode="multi",
        default=[getattr(DEFAULT, _KNOBS[key])],
        key=key,
        bind="query-params",
        wrap=True,
        help=help_text,
    )
    return tuple(sorted(chosen))
