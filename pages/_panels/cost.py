"""What an experiment costs, beside its knobs, and the button that runs it."""

import streamlit as st

from pages._panels.knobs import knobs
from pages._panels.runner import LIMITS
from pages._panels.start import start
from pages._panels.text import plain
from profcore.estimate import Estimate, estimate, refusal
from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.units import bytes_text, flops_text

LOOKING = "Looking at this machine; this takes a few seconds."


@st.fragment
def setup(runner: JobRunner) -> None:
    """Draw the knobs and, beside them, their cost. Only this part reruns while a knob moves."""
    with st.container(border=True, key="setup"):
        left, right = st.columns([3, 1], gap="medium")
        with left:
            experiment = knobs(runner.machine)
        with right:
            if isinstance(experiment, str):
                st.warning(plain(experiment))
            else:
                _cost_and_run(experiment, runner)


def _cost_and_run(experiment: Experiment, runner: JobRunner) -> None:
    _cost(estimate(experiment))
    reason = why_not(experiment, runner)
    if st.button(
        "Run",
        type="primary",
        icon=":material/play_arrow:",
        key="run_button",
        disabled=bool(reason),
        width="stretch",
    ):
        start(experiment)
        st.rerun()
    if reason == LOOKING:
        st.caption(reason)
    elif reason:
        st.warning(plain(reason))
    else:
        st.caption(f"A run may take up to {LIMITS.run_time_s / 60:.0f} minutes; most take seconds.")


def _cost(cost: Estimate) -> None:
    st.metric(
        "Arithmetic per step",
        flops_text(cost.step_flops),
        help="Floating-point operations, a multiplication and an addition counted as two.",
    )
    st.metric(
        "Data moved per step",
        bytes_text(cost.step_bytes),
        help="Each input read once and the result written once, at the least.",
    )
    st.metric(
        "Memory needed",
        bytes_text(cost.memory_bytes),
        help="On the device, workspaces of the libraries included.",
    )


def why_not(experiment: Experiment, runner: JobRunner) -> str:
    """Return why this experiment cannot start here and now; empty when it can."""
    if runner.machine is None and not runner.machine_problem:
        return LOOKING
    return refusal(experiment, runner.machine, run_time_s=LIMITS.run_time_s) or ""
