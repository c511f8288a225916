"""The way into compiled code, which every call takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import count_text, evidence, inside, mask_of
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_GRAPH: Final = re.compile(r"## Call CompiledFxGraph (\S+) ##")
_HASH_CHARACTERS: Final = 8
"""Enough of a hash to tell two apart."""


def _rows(quantities: Quantities, match: Callable[[str], bool]) -> NDArray[np.int64]:
    return quantities.named(("operator", "annotation"), match)


def _calls_text(quantities: Quantities, rows: NDArray[np.int64]) -> str:
    """Return how often rows come: per step where there are steps."""
    inside_steps = quantities.in_steps(rows)
    if len(quantities.steps) and len(inside_steps):
        per_step = len(inside_steps) / len(quantities.steps)
        return f"{per_step:,.0f} per step" if per_step >= 1 else f"{per_step:,.1f} per step"
    return count_text(len(rows), "time")


def _length_text(quantities: Quantities, rows: NDArray[np.int64]) -> str:
    return time_text(float(np.median(quantities.trace.duration_ns[rows])))


# --- K1 -----------------------------------------------------------------------------------------


def _k1(quantities: Quantities) -> Observation | None:
    rows = quantities.compiled_regions
    if not len(rows):
        return None
    outer = rows[~inside(quantities, rows, mask_of(quantities.trace, rows))]
    names = dict.fromkeys(quantities.trace.name_of(int(row)) for row in rows)
    text = f"{', '.join(list(names)[:3])}: {_calls_text(quantities, outer)}"
    in_steps = quantities.in_steps(outer)
    if len(in_steps) and quantities.steps_cpu_ns:
        share = int(quantities.trace.duration_ns[in_steps].sum()) / quantities.steps_cpu_ns
        text += f", {percent_text(min(share, 1.0))} of the step time on the CPU"
    return Observation(text=text + ".", evidence=evidence(quantities, outer, limit=3))


K1 = Rule(
    id="K1",
    title="Running inside compiled code",
    family="torch.compile",
    kind="fact",
    missing=needs.compile_rows,
    observe=_k1,
    meaning="The step runs code that torch.compile made. The first number names the compiled "
    "function, the second counts its recompilations.",
    advice="",
    source=ARTICLE_1,
)

# --- K2, K3 -------------------------------------------------------------------------------------


def _toll(name: str) -> Callable[[Quantities], Observation | None]:
    """Return an observe function for a row that every compiled call pays for."""

    def observe(quantities: Quantities) -> Observation | None:
        rows = _rows(quantities, name.__eq__)
        if not len(rows):
            return None
        return Observation(
            text=f"{name}: {_calls_text(quantities, rows)}, {_length_text(quantities, rows)} each "
            "(median, profiled).",
            evidence=evidence(quantities, rows, limit=3),
        )

    return observe


K2 = Rule(
    id="K2",
    title="Dynamo looks in its cache on every call",
    family="torch.compile",
    kind="fact",
    missing=needs.compile_rows,
    observe=_toll(words.CACHE_LOOKUP),
    meaning="Before compiled code runs, its guards are checked: same shapes, number formats, "
    "device and more. That happens on every call.",
    advice="Compile one larger function instead of many small ones.",
    source=f"{ARTICLE_1}; {H200}: 5 to 13 µs each, profiled",
)

K3 = Rule(
    id="K3",
    title="AOT prologue on every call",
    family="torch.compile",
    kind="fact",
    missing=needs.compile_rows,
    observe=_toll(words.PROLOGUE),
    meaning="Bookkeeping of tensors and views before the compiled graph runs. It comes without "
    "gradients too.",
    advice="Compile one larger function instead of many small ones.",
    source=f"{ARTICLE_1}; {H200}: 4 to 9 µs each, profiled",
)

# --- K4 -----------------------------------------------------------------------------------------


def graph_calls(quantities: Quantities) -> dict[str, NDArray[np.int64]]:
    """Return the rows of each compiled graph by its hash, in order of first use."""
    rows = _rows(quantities, lambda name: name.startswith(words.GRAPH_CALL))
    by_hash: dict[str, list[int]] = {}
    for row in rows.tolist():
        match = _GRAPH.match(quantities.trace.name_of(row))
        by_hash.setdefault(match[1] if match else "?", []).append(row)
    return {key: np.array(mine, np.int64) for key, mine in by_hash.items()}


def _k4(quantities: Quantities) -> Observation | None:
    calls = {key: rows for key, rows in graph_calls(quantities).items() if len(rows) > 1}
    if not calls:
        return None
    listed = "; ".join(
        f"{key[:_HASH_CHARACTERS]}… {count_text(len(rows), 'time')}"
        for key, rows in list(calls.items())[:3]
    )
    return Observation(
        text=f"The same compiled graph is called again: {listed}.",
        evidence=evidence(quantities, next(iter(calls.values())), limit=3),
    )


K4 = Rule(
    id="K4",
    title="The same compiled graph in every step",
    family="torch.compile",
    kind="fact",
    missing=needs.compile_rows,
    observe=_k4,
    meaning="The hash names the generated code. The same hash in every step means that the graph "
    "is reused and nothing is compiled again.",
    advice="",
    source=ARTICLE_1,
)

# --- K5 -----------------------------------------------------------------------------------------


def call_toll_ns(quantities: Quantities) -> int:
    """Return the CPU time of the way into compiled code, inside the kept steps.

    The self time of the compile rows: what they call (operators, launches, Triton wrappers) is
    work that eager code would have too.
    """
    rows = quantities.in_kept_steps(_rows(quantities, words.is_compile_call))
    return int(quantities.nesting.self_ns[rows].sum())


def _k5_missing(quantities: Quantities) -> str | None:
    return needs.all_of(needs.compile_rows, needs.gpu_steps)(quantities)


def _beside_eager(quantities: Quantities) -> Observation | None:
    """Compare the CPU time per step with that of the same experiment run eager, if there is one."""
    twin, timings = quantities.twin, quantities.timings
    if twin is None or twin.timings is None or timings is None or twin.experiment is None:
        return None
    eager_ns = twin.timings.cpu_ns_median
    if twin.experiment.compile != "eager" or timings.cpu_ns_median <= eager_ns:
        return None
    text = (
        f"The CPU needs {time_text(timings.cpu_ns_median)} per step compiled and "
        f"{time_text(eager_ns)} eager: {ratio_text(timings.cpu_ns_median / eager_ns)}."
    )
    if timings.step_ns_median < twin.timings.step_ns_median:
        return Observation(
            text=text,
            kind="fact",
            meaning="Guards, prologue and wrappers cost CPU time on every call. Here fusing saves "
            "more than that: the whole step is faster than eager.",
            advice="",
        )
    return Observation(text=text, kind="fact" if quantities.limit == "gpu" else None)


def _k5(quantities: Quantities) -> Observation | None:
    toll_ns = call_toll_ns(quantities) / len(quantities.kept_steps)
    gpu_ns = quantities.gpu_ns
    if not toll_ns or gpu_ns is None or quantities.kept_cpu_ns == 0:
        return None
    share = toll_ns * len(quantities.kept_steps) / quantities.kept_cpu_ns
    rows = quantities.in_kept_steps(_rows(quantities, words.is_compile_call))
    if beside := _beside_eager(quantities):
        return beside
    text = (
        f"The way into compiled code takes {time_text(toll_ns)} of CPU time per step "
        f"({percent_text(share)} of the step, profiled); the GPU works {time_text(gpu_ns)}"
    )
    if toll_ns <= gpu_ns or quantities.limit not in {"cpu", "both"}:
        return Observation(
            text=text + ".",
            evidence=evidence(quantities, rows, limit=3),
            kind="fact",
            meaning="Guards, prologue and wrappers cost CPU time on every call. It matters only "
            "where the GPU waits for the CPU.",
            advice="",
        )
    return Observation(
        text=text + f": the toll alone is {ratio_text(toll_ns / max(gpu_ns, 1.0))} the work.",
        evidence=evidence(quantities, rows, limit=3),
    )


K5 = Rule(
    id="K5",
    title="Compile tax on tiny operations",
    family="torch.compile",
    kind="note",
    missing=_k5_missing,
    observe=_k5,
    meaning="Guards, prologue and wrappers cost the same CPU time whether the operation is tiny "
    "or huge. A tiny operation does not earn it back.",
    advice="Stay eager for tiny work, or compile a larger function, so that the toll is paid once "
    "for many operators. Run the same experiment eager to see the difference.",
    source=f"{ARTICLE_1}; {H200}: CPU time per step 2.6× that of eager at 64², 2.3× at 4096²",
)
