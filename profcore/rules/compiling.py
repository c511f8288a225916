"""torch.compile at work inside the recorded steps, and code in pieces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.compiled import graph_calls
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import count_text, evidence, inside, mask_of, per_step_text
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_REGION: Final = re.compile(r"Torch-Compiled Region: (\d+)/(\d+)")
_COMPILE_ID: Final = re.compile(r"compile_id=\[?(\d+)/(\d+)")


def _rows(quantities: Quantities, match: Callable[[str], bool]) -> NDArray[np.int64]:
    return quantities.named(("operator", "annotation"), match)


# --- R1, R2 -------------------------------------------------------------------------------------


def compiler_rows(quantities: Quantities) -> NDArray[np.int64]:
    """Return the outermost rows of the compiler at work inside steps."""
    rows = quantities.in_steps(_rows(quantities, words.is_compiler_work))
    return rows[~inside(quantities, rows, mask_of(quantities.trace, rows))]


def _r1(quantities: Quantities) -> Observation | None:
    rows = compiler_rows(quantities)
    if not len(rows):
        return None
    compiling_ns = int(quantities.trace.duration_ns[rows].sum())
    places = np.unique(quantities.steps_of(rows))
    numbers = ", ".join(f"#{int(quantities.steps['number'].iloc[place])}" for place in places[:5])
    share = compiling_ns / max(quantities.steps_cpu_ns, 1)
    return Observation(
        text=f"torch.compile worked for {time_text(compiling_ns)} inside step {numbers}: "
        f"{percent_text(min(share, 1.0))} of all recorded step time.",
        evidence=evidence(quantities, rows),
    )


R1 = Rule(
    id="R1",
    title="Compiling inside the recorded steps",
    family="torch.compile",
    kind="warning",
    missing=needs.all_of(needs.compile_rows, needs.steps),
    observe=_r1,
    meaning="Those steps measure the compiler, not the program.",
    advice="Add warm-up calls, so that the code is compiled before the recording starts.",
    source="a CPU run: 1,471 ms with compilation, 92 ms without",
)


def _recompiled(quantities: Quantities) -> list[int]:
    """Return rows that show a compilation after the first of a function, inside steps."""
    found = []
    for row in quantities.in_steps(_rows(quantities, words.is_compiler_work)).tolist():
        match = _COMPILE_ID.search(quantities.trace.name_of(row))
        if match and int(match[2]) >= 1:
            found.append(row)
    return found


def _new_graph(quantities: Quantities) -> list[int]:
    """Return first calls of a graph where an earlier step called another one at the same place."""
    known: dict[str, set[str]] = {}
    seen_in: dict[str, int] = {}
    found = []
    regions = mask_of(quantities.trace, quantities.compiled_regions)
    owner = quantities.nesting.nearest(regions)
    backward = quantities.named(("operator",), lambda name: name == "CompiledFunctionBackward")
    is_backward = mask_of(quantities.trace, backward)
    calls = [(int(row), key) for key, rows in graph_calls(quantities).items() for row in rows]
    for row, key in sorted(calls):
        if owner[row] < 0 or inside(quantities, np.array([row]), is_backward)[0]:
            continue
        match = _REGION.match(quantities.trace.name_of(int(owner[row])))
        place = match[1] if match else "?"
        step = int(quantities.steps_of(np.array([row]))[0])
        others = known.setdefault(place, set())
        if key not in others and any(seen_in[other] < step for other in others):
            found.append(row)
        others.add(key)
        seen_in.setdefault(key, step)
    return found


def _r2(quantities: Quantities) -> Observation | None:
    rows = np.array(sorted({*_recompiled(quantities), *_new_graph(quantities)}), np.int64)
    if not len(rows):
        return None
    return Observation(
        text=f"{count_text(len(rows), 'row')} of the recorded steps "
        f"{'shows' if len(rows) == 1 else 'show'} code that was compiled again for a function "
        "that had been compiled before.",
        evidence=evidence(quantities, rows),
    )


R2 = Rule(
    id="R2",
    title="Compiled again",
    family="torch.compile",
    kind="warning",
    missing=needs.all_of(needs.compile_rows, needs.steps),
    observe=_r2,
    meaning="A guard failed: a shape, a number format or a Python value changed, so the code was "
    "made anew.",
    advice="Keep shapes fixed, pad them, or compile with dynamic=True.",
    source="PyTorch's documentation of recompilation; ids before torch 2.5 can be wrong",
)

# --- R3 -----------------------------------------------------------------------------------------


def _r3(quantities: Quantities) -> Observation | None:
    regions = quantities.in_steps(quantities.compiled_regions)
    nested = regions[inside(quantities, regions, mask_of(quantities.trace, regions))]
    broken = nested if len(nested) else _split_calls(quantities, regions)
    steps = np.unique(quantities.steps_of(broken))
    if not len(broken) or len(steps) < len(quantities.steps):
        return None
    return Observation(
        text=f"{per_step_text(len(broken), len(quantities.steps), 'further compiled region')} "
        "per step, "
        f"{'nested in' if len(nested) else 'beside'} the first.",
        evidence=evidence(quantities, broken),
        kind="warning" if quantities.limit == "cpu" else None,
    )


def _split_calls(quantities: Quantities, regions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return regions that follow another function's region with eager operators in between."""
    trace = quantities.trace
    eager = quantities.in_steps(
        quantities.named(("operator",), lambda name: name.startswith("aten::"))
    )
    eager = eager[~inside(quantities, eager, mask_of(trace, quantities.compiled_regions))]
    position = quantities.steps_of(regions)
    starts_ns = np.sort(trace.start_ns[eager])
    found = []
    for before, after in zip(range(len(regions) - 1), range(1, len(regions)), strict=True):
        first, second = int(regions[before]), int(regions[after])
        same = position[before] == position[after] and trace.lane[first] == trace.lane[second]
        functions = [_REGION.match(trace.name_of(row)) for row in (first, second)]
        if not same or None in functions:
            continue
        if functions[0] and functions[1] and functions[0][1] == functions[1][1]:
            continue
        end_ns = trace.start_ns[first] + trace.duration_ns[first]
        between = np.searchsorted(starts_ns, trace.start_ns[second]) - np.searchsorted(
            starts_ns, end_ns
        )
        if between > 0:
            found.append(second)
    return np.array(found, np.int64)


R3 = Rule(
    id="R3",
    title="Graph breaks",
    family="torch.compile",
    kind="note",
    missing=needs.all_of(needs.compile_rows, needs.steps),
    observe=_r3,
    meaning="The function could not be compiled as one: each break adds a cache lookup, a prologue "
    "and a stretch of eager code.",
    advice="Remove prints and .item() from the function; fullgraph=True shows where it breaks.",
    source="PyTorch's profiling guide: breaks show as nested regions",
)
