"""What a page may know about a run, whichever process makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from profcore.errors import RecordingError
from profcore.files import read_json
from profcore.library import is_sweep, status_of
from profcore.recording import ACTIVE, PROGRESS_FILE, Progress

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.library import Library
    from profcore.recording import Phase, Point, State, Status


@dataclass(frozen=True, kw_only=True, slots=True)
class JobView:
    """What a page may know about one run: a value, not a handle."""

    run_id: str
    state: State
    position: int = 0
    """Place in the queue, 1 = next, 0 = not waiting."""
    phases: tuple[Phase, ...] = ()
    """The last one is under way while the run is."""
    point: Point | None = None
    """How far a sweep is, while it is under way."""
    elapsed_s: float = 0.0
    """Waiting: since it was asked for. Running: since it began. Ended: how long it ran."""
    message: str = ""
    """One sentence when the run ended without a recording."""
    log_tail: str = ""
    """The last lines of a failed run."""


def view_on_disk(library: Library, run_id: str, unwritten: Status | None = None) -> JobView | None:
    """Return the state of a run that this process does not make.

    Args:
        library: Where it lies.
        run_id: Matches RUN_ID or POINT_ID.
        unwritten: How it ended, when that could not be written.

    Returns:
        None when there is no such run.
    """
    folder = library.root / run_id
    try:
        if is_sweep(folder):
            status = status_of(folder)
        else:
            recording = library.open(run_id)
            folder, status = recording.folder, recording.status
    except RecordingError as error:
        if not folder.is_dir():
            return None
        return JobView(run_id=run_id, state="failed", message=str(error))
    status = unwritten or status
    return JobView(
        run_id=run_id,
        state=status.state,
        phases=read_phases(folder),
        point=read_point(folder) if status.state in ACTIVE else None,
        elapsed_s=status.run_s,
        message=status.message,
        log_tail=status.log_tail,
    )


def read_point(folder: Path) -> Point | None:
    """Return how far a sweep is; None for a run, and where that is not known."""
    progress = _read_progress(folder)
    return progress.point if progress else None


def read_phases(folder: Path) -> tuple[Phase, ...]:
    """Return the phases so far; none when the run has not begun or the file is damaged."""
    progress = _read_progress(folder)
    return tuple(progress.phases) if progress else ()


def _read_progress(folder: Path) -> Progress | None:
    try:
        return read_json(folder / PROGRESS_FILE, Progress)
    except (msgspec.DecodeError, OSError):
        return None
