"""Settings side by side, the compile modes above all, and when compiling has paid for itself."""

import pandas as pd
import streamlit as st

from pages._panels.compare_tables import whole_numbers
from pages._panels.figures import figure_panel, sheet
from pages._panels.sweep_data import SweepData
from pages._panels.text import plain
from profcore.charts.sweep_settings import sweep_settings_figure
from profcore.comparison.break_even import BreakEven
from profcore.units import NS_PER_MS, NS_PER_S, NS_PER_US, time_text

_PAYS = {"pays": "", "never": "never", "no difference": "cannot be told"}


def settings_panel(data: SweepData) -> None:
    """Draw what each setting costs, and for compile modes when it has paid for itself."""
    has_modes = len(set(data.points["compile"])) > 1
    if has_modes and not data.has_course:
        _headline(data)
    if not data.has_course:
        figure_panel(sweep_settings_figure(data.points), key="sweep_settings")
    st.subheader(
        "Eager against the compile modes" if has_modes else "The settings side by side",
        anchor=False,
    )
    _table(data, has_modes=has_modes)
    if has_modes:
        _break_evens(data)


def _headline(data: SweepData) -> None:
    """Say which mode pays first and which is fastest in the end, or that none pays."""
    if not data.break_evens:
        return
    times = {row["id"]: row for row in data.points.to_dict("records")}
    place, at = next(iter(data.break_evens))[0].environment, data.points["size"].iloc[0]
    on = f" on this {place.device_name}" if place else ""
    pays = [(point, even) for point, even in data.break_evens if even.state == "pays"]
    compiled = [times[point.id] for point, _ in data.break_evens if point.id in times]
    fastest = min(compiled, key=lambda row: float(row["step_ns"]))
    with st.container(border=True, key="modes"):
        if pays:
            # Where the cost of compiling is known whole, if there is such a mode.
            point, even = min(pays, key=lambda both: (both[1].is_least, both[1].steps or 0.0))
            sentence = (
                f"At size {at:,}{on} compile {point.experiment.compile} pays for itself after "
                f"{even.steps:,.0f} steps" + (" or more" if even.is_least else "")
            )
        else:
            even = next(one for point, one in data.break_evens if point.id == fastest["id"])
            is_sure = all(one.state == "never" for _, one in data.break_evens)
            sentence = f"At size {at:,}{on} " + (
                "no compile mode pays for itself"
                if is_sure
                else "it cannot be told whether compiling pays for itself"
            )
        st.subheader(plain(f"{sentence}."), anchor=False)
        eager = data.points.loc[data.points["compile"] == "eager", "step_ns"].min()
        st.text(
            f"A step takes {time_text(eager)} eager and {time_text(fastest['step_ns'])} in the "
            f"fastest compiled mode, {fastest['compile']}."
        )
        st.markdown(f"**How this follows, for {plain(even.sentence.partition(' at ')[0])}**")
        st.markdown("\n".join(f"- {plain(line)}" for line in even.arithmetic))


def _table(data: SweepData, *, has_modes: bool) -> None:
    """Draw one row per point."""
    points = data.points
    found = {point.id: even for point, even in data.break_evens}
    columns: dict[str, object] = {"Mode": points["compile"], "Setting": points["row"]}
    if data.has_course:
        columns[data.axis.capitalize()] = points["x"]
    if has_modes:
        columns |= {
            "Pays after": [_after(found.get(str(point_id))) for point_id in points["id"]],
            "Compiling (s)": [
                0.0 if mode == "eager" else _seconds(found.get(str(point_id)))
                for mode, point_id in zip(points["compile"], points["id"], strict=True)
            ],
        }
    columns |= {
        "Step (µs)": points["step_ns"] / NS_PER_US,
        "Middle half": [
            f"{time_text(low)} to {time_text(high)}"
            for low, high in zip(points["step_p25_ns"], points["step_p75_ns"], strict=True)
        ],
        "CPU per step (µs)": points["cpu_ns"] / NS_PER_US,
    }
    if points["gpu_ns"].notna().any():
        columns |= {
            "GPU work (µs)": points["gpu_ns"] / NS_PER_US,
            "Launches": whole_numbers(points["launches"]),
            "Kernels": whole_numbers(points["kernels"]),
        }
    columns["First call (ms)"] = points["first_call_ns"] / NS_PER_MS
    table = pd.DataFrame(columns)
    if not has_modes:
        table = table.drop(columns="Mode")
    elif points["row"].nunique() == points["compile"].nunique():
        table = table.drop(columns="Setting")  # it says the same as the mode
    sheet(table, name="The settings side by side", key="sweep_modes")
    words = "The first call holds the compilation. " if has_modes else ""
    st.caption(
        f"{words}Step and CPU time are taken without the profiler; half of the repeats lie in the "
        "middle half."
    )


def _after(found: BreakEven | None) -> str:
    if found is None:
        return "-"
    if found.steps is None:
        return _PAYS[found.state]
    return f"{found.steps:,.0f} steps" + (" or more" if found.is_least else "")


def _seconds(found: BreakEven | None) -> float | None:
    return None if found is None else found.compile_ns / NS_PER_S


def _break_evens(data: SweepData) -> None:
    if not data.break_evens:
        st.caption(
            "When compiling pays for itself needs an eager point of the same setting beside the "
            "compiled one."
        )
        return
    st.subheader("After how many steps has compiling paid for itself?", anchor=False)
    st.markdown("\n".join(f"- {plain(even.sentence)}" for _, even in data.break_evens))
    with st.expander("How this follows, mode by mode", icon=":material/calculate:"):
        for _, even in data.break_evens:
            st.markdown(f"**{plain(even.sentence.partition(': ')[0])}**")
            st.markdown("\n".join(f"- {plain(line)}" for line in even.arithmetic))
