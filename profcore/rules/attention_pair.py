"""Two recordings of attention side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import COMPARISON_NOISE_FRACTION
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import count_text, inside, mask_of
from profcore.rules.sources import ARTICLE_3, H200
from profcore.units import time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_ATTENTION: Final = "aten::scaled_dot_product_attention"


def _calls(quantities: Quantities) -> NDArray[np.int64]:
    return quantities.in_steps(quantities.named(("operator",), _ATTENTION.__eq__))


def _a8_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.operators, needs.steps)(quantities):
        return reason
    if not len(_calls(quantities)):
        return "The program did not call scaled_dot_product_attention."
    if quantities.twin is None or not len(_calls(quantities.twin)):
        return (
            "This compares two ways to compute attention. Record the program with another backend "
            "too, and open the two side by side."
        )
    return None


def _per_call(quantities: Quantities) -> tuple[float, float]:
    """Return operators inside one call of attention, and the CPU time of its own rows in ns."""
    calls = _calls(quantities)
    operators = np.flatnonzero(quantities.is_operator)
    within = operators[inside(quantities, operators, mask_of(quantities.trace, calls))]
    own_ns = quantities.nesting.self_ns[np.concatenate((calls, within))].sum()
    return len(within) / len(calls), float(own_ns) / len(calls)


def _a8(quantities: Quantities) -> Observation | None:
    twin = quantities.twin
    if twin is None:
        return None
    (here, here_ns), (there, there_ns) = _per_call(quantities), _per_call(twin)
    if here >= there or here_ns <= (1 + COMPARISON_NOISE_FRACTION) * there_ns:
        return None
    return Observation(
        text=f"One call of attention shows {count_text(round(here), 'operator')} inside and "
        f"{time_text(here_ns)} of CPU time of its own; the other run shows "
        f"{count_text(round(there), 'operator')} and {time_text(there_ns)}."
    )


A8 = Rule(
    id="A8",
    title="Fewer operators, more CPU time",
    family="attention",
    kind="fact",
    missing=_a8_missing,
    observe=_a8,
    meaning="Work moved out of sight, into one call of a library. Few rows are no sign of little "
    "work: compare the times.",
    advice="Compare the CPU time without the profiler, not the number of operators.",
    source=f"{ARTICLE_3}: cuDNN 214 µs, flash 138 µs; {H200}: not seen there, 52 and 54 µs",
)
