"""The recordings on this machine: list, open, name, delete; and the samples of the package.

A recording is a folder named by its id. Folders appear and vanish by renaming, so two servers and
a command line may use one library at the same time.
"""

from __future__ import annotations

import dataclasses
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
import platformdirs

from profcore import owner as owners
from profcore.errors import RecordingError, RunError
from profcore.files import read_json, write_json, write_text
from profcore.owner import OWNER_FILE
from profcore.recording import (
    ACTIVE,
    EXPERIMENT_FILE,
    GIVEN_UP,
    POINT_ID,
    PROGRESS_FILE,
    RUN_ID,
    STATUS_FILE,
    TITLE_FILE,
    Recording,
    State,
    Status,
    open_folder,
    read_ceilings,
)
from profcore.sweep import POINTS_FOLDER, SWEEP_FILE

if TYPE_CHECKING:
    from profcore.experiment import Experiment
    from profcore.sweep import SweepPlan

DATA_VARIABLE: Final = "PROFCORE_DATA"
TITLE_MAX: Final = 80
"""Characters of a title; more does not fit a line of the list."""

_SAMPLES: Final = Path(__file__).with_name("samples")
_UNKNOWN: Final = (
    "There is no recording {id}; it may have been deleted, or made on another machine."
)

Recordings: TypeAlias = list[Recording]
Folders: TypeAlias = list[Path]
Damage: TypeAlias = list[tuple[str, str]]
"""(id, one sentence) of recordings that cannot be read."""


def default_root() -> Path:
    """Return the folder of recordings: PROFCORE_DATA, or the user's data folder."""
    if chosen := os.environ.get(DATA_VARIABLE):
        return Path(chosen).expanduser().absolute()
    return platformdirs.user_data_path("profcore")


class Library:
    """The recordings below one folder, which is made when the first run needs it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def list(self) -> Recordings:
        """Return the recordings made here, newest first; damaged ones are left out."""
        return self._read()[0]

    def damaged(self) -> Damage:
        """Return the id of every recording that cannot be read, with one sentence each."""
        return self._read()[1]

    def open(self, recording_id: str) -> Recording:
        """Return a recording or a sample.

        Raises:
            RecordingError: no such id, or a damaged recording.
        """
        if recording_id in sample_ids():
            return open_folder(_SAMPLES / recording_id, is_sample=True)
        sweep_id, dash, number = recording_id.rpartition("-")
        if dash and sweep_id in sample_sweep_ids():
            return open_point(_SAMPLES / sweep_id, number, is_sample=True)
        if POINT_ID.fullmatch(recording_id):
            return open_point(self._folder(sweep_id), number)
        return open_own(self._folder(recording_id))

    def sweep_folder(self, sweep_id: str) -> Path:
        """Return the folder of a sweep made here or of a sample.

        Raises:
            RecordingError: no such sweep.
        """
        if sweep_id in sample_sweep_ids():
            return _SAMPLES / sweep_id
        folder = self._folder(sweep_id)
        if not (folder / SWEEP_FILE).exists():
            msg = f"{sweep_id} is a recording, not a sweep."
            raise RecordingError(msg)
        return folder

    def sweep_folders(self) -> Folders:
        """Return the folders of the sweeps made here, in no order."""
        try:
            folders = sorted(self.root.iterdir())
        except OSError:
            return []  # nothing was recorded yet
        return [folder for folder in folders if is_sweep(folder)]

    def new_folder(self, experiment: Experiment) -> Path:
        """Make the folder of a new run; its name is the id, 12 hex digits.

        Raises:
            RunError: the folder cannot be written.
        """
        return self._new_folder(EXPERIMENT_FILE, experiment)

    def new_sweep_folder(self, plan: SweepPlan) -> Path:
        """Make the folder of a new sweep; as `new_folder`."""
        return self._new_folder(SWEEP_FILE, plan)

    def _new_folder(self, file: str, data: Experiment | SweepPlan) -> Path:
        folder = self.root / secrets.token_hex(6)
        try:
            _make_folder(folder, file, data)
        except OSError as error:
            msg = (
                f"The data folder {self.root} cannot be written ({error.strerror}); "
                f"set {DATA_VARIABLE} to a folder that can be."
            )
            raise RunError(msg) from error
        return folder

    def rename(self, recording_id: str, title: str) -> None:
        """Give a recording a title; an empty one brings back the description of its experiment.

        Raises:
            RecordingError: no such recording, a sample, or a title longer than TITLE_MAX.
        """
        if recording_id in sample_ids():
            msg = "Samples keep their titles; run the experiment yourself to name it."
            raise RecordingError(msg)
        folder = self._folder(recording_id)
        # One line, and nothing that could reorder or hide the text around it.
        line = "".join(c for c in " ".join(title.split()) if c.isprintable()).strip()
        if len(line) > TITLE_MAX:
            msg = f"The title has {len(line)} characters; give at most {TITLE_MAX}."
            raise RecordingError(msg)
        if line:
            write_text(folder / TITLE_FILE, line + "\n")
        else:
            (folder / TITLE_FILE).unlink(missing_ok=True)

    def delete(self, recording_id: str) -> None:
        """Delete a finished or damaged recording.

        Raises:
            RecordingError: no such recording, a sample, or one that is not finished.
        """
        if recording_id in sample_ids():
            msg = "Samples belong to the program and cannot be deleted."
            raise RecordingError(msg)
        folder = self._folder(recording_id)
        try:
            is_active = status_of(folder).state in ACTIVE
        except RecordingError:
            is_active = False  # damaged: deleting it is the cure
        if is_active:
            msg = f"The run {recording_id} is not finished; cancel it first."
            raise RecordingError(msg)
        # Out of sight in one step, so that nobody opens half a recording.
        grave = folder.with_name(f".{recording_id}.{secrets.token_hex(4)}.deleted")
        try:
            folder.rename(grave)
        except FileNotFoundError as error:
            raise RecordingError(_UNKNOWN.format(id=recording_id)) from error
        shutil.rmtree(grave, ignore_errors=True)

    def prune(self, keep: int) -> None:
        """Delete the oldest finished recordings without a title, so that at most `keep` stay."""
        unnamed = [
            recording
            for recording in self.list()
            if recording.status.state not in ACTIVE and not (recording.folder / TITLE_FILE).exists()
        ]
        for recording in unnamed[keep:]:
            try:
                self.delete(recording.id)
            except RecordingError:
                continue  # another process was faster

    def _folder(self, recording_id: str) -> Path:
        """Check an id from outside before it becomes a path."""
        folder = self.root / recording_id if RUN_ID.fullmatch(recording_id) else None
        if folder is None or not folder.is_dir():
            # What is not an id is not repeated: it may be anything.
            shown = recording_id if folder is not None else "of this name"
            raise RecordingError(_UNKNOWN.format(id=shown))
        return folder

    def _read(self) -> tuple[Recordings, Damage]:
        whole: Recordings = []
        damaged: Damage = []
        try:
            folders = sorted(self.root.iterdir())
        except OSError:
            return [], []  # nothing was recorded yet
        for folder in folders:
            if not RUN_ID.fullmatch(folder.name) or is_sweep(folder):
                continue
            try:
                whole.append(open_own(folder))
            except RecordingError as error:
                if folder.exists():  # otherwise deleted meanwhile
                    damaged.append((folder.name, str(error)))
        whole.sort(key=lambda recording: recording.status.created_at, reverse=True)
        return whole, damaged


def make_folder(folder: Path, experiment: Experiment) -> None:
    """Make the folder of a run in one step: others see it with its experiment and owner, or not.

    Raises:
        OSError: it cannot be written, or is there already and not empty.
    """
    _make_folder(folder, EXPERIMENT_FILE, experiment)


def _make_folder(folder: Path, file: str, data: Experiment | SweepPlan) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    part.mkdir()
    try:
        write_json(part / file, data)
        owners.sign(part)
        part.rename(folder)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise


def open_own(folder: Path) -> Recording:
    """Open a recording that may still be under way, here or in another process.

    Raises:
        RecordingError: not a recording, or a damaged one.
    """
    # Before the status: the owner goes away when the status is there.
    owner = owners.read(folder)
    recording = open_folder(folder)
    if folder.parent.name == POINTS_FOLDER:
        recording = _with_ceilings_of(recording, folder.parent.parent)
    return dataclasses.replace(recording, status=_status_now(folder, recording.status, owner))


def status_of(folder: Path) -> Status:
    """Return how a run or a sweep ended, or that it is under way.

    Raises:
        RecordingError: its status file is damaged.
    """
    owner = owners.read(folder)  # before the status, as above
    try:
        status = read_json(folder / STATUS_FILE, Status)
    except (msgspec.DecodeError, OSError) as error:
        msg = f"{folder.name} is damaged ({error}); delete it and run it again."
        raise RecordingError(msg) from error
    return _status_now(folder, status or Status(state="failed", message=GIVEN_UP), owner)


def _status_now(folder: Path, status: Status, owner: owners.Owner | None) -> Status:
    if owner is None or status.created_at:
        return status
    if owner.is_alive():
        state: State = "running" if (folder / PROGRESS_FILE).exists() else "queued"
        return Status(state=state, created_at=owner.created_at)
    return msgspec.structs.replace(status, created_at=owner.created_at)


def is_sweep(folder: Path) -> bool:
    """Tell whether a folder of the library holds a sweep."""
    return bool(RUN_ID.fullmatch(folder.name)) and (folder / SWEEP_FILE).exists()


def open_point(sweep: Path, number: str, *, is_sample: bool = False) -> Recording:
    """Open one point of a sweep as the recording it is; its id is `<sweep>-<number>`.

    Raises:
        RecordingError: no such point, or a damaged one.
    """
    folder = sweep / POINTS_FOLDER / number
    if not number.isdigit() or not folder.is_dir():
        msg = f"The sweep {sweep.name} has no such point; it may have been made again."
        raise RecordingError(msg)
    recording = open_folder(folder, is_sample=is_sample)
    status = recording.status
    if not (folder / STATUS_FILE).exists():  # the sweep is under way, or was ended there
        of_sweep = status_of(sweep)
        status = msgspec.structs.replace(of_sweep, run_s=0.0, log_tail="")
    recording = _with_ceilings_of(recording, sweep)
    return dataclasses.replace(recording, id=f"{sweep.name}-{number}", status=status)


def _with_ceilings_of(point: Recording, sweep: Path) -> Recording:
    """Return a point with what was measured for its sweep, if that was on the same device."""
    found = read_ceilings(sweep)
    where = point.environment
    if found is None or where is None or found.device_name != where.device_name:
        return point
    return dataclasses.replace(point, ceilings=found)


def finish(folder: Path, status: Status) -> None:
    """Write how a run ended; from now on it has no owner."""
    write_json(folder / STATUS_FILE, status)
    (folder / OWNER_FILE).unlink(missing_ok=True)


def sample_ids() -> tuple[str, ...]:
    """Return the ids of the samples in the order they are shown."""
    try:
        order = (_SAMPLES / "order.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    return tuple(order.split())


def sample_sweep_ids() -> tuple[str, ...]:
    """Return the ids of the sweeps that ship with the program, in the order they are shown."""
    try:
        order = (_SAMPLES / "sweeps.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    return tuple(order.split())


def samples() -> Recordings:
    """Return the recordings that ship with the program, in the order they are shown."""
    return [open_folder(_SAMPLES / sample_id, is_sample=True) for sample_id in sample_ids()]
