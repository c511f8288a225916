"""The command line: `python -m profcore run | analyze | sweep | compare | doctor`.

Exit status: 0 done; 2 the input is at fault (one line on standard error); 1 anything else;
130 interrupted. Results go to standard output, progress to standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

import profcore
from profcore.errors import InputError, ProfcoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class _Parser(argparse.ArgumentParser):
    """One line for a wrong argument, like every other fault of the input."""

    def error(self, message: str) -> NoReturn:
        msg = f"{message} (see {self.prog} --help)"
        raise InputError(msg)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    from profcore.commands.registry import COMMANDS

    parser = _Parser(prog="python -m profcore", description=profcore.__doc__)
    parser.add_argument("--version", action="version", version=profcore.__version__)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        one = commands.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(one)
        one.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a terminal that knows no "µ" is no reason to fail
    try:
        chosen = build_parser().parse_args(arguments)
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except InputError as error:
        _complain(error)
        return BAD_INPUT
    except ProfcoreError as error:
        _complain(error)
        return FAILED
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`| head`). Nothing more may be written, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return status


def _complain(error: ProfcoreError) -> None:
    print("profcore:", " ".join(str(error).split()), file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
