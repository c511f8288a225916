"""`python -m profcore analyze`: open a trace or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from profcore.commands.answer import analysis_of, analysis_of_trace, print_answer
from profcore.errors import InputError
from profcore.library import Library, default_root, open_own, sample_ids
from profcore.recording import RUN_ID

if TYPE_CHECKING:
    import argparse

    from profcore.analysis import Analysis


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what may follow `analyze`."""
    parser.add_argument(
        "source",
        metavar="TRACE_OR_RECORDING",
        help="a trace (.json, .json.gz), a recording's folder or id, or the id of a sample",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what the trace shows; 0."""
    print_answer(_open(arguments.source), as_json=arguments.json)
    return 0


def _open(source: str) -> Analysis:
    path = Path(source)
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # a name too long, a null byte
        is_folder = is_there = False
    if is_folder:
        return analysis_of(open_own(path.absolute()))
    if is_there:
        return analysis_of_trace(path)
    if RUN_ID.fullmatch(source) or source in sample_ids():
        return analysis_of(Library(default_root()).open(source))
    msg = f"{source!r} is no file, no folder and no id of a recording or sample."
    raise InputError(msg)
