"""The knobs of an experiment. Each is a widget bound to the URL under the name of its field.

A bound widget writes its *label* into the URL. So that a link holds what the command line takes,
the labels are the plain values, and what they mean stands below.
"""

from typing import Any

import streamlit as st

from pages._panels.start import extra_size
from profcore import workloads
from profcore.errors import ExperimentError
from profcore.experiment import (
    BATCH_MAX,
    BATCH_MIN,
    BIASES,
    COMPILE_MODES,
    DTYPES,
    SIZE_MAX,
    SIZE_MIN,
    STEPS_MAX,
    STEPS_MIN,
    WARMUP_MAX,
    WARMUP_MIN,
    WORKLOAD_NAMES,
    Experiment,
)
from profcore.machine import Machine

DEFAULT = Experiment()

SIZES = sorted(
    size
    for power in range(SIZE_MAX.bit_length())
    for size in (1 << power, 3 << power >> 1)
    if SIZE_MIN <= size <= SIZE_MAX
)
"""Powers of two and the halves between them."""

COMPILE_MEANING = {
    "eager": "No compilation: every operator is launched by itself.",
    "default": "torch.compile merges operators where it can.",
    "reduce-overhead": "Compiled, then launched as one CUDA graph.",
    "max-autotune-no-cudagraphs": "Compiled; several matrix kernels are tried, the fastest kept.",
    "max-autotune": "Compiled, kernels tried, and launched as one CUDA graph.",
}
DTYPE_MEANING = {
    "bf16": "16 bits, the range of fp32, few digits. The usual choice.",
    "fp16": "16 bits, more digits, small range.",
    "tf32": "32 bits in memory, multiplied on tensor cores with fewer digits.",
    "fp32": "32 bits, multiplied in full.",
}
BIAS_MEANING = {
    "matrix": "As large as the product: it has to be read and added.",
    "vector": "One value per column: it can ride along in the product.",
}


def knobs(machine: Machine | None) -> Experiment | str:
    """Draw all knobs; return the experiment they describe, or the sentence that says why not."""
    values: dict[str, Any] = {}
    # Row by row, so that the knobs line up, and stand in reading order on a phone.
    first, second, third = st.columns(3)
    with first:
        values["workload"] = _workload()
    with second:
        values["size"] = _size()
    with third:
        values["dtype"] = _dtype()
    first, second, third = st.columns(3)
    with first:
        values["compile"] = _compile_mode(machine)
    with second:
        values["warmup"] = _warmup()
    with third:
        values["device"] = _device(machine)
    values |= _more(values["workload"])
    try:
        return Experiment(**values)
    except ExperimentError as error:  # the bounds of a widget are checked in the browser only
        return str(error)


def _workload() -> str | None:
    name = st.selectbox(
        "Workload",
        WORKLOAD_NAMES,
        key="workload",
        bind="query-params",
        help="What one step computes.",
    )
    workload = workloads.find(name if name in WORKLOAD_NAMES else DEFAULT.workload)
    st.caption(f"{workload.title}: `{workload.formula}`")
    return name


def _size() -> int:
    extra = extra_size()
    options = {*SIZES, extra} if extra and SIZE_MIN <= extra <= SIZE_MAX else SIZES
    size: int = st.select_slider(
        "Size",
        sorted(options),
        value=DEFAULT.size,
        key="size",
        bind="query-params",
        help="Rows and columns of each matrix. Small sizes show what it costs to start work, "
        "large ones what it costs to do it.",
    )
    st.caption(f"{size:,} × {size:,} elements per matrix")
    return size


def _dtype() -> str | None:
    dtype = st.segmented_control(
        "Number format",
        DTYPES,
        default=DEFAULT.dtype,
        required=True,
        key="dtype",
        bind="query-params",
        width="stretch",
    )
    st.caption(DTYPE_MEANING.get(str(dtype), ""))
    return dtype


def _compile_mode(machine: Machine | None) -> str | None:
    cannot = _lacks_compiler(machine)
    mode = st.selectbox(
        "Compile mode",
        ("eager",) if cannot else COMPILE_MODES,
        key="compile",
        bind="query-params",
        help="How torch.compile prepares the step, if at all.",
    )
    if cannot:
        st.caption("torch.compile needs a C++ compiler on the CPU, and none was found here.")
    else:
        st.caption(COMPILE_MEANING.get(str(mode), ""))
    return mode


def _lacks_compiler(machine: Machine | None) -> bool:
    """Tell whether the chosen device is a CPU without what torch.compile needs there."""
    if machine is None or machine.can_compile_cpu:
        return False
    device = machine.resolve(str(st.session_state.get("device", DEFAULT.device)))
    return device is not None and not device.is_gpu


def _warmup() -> int:
    calls: int = st.slider(
        "Warm-up calls",
        WARMUP_MIN,
        WARMUP_MAX,
        DEFAULT.warmup,
        key="warmup",
        bind="query-params",
        help="Calls made before anything is measured. The first call of a process loads "
        "libraries and kernels, and compiles.",
    )
    if calls == 0:
        st.caption("0 = cold start: the first recorded step shows what a first call costs.")
    else:
        st.caption("The cost of the first call is left out. 0 records the cold start.")
    return calls


def _device(machine: Machine | None) -> str | None:
    known = [device for device in machine.devices if device.can_profile] if machine else []
    options = ["auto", *(device.id for device in known)]
    chosen = st.session_state.get("device") or st.query_params.get("device")
    if machine is None and chosen and chosen not in options:
        options.append(str(chosen))  # kept until it is known what is there
    device_id = st.selectbox(
        "Device",
        options,
        key="device",
        bind="query-params",
        help="auto is the first GPU, or the CPU where there is none.",
    )
    device = machine.resolve(str(device_id)) if machine else None
    st.caption(device.name if device else "Looking at this machine ...")
    return device_id


def _more(workload_name: str | None) -> dict[str, Any]:
    """The knobs that are needed less often; two of them belong to some workloads alone."""
    workload = workloads.find(workload_name or DEFAULT.workload)
    values: dict[str, Any] = {}
    first, second, third = st.columns(3)
    with first:
        values["steps"] = st.slider(
            "Recorded steps",
            STEPS_MIN,
            STEPS_MAX,
            DEFAULT.steps,
            key="steps",
            bind="query-params",
            help="Steps that the profiler records. Five or more show how much they vary.",
        )
    if workload.uses_bias:
        with second:
            bias = values["bias"] = st.segmented_control(
                "Bias",
                BIASES,
                default=DEFAULT.bias,
                required=True,
                key="bias",
                bind="query-params",
                width="stretch",
            )
            st.caption(BIAS_MEANING.get(str(bias), ""))
    with third:
        if workload.uses_batch:
            values["batch"] = st.slider(
                "Batch",
                BATCH_MIN,
                BATCH_MAX,
                DEFAULT.batch,
                key="batch",
                bind="query-params",
                help="Matrices multiplied at once.",
            )
        values["shapes"] = st.toggle(
            "Record input shapes",
            key="shapes",
            bind="query-params",
            help="Some observations need them. They make the CPU side slower.",
        )
    return values
