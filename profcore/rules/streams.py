"""Streams and hand-written kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.analysis.names import family, short_name
from profcore.rules import needs
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, inside, mask_of
from profcore.rules.sources import ARTICLE_2
from profcore.units import time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities

_LIBRARY_FAMILIES: Final = frozenset({"gemm", "convolution", "attention", "communication"})
"""Libraries use the same calls for such kernels."""
_LAUNCHES: Final = frozenset({"cuLaunchKernel", "cuLaunchKernelEx"})
"""Driver calls; Triton 3.6 uses the second. What CUDA's compiler built comes by the runtime."""


# --- E11 ----------------------------------------------------------------------------------------


def _e11(quantities: Quantities) -> Observation | None:
    activities = quantities.activities
    lanes = np.unique(
        np.stack([column(activities, "device"), column(activities, "stream")]), axis=1
    )
    alone_ns = sum(
        quantities.union_ns(
            (column(activities, "device") == device) & (column(activities, "stream") == stream)
        )
        for device, stream in lanes.T.tolist()
    )
    together_ns = quantities.analysis.totals.gpu_busy_ns
    if lanes.shape[1] <= 1 or alone_ns <= together_ns:
        return None
    return Observation(
        text=f"{count_text(lanes.shape[1], 'stream')} overlap: {time_text(alone_ns)} of work in "
        f"{time_text(together_ns)}."
    )


E11 = Rule(
    id="E11",
    title="Several streams at once",
    family="kernels and precision",
    kind="fact",
    missing=needs.gpu,
    observe=_e11,
    meaning="Work on different streams runs side by side. Busy time counts the overlap once, sums "
    "count it twice.",
    advice="",
    source="the definition of busy time used here",
)


# --- L9 -----------------------------------------------------------------------------------------


def _l9_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.launch_calls, needs.operators)(quantities):
        return reason
    if quantities.launches["name"].isin(_LAUNCHES).any():
        return None
    return "The trace has no launch by cuLaunchKernel or cuLaunchKernelEx, which Triton uses."


def _l9(quantities: Quantities) -> Observation | None:
    launches, activities = quantities.launches, quantities.activities
    rows = column(launches, "row")[np.asarray(launches["name"].isin(_LAUNCHES), np.bool_)]
    compiled = mask_of(quantities.trace, quantities.compiled_regions)
    rows = rows[~inside(quantities, rows, compiled)]
    unknown = quantities.activity_names(
        lambda name: (
            name.isidentifier()  # no C++ name: no template, no namespace
            and family(name) not in _LIBRARY_FAMILIES
            and not name.startswith("triton_")
        )
    )
    mask = np.isin(column(activities, "launch_row"), rows) & unknown
    mask &= quantities.activity_kind("kernel")
    if not mask.any():
        return None
    names = dict.fromkeys(short_name(name) for name in activities["name"][mask])
    return Observation(
        text=f"{count_text(int(mask.sum()), 'kernel')} launched through the driver outside "
        f"of compiled code: {', '.join(list(names)[:3])}.",
        evidence=evidence(quantities, column(activities, "row")[mask], limit=3),
    )


L9 = Rule(
    id="L9",
    title="A kernel written by hand",
    family="kernels and precision",
    kind="fact",
    missing=_l9_missing,
    observe=_l9,
    meaning="Probably a Triton kernel of the program or of a library: it has no guards to check "
    "and nothing to recompile. A recording without compile rows looks the same.",
    advice="",
    source=f"{ARTICLE_2}: 92.8 µs written by hand, 89.4 µs generated for the shape",
)
