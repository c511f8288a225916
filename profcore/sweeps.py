"""The sweeps on this machine and those that ship with the program: open, list, make again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore import owner as owners
from profcore.errors import ExperimentError, RecordingError
from profcore.library import (
    Library,
    open_point,
    sample_sweep_ids,
    status_of,
)
from profcore.recording import ACTIVE, PROGRESS_FILE, STATUS_FILE, TITLE_FILE, Recording, Status
from profcore.sweep import POINTS_FOLDER, SWEEP_FILE, SweepPlan, describe, from_json

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.experiment import Experiment

_SAMPLE: Final = Status(state="done")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sweep:
    """One sweep, opened: what was asked for and the points that are there."""

    id: str
    folder: Path
    is_sample: bool
    title: str
    """Given by a person, or the description of the plan."""
    plan: SweepPlan
    status: Status
    points: tuple[Recording, ...]
    """In the order in which they were begun; some may be timed and not yet recorded, others
    failed: see their status. Sizes that were added where the busy share crosses are among them."""

    @property
    def is_active(self) -> bool:
        """Whether it waits or is under way."""
        return self.status.state in ACTIVE

    @property
    def timed(self) -> tuple[Recording, ...]:
        """The points with a step time."""
        return tuple(point for point in self.points if point.timings is not None)

    @property
    def done(self) -> tuple[Recording, ...]:
        """The points that are full recordings."""
        return tuple(point for point in self.points if point.status.state == "done")

    def missing(self) -> tuple[Experiment, ...]:
        """Return the points of the plan that are not done."""
        done = {_without_device(point.experiment) for point in self.done}
        return tuple(
            experiment
            for experiment in self.plan.experiments()
            if _without_device(experiment) not in done
        )


def _without_device(experiment: Experiment) -> tuple[object, ...]:
    """Return the knobs: a plan may say `auto` where a point says `cuda:0`."""
    return tuple(
        getattr(experiment, knob) for knob in experiment.__struct_fields__ if knob != "device"
    )


def open_sweep(library: Library, sweep_id: str) -> Sweep:
    """Open a sweep of the library or a sample.

    Raises:
        RecordingError: no such sweep, or a damaged one.
    """
    is_sample = sweep_id in sample_sweep_ids()
    return _open(library.sweep_folder(sweep_id), is_sample=is_sample)


def list_sweeps(library: Library) -> list[Sweep]:
    """Return the sweeps made here, newest first; damaged ones are left out."""
    found = []
    for folder in library.sweep_folders():
        try:
            found.append(_open(folder))
        except RecordingError:
            continue
    return sorted(found, key=lambda sweep: sweep.status.created_at, reverse=True)


def sample_sweeps(library: Library) -> list[Sweep]:
    """Return the sweeps that ship with the program, in the order they are shown."""
    return [open_sweep(library, sweep_id) for sweep_id in sample_sweep_ids()]


def begin_again(sweep: Sweep) -> Path:
    """Make the folder of a sweep ready for its rest, with this process as its owner.

    Raises:
        RecordingError: a sample, under way, or nothing is missing.
    """
    if sweep.is_sample:
        msg = "Samples are complete; make a sweep of your own."
        raise RecordingError(msg)
    if sweep.is_active:
        msg = f"The sweep {sweep.id} is not finished; wait for it or cancel it first."
        raise RecordingError(msg)
    if not sweep.missing() and sweep.status.state == "done":
        msg = f"The sweep {sweep.id} is complete."
        raise RecordingError(msg)
    owners.sign(sweep.folder)
    for name in (PROGRESS_FILE, STATUS_FILE):  # the status last: until then it counts as ended
        (sweep.folder / name).unlink(missing_ok=True)
    return sweep.folder


def prune(library: Library, keep: int) -> None:
    """Delete the oldest finished sweeps without a title, so that at most `keep` stay."""
    unnamed = [
        sweep
        for sweep in list_sweeps(library)
        if not sweep.is_active and not (sweep.folder / TITLE_FILE).exists()
    ]
    for sweep in unnamed[keep:]:
        try:
            library.delete(sweep.id)
        except RecordingError:
            continue  # another process was faster


def _open(folder: Path, *, is_sample: bool = False) -> Sweep:
    try:
        plan = from_json((folder / SWEEP_FILE).read_bytes())
    except (OSError, ExperimentError) as error:
        msg = f"The sweep {folder.name} is damaged ({error}); delete it and make it again."
        raise RecordingError(msg) from error
    status = _SAMPLE if is_sample else status_of(folder)
    try:
        title = (folder / TITLE_FILE).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        title = ""
    return Sweep(
        id=folder.name,
        folder=folder,
        is_sample=is_sample,
        title=title or describe(plan),
        plan=plan,
        status=status,
        points=_points(folder, is_sample=is_sample),
    )


def _points(folder: Path, *, is_sample: bool) -> tuple[Recording, ...]:
    try:
        numbers = sorted(path.name for path in (folder / POINTS_FOLDER).iterdir())
    except OSError:
        return ()  # not begun
    points = []
    for number in numbers:
        try:
            points.append(open_point(folder, number, is_sample=is_sample))
        except RecordingError:
            continue  # begun a moment ago, or removed
    return tuple(points)
