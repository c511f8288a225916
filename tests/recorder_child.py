"""Runs in a process of its own: torch must stay out of the one that runs the tests.

Usage: python recorder_child.py FOLDER EXPERIMENT_JSON
Prints what the recorder did besides its files, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from profcore.experiment import from_json


def main(folder: Path, experiment_json: str) -> None:
    from profcore.recorder import record

    phases: list[str] = []
    record(from_json(experiment_json), folder, on_phase=phases.append)
    print(json.dumps({"phases": phases}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
