"""Runs in a process of its own: torch must stay out of the one that runs the tests.

Usage: python warm_child.py FOLDER EXPERIMENTS_JSON       {name: knobs}, each into FOLDER/name
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from profcore.experiment import from_json


def main(folder: Path, experiments_json: str) -> None:
    from profcore.recorder import record

    for name, knobs in json.loads(experiments_json).items():
        (folder / name).mkdir()
        record(from_json(json.dumps(knobs)), folder / name, on_phase=lambda _: None)
    print("{}")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
