"""Runs in a process of its own: torch must stay out of the one that runs the tests.

Usage: python recorder_child.py FOLDER EXPERIMENT_JSON [EXPERIMENT_BESIDE_JSON]
Prints what the recorder did besides its files, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from profcore.experiment import from_json


def main(folder: Path, experiment_json: str, beside_json: str = "") -> None:
    import torch

    from profcore.recorder import record

    phases: list[str] = []
    beside = from_json(beside_json) if beside_json else None
    record(from_json(experiment_json), folder, on_phase=phases.append, beside=beside)
    told = {"phases": phases, "precision": torch.get_float32_matmul_precision()}
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
