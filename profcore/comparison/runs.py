"""One side of a comparison: a run, and further runs of the same experiment if there are any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore import workloads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profcore.analysis import Analysis
    from profcore.experiment import Experiment
    from profcore.recording import Beside, Recording, Timings

KNOBS = ("workload", "size", "batch", "dtype", "bias", "compile", "warmup")
"""What changes the work or how it is done. The device is compared by its name, and the number of
recorded steps and shapes only say how much was recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A run as a comparison sees it."""

    analysis: Analysis
    title: str
    """For people: the recording's title, or the name of the file."""
    others: tuple[Timings, ...] = ()
    """Unprofiled times of more runs of the same experiment in the same place."""
    turns: tuple[Beside, ...] = ()
    """Of those runs and itself, the ones that were timed by turns with another experiment."""

    @property
    def timings(self) -> tuple[Timings, ...]:
        """Unprofiled times of all runs of this side; none for an opened trace."""
        own = self.analysis.timings
        return (() if own is None else (own,)) + self.others


def matters(knob: str, experiment: Experiment) -> bool:
    """Tell whether a knob changes what this experiment does."""
    workload = workloads.find(experiment.workload)
    return (knob != "batch" or workload.uses_batch) and (knob != "bias" or workload.uses_bias)


def turns_of(recordings: Iterable[Recording]) -> tuple[Beside, ...]:
    """Return what recordings hold of turns with another experiment."""
    return tuple(one.beside for one in recordings if one.beside is not None)


def same_work(a: Experiment, b: Experiment) -> bool:
    """Tell whether two experiments do the same, knobs without effect left out."""
    return all(
        getattr(a, knob) == getattr(b, knob) or not (matters(knob, a) or matters(knob, b))
        for knob in KNOBS
    )


def more_runs(recording: Recording, recordings: Iterable[Recording]) -> list[Recording]:
    """Return the finished runs that did the same in the same place, itself left out.

    Same place: device, torch, machine and boot. They turn one run into a sample of the noise from
    run to run; runs taken long apart may hold a drift of the machine too.
    """
    here = recording.environment
    if here is None:
        return []
    found = []
    for other in recordings:
        there = other.environment
        if other.id == recording.id or there is None or other.timings is None:
            continue
        if (here.device, here.device_name, here.torch, here.cpu_name, here.boot) != (
            there.device,
            there.device_name,
            there.torch,
            there.cpu_name,
            there.boot,
        ):
            continue
        if same_work(recording.experiment, other.experiment):
            found.append(other)
    return found
