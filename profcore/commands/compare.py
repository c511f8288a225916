"""`python -m profcore compare A B`: what one change did, with the noise beside it.

A and B are traces, recordings or samples. One side may name several runs of the same experiment,
with commas; with four or more on each side the noise from run to run is seen and not assumed.
`--again N` records both N times more; each of those runs also times the other side by turns with
its own, in its process. What `--json` prints is described in
`compare_report`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profcore.commands.answer import print_json, say
from profcore.commands.make import ask_machine, make_here
from profcore.commands.sources import Source, open_source
from profcore.errors import ExperimentError, InputError, RunError
from profcore.estimate import refusal
from profcore.jobs.runs import Limits
from profcore.jobs.series import other_sides
from profcore.library import Library, default_root, open_own

if TYPE_CHECKING:
    import argparse

    from profcore.comparison import Run
    from profcore.recording import Recording

AGAIN_MAX = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what may follow `compare`."""
    what = "a trace, a recording's folder or id, or a sample; several runs with commas"
    parser.add_argument("a", metavar="A", help=what)
    parser.add_argument("b", metavar="B", help="what to compare with it")
    parser.add_argument(
        "--again",
        metavar="N",
        help=f"record both N more times, 1 to {AGAIN_MAX}, each timed by turns with the other side "
        "in one process, to see smaller differences",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison; 0."""
    from profcore.commands.compare_report import compare_report, compare_text
    from profcore.comparison import Comparison

    a, b = _sources(arguments.a), _sources(arguments.b)
    if arguments.again is not None:
        more = _again(_count(arguments.again), a[0], b[0])
        # The new runs alone: they took turns, those of before did not.
        comparison = Comparison(a=_run_with(a[0], more[0]), b=_run_with(b[0], more[1]))
    else:
        comparison = Comparison(a=_run(a), b=_run(b))
    if arguments.json:
        print_json(compare_report(comparison))
    else:
        sys.stdout.write(compare_text(comparison))
    return 0


def _sources(text: str) -> list[Source]:
    from profcore.comparison.runs import same_work

    sources = [open_source(part) for part in text.split(",") if part]
    if not sources:
        msg = "One side is empty; name a trace, a recording or a sample."
        raise InputError(msg)
    for source in sources[1:]:
        first, other = sources[0].recording, source.recording
        if first is None or other is None or not same_work(first.experiment, other.experiment):
            msg = (
                f"{text} mixes different experiments; one side takes runs of one experiment, with "
                "commas."
            )
            raise InputError(msg)
    return sources


def _run(sources: list[Source]) -> Run:
    others = [source.recording for source in sources[1:] if source.recording is not None]
    return _run_with(sources[0], others)


def _run_with(source: Source, others: list[Recording]) -> Run:
    from profcore.comparison import Run
    from profcore.comparison.runs import turns_of

    own = [] if source.recording is None else [source.recording]
    return Run(
        analysis=source.analysis,
        title=source.title,
        others=tuple(other.timings for other in others if other.timings is not None),
        turns=turns_of((*own, *others)),
    )


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= AGAIN_MAX:
        msg = f"again is {text!r}; give 1 to {AGAIN_MAX} (runs to add to each side)."
        raise InputError(msg)
    return int(text)


def _again(count: int, a: Source, b: Source) -> tuple[list[Recording], list[Recording]]:
    """Record both experiments `count` times, first the one, then the other."""
    if a.recording is None or b.recording is None:
        msg = "Only recordings can be made again; a trace does not say how it was made."
        raise InputError(msg)
    limits, library = Limits(), Library(default_root())
    sides = (a.recording.experiment, b.recording.experiment)
    machine = ask_machine(sides[0].device)
    for experiment in sides:
        if reason := refusal(experiment, machine, run_time_s=limits.run_time_s):
            raise ExperimentError(reason)
    made: tuple[list[Recording], list[Recording]] = ([], [])
    others = other_sides(sides)
    for number in range(1, count + 1):
        for name, experiment, other, side in zip("AB", sides, others, made, strict=True):
            say(f"{name}, run {number} of {count}")
            folder = library.new_folder(experiment)
            status = make_here(folder, limits, beside=other)
            if status.state != "done":
                raise RunError(status.message)
            side.append(open_own(folder))
    library.prune(limits.recordings_max)
    return made
