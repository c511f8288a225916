"""Runs in a process of its own: torch must stay out of the one that runs the tests.

Usage: python sweep_child.py FOLDER PLAN_JSON
Prints what the recorder told besides its files, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from profcore.sweep import from_json


def main(folder: Path, plan_json: str) -> None:
    from profcore.recorder import record_sweep

    phases: list[str] = []
    points: list[str] = []
    record_sweep(
        from_json(plan_json),
        folder,
        on_phase=phases.append,
        on_point=lambda point: points.append(f"{point.number}/{point.count} {point.text}"),
    )
    print(json.dumps({"phases": phases, "points": points}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
