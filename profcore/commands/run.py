"""`python -m profcore run`: record an experiment on this machine."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from profcore import experiment as experiments
from profcore import owner as owners
from profcore.commands.answer import analysis_of, print_answer, say
from profcore.errors import ExperimentError, InputError, RunError
from profcore.estimate import refusal
from profcore.jobs import children, runs
from profcore.jobs.runs import Limits
from profcore.jobs.view import read_phases
from profcore.library import Library, default_root, finish, make_folder, open_own
from profcore.machine import Machine
from profcore.recording import Status
from profcore.worker import MACHINE_FILE

if TYPE_CHECKING:
    import argparse

    from profcore.experiment import Experiment

FAILED: Final = 1

_KNOBS: Final[dict[str, str]] = {
    "workload": ", ".join(experiments.WORKLOAD_NAMES),
    "size": "rows and columns of each matrix",
    "batch": "matrices multiplied at once, for batched_matmul",
    "dtype": ", ".join(experiments.DTYPES),
    "bias": ", ".join(experiments.BIASES),
    "compile": ", ".join(experiments.COMPILE_MODES),
    "warmup": "calls before anything is measured; 0 records the cold start",
    "steps": "steps recorded by the profiler",
    "device": "auto, cpu, cuda:0 ...",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what may follow `run`: a flag for every knob of an experiment."""
    default = experiments.Experiment()
    for name, meaning in _KNOBS.items():
        # Read as text: the experiment checks all knobs, with one sentence per fault.
        parser.add_argument(f"--{name}", help=f"{meaning} (default {getattr(default, name)})")
    parser.add_argument(
        "--shapes", action="store_const", const="true", help="record input shapes too"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="make the recording there instead of in the library"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Record and print what it shows; 0, or 1 when the run failed."""
    knobs = {name: getattr(arguments, name) for name in (*_KNOBS, "shapes")}
    experiment = experiments.from_query(
        {name: value for name, value in knobs.items() if value is not None}
    )
    limits = Limits()
    _refuse(experiment, limits)
    library = Library(default_root())
    folder = (
        library.new_folder(experiment)
        if arguments.out is None
        else _folder_for(Path(arguments.out).absolute(), experiment)
    )
    status = _record(folder, limits)
    if arguments.out is None:
        library.prune(limits.recordings_max)
    if status.state != "done":
        say(f"profcore: {status.message}")
        if status.log_tail:
            say(status.log_tail)
        return FAILED
    say(f"the recording is {folder}")
    print_answer(analysis_of(open_own(folder)), as_json=arguments.json)
    return 0


def _refuse(experiment: Experiment, limits: Limits) -> None:
    """Stop before anything is started that this machine cannot do."""
    say("looking at this machine")
    try:
        machine = children.ask(
            "probe", MACHINE_FILE, Machine, stop=threading.Event(), command=children.WORKER
        )
    except RunError as error:
        if experiment.device.startswith("cuda"):
            raise
        say(f"this machine could not be asked what it can do: {error}")
        return
    if reason := refusal(experiment, machine, run_time_s=limits.run_time_s):
        raise ExperimentError(reason)


def _folder_for(folder: Path, experiment: Experiment) -> Path:
    try:
        make_folder(folder, experiment)
    except OSError as error:
        msg = f"{folder} cannot be used ({error.strerror}); give a new or an empty folder."
        raise InputError(msg) from error
    return folder


def _record(folder: Path, limits: Limits) -> Status:
    told = 0

    def tell_phases() -> None:
        nonlocal told
        phases = read_phases(folder)
        for phase in phases[told:]:
            say(f"{phase.began_s:6.1f} s  {phase.name}")
        told = len(phases)

    try:
        status = runs.make(
            children.Child(children.WORKER),
            folder,
            limits=limits,
            stop=threading.Event(),
            started_cold=True,
            on_tick=tell_phases,
        )
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        status = Status(
            state="cancelled" if interrupted else "failed",
            message="The run was interrupted." if interrupted else str(error),
            created_at=owners.created_at(folder),
        )
        finish(folder, status)
        raise
    tell_phases()
    finish(folder, status)
    return status
