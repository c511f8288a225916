"""Test the article's own claims on recordings of another GPU, row by row.

Usage: PYTHONPATH=. python benchmarks/article_claims.py [FOLDER] [--write]
FOLDER holds recordings of calibrate.py; without one the samples of the program are used, and claims
that they cannot test read "not applicable". Needs no GPU. `--write` replaces the table that the
Field guide shows (profcore/rules/article_claims.json).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from article_checks import CLAIMS
from calibration_cases import COLD, WARM

from profcore import library
from profcore.analysis import Analysis
from profcore.recording import open_folder
from profcore.rules.article import TABLE, ArticleTable, Tested
from profcore.trace import read

if TYPE_CHECKING:
    from profcore.recording import Recording

NO_RECORDING = "No recording at hand shows it."


def runs_of(folder: Path | None) -> dict[str, Analysis]:
    """Return the analyses by the names of the cases; programs by their own names."""
    runs: dict[str, Analysis] = {}
    names = {case.experiment: case.name for case in (*WARM, *COLD)}
    for recording in library.samples():
        made = msgspec.structs.replace(recording.experiment, device="auto")
        if made in names:
            runs[names[made]] = _opened(recording)
    if folder is not None:
        for name in names.values():
            if (folder / name / "trace.json.gz").exists():
                runs[name] = _opened(open_folder(folder / name))
        for trace in sorted((folder / "programs").glob("*.json.gz")):
            runs[trace.name.removesuffix(".json.gz")] = Analysis(read(trace))
    return runs


def _opened(recording: Recording) -> Analysis:
    return Analysis.of_recording(recording, read(recording.trace_path))


def test_all(runs: dict[str, Analysis]) -> list[Tested]:
    """Test every claim whose recordings are there."""
    tested = []
    for claim in CLAIMS:
        answer, measured = "not applicable", NO_RECORDING
        if all(name in runs for name in claim.needs):
            holds, measured = claim.check({name: runs[name] for name in claim.needs})
            answer = "holds" if holds else "differs"
        tested.append(
            Tested(
                id=claim.id,
                statement=claim.statement,
                article=claim.article,
                measured=measured,
                answer=answer,  # type: ignore[arg-type]
                rules=list(claim.rules),
            )
        )
    return tested


def main() -> int:
    """Print a line per claim, and write the table when asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", help="recordings of calibrate.py")
    parser.add_argument("--write", action="store_true", help=f"replace {TABLE.name}")
    arguments = parser.parse_args()
    runs = runs_of(arguments.folder)
    where = next(run.environment for run in runs.values() if run.environment)
    rows = test_all(runs)
    print(f"tested on {where.device_name}, torch {where.torch}, with {len(runs)} recordings\n")
    for row in rows:
        article = f" Article: {row.article}." if row.article else ""
        print(f"{row.answer:15}{row.statement}{article}\n{'':15}{row.measured}")
    counts = {answer: sum(row.answer == answer for row in rows) for answer in ("holds", "differs")}
    print(f"\n{len(rows)} claims: {counts['holds']} hold, {counts['differs']} differ")
    if arguments.write:
        table = ArticleTable(device=where.device_name, torch=where.torch, rows=rows)
        TABLE.write_bytes(msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
