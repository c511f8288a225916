"""`python -m profcore run`: record an experiment on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from profcore import experiment as experiments
from profcore.commands.answer import analysis_of, print_answer, say
from profcore.commands.make import ask_machine, make_here, waiting_child
from profcore.errors import ExperimentError, InputError
from profcore.estimate import refusal
from profcore.jobs.runs import Limits
from profcore.library import Library, default_root, make_folder, open_own

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
    library = Library(default_root())
    with waiting_child() as child:
        _refuse(experiment, limits)
        folder = (
            library.new_folder(experiment)
            if arguments.out is None
            else _folder_for(Path(arguments.out).absolute(), experiment)
        )
        status = make_here(folder, limits, child=child)
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
    machine = ask_machine(experiment.device)
    if reason := refusal(experiment, machine, run_time_s=limits.run_time_s):
        raise ExperimentError(reason)


def _folder_for(folder: Path, experiment: Experiment) -> Path:
    try:
        make_folder(folder, experiment)
    except OSError as error:
        msg = f"{folder} cannot be used ({error.strerror}); give a new or an empty folder."
        raise InputError(msg) from error
    return folder
