"""The answer of `compare`, as JSON and as text.

The JSON object (times in µs and per step, what is not known is null):

    {"schema_version": 1,
     "a": {"title", "name", "runs", "step_us_median", "step_us_p25", "step_us_p75",
           "cpu_us_median", "gpu_busy_us", "busy_fraction", "launches", "kernels",
           "achieved_per_s", "achieved_is_flops", "first_call_us"},
     "b": the same,
     "comparable", "obstacles": [text], "cautions": [text], "knobs": [{"knob", "a", "b"}],
     "step": {"a_us", "b_us", "ratio", "low_ratio", "high_ratio", "confidence", "is_real",
              "method", "runs_a", "runs_b", "noise_fraction"} or null,
     "kernels": [{"name", "where", "name_a", "name_b", "calls_a", "calls_b", "a_us", "b_us"}],
     "operators": the same, with self CPU times,
     "chains": {"a": [{"text", "times"}], "b": the same},
     "findings": [{"rule", "title", "kind", "change", "observation", "other_state",
                   "other_reason"}],
     "verdict": {"sentence", "arithmetic": [text], "noise"}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profcore.commands.report import SCHEMA_VERSION, rows
from profcore.units import time_text, us

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from profcore.comparison import Comparison, StepDifference
    from profcore.comparison.figures import Figures

ROWS: Final = 8
"""Kernels and operators shown as text; all of them are in the JSON answer."""
NAME_MAX: Final = 70


def compare_report(comparison: Comparison) -> dict[str, Any]:
    """Return the answer as plain containers."""
    found, verdict = comparison.comparability, comparison.verdict
    sides = zip((comparison.a, comparison.b), comparison.names, comparison.figures, strict=True)
    a, b = (_side(run.title, name, figures) for run, name, figures in sides)
    return {
        "schema_version": SCHEMA_VERSION,
        "a": a,
        "b": b,
        "comparable": found.is_fair,
        "obstacles": list(found.obstacles),
        "cautions": list(found.cautions),
        "knobs": [{"knob": knob.knob, "a": knob.a, "b": knob.b} for knob in found.knobs],
        "step": None if comparison.step is None else _step(comparison.step),
        "kernels": _table(comparison.kernels),
        "operators": _table(comparison.operators),
        "chains": {
            side: [{"text": chain.text, "times": chain.times} for chain in chains]
            for side, chains in zip("ab", comparison.chains, strict=True)
        },
        "findings": [
            {
                "rule": change.rule,
                "title": change.title,
                "kind": change.kind,
                "change": change.change,
                "observation": change.observation,
                "other_state": change.other_state,
                "other_reason": change.other_reason,
            }
            for change in comparison.changes
        ],
        "verdict": {
            "sentence": verdict.sentence,
            "arithmetic": list(verdict.arithmetic),
            "noise": verdict.noise,
        },
    }


def _side(title: str, name: str, figures: Figures) -> dict[str, Any]:
    return {
        "title": title,
        "name": name,
        "runs": figures.runs,
        "step_us_median": _us(figures.step_ns),
        "step_us_p25": _us(figures.step_p25_ns),
        "step_us_p75": _us(figures.step_p75_ns),
        "cpu_us_median": _us(figures.cpu_ns),
        "gpu_busy_us": _us(figures.gpu_busy_ns),
        "busy_fraction": figures.busy_fraction,
        "launches": figures.launches,
        "kernels": figures.kernels,
        "achieved_per_s": figures.achieved_per_s,
        "achieved_is_flops": figures.is_flops,
        "first_call_us": _us(figures.first_call_ns),
    }


def _step(step: StepDifference) -> dict[str, Any]:
    return {
        "a_us": us(step.a_ns),
        "b_us": us(step.b_ns),
        "ratio": round(step.ratio, 6),
        "low_ratio": round(step.low_ratio, 6),
        "high_ratio": round(step.high_ratio, 6),
        "confidence": step.confidence,
        "is_real": step.is_real,
        "method": step.method,
        "runs_a": step.runs_a,
        "runs_b": step.runs_b,
        "noise_fraction": round(step.noise_fraction, 6),
    }


def _table(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "name": row.name,
            "where": row.where,
            "name_a": row.name_a,
            "name_b": row.name_b,
            "calls_a": float(row.calls_a),
            "calls_b": float(row.calls_b),
            "a_us": us(row.a_ns),
            "b_us": us(row.b_ns),
        }
        for row in rows(table)
    ]


def _us(duration_ns: float | None) -> float | None:
    return None if duration_ns is None else us(duration_ns)


def compare_text(comparison: Comparison) -> str:
    """Return the answer for people, ending with a line feed."""
    text = "\n".join(_lines(comparison)) + "\n"
    # Names come from files: none of them may steer the terminal.
    return "".join(char if char == "\n" or char.isprintable() else "\ufffd" for char in text)


def _lines(comparison: Comparison) -> Iterator[str]:
    found, verdict = comparison.comparability, comparison.verdict
    yield f"A: {_flat(comparison.a.title)}"
    yield f"B: {_flat(comparison.b.title)}"
    for knob in found.knobs:
        yield f"differs: {knob.knob}, {knob.a} and {knob.b}"
    yield from (f"not the same: {text}" for text in found.obstacles)
    yield from (f"mind: {text}" for text in found.cautions)
    yield ""
    yield verdict.sentence
    yield from (f"  {line}" for line in verdict.arithmetic)
    if verdict.noise:
        yield f"  {verdict.noise}"
    for title, table in (("GPU work", comparison.kernels), ("CPU side", comparison.operators)):
        if not table.empty:
            yield ""
            yield f"{title} per step (time in calls; A, B), the largest change first:"
            yield from _rows(table)
    for side, chains in zip("AB", comparison.chains, strict=True):
        yield ""
        yield f"How a step of {side} came about:"
        for chain in chains:
            yield f"  {chain.text}" + (f" (× {chain.times})" if chain.times > 1 else "")
    yield ""
    for change in comparison.changes:
        doubt = " (not checked on the other side)" if change.other_state != "clear" else ""
        yield f"{change.change}: {change.rule}, {change.title}{doubt}"


def _rows(table: pd.DataFrame) -> Iterator[str]:
    for row in rows(table.head(ROWS)):
        a = f"{time_text(row.a_ns)} in {row.calls_a:g}" if row.where != "B" else "-"
        b = f"{time_text(row.b_ns)} in {row.calls_b:g}" if row.where != "A" else "-"
        yield f"  {a:>16}  {b:>16}  {_flat(row.name)}"
    if len(table) > ROWS:
        yield f"  and {len(table) - ROWS} more"


def _flat(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= NAME_MAX else line[: NAME_MAX - 1] + "…"
