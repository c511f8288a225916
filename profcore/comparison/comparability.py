"""Can two runs be compared, and what differs between them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore.analysis.run_noise import same_session
from profcore.comparison.runs import KNOBS, matters

if TYPE_CHECKING:
    from profcore.comparison.runs import Run

_OPTIONS: Final[dict[str, str]] = {
    "record_shapes": "input shapes",
    "with_stack": "Python call stacks",
    "profile_memory": "memory events",
    "with_flops": "FLOP counts",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class KnobDifference:
    """One setting in which two runs differ."""

    knob: str
    a: str
    """As text."""
    b: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparability:
    """What stands between two runs and a fair comparison."""

    knobs: tuple[KnobDifference, ...]
    """Settings that differ and change what is done, in the order of the form."""
    obstacles: tuple[str, ...]
    """Sentences: why a difference cannot be blamed on one setting. Empty: it can."""
    cautions: tuple[str, ...]
    """Sentences: what may bend the figures a little."""
    same_session: bool
    """Both were made on one machine without a restart between."""

    @property
    def is_fair(self) -> bool:
        """Whether at most one setting differs and everything else is the same."""
        return not self.obstacles


def comparability(a: Run, b: Run) -> Comparability:
    """Hold two runs side by side: device, torch, workload, capture options, settings."""
    knobs = _knobs(a, b)
    together = same_session(a.analysis.environment, b.analysis.environment)
    return Comparability(
        knobs=knobs,
        obstacles=(*_places(a, b), *_options(a, b), *_too_many(knobs)),
        cautions=_cautions(a, b, same_session=together),
        same_session=together,
    )


def _knobs(a: Run, b: Run) -> tuple[KnobDifference, ...]:
    mine, theirs = a.analysis.experiment, b.analysis.experiment
    if mine is None or theirs is None:
        return ()
    return tuple(
        KnobDifference(knob=knob, a=str(getattr(mine, knob)), b=str(getattr(theirs, knob)))
        for knob in KNOBS
        if getattr(mine, knob) != getattr(theirs, knob)
        and (matters(knob, mine) or matters(knob, theirs))
    )


def _places(a: Run, b: Run) -> list[str]:
    here, there = a.analysis.environment, b.analysis.environment
    if here is None or there is None:
        return ["At least one side is an opened trace: its settings and its machine are not known."]
    found = []
    if here.device_name != there.device_name:
        found.append(f"The devices differ: {here.device_name} and {there.device_name}.")
    elif here.cpu_name != there.cpu_name:
        found.append(f"The processors differ: {here.cpu_name} and {there.cpu_name}.")
    if here.torch != there.torch:
        found.append(f"The torch versions differ: {here.torch} and {there.torch}.")
    if here.cpu_threads != there.cpu_threads:
        found.append(
            f"torch had {here.cpu_threads} CPU threads in one and {there.cpu_threads} in the other."
        )
    return found


def _options(a: Run, b: Run) -> list[str]:
    return [
        f"Only one of the two recorded {_OPTIONS.get(option, option)}, which slows the CPU side of "
        "its trace; the step times without the profiler are not touched by it."
        for option in sorted(a.analysis.trace.options ^ b.analysis.trace.options)
    ]


def _too_many(knobs: tuple[KnobDifference, ...]) -> list[str]:
    if len(knobs) < 2:  # noqa: PLR2004 - one change explains itself
        return []
    *most, last = [difference.knob for difference in knobs]
    text = (
        f"{len(knobs)} settings differ ({', '.join(most)} and {last}), so no single one can be "
        "named as the cause."
    )
    return [text]


def _cautions(a: Run, b: Run, *, same_session: bool) -> tuple[str, ...]:
    here, there = a.analysis.environment, b.analysis.environment
    found = []
    if here is not None and there is not None:
        if not same_session:
            found.append(
                "The runs were made on different machines, or the machine was restarted between "
                "them: the CPU side alone can then differ by more than half."
            )
        if here.driver != there.driver:
            found.append(f"The drivers differ: {here.driver} and {there.driver}.")
        if any(place.clocks and place.clocks.other_processes for place in (here, there)):
            found.append("Another process held the GPU during at least one of the runs.")
    taken = {run.analysis.timings.taken for run in (a, b) if run.analysis.timings is not None}
    if len(taken) > 1:
        found.append(
            "One step time was taken before profiling, the other after it (a cold start): such a "
            "time can be too long for short steps."
        )
    return tuple(found)
