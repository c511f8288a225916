"""How long does each step take, and how much of it is the GPU busy?"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import (
    CPU,
    GPU,
    UNPROFILED,
    Figure,
    Picture,
    Unit,
    color,
    tooltip,
    unit_for,
)
from profcore.charts.highlight import NOTHING
from profcore.charts.outline import OUTLINED, band, with_outline
from profcore.units import ratio_text, time_text

if TYPE_CHECKING:
    from profcore.charts.highlight import Highlight

FIRST_STEP_RATIO: Final = 3.0
"""A first step this much longer than the median of the others gets a panel of its own: on a
common scale it would flatten them. The same ratio tells a cold start (rule C1)."""
STEPS_DRAWN_MAX: Final = 120
"""Two bars each; more are too thin to tell apart."""
HEIGHT_PX: Final = 260
LEGEND_LINE_PX: Final = 24
ROOM_ABOVE: Final = 1.05
"""The axis ends this much above the highest bar or line."""

QUESTION: Final = "How long does each step take, and how much of it is the GPU busy?"
QUESTION_CPU: Final = "How long does each step take?"


def steps_figure(
    steps: pd.DataFrame,
    *,
    unprofiled_ns: float | None,
    gpu_recorded: bool,
    marked: Highlight = NOTHING,
) -> Figure:
    """Draw the length of each recorded step on the CPU, the GPU's busy time in it, and a line.

    Args:
        steps: The table of `profcore.analysis.steps`.
        unprofiled_ns: Median step time without the profiler; None leaves the line out.
        gpu_recorded: False leaves the GPU bars out.
        marked: The steps that are highlighted; they are drawn however many there are.
    """
    is_marked = steps["number"].isin(marked.steps)
    table = steps.assign(**{OUTLINED: is_marked})
    drawn = table[is_marked | (table.index < STEPS_DRAWN_MAX)]
    apart = _first_stands_apart(drawn)
    rest = drawn.iloc[1:] if apart else drawn
    fades = bool(is_marked.any())
    first = (
        _bars(drawn.iloc[:1], unprofiled_ns=None, gpu_recorded=gpu_recorded, fades=fades)
        if apart
        else None
    )
    chart = _bars(
        rest, unprofiled_ns=unprofiled_ns, gpu_recorded=gpu_recorded, fades=fades, legend=True
    )
    added = len(drawn) - min(len(steps), STEPS_DRAWN_MAX)
    return Figure(
        question=QUESTION if gpu_recorded else QUESTION_CPU,
        chart=chart,
        takeaway=_takeaway(rest, unprofiled_ns=unprofiled_ns, gpu_recorded=gpu_recorded),
        sheet=_sheet(steps, gpu_recorded=gpu_recorded),
        rows=tuple(steps["row"].tolist()),
        row_words="Step {} on the timeline",
        note=_note(
            steps, apart=apart, unprofiled_ns=unprofiled_ns, gpu_recorded=gpu_recorded, added=added
        ),
        table="steps",
        first=first,
        first_takeaway=_first_takeaway(drawn) if apart else "",
        outlined=_outlined(steps["number"][is_marked].tolist()),
    )


def _outlined(numbers: list[int]) -> tuple[str, ...]:
    """Name the highlighted steps; neighbours are one stretch."""
    stretches: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if stretches and number == stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], number)
        else:
            stretches.append((number, number))
    return tuple(
        f"step {first}" if first == last else f"steps {first} to {last}"
        for first, last in stretches
    )


def _first_stands_apart(steps: pd.DataFrame) -> bool:
    """Tell whether the first step is too long to share a scale with the others."""
    if len(steps) < 2:  # noqa: PLR2004 - nothing to compare
        return False
    others_ns = statistics.median(steps["cpu_ns"].iloc[1:])
    return bool(steps["cpu_ns"].iloc[0] > FIRST_STEP_RATIO * others_ns)


def _bars(
    steps: pd.DataFrame,
    *,
    unprofiled_ns: float | None,
    gpu_recorded: bool,
    fades: bool,
    legend: bool = False,
) -> Picture:
    long = _long_rows(steps, gpu_recorded=gpu_recorded)
    largest_ns = max(float(long["duration_ns"].max()) if len(long) else 0.0, unprofiled_ns or 0.0)
    unit = unit_for(largest_ns)
    long["duration"] = long["duration_ns"] / unit.ns
    present = [CPU, GPU] if gpu_recorded else [CPU]
    named = present if unprofiled_ns is None else [*present, UNPROFILED]
    names = named if legend else []
    x = alt.X(
        "step:N",
        title="Recorded step (ProfilerStep#)" if legend else "First step",
        sort=list(dict.fromkeys(long["step"])),
        axis=alt.Axis(labelAngle=0, labelOverlap=True),
    )
    offset = alt.XOffset("series:N", sort=present)
    plain = alt.Chart(long, height=HEIGHT_PX + LEGEND_LINE_PX * len(names))
    bars: alt.Chart = plain.mark_bar().encode(
        x=x,
        xOffset=offset,
        y=alt.Y(
            "duration:Q",
            title=f"Time ({unit.name})",
            scale=alt.Scale(domain=[0, largest_ns / unit.ns * ROOM_ABOVE or 1]),
        ),
        color=color("series", names),
        tooltip=tooltip(
            ("step", "Step"), ("series", "What"), ("text", "Time"), ("kernels", "Kernels")
        ),
    )
    layers: list[Picture] = (
        [band(plain, x=x, xOffset=offset), with_outline(bars)] if fades else [bars]
    )
    if unprofiled_ns is not None:
        layers.append(_line(unprofiled_ns, unit, names))
    return layers[0] if len(layers) == 1 else alt.layer(*layers)


def _line(unprofiled_ns: float, unit: Unit, legend: list[str]) -> Picture:
    data = pd.DataFrame(
        {
            "series": [UNPROFILED],
            "unprofiled": [unprofiled_ns / unit.ns],
            "text": [time_text(unprofiled_ns)],
        }
    )
    line: Picture = alt.Chart(data).mark_rule(strokeDash=[6, 4], strokeWidth=2)
    return line.encode(
        y="unprofiled:Q", color=color("series", legend), tooltip=tooltip(("text", UNPROFILED))
    )


def _long_rows(steps: pd.DataFrame, *, gpu_recorded: bool) -> pd.DataFrame:
    """One row per bar."""
    bars = []
    for row in steps.to_dict("records"):
        sides = [(CPU, row["cpu_ns"])]
        if gpu_recorded:
            sides.append((GPU, row["gpu_busy_ns"]))
        bars += [
            {
                "step": str(row["number"]),
                "series": series,
                "duration_ns": duration_ns,
                "text": time_text(duration_ns),
                "kernels": f"{row['kernels']:,}",
                OUTLINED: row[OUTLINED],
            }
            for series, duration_ns in sides
        ]
    columns = ["step", "series", "duration_ns", "text", "kernels", OUTLINED]
    return pd.DataFrame(bars, columns=columns)


def _takeaway(steps: pd.DataFrame, *, unprofiled_ns: float | None, gpu_recorded: bool) -> str:
    if steps.empty:
        return "No steps were recorded."
    count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    text = f"{count} of {time_text(steps['cpu_ns'].median())} on the CPU (median)"
    if gpu_recorded:
        text += f", the GPU busy for {time_text(steps['gpu_busy_ns'].median())} of each"
    if unprofiled_ns is not None:
        text += f"; without the profiler a step takes {time_text(unprofiled_ns)}"
    return f"{text}."


def _first_takeaway(steps: pd.DataFrame) -> str:
    first_ns = float(steps["cpu_ns"].iloc[0])
    others_ns = float(steps["cpu_ns"].iloc[1:].median())
    return (
        f"The first step took {time_text(first_ns)}, {ratio_text(first_ns / others_ns)} the "
        f"median of the others."
    )


def _note(
    steps: pd.DataFrame, *, apart: bool, unprofiled_ns: float | None, gpu_recorded: bool, added: int
) -> str:
    parts = []
    if apart:
        parts.append(f"{_first_takeaway(steps)} It is drawn apart, on a scale of its own.")
    if unprofiled_ns is not None and not gpu_recorded and unprofiled_ns > steps["cpu_ns"].max():
        # Where the GPU works on, a step takes longer than the CPU needs for it: nothing is odd.
        parts.append(
            "The dashed line, the time of a step without the profiler, lies above all bars, though "
            "the profiler can only add time: the machine was busier while it was taken. Run it "
            "again when nothing else runs."
        )
    elif unprofiled_ns is not None:
        parts.append(
            "The profiler makes the CPU slower, so a bar may stand above the dashed line: the "
            "line is what a step really takes."
        )
    if gpu_recorded:
        parts.append(
            "GPU work counts to the step that launched it, even where the GPU does it later."
        )
    if len(steps) > STEPS_DRAWN_MAX:
        more = f", and {added} that {'is' if added == 1 else 'are'} highlighted" if added else ""
        parts.append(f"The first {STEPS_DRAWN_MAX} of {len(steps)} steps are drawn{more}.")
    return " ".join(parts)


def _sheet(steps: pd.DataFrame, *, gpu_recorded: bool) -> pd.DataFrame:
    cpu = unit_for(float(steps["cpu_ns"].median()) if len(steps) else 0)
    columns: dict[str, object] = {
        "Step": steps["number"],
        f"CPU ({cpu.name})": steps["cpu_ns"] / cpu.ns,
    }
    if gpu_recorded:
        gpu = unit_for(float(steps["gpu_busy_ns"].median()) if len(steps) else 0)
        columns |= {
            f"GPU busy ({gpu.name})": steps["gpu_busy_ns"] / gpu.ns,
            "Kernels": steps["kernels"],
            "Launches": steps["launches"],
        }
    return pd.DataFrame(columns)
