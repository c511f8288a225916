"""The commands, in the order of the help text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from profcore.commands import analyze, compare, doctor, run, sweep

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One word after `python -m profcore`."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    """Does the work and returns the exit status."""


COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        name="run",
        help="record an experiment on this machine and say where its time goes",
        add_arguments=run.add_arguments,
        run=run.run,
    ),
    Command(
        name="analyze",
        help="say where the time goes in a trace or a recording",
        add_arguments=analyze.add_arguments,
        run=analyze.run,
    ),
    Command(
        name="sweep",
        help="record an experiment over a range of sizes, formats or compile modes",
        add_arguments=sweep.add_arguments,
        run=sweep.run,
    ),
    Command(
        name="compare",
        help="say what differs between two traces or recordings, and whether it is more than noise",
        add_arguments=compare.add_arguments,
        run=compare.run,
    ),
    Command(
        name="doctor",
        help="say what this machine can record, and what to do where it cannot",
        add_arguments=doctor.add_arguments,
        run=doctor.run,
    ),
)
