"""Asking how many blocks fit before a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import family, short_name
from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, inside, mask_of
from profcore.rules.sources import ARTICLE_1, ARTICLE_2, H200

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- C3, C4: occupancy queries ------------------------------------------------------------------


def _queried_launches(quantities: Quantities) -> NDArray[np.bool_]:
    """Return a mask over the launches: an occupancy query stands before it in its operator."""
    launches = quantities.launches
    rows = column(launches, "row")
    operator = quantities.nesting.operator
    first_query_ns: dict[int, int] = {}
    for query in quantities.occupancy_queries.tolist():
        first_query_ns.setdefault(int(operator[query]), int(quantities.trace.start_ns[query]))
    first_query_ns.pop(-1, None)
    queried = [
        int(operator[row]) in first_query_ns
        and first_query_ns[int(operator[row])] < int(quantities.trace.start_ns[row])
        for row in rows.tolist()
    ]
    return np.array(queried, np.bool_) & np.asarray(launches["is_kernel_launch"], np.bool_)


def _kernels_of(quantities: Quantities, launches: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the trace rows of the kernels that a mask over the launches started."""
    launch_rows = column(quantities.launches, "row")[launches]
    theirs = np.isin(column(quantities.activities, "launch_row"), launch_rows)
    return column(quantities.activities, "row")[theirs & quantities.activity_kind("kernel")]


def _name_list(names: Iterable[str], *, limit: int = 3) -> str:
    distinct = list(dict.fromkeys(short_name(name) for name in names))
    more = f" and {len(distinct) - limit} more" if len(distinct) > limit else ""
    return ", ".join(distinct[:limit]) + more


def _c3(quantities: Quantities) -> Observation | None:
    queried = _queried_launches(quantities)
    if not queried.any():
        return None
    kernels = _kernels_of(quantities, queried)
    launches = int(np.asarray(quantities.launches["is_kernel_launch"], np.bool_).sum())
    calls = quantities.occupancy_queries
    names = _name_list(quantities.trace.name_of(int(row)) for row in kernels)
    return Observation(
        text=f"{queried.sum():,} of {count_text(launches, 'kernel launch', 'kernel launches')} "
        f"{'comes' if queried.sum() == 1 else 'come'} after an occupancy query in the same "
        f"operator ({count_text(len(calls), 'query', 'queries')} in the trace)"
        + (f": {names}." if names else "."),
        evidence=evidence(quantities, calls, limit=2) + evidence(quantities, kernels, limit=3),
    )


C3 = Rule(
    id="C3",
    title="Occupancy query before a launch",
    family="launches and dispatch",
    kind="fact",
    missing=needs.occupancy_queries,
    observe=_c3,
    meaning="A heavy kernel whose launch adapts to the device (a matrix product, a convolution): "
    "the library asks the driver how many blocks fit on a multiprocessor.",
    advice="",
    source=f"{ARTICLE_1}; {H200}: absent on all 35 warm traces, present in the cold one",
)


def _c4(quantities: Quantities) -> Observation | None:
    queried = _queried_launches(quantities)
    if not queried.any():
        return None
    plain = np.asarray(quantities.launches["is_kernel_launch"], np.bool_) & ~queried
    kernels = _kernels_of(quantities, plain)
    if not len(kernels):
        return None
    names = [quantities.trace.name_of(int(row)) for row in kernels]
    light = [name for name in names if family(name) in words.LIGHT_FAMILIES]
    heavy = [name for name in names if family(name) in words.HEAVY_FAMILIES]
    parts = []
    if light:
        parts.append(
            f"{count_text(len(light), 'is an', 'are')} elementwise or reduction "
            f"{'kernel' if len(light) == 1 else 'kernels'} ({_name_list(light)})"
        )
    if heavy:
        parts.append(
            f"{count_text(len(heavy), 'is a', 'are')} heavy "
            f"{'kernel' if len(heavy) == 1 else 'kernels'} all the same ({_name_list(heavy)})"
        )
    if len(names) > len(light) + len(heavy):
        parts.append(f"{len(names) - len(light) - len(heavy):,} of other kinds")
    return Observation(
        text=f"{count_text(len(kernels), 'kernel')} started without an occupancy query: "
        f"{', '.join(parts)}.",
        evidence=evidence(quantities, kernels, limit=3),
    )


C4 = Rule(
    id="C4",
    title="Launch without an occupancy query",
    family="launches and dispatch",
    kind="fact",
    missing=needs.occupancy_queries,
    observe=_c4,
    meaning="Elementwise and reduction kernels need few registers and no shared memory, so their "
    "launch is fixed and nobody has to ask. On Hopper most matrix products are launched without a "
    "query too: tell them by their name.",
    advice="",
    source=f"{ARTICLE_1}; {H200}",
)

# --- L5 -----------------------------------------------------------------------------------------


def _l5(quantities: Quantities) -> Observation | None:
    linear = quantities.named(("operator",), words.LINEAR_OPERATORS.__contains__)
    if not len(linear):
        return None
    rows = column(quantities.launches, "row")
    under_linear = inside(quantities, rows, mask_of(quantities.trace, linear))
    queried = _queried_launches(quantities) & under_linear
    others = np.asarray(quantities.launches["is_kernel_launch"], np.bool_) & ~under_linear
    plain = others & ~_queried_launches(quantities)
    if not queried.any():
        return None
    return Observation(
        text=f"{count_text(int(queried.sum()), 'launch', 'launches')} inside aten::linear or "
        "aten::addmm follow an occupancy query; of the launches of other operators "
        f"{plain.sum():,} stand alone.",
        evidence=evidence(quantities, rows[queried]),
    )


L5 = Rule(
    id="L5",
    title="Query then launch for a linear layer",
    family="launches and dispatch",
    kind="fact",
    missing=needs.occupancy_queries,
    observe=_l5,
    meaning="The matrix product of the layer adapts its launch to the device; the pointwise "
    "operators around it do not.",
    advice="",
    source=f"{ARTICLE_2}; {H200}: no query on warm Hopper steps",
)
