"""Where the CPU stops and waits for the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules import vocabulary as words
from profcore.rules.constants import (
    BUSY_HIGH_FRACTION,
    HOUSEKEEPING_MIN_NS,
    SYNCHRONISE_SHARE_FRACTION,
    WAIT_SHARE_FRACTION,
)
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence, evidence_of, outermost_operator
from profcore.rules.sources import ARTICLE_1, H200
from profcore.units import percent_text, time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities


# --- C5 -----------------------------------------------------------------------------------------


def _c5_missing(quantities: Quantities) -> str | None:
    if reason := needs.gpu(quantities):
        return reason
    if np.any(quantities.trace.is_kind("runtime")):
        return None
    return "The trace has no runtime calls: its CPU side was not recorded."


def _c5(quantities: Quantities) -> Observation | None:
    row = quantities.closing_synchronize
    if row is None:
        return None
    start_ns = int(quantities.trace.start_ns[row])
    duration_ns = int(quantities.trace.duration_ns[row])
    activities = quantities.activities
    ends_ns = column(activities, "start_ns") + column(activities, "duration_ns")
    pending_ns = min(max(0, int(ends_ns.max()) - start_ns), duration_ns)
    rest_ns = duration_ns - pending_ns
    text = f"The synchronise after the last step lasts {time_text(duration_ns)}: "
    if pending_ns:
        text += f"{time_text(pending_ns)} until the GPU had finished, {time_text(rest_ns)} more."
    else:
        text += "the GPU had already finished."
    if rest_ns >= HOUSEKEEPING_MIN_NS:
        text += " The remainder is housekeeping of the profiler or the driver."
    return Observation(text=text, evidence=(evidence_of(quantities, row),))


C5 = Rule(
    id="C5",
    title="The closing synchronise",
    family="waiting",
    kind="fact",
    missing=_c5_missing,
    observe=_c5,
    meaning="The CPU waits for the GPU to finish what was launched. It is not CPU work, although "
    "torch's table counts it as Self CPU time.",
    advice="",
    source=f"{ARTICLE_1}: 1.78 ms over 26 µs of work; {H200}: the pending work plus a few µs",
)


# --- S1 -----------------------------------------------------------------------------------------


def blocked_operators(quantities: Quantities) -> NDArray[np.int64]:
    """Return the outermost operators inside the kept steps that contain a waiting call."""
    outermost = outermost_operator(quantities, quantities.in_kept_steps(quantities.waits))
    return np.unique(outermost[outermost >= 0])


def blocked_fraction(quantities: Quantities) -> float:
    """Return the share of the kept step time that lies in those operators."""
    blocked_ns = int(quantities.trace.duration_ns[blocked_operators(quantities)].sum())
    return blocked_ns / max(quantities.kept_cpu_ns, 1)


def _s1(quantities: Quantities) -> Observation | None:
    rows, share = blocked_operators(quantities), blocked_fraction(quantities)
    busy = quantities.busy_fraction
    if share < WAIT_SHARE_FRACTION or busy is None or busy >= BUSY_HIGH_FRACTION:
        return None
    if not quantities.in_most_kept_steps(quantities.waits):
        return None  # one long wait, as when a CUDA graph is recorded, is no habit of the program
    waits = len(quantities.in_kept_steps(quantities.waits)) / len(quantities.kept_steps)
    names = dict.fromkeys(quantities.trace.name_of(int(row)) for row in rows)
    return Observation(
        text=f"{percent_text(share)} of the step time lies in operators that wait for the GPU "
        f"({', '.join(list(names)[:3])}), {waits:,.1f} waits per step; the GPU is busy "
        f"{percent_text(busy)}.",
        evidence=evidence(quantities, rows),
    )


S1 = Rule(
    id="S1",
    title="Blocked on results",
    family="waiting",
    kind="warning",
    missing=needs.all_of(needs.operators, needs.gpu_steps, needs.busy),
    observe=_s1,
    meaning=".item(), .cpu(), nonzero() and printing stop the CPU until the GPU is done. The queue "
    "runs dry, and the GPU idles until the next launch.",
    advice="Ask for results less often, or keep the value on the GPU. At most the share above can "
    "be gained.",
    source=f"{H200}: a loop with .item() 27 %, training 1 %; gpu-idle: no cost while the GPU is "
    "the limit",
)


# --- S5 -----------------------------------------------------------------------------------------


def explicit_synchronizes(quantities: Quantities) -> NDArray[np.int64]:
    """Return device synchronises inside the kept steps that no operator made."""
    rows = quantities.in_kept_steps(
        quantities.named(("runtime",), words.DEVICE_SYNCHRONIZE.__contains__)
    )
    return rows[outermost_operator(quantities, rows) < 0]


def synchronised_fraction(quantities: Quantities) -> float:
    """Return the share of a step that those calls wait: of one without the profiler, if known."""
    waiting_ns = int(quantities.trace.duration_ns[explicit_synchronizes(quantities)].sum())
    timings = quantities.timings
    if timings is None or timings.step_ns_median <= 0:
        return waiting_ns / max(quantities.kept_cpu_ns, 1)
    return min(1.0, waiting_ns / max(len(quantities.kept_steps), 1) / timings.step_ns_median)


def _s5(quantities: Quantities) -> Observation | None:
    rows, share = explicit_synchronizes(quantities), synchronised_fraction(quantities)
    busy = quantities.busy_fraction
    if len(rows) < len(quantities.kept_steps) or busy is None or busy >= BUSY_HIGH_FRACTION:
        return None
    if share < SYNCHRONISE_SHARE_FRACTION:
        return None
    return Observation(
        text=f"{count_text(len(rows), 'synchronise call')} inside "
        f"{count_text(len(quantities.kept_steps), 'step')} take {percent_text(share)} of the step "
        f"time; the GPU is busy {percent_text(busy)}.",
        evidence=evidence(quantities, rows),
    )


S5 = Rule(
    id="S5",
    title="Synchronise inside the steps",
    family="waiting",
    kind="warning",
    missing=needs.all_of(needs.gpu_steps, needs.busy),
    observe=_s5,
    meaning="The program itself calls torch.cuda.synchronize(), often to time something. The CPU "
    "cannot prepare the next step while the GPU works.",
    advice="Synchronise less often: once round many steps.",
    source=f"{H200}: 16 % with a synchronise after each of five small products; the 10 % limit is "
    "the project's own",
)


# --- S7 -----------------------------------------------------------------------------------------


def _s7_missing(quantities: Quantities) -> str | None:
    if reason := needs.all_of(needs.operators, needs.gpu)(quantities):
        return reason
    if len(quantities.named(("operator",), "aten::item".__eq__)):
        return None
    return "The trace has no aten::item: nothing asked for a single value."


def _s7(quantities: Quantities) -> Observation | None:
    trace = quantities.trace
    items = quantities.named(("operator",), "aten::item".__eq__)
    stops = np.concatenate((quantities.waits, quantities.blocking_copies))
    is_item = np.zeros(len(trace), np.bool_)
    is_item[items] = True
    nearest = quantities.nesting.nearest(is_item)
    waited = np.unique(nearest[stops]) if len(stops) else np.empty(0, np.int64)
    free = np.setdiff1d(items, waited)
    if not len(free):
        return None
    return Observation(
        text=f"{len(free):,} of {count_text(len(items), 'aten::item', 'aten::item')} wait for "
        "nothing.",
        evidence=evidence(quantities, free, limit=2),
    )


S7 = Rule(
    id="S7",
    title="aten::item without a wait",
    family="waiting",
    kind="fact",
    missing=_s7_missing,
    observe=_s7,
    meaning="The value was on the CPU already (an optimizer's step counter, for instance), so "
    "nothing had to wait.",
    advice="",
    source=f"{H200}: 120 of 125 in a training trace",
)
