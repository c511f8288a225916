"""What a command may be given: a trace, the folder of a recording, or an id."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profcore.commands.answer import analysis_of, analysis_of_trace
from profcore.errors import InputError
from profcore.library import Library, default_root, open_own, sample_ids, sample_sweep_ids
from profcore.recording import POINT_ID, RUN_ID

if TYPE_CHECKING:
    from profcore.analysis import Analysis
    from profcore.recording import Recording


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One thing to look at."""

    title: str
    analysis: Analysis
    recording: Recording | None
    """None for a trace that somebody opened."""


def open_source(text: str) -> Source:
    """Open what a person named on the command line.

    Raises:
        InputError: there is no such thing, or it cannot be read.
    """
    path = Path(text)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name too long, a null byte
        is_folder = is_there = False
    if is_there and not is_folder:
        return Source(title=path.name, analysis=analysis_of_trace(path), recording=None)
    recording = open_own(path.absolute()) if is_folder else _by_id(text)
    return Source(title=recording.title, analysis=analysis_of(recording), recording=recording)


def _by_id(text: str) -> Recording:
    of_sample_sweep = text.rpartition("-")[0] in sample_sweep_ids()
    if RUN_ID.fullmatch(text) or POINT_ID.fullmatch(text) or text in sample_ids():
        return Library(default_root()).open(text)
    if of_sample_sweep:
        return Library(default_root()).open(text)
    msg = f"{text!r} is no file, no folder and no id of a recording or sample."
    raise InputError(msg)
