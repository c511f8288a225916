"""The knobs of a sweep, what they cost, and the button that runs it."""

import streamlit as st

from pages._panels.cost import LOOKING
from pages._panels.runner import LIMITS
from pages._panels.sweep_knobs import sweep_knobs
from pages._panels.sweep_start import start_sweep
from pages._panels.text import plain
from profcore.estimate import estimate, sweep_refusal
from profcore.jobs import JobRunner
from profcore.sweep import SweepPlan
from profcore.units import bytes_text, flops_text

_AXES = (("sizes", "size"), ("batches", "batch"), ("warmups", "number of warm-up calls"))
"""Lists of the plan that can stand on the x axis: the first with more than one value does."""
_LINES = (("dtypes", "number format"), ("compiles", "compile mode"))


@st.fragment
def sweep_setup(runner: JobRunner) -> None:
    """Draw knobs and cost. Only this part reruns while a knob moves."""
    with st.container(border=True, key="sweep_setup"):
        if runner.machine is None and not runner.machine_problem:
            st.caption(LOOKING)  # what a good range is depends on the device
            return
        left, right = st.columns([3, 1], gap="medium")
        with left:
            plan = sweep_knobs(runner.machine)
        with right:
            if isinstance(plan, str):
                st.warning(plain(plan))
            else:
                _cost_and_run(plan, runner)


def _cost_and_run(plan: SweepPlan, runner: JobRunner) -> None:
    points = plan.experiments()
    largest = max((estimate(point) for point in points), key=lambda cost: cost.memory_bytes)
    st.metric(
        "Points",
        str(len(points)),
        help="Each becomes a full recording that can be opened on its own.",
    )
    st.metric(
        "Largest step",
        flops_text(max(estimate(point).step_flops for point in points)),
        help="Floating-point operations of the largest point.",
    )
    st.metric(
        "Memory needed", bytes_text(largest.memory_bytes), help="On the device, by the largest."
    )
    reason = sweep_refusal(
        plan, runner.machine, run_time_s=LIMITS.run_time_s, sweep_time_s=LIMITS.sweep_time_s
    )
    over = _goes_over(plan)
    if st.button(
        "Run all modes" if not over and len(plan.values("compiles")) > 1 else "Run the sweep",
        type="primary",
        icon=":material/play_arrow:",
        key="sweep_button",
        disabled=bool(reason),
        width="stretch",
    ):
        start_sweep(plan)
        st.rerun()
    if reason:
        st.warning(plain(reason))
    else:
        st.caption(
            f"{over}All points run in one process, one after the other; they appear as they come. "
            f"A sweep may take up to {LIMITS.sweep_time_s / 60:.0f} minutes, and Cancel keeps what "
            "is there."
        )


def _goes_over(plan: SweepPlan) -> str:
    """Say what stands on the x axis of the charts and what has a line each; empty for one point."""
    axes = [words for field, words in _AXES if len(plan.values(field)) > 1]
    if not axes:
        return ""
    lines = axes[1:] + [words for field, words in _LINES if len(plan.values(field)) > 1]
    each = f", with a line for each {' and '.join(lines)}" if lines else ""
    return f"The charts go over the {axes[0]}{each}. "
