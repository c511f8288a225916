"""The points of a sweep as one table: what every chart and every claim of a sweep rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import pandas as pd

from profcore import workloads
from profcore.comparison.runs import matters
from profcore.rules.headline import headline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from profcore.analysis import Analysis
    from profcore.experiment import Experiment
    from profcore.recording import Recording

Axis = Literal["size", "batch", "warmup"]

COLUMNS: Final[dict[str, str]] = {
    "id": "of the recording",
    "row": "name of the row it belongs to: what it shares with other points of a line in a chart",
    "axis": "the knob that changes along a row, the same for all points: see `axis_of`",
    "x": "this point's value of that knob",
    "compile": "compile mode",
    "size": "rows and columns of each matrix",
    "batch": "matrices at once",
    "step_ns": "median step time without the profiler (float)",
    "step_p25_ns": "lower quartile of the repeats (float)",
    "step_p75_ns": "upper quartile of the repeats (float)",
    "cpu_ns": "CPU time to issue a step, without the profiler (float)",
    "gpu_ns": "GPU work per step (float; NaN: no GPU)",
    "gpu_source": "`trace`: busy time of the recorded steps; `queue`: by events round queued "
    "calls, until the point is recorded; empty: no GPU",
    "busy_fraction": "gpu_ns over step_ns, at most 1 (float; NaN: no GPU)",
    "launches": "launch calls per step (float; NaN: not recorded yet, or no GPU)",
    "kernels": "kernels per step (float; NaN as before)",
    "step_flops": "arithmetic of a step by the workload's formula (float)",
    "step_bytes": "bytes of a step by the workload's formula (float)",
    "flops_per_s": "step_flops over step_ns (float)",
    "bytes_per_s": "step_bytes over step_ns (float)",
    "first_call_ns": "the first call, compilation included (float)",
    "compile_cache": "`fresh`, `shared`, `kept`, or empty for eager",
}
"""One row per timed point; by row in the order of the sweep, then along the axis."""

AXES: Final[tuple[Axis, ...]] = ("size", "batch", "warmup")
"""What can stand on an x axis, the first that varies first."""

_NAMED: Final = ("compile", "dtype", "batch", "warmup", "bias", "workload")
"""Knobs that name a row, as far as they differ between the rows."""


def points_table(
    points: Sequence[Recording], analyses: Mapping[str, Analysis] | None = None
) -> pd.DataFrame:
    """Return the timed points of a sweep: see COLUMNS.

    Args:
        points: Of one sweep, or any recordings that are to stand in one chart.
        analyses: By recording id, for those whose trace was read. A point without one has no
            launches and its GPU time by events.
    """
    timed = [point for point in points if point.timings is not None]
    experiments = [point.experiment for point in timed]
    axis = axis_of(experiments)
    names = row_names(experiments, axis)
    order = {name: place for place, name in enumerate(dict.fromkeys(names))}
    rows = [
        {"row": name, "axis": axis, "x": getattr(point.experiment, axis)}
        | _row(point, (analyses or {}).get(point.id))
        for point, name in zip(timed, names, strict=True)
    ]
    rows.sort(key=lambda row: (order[row["row"]], row["x"]))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def axis_of(experiments: Sequence[Experiment]) -> Axis:
    """Return the knob that a chart of these points has on its x axis.

    The size, if there are several; else the batch, else the number of warm-up calls; the size where
    none of them varies.
    """
    for axis in AXES:
        if varies(axis, experiments):
            return axis
    return "size"


def row_names(experiments: Sequence[Experiment], axis: Axis = "size") -> list[str]:
    """Return for each point what to call its row: the knobs that differ between rows.

    Args:
        experiments: Of the points.
        axis: Not named, because it changes along the row.

    Returns:
        A sweep over one knob alone has one row, named by its compile mode.
    """
    varying = [knob for knob in _NAMED if knob != axis and varies(knob, experiments)]
    varying = varying or ["compile"]
    return [", ".join(_knob_text(one, knob) for knob in varying) for one in experiments]


def varies(knob: str, experiments: Sequence[Experiment]) -> bool:
    """Tell whether a knob differs among experiments in which it has an effect."""
    values = {getattr(one, knob) for one in experiments if matters(knob, one)}
    return len(values) > 1


def _knob_text(experiment: Experiment, knob: str) -> str:
    value = getattr(experiment, knob)
    if knob == "compile":
        return "eager" if value == "eager" else f"compile {value}"
    if knob in {"batch", "warmup"}:
        return f"{knob.replace('warmup', 'warm-up')} {value}"
    return f"{value} bias" if knob == "bias" else str(value)


def _row(point: Recording, analysis: Analysis | None) -> dict[str, Any]:
    timings, experiment = point.timings, point.experiment
    if timings is None:
        msg = f"{point.id} was not timed"
        raise ValueError(msg)
    workload = workloads.find(experiment.workload)
    flops, moved = workload.step_flops(experiment), workload.step_bytes(experiment)
    gpu_ns, source = timings.gpu_queued_ns, "queue"
    launches = kernels = None
    if analysis is not None:
        numbers = headline(analysis)
        gpu_ns, source = numbers.gpu_busy_ns, "trace"
        launches, kernels = numbers.launches, numbers.kernels
    step_ns = timings.step_ns_median
    return {
        "id": point.id,
        "compile": experiment.compile,
        "size": experiment.size,
        "batch": experiment.batch,
        "step_ns": step_ns,
        "step_p25_ns": timings.step_ns_p25,
        "step_p75_ns": timings.step_ns_p75,
        "cpu_ns": timings.cpu_ns_median,
        "gpu_ns": _number(gpu_ns),
        "gpu_source": "" if gpu_ns is None else source,
        "busy_fraction": float("nan") if gpu_ns is None else min(1.0, gpu_ns / step_ns),
        "launches": _number(launches),
        "kernels": _number(kernels),
        "step_flops": float(flops),
        "step_bytes": float(moved),
        "flops_per_s": flops / step_ns * 1e9,
        "bytes_per_s": moved / step_ns * 1e9,
        "first_call_ns": float(timings.first_call_ns),
        "compile_cache": timings.compile_cache,
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
