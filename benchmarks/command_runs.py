"""Runs experiments one after the other through `python -m profcore run --json`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from profcore.library import open_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profcore.experiment import Experiment
    from profcore.recording import Recording

ROOT = Path(__file__).resolve().parents[1]


def record_all(
    experiments: Iterable[Experiment], root: Path
) -> Iterator[tuple[Recording, dict[str, Any] | None]]:
    """Yield the recording of each experiment and the object that the command printed.

    The object is None when the run failed; the recording then says why.
    """
    for experiment in experiments:
        folder = root / f"{len(list(root.glob('*'))):03d}"
        flags = []
        for knob, value in msgspec.to_builtins(experiment).items():
            if knob != "shapes":
                flags += [f"--{knob}", str(value)]
        done = subprocess.run(
            [sys.executable, "-m", "profcore", "run", *flags, "--json", "--out", str(folder)],
            check=False, capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        yield open_own(folder), json.loads(done.stdout) if done.returncode == 0 else None
