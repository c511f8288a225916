"""What the lanes of the viewer show and what it means: the profiler's buffers, the offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import LANE_OFFSET_LONG_NS
from profcore.rules.idle import profiler_writes_overhead
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text, evidence
from profcore.rules.sources import ARTICLE_1, H200, KINETO
from profcore.units import time_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

BUFFER_REQUEST = "Activity Buffer Request"


def _buffer_requests(quantities: Quantities) -> NDArray[np.int64]:
    return quantities.named(("overhead",), BUFFER_REQUEST.__eq__)


def _g1(quantities: Quantities) -> Observation | None:
    rows = _buffer_requests(quantities)
    if not len(rows):
        return None
    trace = quantities.trace
    total_ns = int(trace.duration_ns[rows].sum())
    text = f"{count_text(len(rows), BUFFER_REQUEST)}, {time_text(total_ns)} together"
    inside = quantities.steps_of(rows)
    if len(quantities.steps):
        numbers = sorted(
            {int(quantities.steps["number"].iloc[place]) for place in inside if place >= 0}
        )
        listed = ", ".join(f"#{number}" for number in numbers)
        text += f"; inside step {listed}" if numbers else "; outside the recorded steps"
    return Observation(text=text + ".", evidence=evidence(quantities, rows))


G1 = Rule(
    id="G1",
    title="Activity Buffer Request",
    family="measurement quality",
    kind="fact",
    missing=profiler_writes_overhead,
    observe=_g1,
    meaning="The profiler takes memory for its own notes. It is CPU time of the profiler, and the "
    "first one can push the GPU lane milliseconds behind the CPU lane.",
    advice="Use a schedule with warm-up: then it falls before the recorded steps.",
    source=f"{ARTICLE_1}: about 2.5 ms; {H200}: 2.5 and 3.1 ms in cold runs, none in 35 others",
)


def _g6(quantities: Quantities) -> Observation | None:
    position = int(np.flatnonzero(column(quantities.steps, "activities") > 0)[0])
    step = quantities.steps.iloc[position]
    offset_ns = int(step["gpu_start_ns"]) - int(step["start_ns"])
    text = (
        f"The first GPU work of step #{int(step['number'])} starts {time_text(offset_ns)} after "
        "the step began on the CPU."
    )
    rows = _buffer_requests(quantities)
    start_ns = quantities.trace.start_ns[rows]
    before = rows[(start_ns >= step["start_ns"]) & (start_ns < step["gpu_start_ns"])]
    if offset_ns < LANE_OFFSET_LONG_NS:
        return Observation(text=text)
    if len(before):
        text += (
            f" {time_text(int(quantities.trace.duration_ns[before].sum()))} of it are the "
            "profiler's buffer request."
        )
        return Observation(text=text, evidence=evidence(quantities, before))
    return Observation(
        text=text,
        meaning="A long offset without a buffer request of the profiler: launch latency, library "
        "loading or earlier GPU work that had to finish first.",
    )


def _first_gpu_step(quantities: Quantities) -> str | None:
    if reason := needs.gpu(quantities) or needs.steps(quantities):
        return reason
    if (column(quantities.steps, "activities") > 0).any():
        return None
    return "No recorded step has GPU work of its own."


G6 = Rule(
    id="G6",
    title="The GPU lane starts later than the CPU lane",
    family="cold start",
    kind="fact",
    missing=_first_gpu_step,
    observe=_g6,
    meaning="The CPU has to prepare and launch before the GPU can start. Tenths of a millisecond "
    "are normal; milliseconds come from the profiler's first buffer request and from loading "
    "libraries in a cold start.",
    advice="Warm-up calls, if it is milliseconds.",
    source=f"{ARTICLE_1}: about 2.5 ms; {H200}: 67 to 400 µs warm, milliseconds cold; {KINETO}",
)
