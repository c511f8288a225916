"""Which observations the recordings on this machine ever showed."""

from dataclasses import dataclass

import streamlit as st

from pages._panels.results import Summary, summarize
from pages._panels.samples import load_samples
from profcore.errors import ProfcoreError
from profcore.library import Library
from profcore.recording import Recording

OWN_MAX = 50
"""Newest own recordings that are looked through; each costs a read of its trace once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """The recordings that were looked through, and what each showed."""

    read: tuple[tuple[Recording, Summary], ...]
    """Samples first, then own recordings, newest first."""
    unreadable: int

    def showing(self, rule_id: str) -> list[Recording]:
        """Return the recordings in which a rule fired."""
        return [recording for recording, summary in self.read if rule_id in summary.fired]


def look_through(library: Library) -> History:
    """Read the samples and the newest finished recordings; what was read before is kept."""
    done = [recording for recording in library.list() if recording.status.state == "done"]
    recordings = [*load_samples(), *done[:OWN_MAX]]
    read: list[tuple[Recording, Summary]] = []
    progress = st.empty()
    for position, recording in enumerate(recordings):
        progress.progress(position / len(recordings), text="Looking through the recordings ...")
        try:
            read.append((recording, summarize(recording)))
        except ProfcoreError:
            continue
    progress.empty()
    return History(read=tuple(read), unreadable=len(recordings) - len(read))
