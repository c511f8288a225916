"""All steps at a glance: which one is worth a closer look?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import (
    CPU,
    GPU,
    TEXT_COLOR,
    UNPROFILED,
    Figure,
    Picture,
    Unit,
    color,
    tooltip,
    unit_for,
)
from profcore.charts.steps import FIRST_STEP_RATIO
from profcore.charts.timeline_layout import FIXED_HEIGHT
from profcore.units import time_text

if TYPE_CHECKING:
    from collections.abc import Hashable

QUESTION: Final = "Which step?"
SELECTION: Final = "step"
"""Name of the selection parameter; its field is `position`, counted from 0."""
STEPS_MAX: Final = 400
"""Steps drawn; thinner bars cannot be told apart or clicked."""
HEIGHT_PX: Final = 90


def step_strip_figure(
    steps: pd.DataFrame, *, unprofiled_ns: float | None, gpu_recorded: bool, chosen: int | None
) -> Figure:
    """Draw one bar per step for the CPU, a narrower one for the GPU, and the unprofiled time.

    Args:
        steps: The table of `profcore.analysis.steps`.
        unprofiled_ns: Median step time without the profiler; None leaves the line out.
        gpu_recorded: False leaves the GPU bars out.
        chosen: Position of the step whose timeline is shown; it is outlined.

    Each chart has a selection named SELECTION with the field `position`.
    """
    table = _table(steps, chosen=chosen)
    apart = _first_stands_apart(steps)
    rest = table.iloc[1:] if apart else table
    shown = rest.head(STEPS_MAX)
    return Figure(
        question=QUESTION,
        chart=_strip(shown, unprofiled_ns=unprofiled_ns, gpu_recorded=gpu_recorded),
        takeaway=_takeaway(steps, apart=apart, unprofiled_ns=unprofiled_ns),
        sheet=steps,
        note="" if len(rest) == len(shown) else f"The first {STEPS_MAX} of {len(rest):,} steps.",
        first=_strip(table.iloc[:1], unprofiled_ns=None, gpu_recorded=gpu_recorded)
        if apart
        else None,
        first_takeaway=f"The first step took {time_text(steps['cpu_ns'].iloc[0])} on the CPU."
        if apart
        else "",
    )


def _first_stands_apart(steps: pd.DataFrame) -> bool:
    """Tell whether the first step would flatten the others on a common scale."""
    others = steps["cpu_ns"].iloc[1:]
    return bool(len(others) and steps["cpu_ns"].iloc[0] > FIRST_STEP_RATIO * others.median())


def _table(steps: pd.DataFrame, *, chosen: int | None) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "position": range(len(steps)),
            "step": [f"#{number}" for number in steps["number"]],
            "cpu_ns": steps["cpu_ns"].to_numpy(),
            "gpu_ns": steps["gpu_busy_ns"].to_numpy(),
            "edge": [2.0 if place == chosen else 0.0 for place in range(len(steps))],
            "tip": [_tip(step) for step in steps.to_dict("records")],
            "cpu": CPU,
            "gpu": GPU,
        }
    )


def _tip(step: dict[Hashable, int]) -> str:
    return (
        f"Step #{step['number']}: {time_text(step['cpu_ns'])} on the CPU, GPU busy "
        f"{time_text(step['gpu_busy_ns'])}, {step['kernels']:,} kernels. Click to see it."
    )


def _strip(table: pd.DataFrame, *, unprofiled_ns: float | None, gpu_recorded: bool) -> Picture:
    columns = ["cpu_ns", "gpu_ns"] if gpu_recorded else ["cpu_ns"]
    largest_ns = max(float(table[columns].max().max()) if len(table) else 0.0, unprofiled_ns or 0.0)
    unit = unit_for(largest_ns)
    table = table.assign(cpu_time=table["cpu_ns"] / unit.ns, gpu_time=table["gpu_ns"] / unit.ns)
    select = alt.selection_point(name=SELECTION, fields=["position"], toggle=False, empty=False)
    base = alt.Chart(table).encode(
        x=alt.X(
            "step:N",
            title=None,
            sort=None,
            scale=alt.Scale(paddingInner=0.25),
            axis=alt.Axis(labelAngle=0, labelOverlap=True, ticks=False),
        ),
        tooltip=tooltip(("tip", "Step")),
    )
    height = alt.Scale(domain=[0, largest_ns / unit.ns * 1.05 or 1])
    axis = alt.Axis(tickCount=2)
    cpu = base.mark_bar(cursor="pointer", stroke=TEXT_COLOR).encode(
        y=alt.Y("cpu_time:Q", title=f"Time ({unit.name})", scale=height, axis=axis),
        color=color("cpu", []),
        strokeWidth=alt.StrokeWidth("edge:Q", scale=None),
    )
    layers: list[Picture] = [cpu.add_params(select)]
    if gpu_recorded:
        layers.append(
            base.mark_bar(cursor="pointer", width={"band": 0.4}).encode(
                y=alt.Y("gpu_time:Q", scale=height), color=color("gpu", [])
            )
        )
    if unprofiled_ns is not None:
        layers.append(_line(unprofiled_ns, unit))
    picture = alt.layer(*layers)
    picture.height = HEIGHT_PX
    picture.autosize = FIXED_HEIGHT
    return picture


def _line(unprofiled_ns: float, unit: Unit) -> Picture:
    data = pd.DataFrame(
        {
            "series": [UNPROFILED],
            "time": [unprofiled_ns / unit.ns],
            "text": [time_text(unprofiled_ns)],
        }
    )
    line: Picture = alt.Chart(data).mark_rule(strokeDash=[6, 4], strokeWidth=2)
    return line.encode(y="time:Q", color=color("series", []), tooltip=tooltip(("text", UNPROFILED)))


def _takeaway(steps: pd.DataFrame, *, apart: bool, unprofiled_ns: float | None) -> str:
    count = "1 step" if len(steps) == 1 else f"{len(steps):,} steps"
    text = f"{count}, {time_text(steps['cpu_ns'].median())} on the CPU (median)"
    if apart:
        text += ", the first far longer and drawn apart"
    if unprofiled_ns is not None:
        text += f"; without the profiler a step takes {time_text(unprofiled_ns)}"
    return f"{text}."
