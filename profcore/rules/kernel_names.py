"""What the names of kernels tell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profcore.analysis.names import family, reading, short_name
from profcore.rules import needs
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import count_text, evidence
from profcore.rules.sources import ARTICLE_1, ARTICLE_2, H200
from profcore.units import (
    time_text,
)

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- G4 -----------------------------------------------------------------------------------------


def _g4(quantities: Quantities) -> Observation | None:
    kernels = quantities.analysis.kernels
    mine = kernels[kernels["family"] == "gemm"]
    if mine.empty:
        return None
    top = mine.iloc[0]
    more = f" and {count_text(len(mine) - 1, 'other name')}" if len(mine) > 1 else ""
    rows = quantities.named(("kernel",), str(top["name"]).__eq__)
    return Observation(
        text=f"{top['short_name']}{more}: {reading(top['name'])}. It ran "
        f"{count_text(int(top['calls']), 'time')}, {time_text(float(top['median_ns']))} each "
        "(median).",
        evidence=evidence(quantities, rows, limit=2),
    )


G4 = Rule(
    id="G4",
    title="A matrix product of a library",
    family="kernels and precision",
    kind="fact",
    missing=needs.kernels,
    observe=_g4,
    meaning="The name tells which library wrote the kernel and for which tile and number format. "
    "The same name in two runs means the same GPU work; compiled runs differ only in the ending "
    "that says what is added to the product.",
    advice="",
    source=f"{ARTICLE_1}; {H200}",
)

# --- L4 -----------------------------------------------------------------------------------------

_LAYOUT: Final = re.compile(r"_([nt][nt])(?=_|\b)|_([NT]{3})$")
_LETTERS: Final[dict[str, str]] = {"n": "as stored", "t": "transposed"}


def _l4(quantities: Quantities) -> Observation | None:
    found: dict[str, str] = {}
    for name in quantities.analysis.kernels["name"]:
        if family(name) == "gemm" and (match := _LAYOUT.search(short_name(name))):
            found.setdefault(match[1] or match[2], short_name(name))
    if not found:
        return None
    listed = "; ".join(
        f"{letters} ({_LETTERS[letters[0].lower()]}, {_LETTERS[letters[1].lower()]}) in {name}"
        for letters, name in list(found.items())[:3]
    )
    return Observation(text=f"Layout letters in the names of matrix products: {listed}.")


L4 = Rule(
    id="L4",
    title="Layout letters in a matrix product's name",
    family="kernels and precision",
    kind="fact",
    missing=needs.kernels,
    observe=_l4,
    meaning="The first letter is the left operand, the second the right one: n as it is stored, t "
    "transposed. Other letters in another run mean that the library chose another path.",
    advice="Look at the shapes and strides of the operands if two runs differ.",
    source=f"{ARTICLE_2}; {H200} (the reading of nvjet names is by analogy)",
)

# --- L7 -----------------------------------------------------------------------------------------

_TRITON: Final[dict[str, str]] = {
    "triton_poi_": "pointwise",
    "triton_red_": "reduction",
    "triton_per_": "reduction kept in registers",
    "triton_tem_": "matrix product template",
}


def _l7(quantities: Quantities) -> Observation | None:
    kernels = quantities.analysis.kernels
    counts: dict[str, int] = {}
    for name, calls in zip(kernels["name"], kernels["calls"], strict=True):
        for prefix, kind in _TRITON.items():
            if name.startswith(prefix):
                counts[kind] = counts.get(kind, 0) + int(calls)
    if not counts:
        return None
    listed = ", ".join(f"{count:,} × {kind}" for kind, count in counts.items())
    mine = kernels[kernels["name"].str.startswith(tuple(_TRITON))]
    rows = quantities.named(("kernel",), str(mine["name"].iloc[0]).__eq__)
    return Observation(
        text=f"Kernels written by torch.compile: {listed}. The largest is "
        f"{mine['short_name'].iloc[0]}, {time_text(float(mine['median_ns'].iloc[0]))} each.",
        evidence=evidence(quantities, rows, limit=2),
    )


L7 = Rule(
    id="L7",
    title="Triton kernels of torch.compile",
    family="torch.compile",
    kind="fact",
    missing=needs.kernels,
    observe=_l7,
    meaning="The prefix says what the kernel does, the middle which operators were merged into it, "
    "and the last number is an id.",
    advice="",
    source=f"{ARTICLE_2}; {H200}",
)
