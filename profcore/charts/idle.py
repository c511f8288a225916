"""Why was the GPU idle, step by step?"""

from __future__ import annotations

from typing import Final

import altair as alt
import pandas as pd

from profcore.charts.figure import Figure, Picture, Unit, tooltip, unit_for
from profcore.charts.steps import FIRST_STEP_RATIO
from profcore.units import percent_text, time_text

QUESTION: Final = "What did the GPU wait for in each step?"
HOST: Final = "Idle: the CPU had launched nothing yet"
KERNEL: Final = "A kernel or a fill ran"
QUEUED: Final = "Idle: launched work had not started"
WAITING: Final = "Idle: the CPU waited for the GPU"
COPY: Final = "Only a copy ran"

PARTS: Final[dict[str, str]] = {
    "kernel_ns": KERNEL,
    "copy_ns": COPY,
    "queued_ns": QUEUED,
    "waiting_ns": WAITING,
    "host_ns": HOST,
}
"""Columns of `profcore.analysis.idle` and their words, from the bottom of a bar up."""
COLORS: Final = (HOST, KERNEL, QUEUED, WAITING, COPY)
"""Colours by place in the palette of five: what belongs to the CPU has its colour, and so on."""

STEPS_DRAWN_MAX: Final = 120
HEIGHT_PX: Final = 260
LEGEND_LINE_PX: Final = 24


def idle_figure(idle: pd.DataFrame, steps: pd.DataFrame) -> Figure:
    """Draw one bar per step: what ran, and by cause what did not.

    Args:
        idle: The table of `profcore.analysis.idle`, at least one row.
        steps: The table of `profcore.analysis.steps`.
    """
    numbers = [f"#{number}" for number in steps["number"].to_numpy()[idle["step"]]]
    table = idle.assign(number=numbers)
    drawn = table.head(STEPS_DRAWN_MAX)
    apart = _first_stands_apart(drawn)
    return Figure(
        question=QUESTION,
        chart=_bars(drawn.iloc[1:] if apart else drawn, legend=True),
        takeaway=_takeaway(idle),
        sheet=_sheet(table),
        rows=tuple(steps["row"].to_numpy()[idle["step"]].tolist()),
        row_words="Step {} on the timeline",
        note=_note(idle),
        first=_bars(drawn.iloc[:1], legend=False) if apart else None,
        first_takeaway=f"{numbers[0]} took {time_text(int(idle['window_ns'].iloc[0]))}."
        if apart
        else "",
    )


def _first_stands_apart(table: pd.DataFrame) -> bool:
    others = table["window_ns"].iloc[1:]
    return bool(len(others) and table["window_ns"].iloc[0] > FIRST_STEP_RATIO * others.median())


def _bars(table: pd.DataFrame, *, legend: bool) -> Picture:
    unit = unit_for(float(table["window_ns"].max()))
    rows = [
        {
            "step": row["number"],
            "part": words,
            "place": place,
            "time": row[column] / unit.ns,
            "text": _text(row[column], row["window_ns"]),
        }
        for row in table.to_dict("records")
        for place, (column, words) in enumerate(PARTS.items())
        if row[column]
    ]
    data = pd.DataFrame(rows, columns=["step", "part", "place", "time", "text"])
    height = HEIGHT_PX + LEGEND_LINE_PX * (len(PARTS) if legend else 0)
    bars: alt.Chart = alt.Chart(data, height=height).mark_bar()
    return bars.encode(
        x=alt.X(
            "step:N",
            title="Step (ProfilerStep#)" if legend else "First",
            sort=None,
            axis=alt.Axis(labelAngle=0, labelOverlap=True),
        ),
        y=_time_axis(unit),
        order="place:O",
        color=alt.Color(
            "part:N",
            scale=alt.Scale(domain=list(COLORS)),
            legend=alt.Legend(
                title=None,
                values=list(PARTS.values()),
                orient="top",
                direction="vertical",
                labelLimit=300,
                rowPadding=4,
                symbolType="square",
            )
            if legend
            else None,
        ),
        tooltip=tooltip(("step", "Step"), ("part", "What"), ("text", "Time")),
    )


def _time_axis(unit: Unit) -> alt.Y:
    return alt.Y("sum(time):Q", title=f"Time on the GPU ({unit.name})", stack="zero")


def _text(part_ns: int, window_ns: int) -> str:
    share = percent_text(part_ns / window_ns) if window_ns else "0 %"
    return f"{time_text(part_ns)}, {share}"


def _takeaway(idle: pd.DataFrame) -> str:
    window_ns = max(int(idle["window_ns"].sum()), 1)
    sums = {words: int(idle[column].sum()) for column, words in PARTS.items()}
    ran_ns = sums[KERNEL] + sums[COPY]
    text = f"Something ran on the GPU {percent_text(ran_ns / window_ns)} of the time."
    causes = {words: sums[words] for words in (HOST, QUEUED, WAITING)}
    largest = max(causes, key=causes.__getitem__)
    if causes[largest]:
        cause = largest.removeprefix("Idle: ")
        share = percent_text(causes[largest] / window_ns)
        text += f" The largest cause of idle time: {cause} ({share})."
    return text


def _note(idle: pd.DataFrame) -> str:
    text = (
        "A bar runs from the end of the previous step's last work to the end of its own, so the "
        "first step has none. Every instant is counted once, under the first of the headings that "
        "holds. The profiler makes the CPU slower, so without it the GPU waits less for the CPU."
    )
    if len(idle) > STEPS_DRAWN_MAX:
        text += f" The first {STEPS_DRAWN_MAX} of {len(idle):,} steps are drawn."
    return text


def _sheet(table: pd.DataFrame) -> pd.DataFrame:
    unit = unit_for(float(table["window_ns"].max()))
    columns = {"Step": table["number"], f"All ({unit.name})": table["window_ns"] / unit.ns}
    short = {
        "kernel_ns": "Kernels",
        "copy_ns": "Copies",
        "queued_ns": "Launched, not started",
        "waiting_ns": "CPU waits for GPU",
        "host_ns": "Nothing launched",
    }
    columns |= {
        f"{words} ({unit.name})": table[column] / unit.ns for column, words in short.items()
    }
    return pd.DataFrame(columns)
