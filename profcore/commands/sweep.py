"""`python -m profcore sweep`: one experiment over lists of sizes, formats, compile modes.

Lists are written with commas. What `--json` prints is described in `sweep_report`. Ctrl-C keeps
the points that are done; `--resume ID` makes the rest.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

from profcore import experiment as experiments
from profcore import sweeps, workloads
from profcore.commands.answer import analysis_of, print_json, say
from profcore.commands.make import ask_machine, make_here, waiting_child
from profcore.errors import ExperimentError, ProfcoreError
from profcore.estimate import sweep_refusal
from profcore.jobs.runs import Limits
from profcore.library import Library, default_root
from profcore.sweep import REFINE_MAX, SweepPlan

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from profcore.analysis import Analysis
    from profcore.sweeps import Sweep

FAILED: Final = 1
REFINE: Final = 3
"""Sizes added to each row by default: the crossover is then known to about 10 %."""

_SINGLE: Final[dict[str, str]] = {
    "workload": ", ".join(experiments.WORKLOAD_NAMES),
    "bias": ", ".join(experiments.BIASES),
    "steps": "steps recorded by the profiler at each point",
    "device": "auto, cpu, cuda:0 ...",
}
_LISTS: Final[dict[str, tuple[str, str, str]]] = {
    "sizes": ("sizes", "size", "rows and columns of each matrix"),
    "dtype": ("dtypes", "dtype", ", ".join(experiments.DTYPES)),
    "compile": ("compiles", "compile", ", ".join(experiments.COMPILE_MODES)),
    "batch": ("batches", "batch", "matrices multiplied at once, for batched_matmul"),
    "warmup": ("warmups", "warmup", "calls before the measurement, at least 1"),
}
"""Flag -> field of the plan, knob, meaning."""
_NUMBERS: Final = frozenset({"sizes", "batch", "warmup"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what may follow `sweep`."""
    default = experiments.Experiment()
    for name, (_, knob, meaning) in _LISTS.items():
        parser.add_argument(
            f"--{name}",
            metavar="A,B,...",
            help=f"one or more, with commas: {meaning} (default {getattr(default, knob)})",
        )
    for name, meaning in _SINGLE.items():
        parser.add_argument(f"--{name}", help=f"{meaning} (default {getattr(default, name)})")
    parser.add_argument(
        "--refine",
        metavar="N",
        help=f"sizes to add where the GPU's busy share crosses 50 and 80 %%, 0 to {REFINE_MAX} "
        f"(default {REFINE})",
    )
    parser.add_argument("--resume", metavar="ID", help="make the rest of a sweep")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Make a sweep and print what it shows; 0, or 1 when it did not end well."""
    library, limits = Library(default_root()), Limits()
    with waiting_child() as child:
        folder = _folder(arguments, library, limits)
        say(f"the sweep is {folder.name}; Ctrl-C keeps the points that are done")
        status = make_here(folder, limits, task="sweep", child=child)
    sweeps.prune(library, limits.sweeps_max)
    if status.message:
        say(f"profcore: {status.message}")
    if status.state != "done":
        if status.log_tail:
            say(status.log_tail)
        return FAILED
    say(f"the sweep is {folder}")
    _print(sweeps.open_sweep(library, folder.name), library, as_json=arguments.json)
    return 0


def plan_of(arguments: argparse.Namespace) -> SweepPlan:
    """Return the plan that the flags describe.

    Raises:
        ExperimentError: a knob that cannot be read or is out of bounds.
    """
    single = {name: getattr(arguments, name) for name in _SINGLE}
    base = experiments.from_query(
        {name: value for name, value in single.items() if value is not None}
    )
    lists = {
        field: tuple(_values(name, getattr(arguments, name)))
        for name, (field, _, _) in _LISTS.items()
        if getattr(arguments, name) is not None
    }
    if "batches" in lists and not workloads.find(base.workload).uses_batch:
        msg = f"{base.workload} has no batch; leave --batch out, or choose batched_matmul."
        raise ExperimentError(msg)
    refine = REFINE if arguments.refine is None else _number("refine", arguments.refine)
    if base.device == "cpu" or len(lists.get("sizes", ())) < 2:  # noqa: PLR2004 - nothing crosses
        refine = 0
    return SweepPlan(base=base, refine=refine, **lists)


def _values(name: str, text: str) -> list[Any]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        msg = f"{name} is empty; give one value or more, with commas between them."
        raise ExperimentError(msg)
    return [_number(name, part) for part in parts] if name in _NUMBERS else list(parts)


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        msg = f"{name} has {text!r}; give whole numbers, with commas between them."
        raise ExperimentError(msg) from None


def _folder(arguments: argparse.Namespace, library: Library, limits: Limits) -> Path:
    if arguments.resume is not None:
        sweep = sweeps.open_sweep(library, arguments.resume)
        ask_machine(sweep.plan.base.device)
        return sweeps.begin_again(sweep)
    plan = plan_of(arguments)
    reason = sweep_refusal(
        plan,
        ask_machine(plan.base.device),
        run_time_s=limits.run_time_s,
        sweep_time_s=limits.sweep_time_s,
    )
    if reason:
        raise ExperimentError(reason)
    return library.new_sweep_folder(plan)


def _print(sweep: Sweep, library: Library, *, as_json: bool) -> None:
    from profcore.commands.sweep_report import sweep_report, sweep_text

    analyses: dict[str, Analysis] = {}
    for point in sweep.done:
        try:
            analyses[point.id] = analysis_of(point)
        except ProfcoreError as error:  # the other points are worth printing
            say(f"{point.id}: {error}")
    answer = sweep_report(sweep, analyses, library.root)
    if as_json:
        print_json(answer)
    else:
        sys.stdout.write(sweep_text(sweep, answer))
