"""Which kernels and copies fill the GPU's time?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import pandas as pd

from profcore.analysis.names import reading
from profcore.charts.figure import (
    GPU,
    ROW_PX,
    TEXT_COLOR,
    Figure,
    Picture,
    color,
    label_axis,
    labels,
    tooltip,
    unit_for,
    value_axis,
)
from profcore.charts.highlight import NOTHING
from profcore.charts.outline import OUTLINED, band, with_outline
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Hashable

    from profcore.charts.highlight import Highlight

ROWS_MAX: Final = 12
NAME_MAX: Final = 1_000
"""Characters of a name in a tooltip; the table has it whole."""

QUESTION: Final = "Which kernels and copies fill the GPU's time?"
READ_MAX: Final = 1_000
"""Kernels whose names are put in words."""

FULL_NAME: Final = "Full name"
"""Column of the table with the name as the file has it."""

_COPY_FAMILIES: Final = {"memcpy": "copy", "memset": "fill"}


def kernels_figure(
    kernels: pd.DataFrame, copies: pd.DataFrame, *, marked: Highlight = NOTHING
) -> Figure:
    """Draw the summed time of each kernel, copy and fill, the longest first.

    Args:
        kernels: The table of `profcore.analysis.kernels`.
        copies: The table of `profcore.analysis.copies`.
        marked: The bars that are highlighted; they are drawn even where they are short.
    """
    work = _work(kernels, copies)
    is_marked = pd.Series(
        [bar in marked.gpu_work for bar in zip(work["name"], work["kind"], strict=True)],
        index=work.index,
        dtype=bool,
    )
    added = int(is_marked.iloc[ROWS_MAX:].sum())
    shown = work[is_marked | (work.index < ROWS_MAX)].copy()
    shown[OUTLINED] = is_marked[shown.index]
    return Figure(
        question=QUESTION,
        chart=_chart(shown),
        takeaway=_takeaway(work),
        sheet=_sheet(work),
        rows=tuple(work["median_row"].tolist()),
        note=_note(work, added=added),
        table="activities",
        outlined=tuple(work["short_name"][is_marked]),
    )


def _chart(shown: pd.DataFrame) -> Picture:
    largest_ns = float(shown["sum_ns"].max()) if len(shown) else 0.0
    unit = unit_for(largest_ns)
    shown["series"] = GPU
    shown["label"] = labels(shown["short_name"])
    shown["sum"] = shown["sum_ns"] / unit.ns
    shown["end"] = [_end(row) for row in shown.to_dict("records")]
    shown["name"] = [name[:NAME_MAX] for name in shown["name"]]
    shown["sum_text"] = [time_text(sum_ns) for sum_ns in shown["sum_ns"]]
    y = label_axis("label", list(shown["label"]))
    plain = alt.Chart(shown)
    base = plain.encode(
        y=y,
        x=value_axis(
            "sum",
            title=f"GPU time, all recorded steps ({unit.name})",
            largest=largest_ns / unit.ns * 1.3,  # the words behind these bars are longer
        ),
        tooltip=tooltip(
            ("name", "Name"), ("family", "Family"), ("sum_text", "Sum"), ("end", "Share, calls")
        ),
    )
    bars = base.mark_bar().encode(color=color("series", []))
    values = base.mark_text(align="left", baseline="middle", dx=4, color=TEXT_COLOR).encode(
        text="end:N"
    )
    layers = [bars, values]
    if shown[OUTLINED].any():
        layers = [band(plain, y=y), with_outline(bars), values]
    chart: Picture = alt.layer(*layers).properties(height=alt.Step(ROW_PX))
    return chart


def _work(kernels: pd.DataFrame, copies: pd.DataFrame) -> pd.DataFrame:
    """All GPU work by name: kernels, copies and fills in one table, shares of their common sum."""
    of_kernels = pd.DataFrame(
        {
            "name": kernels["name"],
            "kind": "kernel",
            "short_name": kernels["short_name"],
            "family": kernels["family"],
            "calls": kernels["calls"],
            "sum_ns": kernels["sum_ns"],
            "typical_ns": kernels["median_ns"],
            "min_ns": kernels["min_ns"],
            "max_ns": kernels["max_ns"],
            "overlong_calls": kernels["overlong_calls"],
            "reading": _readings(kernels["name"]),
            "median_row": kernels["median_row"],
        }
    )
    of_copies = pd.DataFrame(
        {
            "name": copies["name"],
            "kind": copies["kind"],
            "short_name": copies["name"],
            "family": copies["kind"].map(_COPY_FAMILIES),
            "calls": copies["calls"],
            "sum_ns": copies["sum_ns"],
            "typical_ns": copies["sum_ns"] / copies["calls"],
            "min_ns": pd.Series(pd.NA, index=copies.index, dtype="Int64"),
            "max_ns": pd.Series(pd.NA, index=copies.index, dtype="Int64"),
            "overlong_calls": 0,
            "reading": "",
            "median_row": copies["median_row"],
        }
    )
    parts = [part for part in (of_kernels, of_copies) if len(part)]
    if not parts:
        return of_kernels.assign(share_fraction=0.0)
    work = pd.concat(parts, ignore_index=True)
    work = work.sort_values("sum_ns", ascending=False, kind="stable", ignore_index=True)
    total_ns = int(work["sum_ns"].sum())
    return work.assign(share_fraction=work["sum_ns"] / total_ns if total_ns else 0.0)


def _readings(names: pd.Series[str]) -> list[str]:
    """Return the names in words; beyond READ_MAX, which no table shows, nothing."""
    words = [reading(name) for name in names.head(READ_MAX)]
    return words + [""] * (len(names) - len(words))


def _end(row: dict[Hashable, Any]) -> str:
    """Return what stands behind a bar."""
    text = f"{percent_text(row['share_fraction'])} · {row['calls']:,} × "
    text += time_text(row["typical_ns"])
    doubtful = row["overlong_calls"]
    return f"{text} · {doubtful:,} doubtful" if doubtful else text


def _takeaway(work: pd.DataFrame) -> str:
    if work.empty:
        return "No kernels were recorded."
    top = work.iloc[0]
    text = (
        f"{top['short_name']} takes {percent_text(top['share_fraction'])} of the GPU time: "
        f"{time_text(top['sum_ns'])} in {top['calls']:,} calls."
    )
    if doubtful := int(top["overlong_calls"]):
        text += (
            f" But {doubtful:,} of these calls cannot have lasted as long as the file says: they "
            "run over later work on the same stream."
        )
    if len(work) > 1:
        second = work.iloc[1]
        text += f" Next is {second['short_name']} with {percent_text(second['share_fraction'])}."
    return text


def _note(work: pd.DataFrame, *, added: int) -> str:
    text = (
        "Behind each bar: its share of the summed GPU time, and calls × typical time of a call. "
        "A name is short here; the table has it whole in its last column."
    )
    if work["overlong_calls"].any():
        text += (
            " Doubtful: calls that run over later work on the same stream, which cannot be; the "
            "sum and the rank of such a kernel mislead."
        )
    if len(work) > ROWS_MAX:
        text += f" The {ROWS_MAX} longest of {len(work)} are drawn"
        text += f", and {added} that {'is' if added == 1 else 'are'} highlighted." if added else "."
    return text


def _sheet(work: pd.DataFrame) -> pd.DataFrame:
    total = unit_for(float(work["sum_ns"].max()) if len(work) else 0)
    call = unit_for(float(work["typical_ns"].max()) if len(work) else 0)
    return pd.DataFrame(
        {
            "Name": work["short_name"],
            f"Sum ({total.name})": work["sum_ns"] / total.ns,
            "Share (%)": work["share_fraction"] * 100,
            "Calls": work["calls"],
            f"Typical ({call.name})": work["typical_ns"] / call.ns,
            f"Shortest ({call.name})": work["min_ns"].astype("Float64") / call.ns,
            f"Longest ({call.name})": work["max_ns"].astype("Float64") / call.ns,
            "In words": work["reading"],
            "Doubtful calls": work["overlong_calls"],
            "Family": work["family"],
            FULL_NAME: work["name"],
        }
    )
