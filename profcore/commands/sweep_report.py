"""The answer of `sweep`, as JSON and as text.

The JSON object (times in µs, what is not known is null):

    {"schema_version": 1, "id", "folder", "title", "state", "message",
     "device": {"name", "kind"} or null,
     "axis": the knob along which the points of a row differ: "size", "batch" or "warmup",
     "points": [{"id", "row", "workload", "size", "batch", "dtype", "compile", "warmup", "state",
                 "message", "step_us_median", "step_us_p25", "step_us_p75", "cpu_us_median",
                 "gpu_us", "gpu_source", "busy_fraction", "launches", "kernels", "flops_per_s",
                 "bytes_per_s", "intensity_flops_per_byte", "roof_flops_per_s", "first_call_us",
                 "compile_cache"}],
     "crossovers": [{"row", "threshold", "state", "axis": "size" or "batch", "at": where on it,
                     "below": {"at", "busy_fraction"} or null, "above": the same, "sentence"}],
     "break_even": [{"id", "state", "steps", "compile_us", "gain_us", "sentence", "arithmetic"}],
     "ceilings": {"source", "source_text", "flops_per_s": {format: rate}, "memory_bytes_per_s",
                  "launch_us"} or null}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from profcore import ceilings as device_ceilings
from profcore import workloads
from profcore.commands.report import SCHEMA_VERSION
from profcore.comparison.break_even import break_evens
from profcore.comparison.crossover import crossovers
from profcore.comparison.points import points_table
from profcore.comparison.roofline import roof_of
from profcore.units import flops_rate_text, percent_text, time_text, us

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from profcore.analysis import Analysis
    from profcore.comparison.crossover import Crossover
    from profcore.devices import Ceilings
    from profcore.recording import Recording
    from profcore.sweeps import Sweep


_AXIS_HEADS = {"warmup": "warm-up"}


def sweep_report(sweep: Sweep, analyses: Mapping[str, Analysis], root: Path) -> dict[str, Any]:
    """Return the answer as plain containers.

    Args:
        sweep: Its points may be few.
        analyses: By id, of the points whose trace was read.
        root: The data folder, where measured ceilings lie.
    """
    table = points_table(sweep.points, analyses)
    rows = {str(row["id"]): row for row in table.to_dict("records")}
    places = [point.environment for point in sweep.points if point.environment is not None]
    ceilings = device_ceilings.beside(sweep.folder, root, places[0]) if places else None
    return {
        "schema_version": SCHEMA_VERSION,
        "id": sweep.id,
        "folder": str(sweep.folder),
        "title": sweep.title,
        "state": sweep.status.state,
        "message": sweep.status.message,
        "device": {
            "name": places[0].device_name,
            "kind": "cpu" if places[0].device == "cpu" else "gpu",
        }
        if places
        else None,
        "axis": str(table["axis"].iloc[0]) if len(table) else "size",
        "points": [_point(point, rows.get(point.id), ceilings) for point in sweep.points],
        "crossovers": [_crossover(found) for found in crossovers(table)],
        "break_even": [
            {
                "id": point.id,
                "state": found.state,
                "steps": _number(found.steps),
                "compile_us": us(found.compile_ns),
                "gain_us": us(found.gain_ns),
                "sentence": found.sentence,
                "arithmetic": list(found.arithmetic),
            }
            for point, found in break_evens(sweep.points)
        ],
        "ceilings": None if ceilings is None else _ceilings(ceilings),
    }


def _point(
    point: Recording, row: dict[Any, Any] | None, ceilings: Ceilings | None
) -> dict[str, Any]:
    knobs = point.experiment
    answer: dict[str, Any] = {
        "id": point.id,
        "row": row["row"] if row else None,
        "workload": knobs.workload,
        "size": knobs.size,
        "batch": knobs.batch,
        "dtype": knobs.dtype,
        "compile": knobs.compile,
        "warmup": knobs.warmup,
        "state": point.status.state,
        "message": point.status.message,
    }
    times = {
        "step_us_median": "step_ns",
        "step_us_p25": "step_p25_ns",
        "step_us_p75": "step_p75_ns",
        "cpu_us_median": "cpu_ns",
        "gpu_us": "gpu_ns",
    }
    numbers = ("busy_fraction", "launches", "kernels", "flops_per_s", "bytes_per_s")
    answer |= {name: _us(row[column]) if row else None for name, column in times.items()}
    answer["gpu_source"] = row["gpu_source"] if row else ""
    answer |= {name: _number(row[name]) if row else None for name in numbers}
    intensity = row["step_flops"] / row["step_bytes"] if row else None
    workload = workloads.find(knobs.workload)
    roof = roof_of(ceilings, dtype=knobs.dtype, is_matmul=workload.is_matmul)
    answer["intensity_flops_per_byte"] = _number(intensity)
    answer["roof_flops_per_s"] = roof.at(intensity) if roof and intensity is not None else None
    answer["first_call_us"] = _us(row["first_call_ns"]) if row else None
    answer["compile_cache"] = row["compile_cache"] if row else ""
    return answer


def _crossover(found: Crossover) -> dict[str, Any]:
    def neighbour(point: tuple[int, float] | None) -> dict[str, Any] | None:
        return None if point is None else {"at": point[0], "busy_fraction": _number(point[1])}

    return {
        "row": found.row,
        "threshold": found.threshold,
        "state": found.state,
        "axis": found.axis,
        "at": _number(found.x),
        "below": neighbour(found.below),
        "above": neighbour(found.above),
        "sentence": found.sentence,
    }


def _ceilings(ceilings: Ceilings) -> dict[str, Any]:
    return {
        "source": ceilings.source,
        "source_text": ceilings.source_text,
        "flops_per_s": dict(ceilings.flops_per_s),
        "memory_bytes_per_s": ceilings.memory_bytes_per_s,
        "launch_us": _us(ceilings.launch_ns),
    }


def _us(duration_ns: float | None) -> float | None:
    return None if duration_ns is None or math.isnan(duration_ns) else us(duration_ns)


def _number(value: float | None) -> float | None:
    if value is None or math.isnan(value):
        return None
    return round(float(value), 6)


def sweep_text(sweep: Sweep, answer: Mapping[str, Any]) -> str:
    """Return the answer for people, ending with a line feed."""
    return "\n".join(_lines(sweep, answer)) + "\n"


def _lines(sweep: Sweep, answer: Mapping[str, Any]) -> Iterator[str]:
    device = answer["device"]
    yield f"{sweep.title}" + (f", on {device['name']}" if device else "")
    axis = answer["axis"]
    heads = (
        _AXIS_HEADS.get(axis, axis),
        "step",
        "middle half",
        "CPU",
        "GPU",
        "busy",
        "achieved",
        "row",
    )
    cells = [heads, *(_cells(point, axis) for point in answer["points"])]
    widths = [max(len(line[place]) for line in cells) for place in range(len(heads) - 1)]
    for line in cells:
        numbers = [cell.rjust(width) for cell, width in zip(line[:-1], widths, strict=True)]
        yield "  " + "  ".join([*numbers, line[-1]])
    yield from dict.fromkeys(found["sentence"] for found in answer["crossovers"])
    yield from (found["sentence"] for found in answer["break_even"])
    if answer["ceilings"]:
        yield f"Ceilings: {answer['ceilings']['source_text']}"


def _cells(point: Mapping[str, Any], axis: str) -> tuple[str, ...]:
    def shown(name: str) -> str:
        return "" if point[name] is None else time_text(point[name] * 1000)

    if point["step_us_median"] is None:
        return (f"{point[axis]:,}", "", "", "", "", "", "", point["message"])
    busy = "" if point["busy_fraction"] is None else percent_text(point["busy_fraction"])
    spread = f"{shown('step_us_p25')} to {shown('step_us_p75')}"
    return (
        f"{point[axis]:,}",
        shown("step_us_median"),
        spread,
        shown("cpu_us_median"),
        shown("gpu_us"),
        busy,
        flops_rate_text(point["flops_per_s"]),
        point["row"] or "",
    )
