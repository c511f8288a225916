"""The points of a sweep as folders: what is there already, and new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profcore.experiment import Experiment
from profcore.files import read_json, write_json
from profcore.recording import (
    EXPERIMENT_FILE,
    STATUS_FILE,
    TIMINGS_FILE,
    State,
    Status,
    Timings,
)

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One point and where it lies."""

    experiment: Experiment
    folder: Path

    @property
    def state(self) -> State | None:
        """None: it has not ended yet."""
        status = read_json(self.folder / STATUS_FILE, Status)
        return status.state if status else None

    @property
    def message(self) -> str:
        """Why it failed, in one sentence; empty otherwise."""
        status = read_json(self.folder / STATUS_FILE, Status)
        return status.message if status else ""

    @property
    def is_timed(self) -> bool:
        """Whether the first pass is done with it."""
        return (self.folder / TIMINGS_FILE).exists()

    @property
    def step_ns(self) -> float | None:
        """Its step without the profiler; None before it is timed."""
        timings = read_json(self.folder / TIMINGS_FILE, Timings)
        return timings.step_ns_median if timings else None

    @property
    def busy_fraction(self) -> float | None:
        """About how much of its step the GPU works; None on a CPU and before it is timed."""
        timings = read_json(self.folder / TIMINGS_FILE, Timings)
        if timings is None or timings.gpu_queued_ns is None:
            return None
        return min(1.0, timings.gpu_queued_ns / timings.step_ns_median)


def places_of(points: Path) -> dict[Experiment, Place]:
    """Return the points that an earlier try left."""
    places = {}
    for folder in sorted(points.iterdir()):
        experiment = read_json(folder / EXPERIMENT_FILE, Experiment)
        if experiment is None:
            continue
        place = places[experiment] = Place(experiment=experiment, folder=folder)
        if place.state in {"cancelled", "timeout"}:  # timed, and now it can be recorded
            (folder / STATUS_FILE).unlink()
    return places


def new_place(points: Path, experiment: Experiment) -> Place:
    """Make the folder of a point, numbered on from those that are there."""
    taken = [int(folder.name) for folder in points.iterdir() if folder.name.isdigit()]
    folder = points / f"{max(taken, default=-1) + 1:03d}"
    folder.mkdir()
    write_json(folder / EXPERIMENT_FILE, experiment)
    return Place(experiment=experiment, folder=folder)
