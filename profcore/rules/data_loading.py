"""Waiting for the data loader."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import (
    BUSY_HIGH_FRACTION,
    LOADER_NOTE_FRACTION,
    LOADER_WARN_FRACTION,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import evidence
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- S6 -----------------------------------------------------------------------------------------


def loader_fraction(quantities: Quantities) -> float:
    """Return the share of the kept step time that waits for a DataLoader."""
    rows = quantities.in_kept_steps(quantities.loader_rows)
    waiting_ns = int(quantities.trace.duration_ns[rows].sum())
    return waiting_ns / max(quantities.kept_cpu_ns, 1)


def _s6_missing(quantities: Quantities) -> str | None:
    if reason := needs.steps(quantities):
        return reason
    if len(quantities.in_steps(quantities.loader_rows)):
        return None
    return "The steps contain no PyTorch DataLoader; other loaders leave no row."


def _s6(quantities: Quantities) -> Observation | None:
    share, busy = loader_fraction(quantities), quantities.busy_fraction
    if share < LOADER_NOTE_FRACTION or (busy is not None and busy >= BUSY_HIGH_FRACTION):
        return None
    rows = quantities.in_kept_steps(quantities.loader_rows)
    typical_ns = float(np.median(quantities.trace.duration_ns[rows]))
    return Observation(
        text=f"The loop waits {time_text(typical_ns)} (median) for each batch, "
        f"{percent_text(share)} of the step time.",
        evidence=evidence(quantities, rows),
        kind="warning" if share >= LOADER_WARN_FRACTION else "note",
    )


S6 = Rule(
    id="S6",
    title="Waiting for the data loader",
    family="training and data loading",
    kind="warning",
    missing=_s6_missing,
    observe=_s6,
    meaning="The loop stands still until the next batch is there, and the GPU with it.",
    advice="More loader workers (num_workers), pinned memory, a larger batch.",
    source="gpu-idle and fournex 20 %, gpuprof 15 %, Perfessor and TraceML 10 %",
)
