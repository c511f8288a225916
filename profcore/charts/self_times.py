"""Which operators take the time, on the CPU and on the GPU?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import (
    CPU,
    DRIVER,
    GPU,
    PROFILER,
    SERIES,
    TEXT_COLOR,
    Figure,
    Picture,
    color,
    label_axis,
    labels,
    shorten,
    tooltip,
    unit_for,
    value_axis,
)
from profcore.charts.highlight import CPU_BAR, GPU_BAR, NOTHING, named
from profcore.charts.outline import OUTLINED, band, with_outline
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.charts.highlight import Highlight

NAME_MAX: Final = 200
"""Characters of a name in a sentence or tooltip; the table has it whole."""
ROWS_BY_CPU: Final = 9
ROWS_BY_GPU: Final = 4
BAR_PX: Final = 13
"""One bar; with a GPU an operator has two."""
GAP_PX: Final = 8

QUESTION: Final = "Which operators take the time, on the CPU and on the GPU?"
QUESTION_CPU: Final = "Which operators take the time?"

_SERIES_OF_KIND: Final = {
    "operator": CPU,
    "annotation": CPU,
    "runtime": DRIVER,
    "overhead": PROFILER,
}
_KIND_WORDS: Final = {
    "operator": "operator",
    "annotation": "annotation",
    "runtime": "driver call",
    "overhead": "profiler",
}


def self_times_figure(
    operators: pd.DataFrame, *, gpu_recorded: bool, marked: Highlight = NOTHING
) -> Figure:
    """Draw self time per operator, CPU and GPU on one scale, so that their sizes compare.

    Args:
        operators: The table of `profcore.analysis.operators`.
        gpu_recorded: False leaves the GPU bars out.
        marked: The bars that are highlighted; they are drawn even where they are small.
    """
    top = _top_rows(operators, gpu_recorded=gpu_recorded)
    added = _marked_rows(operators, marked).difference(top.index)
    shown = _by_size(operators.loc[top.index.union(added)]) if len(added) else top
    long = _long_rows(shown, gpu_recorded=gpu_recorded)
    long[OUTLINED] = [
        bar in marked.operators
        for bar in zip(long["whole_name"], long["kind"], long["side"], strict=True)
    ]
    return Figure(
        question=QUESTION if gpu_recorded else QUESTION_CPU,
        chart=_chart(long, gpu_recorded=gpu_recorded),
        takeaway=_takeaway(operators, gpu_recorded=gpu_recorded),
        sheet=_sheet(operators, gpu_recorded=gpu_recorded),
        rows=tuple(operators["median_row"].tolist()),
        note=_note(shown, total=len(operators), added=len(added)) + _without_a_bar(marked, long),
        table="operators",
        outlined=_outlined(long),
    )


def _outlined(long: pd.DataFrame) -> tuple[str, ...]:
    """Name the highlighted bars, and the side where it is one of two."""
    names = []
    for _, bars in long.groupby("label", sort=False):
        sides = bars["side"][bars[OUTLINED]].tolist()
        if sides:
            one_of_two = f" on the {sides[0]}" if len(sides) < len(bars) else ""
            names.append(f"{bars['name'].iloc[0]}{one_of_two}")
    return tuple(names)


def _chart(long: pd.DataFrame, *, gpu_recorded: bool) -> Picture:
    largest_ns = float(long["self_ns"].max()) if len(long) else 0.0
    unit = unit_for(largest_ns)
    data = long.drop(columns=["whole_name", "kind"])
    data["self"] = long["self_ns"] / unit.ns
    place: dict[str, Any] = {"y": label_axis("label", list(dict.fromkeys(data["label"])))}
    if gpu_recorded:
        place["yOffset"] = alt.YOffset("side:N", sort=[CPU_BAR, GPU_BAR])
    plain = alt.Chart(data)
    base = plain.encode(
        **place,
        x=value_axis(
            "self",
            title=f"Self time, all recorded steps ({unit.name})",
            largest=largest_ns / unit.ns,
        ),
        tooltip=tooltip(
            ("name", "Name"),
            ("series", "Where"),
            ("text", "Self time"),
            ("share", "Share of all self time there"),
            ("calls", "Calls"),
        ),
    )
    present = [name for name in SERIES if name in set(data["series"])]
    bars = base.mark_bar().encode(color=color("series", present))
    values = base.mark_text(align="left", baseline="middle", dx=4, color=TEXT_COLOR).encode(
        text="text:N"
    )
    layers = [bars, values]
    if data[OUTLINED].any():
        layers = [band(plain, **place), with_outline(bars), values]
    row_px = BAR_PX + (GAP_PX // 2 if gpu_recorded else GAP_PX)
    chart: Picture = alt.layer(*layers).properties(height=alt.Step(row_px))
    return chart


def _top_rows(operators: pd.DataFrame, *, gpu_recorded: bool) -> pd.DataFrame:
    """The rows worth a bar: the largest on the CPU, and the largest on the GPU beside them."""
    by_cpu = operators[operators["self_cpu_ns"] > 0].head(ROWS_BY_CPU)
    if not gpu_recorded:
        return by_cpu
    on_gpu = operators[operators["self_gpu_ns"] > 0]
    by_gpu = on_gpu.sort_values("self_gpu_ns", ascending=False, kind="stable").head(ROWS_BY_GPU)
    return _by_size(
        operators.loc[operators.index.isin(by_cpu.index) | operators.index.isin(by_gpu.index)]
    )


def _by_size(shown: pd.DataFrame) -> pd.DataFrame:
    """The longer of the two bars counts; on a CPU the GPU times are all zero."""
    larger_ns = shown[["self_cpu_ns", "self_gpu_ns"]].max(axis="columns")
    return shown.loc[larger_ns.sort_values(ascending=False, kind="stable").index]


def _marked_rows(operators: pd.DataFrame, marked: Highlight) -> pd.Index[int]:
    """The rows of highlighted bars that have a length."""
    has_bar = pd.Series(data=False, index=operators.index)
    for name, kind, side in marked.operators:
        time_ns = operators["self_cpu_ns" if side == CPU_BAR else "self_gpu_ns"]
        has_bar |= (operators["name"] == name) & (operators["kind"] == kind) & (time_ns > 0)
    return operators.index[has_bar]


def _long_rows(shown: pd.DataFrame, *, gpu_recorded: bool) -> pd.DataFrame:
    """One row per bar."""
    bars: list[dict[str, object]] = []
    for label, row in zip(labels(shown["name"]), shown.to_dict("records"), strict=True):
        common = {
            "label": label,
            "name": shorten(row["name"], NAME_MAX),
            "whole_name": row["name"],
            "kind": row["kind"],
            "calls": f"{row['calls']:,}",
        }
        sides = [(CPU_BAR, _SERIES_OF_KIND[row["kind"]], "self_cpu")]
        if gpu_recorded:
            sides.append((GPU_BAR, GPU, "self_gpu"))
        for side, series, column in sides:
            duration_ns = int(row[f"{column}_ns"])
            if duration_ns == 0:
                continue  # no bar; a "0 ns" at the axis would only be noise
            bars.append(
                common
                | {
                    "side": side,
                    "series": series,
                    "self_ns": duration_ns,
                    "text": time_text(duration_ns),
                    "share": percent_text(float(row[f"{column}_fraction"])),
                }
            )
    columns = [
        *("label", "name", "whole_name", "kind", "calls"),
        *("side", "series", "self_ns", "text", "share"),
    ]
    return pd.DataFrame(bars, columns=columns)


def _takeaway(operators: pd.DataFrame, *, gpu_recorded: bool) -> str:
    if operators.empty:
        return "No operators were recorded."
    top = operators.iloc[0]
    text = (
        f"On the CPU {shorten(top['name'], NAME_MAX)} takes the most self time: "
        f"{time_text(top['self_cpu_ns'])}, "
        f"{percent_text(top['self_cpu_fraction'])} of all."
    )
    if gpu_recorded and operators["self_gpu_ns"].any():
        gpu_top = operators.sort_values("self_gpu_ns", ascending=False, kind="stable").iloc[0]
        text += (
            f" On the GPU it is {shorten(gpu_top['name'], NAME_MAX)} with "
            f"{time_text(gpu_top['self_gpu_ns'])}, "
            f"{percent_text(gpu_top['self_gpu_fraction'])} of all."
        )
    return text


def _without_a_bar(marked: Highlight, long: pd.DataFrame) -> str:
    """Say which highlighted operators have no time of their own, so that nobody looks for them."""
    drawn = set(zip(long["whole_name"], long["kind"], strict=True))
    names = sorted({name for name, kind, _ in marked.operators if (name, kind) not in drawn})
    if not names:
        return ""
    return f" No self time, so no bar: {named([shorten(name, NAME_MAX) for name in names])}."


def _note(shown: pd.DataFrame, *, total: int, added: int) -> str:
    text = (
        "Self time is the time spent in an operator itself, without the operators it calls. "
        "The names are those of PyTorch's own table."
    )
    if shown["name"].str.contains("Synchronize").any():
        text += " A call named Synchronize is the CPU waiting for the GPU, not work."
    if len(shown) < total:
        text += f" The {len(shown) - added} largest of {total} rows are drawn"
        text += f", and {added} that {'is' if added == 1 else 'are'} highlighted" if added else ""
        text += "; the table has all."
    return text


def _sheet(operators: pd.DataFrame, *, gpu_recorded: bool) -> pd.DataFrame:
    cpu = unit_for(_largest(operators["self_cpu_ns"]))
    gpu = unit_for(_largest(operators["self_gpu_ns"]))
    columns: dict[str, object] = {
        "Name": operators["name"],
        f"Self CPU ({cpu.name})": operators["self_cpu_ns"] / cpu.ns,
        "Self CPU (%)": operators["self_cpu_fraction"] * 100,
    }
    if gpu_recorded:
        columns |= {
            f"Self GPU ({gpu.name})": operators["self_gpu_ns"] / gpu.ns,
            "Self GPU (%)": operators["self_gpu_fraction"] * 100,
        }
    columns |= {
        "Calls": operators["calls"],
        f"Total CPU ({cpu.name})": operators["total_cpu_ns"] / cpu.ns,
    }
    if gpu_recorded:
        columns[f"Total GPU ({gpu.name})"] = operators["total_gpu_ns"] / gpu.ns
    columns["Kind"] = operators["kind"].map(_KIND_WORDS)
    return pd.DataFrame(columns)


def _largest(column: pd.Series[int]) -> float:
    return float(column.max()) if len(column) else 0.0
