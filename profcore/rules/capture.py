"""How the trace was recorded and what that leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profcore.rules import needs
from profcore.rules.constants import COMMUNICATION_FRACTION, STEPS_FOR_MEDIAN, STEPS_FOR_SPREAD
from profcore.rules.gpu_work import of_family
from profcore.rules.model import Observation, Rule
from profcore.rules.rows import column, count_text
from profcore.rules.sources import H200, KINETO
from profcore.units import percent_text, ratio_text, time_text

if TYPE_CHECKING:
    from profcore.rules.quantities import Quantities


# --- Q6, Q7, Q15 --------------------------------------------------------------------------------


def _q6(quantities: Quantities) -> Observation | None:
    if len(quantities.steps):
        return None
    return Observation(
        text="The trace has no ProfilerStep rows: the whole recording is taken as one step, and "
        "nothing is said per step."
    )


Q6 = Rule(
    id="Q6",
    title="No steps are marked",
    family="measurement quality",
    kind="fact",
    missing=needs.events,
    observe=_q6,
    meaning="The trace was recorded without a schedule, or by another tool.",
    advice="Record with schedule=torch.profiler.schedule(wait=1, warmup=1, active=5) and call "
    "profiler.step() after each step.",
    source=KINETO,
)


def _q7(quantities: Quantities) -> Observation | None:
    marks = quantities.analysis.markers
    dropped = marks.number[marks.filled :].tolist()
    if not dropped:
        return None
    numbers = ", ".join(f"#{number}" for number in dropped[:5])
    return Observation(
        text=f"{count_text(len(dropped), 'empty step')} at the end ({numbers}) "
        f"{'was' if len(dropped) == 1 else 'were'} left out."
    )


Q7 = Rule(
    id="Q7",
    title="Empty steps at the end",
    family="measurement quality",
    kind="fact",
    missing=needs.steps,
    observe=_q7,
    meaning="profiler.step() was called once more after the last step, which opens a step in which "
    "nothing happens.",
    advice="",
    source="torch.profiler's schedule",
)


def _q15(quantities: Quantities) -> Observation | None:
    count = len(quantities.steps)
    if count >= STEPS_FOR_SPREAD:
        return None
    what = "no medians" if count < STEPS_FOR_MEDIAN else "medians, but no spread"
    was = "step was" if count == 1 else "steps were"
    return Observation(text=f"Only {count} {was} recorded: {what} can be given.")


Q15 = Rule(
    id="Q15",
    title="Too few steps",
    family="measurement quality",
    kind="fact",
    missing=needs.steps,
    observe=_q15,
    meaning="One odd step cannot be told from the others.",
    advice="Record at least five steps.",
    source="the project's own choice: three for a median, five for a spread",
)


# --- Q10 ----------------------------------------------------------------------------------------


def _q10(quantities: Quantities) -> Observation | None:
    timings, cpu_ns, period_ns = quantities.timings, quantities.cpu_ns, quantities.period_ns
    if timings is None or cpu_ns is None or timings.cpu_ns_median <= 0:
        return None
    text = (
        f"With the profiler the CPU takes {time_text(cpu_ns)} per step, without it "
        f"{time_text(timings.cpu_ns_median)}: {ratio_text(cpu_ns / timings.cpu_ns_median)}"
    )
    if quantities.limit == "cpu" and period_ns is not None:
        text += (
            f". The whole step takes {time_text(period_ns)} with it and "
            f"{time_text(timings.step_ns_median)} without"
        )
    if quantities.has_gpu_work:
        return Observation(text=text + ".")
    return Observation(
        text=text + ".",
        meaning="On a CPU run the profiler adds its cost to every operator. A ratio below 1 means "
        "that the machine was busier while the steps were timed without it.",
    )


Q10 = Rule(
    id="Q10",
    title="What profiling cost",
    family="measurement quality",
    kind="fact",
    missing=needs.all_of(needs.timings, needs.steps),
    observe=_q10,
    meaning="The profiler slows the CPU side and leaves the kernels as they are. That is why the "
    "verdict uses the unprofiled step time.",
    advice="",
    source=f"{H200}: 1.55 to 3.2 times",
)


# --- Q12 ----------------------------------------------------------------------------------------


def _q12(quantities: Quantities) -> Observation | None:
    source = quantities.trace.source
    parts = [f"{count:,} × {reason}" for reason, count in source.repaired.items()]
    aside = [f"{count:,} × {reason}" for reason, count in source.set_aside.items()]
    if not parts and not aside:
        return None
    text = []
    if aside:
        text.append(f"Rows left out: {'; '.join(aside[:4])}.")
    if parts:
        text.append(f"Mended while reading: {'; '.join(parts[:4])}.")
    return Observation(text=" ".join(text))


Q12 = Rule(
    id="Q12",
    title="The file was damaged",
    family="measurement quality",
    kind="trust",
    missing=needs.events,
    observe=_q12,
    meaning="Some rows could not be read as they stand. What is left out is in no count and no "
    "sum.",
    advice="Export the trace again with a current version of torch.",
    source=f"{KINETO}; PyTorch report 146900",
)


# --- Q16 ----------------------------------------------------------------------------------------


def _q16(quantities: Quantities) -> Observation | None:
    devices = np.unique(column(quantities.activities, "device"))
    devices = devices[devices >= 0]
    communication = of_family(quantities, "communication")
    share = quantities.share(communication)
    if len(devices) <= 1 and not communication.any():
        return None
    text = f"GPU work on {count_text(len(devices), 'device')}"
    if communication.any():
        text += f", {percent_text(share)} of it communication between GPUs"
        if share >= COMMUNICATION_FRACTION:
            text += ", which is much"
    return Observation(text=text + ".")


Q16 = Rule(
    id="Q16",
    title="Several devices or ranks",
    family="measurement quality",
    kind="fact",
    missing=needs.gpu,
    observe=_q16,
    meaning="Busy times here put all devices on one line. Communication is counted as GPU work and "
    "not analysed further.",
    advice="",
    source="tb_plugin mentions communication from 10 % on",
)


# --- Q18, Q19 -----------------------------------------------------------------------------------

_OPTION_TEXT: Final[dict[str, str]] = {
    "record_shapes": "input shapes",
    "with_stack": "Python stacks",
    "profile_memory": "memory",
    "with_flops": "FLOPs",
}


def _q18(quantities: Quantities) -> Observation | None:
    heavy = [text for option, text in _OPTION_TEXT.items() if option in quantities.trace.options]
    if not heavy:
        return None
    return Observation(text=f"The trace was recorded with {', '.join(heavy)}.")


Q18 = Rule(
    id="Q18",
    title="Recorded with costly options",
    family="measurement quality",
    kind="fact",
    missing=needs.events,
    observe=_q18,
    meaning="These options slow the CPU side further, so CPU times are longer than without them.",
    advice="Use them to find a cause, not to measure time.",
    source="PyTorch's documentation of torch.profiler",
)


def _q19_missing(quantities: Quantities) -> str | None:
    if reason := needs.events(quantities):
        return reason
    if "profile_memory" in quantities.trace.options:
        return None
    return "Memory was not recorded. Use profile_memory=True to record it."


def _q19(quantities: Quantities) -> Observation | None:
    if len(quantities.trace.memory.start_ns):
        return None
    return Observation(text="The option profile_memory was on, but the file has no memory rows.")


Q19 = Rule(
    id="Q19",
    title="Memory rows are missing",
    family="measurement quality",
    kind="fact",
    missing=_q19_missing,
    observe=_q19,
    meaning="Some versions keep memory rows in the table but do not export them.",
    advice="Use torch.cuda.memory._record_memory_history instead.",
    source="PyTorch report 166121",
)
