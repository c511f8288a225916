"""Where a recording was made, and how its numbers were got."""

import streamlit as st

from pages._panels.table_link import anchor_of
from pages._panels.text import code_span, plain
from profcore.experiment import describe
from profcore.recording import Environment, Recording
from profcore.units import bytes_text

RECORDED_WORDS = "Recorded example"


def made_where(recording: Recording) -> str:
    """Return Markdown that says where and when in one line."""
    where = recording.environment
    if where is None:
        return "It is not known where this was recorded."
    parts = [f"Recorded on {where.device_name}", f"PyTorch {where.torch}"]
    if where.cuda:
        parts.append(f"CUDA {where.cuda}")
    parts.append(where.recorded_at[:16].replace("T", " ") + " UTC")
    return " · ".join(plain(part) for part in parts)


def origin_panel(recording: Recording) -> None:
    """Draw the setting, the environment, and how the numbers were got."""
    st.subheader("The setting and the machine", anchor=anchor_of("device") or False)
    with st.expander("Where and how this was recorded", icon=":material/memory:"):
        st.markdown(
            "Before the profiler starts, the same step is timed without it: many calls at once, "
            "waiting for the device before and after, several times; the median and the quartiles "
            "are shown. Then the profiler records the steps. GPU work is kernels, copies and "
            "fills, and it belongs to the step that launched it. *Busy* counts overlaps once."
        )
        if recording.experiment.warmup == 0:
            st.markdown(
                "This is a cold start: the profiler recorded the very first call of a fresh "
                "process, and the timing without the profiler was taken afterwards."
            )
        rows = {"Setting": describe(recording.experiment)}
        if recording.environment is not None:
            rows |= _facts(recording.environment)
        st.table({name: plain(value) for name, value in rows.items()}, border="horizontal")


def _facts(where: Environment) -> dict[str, str]:
    facts = {
        "Device": f"{where.device_name} ({where.device})",
        "Device memory": bytes_text(where.device_memory_bytes) if where.device_memory_bytes else "",
        "Compute capability": where.compute_capability or "",
        "Multiprocessors": str(where.multiprocessors) if where.multiprocessors else "",
        "PyTorch": where.torch,
        "CUDA": where.cuda or "",
        "Driver": where.driver or "",
        "Python": where.python,
        "System": where.platform,
        "Processor": f"{where.cpu_name}, {where.cpu_threads} threads used",
    }
    if clocks := where.clocks:
        facts["Clock"] = (
            f"{clocks.sm_mhz} of {clocks.sm_max_mhz} MHz, memory {clocks.memory_mhz} MHz, "
            f"{clocks.temperature_c} °C, {clocks.power_w:.0f} W"
        )
        if clocks.other_processes:
            facts["Other processes on the GPU"] = (
                f"{clocks.other_processes}: they make every time doubtful"
            )
    return {name: value for name, value in facts.items() if value}


def link_popover(recording: Recording) -> None:
    """Draw a button that shows the address of this recording, to be copied."""
    with st.popover("Link", icon=":material/link:", key="link"):
        address = f"{(st.context.url or '').rstrip('/')}/?run={recording.id}"
        st.code(address, language=None, wrap_lines=True)
        if recording.is_sample:
            st.caption("This example is part of the program: the link works on every copy.")
        else:
            st.caption(f"The recording {code_span(recording.id)} lies on this machine.")
