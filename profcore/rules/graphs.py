"""CUDA graphs: one call that replays many kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis.names import short_name
from profcore.rules import needs
from profcore.rules.constants import COPY_MIN_NS, COPY_SHARE_FRACTION
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import H200
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- R4 -----------------------------------------------------------------------------------------


def _r4(quantities: Quantities) -> Observation | None:
    rows = quantities.graph_launches
    activities = quantities.activities
    replayed = np.asarray(activities["is_graph"], np.bool_)
    kernels = replayed & quantities.activity_kind("kernel")
    text = (
        f"{count_text(len(rows), 'graph launch', 'graph launches')} replayed "
        f"{count_text(int(replayed.sum()), 'GPU activity', 'GPU activities')}"
    )
    if kernels.any():
        names = dict.fromkeys(short_name(name) for name in activities["name"][kernels])
        text += f": {', '.join(list(names)[:3])}"
        text += f" and {len(names) - 3} more names" if len(names) > 3 else ""  # noqa: PLR2004
    return Observation(text=text + ".", evidence=evidence(quantities, rows, limit=3))


R4 = Rule(
    id="R4",
    title="CUDA graph replay",
    family="CUDA graphs",
    kind="fact",
    missing=needs.graph_launches,
    observe=_r4,
    meaning="One call starts all kernels of a recorded graph. They share its correlation number, "
    "so no GPU time can be given to single operators inside it.",
    advice="Use compile mode default to see the operators.",
    source=H200,
)


# --- R5 -----------------------------------------------------------------------------------------


def input_copies(quantities: Quantities) -> NDArray[np.bool_]:
    """Return the counted copies of inputs to the fixed addresses of a CUDA graph."""
    owner = column(quantities.activities, "operator_row")
    copies = quantities.named(("operator",), "aten::_foreach_copy_".__eq__)
    is_copying = quantities.activity_kind("kernel") | quantities.activity_kind("memcpy")
    return is_copying & np.isin(owner, copies) & quantities.counted


def _r5(quantities: Quantities) -> Observation | None:
    mask = input_copies(quantities)
    share, per_step_ns = quantities.share(mask), quantities.per_step_ns(mask)
    if share < COPY_SHARE_FRACTION or per_step_ns < COPY_MIN_NS:
        return None
    return Observation(
        text=f"Copying inputs to the addresses of the CUDA graph takes {time_text(per_step_ns)} "
        f"{quantities.each}, {percent_text(share)} of the GPU time.",
        evidence=evidence(quantities, column(quantities.activities, "row")[mask]),
    )


R5 = Rule(
    id="R5",
    title="Inputs are copied into the CUDA graph",
    family="CUDA graphs",
    kind="warning",
    missing=needs.all_of(needs.graph_launches, needs.operators),
    observe=_r5,
    meaning="A graph replays with fixed addresses, so every call first copies its inputs there. "
    "For large inputs that costs more than the graph saves.",
    advice="Use compile mode default, or keep the inputs at fixed addresses "
    "(torch._dynamo.mark_static_address).",
    source=f"{H200}: 74 of 266 µs of GPU time; the step grew from 198 to 278 µs",
    saves_gpu_time=True,
)
