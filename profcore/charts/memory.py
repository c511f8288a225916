"""How much memory is held on each device?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import altair as alt
import pandas as pd

from profcore.charts.figure import Figure, Picture, unit_for
from profcore.charts.thinning import POINTS_MAX, thinned
from profcore.trace.model import MISSING
from profcore.units import bytes_text, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTION: Final = "How much memory is held on each device?"
NO_ROWS: Final = (
    "There are no memory rows in this file; record with profile_memory=True to see them."
)
ALLOCATED: Final = "allocated (held by tensors)"
RESERVED: Final = "reserved (taken from the driver)"
DEVICES_MAX: Final = 5
"""As many colours as there are; the devices with the highest peaks."""
HEIGHT_PX: Final = 240
_UNITS: Final = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024), ("B", 1))


def memory_figure(memory: pd.DataFrame) -> Figure:
    """Draw allocated and reserved memory over time, per device.

    Args:
        memory: The table of `profcore.analysis.memory`, at least one row.
    """
    sheet = _sheet(memory)
    peaks = memory.groupby("device")["allocated_bytes"].max().sort_values(ascending=False)
    drawn = peaks.index[:DEVICES_MAX].tolist()
    return Figure(
        question=QUESTION,
        chart=_lines(memory, drawn),
        takeaway=_takeaway(memory),
        sheet=sheet,
        note=_note(memory, devices=len(peaks)),
    )


def device_name(device: int) -> str:
    """Return what a device is called on screen."""
    return "CPU" if device < 0 else f"GPU {device}"


def _lines(memory: pd.DataFrame, devices: Sequence[int]) -> Picture:
    unit = unit_for(float(memory["time_ns"].max()))
    largest = int(memory[["allocated_bytes", "reserved_bytes"]].to_numpy().max())
    size_name, size = next((known for known in _UNITS if largest >= known[1]), _UNITS[-1])
    parts = []
    for device in devices:
        one = memory[memory["device"] == device]
        for column, words in (("allocated_bytes", ALLOCATED), ("reserved_bytes", RESERVED)):
            known = one[one[column] != MISSING]
            if known.empty:
                continue
            time_ns, held = thinned(known["time_ns"].to_numpy(), known[column].to_numpy())
            parts.append(
                pd.DataFrame(
                    {
                        "time": time_ns / unit.ns,
                        "held": held / size,
                        "device": device_name(device),
                        "what": words,
                        "text": [bytes_text(value) for value in held],
                    }
                )
            )
    lines: alt.Chart = alt.Chart(pd.concat(parts, ignore_index=True), height=HEIGHT_PX).mark_line(
        interpolate="step-after"
    )
    legend = alt.Legend(title=None, orient="top", direction="vertical", labelLimit=300)
    return lines.encode(
        x=alt.X("time:Q", title=f"Time since the recording began ({unit.name})"),
        y=alt.Y("held:Q", title=f"Memory ({size_name})", scale=alt.Scale(zero=True)),
        color=alt.Color("device:N", sort=None, legend=legend),
        strokeDash=alt.StrokeDash(
            "what:N",
            scale=alt.Scale(domain=[ALLOCATED, RESERVED], range=[[1, 0], [6, 4]]),
            legend=legend,
        ),
        tooltip=[
            alt.Tooltip("device:N", title="Device"),
            alt.Tooltip("what:N", title="What"),
            alt.Tooltip("text:N", title="Held"),
            alt.Tooltip("time:Q", title=f"From ({unit.name})", format=",.2f"),
        ],
    )


def _takeaway(memory: pd.DataFrame) -> str:
    top = int(memory["allocated_bytes"].to_numpy().argmax())
    device, held, time_ns = (
        int(memory[column].to_numpy()[top]) for column in ("device", "allocated_bytes", "time_ns")
    )
    return (
        f"{device_name(device)} holds the most: {bytes_text(held)} in tensors, "
        f"{time_text(time_ns)} after the recording began."
    )


def _note(memory: pd.DataFrame, *, devices: int) -> str:
    text = (
        "Allocated is what tensors hold; reserved is what PyTorch's allocator has taken from the "
        "driver, its free blocks included."
    )
    relative = sorted(set(memory.loc[memory["is_relative"], "device"].tolist()))
    if relative:
        names = ", ".join(device_name(device) for device in relative)
        text += (
            f" For {names} the file gives changes and no totals: the curve is their sum, lifted so "
            "that blocks older than the recording do not take it below 0."
        )
    if devices > DEVICES_MAX:
        text += f" The {DEVICES_MAX} largest of {devices} devices are drawn."
    if memory.groupby("device").size().max() > POINTS_MAX:
        text += f" Of each curve {POINTS_MAX:,} points are drawn: the peak of each stretch."
    return text


def _sheet(memory: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for device, one in memory.groupby("device"):
        reserved, allocated = int(one["reserved_bytes"].max()), one["allocated_bytes"].to_numpy()
        peak = int(allocated.argmax())
        rows.append(
            {
                "Device": device_name(int(str(device))),
                "Peak allocated": bytes_text(int(allocated[peak])),
                "Peak at": time_text(int(one["time_ns"].to_numpy()[peak])),
                "Peak reserved": "not said" if reserved == MISSING else bytes_text(reserved),
                "At the end": bytes_text(int(allocated[-1])),
                "Changes": len(one),
            }
        )
    return pd.DataFrame(rows)
