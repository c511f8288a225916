"""Runs experiments one after the other as the page does: through the queue and its spare child."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from profcore.jobs import JobRunner
from profcore.library import Library
from profcore.recording import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from profcore.experiment import Experiment
    from profcore.recording import Recording

POLL_S = 0.05


def record_all(experiments: Iterable[Experiment], root: Path) -> Iterator[Recording]:
    """Yield the recording of each experiment, finished or failed, in order."""
    library = Library(root)
    runner = JobRunner(library)
    try:
        for experiment in experiments:
            run_id = runner.submit(experiment)
            while (view := runner.view(run_id)) is not None and view.state in ACTIVE:
                time.sleep(POLL_S)
            yield library.open(run_id)
    finally:
        runner.close()
