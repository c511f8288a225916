"""Kernels and operators of two runs, matched by name; all figures per step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

import pandas as pd

from profcore.analysis.names import short_name
from profcore.rules.quantities import Quantities

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.analysis import Analysis

COLUMNS: Final[dict[str, str]] = {
    "name": "short name; of side A where both have it",
    "where": "`both`, `A` or `B`: the sides that have it",
    "name_a": "full name in A, empty where A lacks it",
    "name_b": "full name in B, empty where B lacks it",
    "calls_a": "calls per step in A (float)",
    "calls_b": "calls per step in B (float)",
    "a_ns": "time per step in A (float); kernels: sum of durations, operators: self CPU time",
    "b_ns": "time per step in B (float)",
    "change_ns": "b_ns - a_ns (float)",
}
"""Both tables; the largest change first, whichever its sign, then by name."""

_NOTHING: Final = (0.0, 0.0)
_EPILOGUE: Final = re.compile(r"_(bz|bias|badd)(?=_)")
_GRAPH: Final = re.compile(r"## Call CompiledFxGraph \w+ ##")
_NUMBER: Final = re.compile(r"^(triton_(?:poi|red|per|tem)_\w*?)_\d+$")


Figures: TypeAlias = dict[str, tuple[float, float]]
"""Full name -> calls and nanoseconds per step."""


def kernel_stem(name: str) -> str:
    """Return what stays the same when one piece of work gets another name.

    cuBLAS names what is added at the end of a product (`..._bz_NNT`, `..._bias_NNT`,
    `..._badd_NNT`), Inductor numbers its kernels.
    """
    stem = _EPILOGUE.sub("", name)
    numbered = _NUMBER.match(stem)
    return numbered[1] if numbered else stem


def operator_stem(name: str) -> str:
    """Return the name of a CPU row without the hash of the compiled graph that it calls."""
    return _GRAPH.sub("## Call CompiledFxGraph ##", name)


def matched_kernels(a: Analysis, b: Analysis) -> pd.DataFrame:
    """Return the kernels, copies and fills of two runs: see COLUMNS.

    Matched by stem first; what is left over by short name, so that the same elementwise functor
    in another vector width is found.
    """
    left, right = _kernels(a), _kernels(b)
    pairs = _pair(left, right, kernel_stem)
    pairs += _pair(
        _without(left, [one for one, _ in pairs]),
        _without(right, [other for _, other in pairs]),
        short_name,
    )
    return _table(left, right, pairs, short_name)


def matched_operators(a: Analysis, b: Analysis) -> pd.DataFrame:
    """Return operators, annotations and calls of the CPU side: see COLUMNS.

    Self times as in torch's own table; they are profiled, so read them against each other only.
    """
    left, right = _operators(a), _operators(b)
    return _table(left, right, _pair(left, right, operator_stem), operator_stem)


def kernel_rows(analysis: Analysis) -> dict[str, int]:
    """Return of each kernel, copy and fill the row of a call of median duration, by full name."""
    return _median_rows(analysis.copies) | _median_rows(analysis.kernels)


def operator_rows(analysis: Analysis) -> dict[str, int]:
    """Return of each row of the CPU side the row of a call of median duration, by full name.

    Where one name stands for two kinds, of the one with the most self time.
    """
    return _median_rows(analysis.operators[::-1])


def _median_rows(table: pd.DataFrame) -> dict[str, int]:
    return dict(zip(table["name"], table["median_row"].tolist(), strict=True))


def _kernels(analysis: Analysis) -> Figures:
    """Return calls and time per step by full name, over the steps that count."""
    quantities = Quantities.of(analysis)
    rows = analysis.activities[quantities.counted]
    steps = quantities.counted_steps
    grouped = rows.groupby("name", sort=False, observed=True)["duration_ns"]
    return {
        str(name): (count / steps, total / steps)
        for name, count, total in zip(
            grouped.size().index, grouped.size(), grouped.sum(), strict=True
        )
    }


def _operators(analysis: Analysis) -> Figures:
    table, steps = analysis.operators, max(1, len(analysis.steps))
    table = table[table["kind"] != "overhead"]
    # One name may stand for two kinds (an annotation named like an operator): they are added.
    grouped = table.groupby("name", sort=False)[["calls", "self_cpu_ns"]].sum()
    return {
        str(name): (calls / steps, self_ns / steps)
        for name, calls, self_ns in zip(
            grouped.index, grouped["calls"], grouped["self_cpu_ns"], strict=True
        )
    }


def _pair(
    left: Figures,
    right: Figures,
    key: Callable[[str], str],
) -> list[tuple[str, str]]:
    """Pair names with one key; where several share it, those that take longest pair first."""
    free: dict[str, list[str]] = {}
    for name in sorted(right, key=lambda name: right[name][1], reverse=True):
        free.setdefault(key(name), []).append(name)
    pairs = []
    for name in sorted(left, key=lambda name: left[name][1], reverse=True):
        others = free.get(key(name), [])
        if name in others:  # the very same name comes before one that is only alike
            others.remove(name)
            pairs.append((name, name))
        elif others:
            pairs.append((name, others.pop(0)))
    return pairs


def _without(rows: Figures, names: list[str]) -> Figures:
    return {name: row for name, row in rows.items() if name not in names}


def _table(
    left: Figures,
    right: Figures,
    pairs: list[tuple[str, str]],
    shorten: Callable[[str], str],
) -> pd.DataFrame:
    sides = [
        *((one, other, "both") for one, other in pairs),
        *((name, "", "A") for name in _without(left, [one for one, _ in pairs])),
        *(("", name, "B") for name in _without(right, [other for _, other in pairs])),
    ]
    rows = []
    for one, other, where in sides:
        calls_a, a_ns = left[one] if one else _NOTHING
        calls_b, b_ns = right[other] if other else _NOTHING
        name = shorten(one or other)
        rows.append((name, where, one, other, calls_a, calls_b, a_ns, b_ns, b_ns - a_ns))
    rows.sort(key=lambda row: (-abs(row[-1]), row[0]))
    return pd.DataFrame(rows, columns=list(COLUMNS))
