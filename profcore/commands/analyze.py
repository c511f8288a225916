"""`python -m profcore analyze`: open a trace or a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profcore.commands.answer import print_answer
from profcore.commands.sources import open_source

if TYPE_CHECKING:
    import argparse


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
    print_answer(open_source(arguments.source).analysis, as_json=arguments.json)
    return 0
