"""Eager against the compile modes at one setting, and when compiling has paid for itself."""

import pandas as pd
import streamlit as st

from pages._panels.compare_tables import whole_numbers
from pages._panels.figures import sheet
from pages._panels.sweep_data import SweepData
from pages._panels.text import plain
from profcore.comparison.break_even import BreakEven
from profcore.units import NS_PER_MS, NS_PER_US

_PAYS = {"pays": "", "never": "never", "no difference": "not beyond noise"}


def modes_panel(data: SweepData) -> None:
    """Draw one row per point with what compiling cost and what it saves."""
    found = {point.id: even for point, even in data.break_evens}
    st.subheader("Eager against the compile modes", anchor=False)
    points = data.points
    columns: dict[str, object] = {
        "Mode": points["compile"],
        "Size": points["size"],
        "Row": points["row"],
        "First call (ms)": points["first_call_ns"] / NS_PER_MS,
        "Step (µs)": points["step_ns"] / NS_PER_US,
        "Lower quartile (µs)": points["step_p25_ns"] / NS_PER_US,
        "Upper quartile (µs)": points["step_p75_ns"] / NS_PER_US,
        "CPU per step (µs)": points["cpu_ns"] / NS_PER_US,
    }
    if points["gpu_ns"].notna().any():
        columns |= {
            "GPU work (µs)": points["gpu_ns"] / NS_PER_US,
            "Launches": whole_numbers(points["launches"]),
            "Kernels": whole_numbers(points["kernels"]),
        }
    columns["Pays after"] = [_after(found.get(str(point_id))) for point_id in points["id"]]
    table = pd.DataFrame(columns)
    if points["row"].nunique() == points["compile"].nunique():
        table = table.drop(columns="Row")  # it says the same as the mode
    if len(set(points["size"])) == 1:
        table = table.drop(columns="Size")
    sheet(table, name="Eager against the compile modes", key="sweep_modes")
    st.caption(
        "The first call holds the compilation. Step and CPU time are taken without the profiler; "
        "half of the repeats lie between the quartiles."
    )
    _break_evens(found)


def _after(found: BreakEven | None) -> str:
    if found is None:
        return "-"
    return f"{found.steps:,.0f} steps" if found.steps is not None else _PAYS[found.state]


def _break_evens(found: dict[str, BreakEven]) -> None:
    if not found:
        st.caption(
            "When compiling pays for itself needs an eager point of the same setting beside the "
            "compiled one."
        )
        return
    st.subheader("After how many steps has compiling paid for itself?", anchor=False)
    st.markdown("\n".join(f"- {plain(even.sentence)}" for even in found.values()))
    with st.expander("How this follows", icon=":material/calculate:"):
        for even in found.values():
            st.markdown(f"**{plain(even.sentence.partition(':')[0])}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in even.arithmetic))
