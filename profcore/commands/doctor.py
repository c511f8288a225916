"""`python -m profcore doctor`: what this machine can record, and what to do where it cannot."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from profcore.commands.answer import print_json, say
from profcore.errors import RunError
from profcore.jobs import children
from profcore.library import DATA_VARIABLE, Library, default_root
from profcore.machine import Device, Machine
from profcore.units import bytes_text
from profcore.worker import CHECK_FILE, MACHINE_FILE, Check

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A device and whether a recording of it came out."""

    device: Device
    problem: str | None
    """What is missing and the cure, in one sentence; None: it can be recorded."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define what may follow `doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print what can be recorded; 0 when at least the CPU can be."""
    machine, machine_problem = _ask_machine()
    devices = machine.devices if machine else (Device(id="cpu", name="CPU", can_profile=True),)
    checked = [_check(device) for device in devices]
    library = Library(default_root())
    if arguments.json:
        print_json(_as_json(machine, machine_problem, checked, library))
    else:
        lines = _as_text(machine, machine_problem, checked, library)
        sys.stdout.write("\n".join(lines) + "\n")
    cpu_works = any(one.device.id == "cpu" and one.problem is None for one in checked)
    return 0 if cpu_works else 1


def _ask_machine() -> tuple[Machine | None, str]:
    say("looking at this machine")
    try:
        machine = children.ask(
            "probe", MACHINE_FILE, Machine, stop=threading.Event(), command=children.WORKER
        )
    except RunError as error:
        return None, str(error)
    return machine, ""


def _check(device: Device) -> Checked:
    """Record one tiny operator in a child of its own: the profiler's state belongs to a process."""
    say(f"recording a tiny operator on {device.id}")
    try:
        answer = children.ask(
            "check",
            CHECK_FILE,
            Check,
            device=device.id,
            stop=threading.Event(),
            command=children.WORKER,
        )
    except RunError as error:
        return Checked(device=device, problem=str(error))
    return Checked(device=device, problem=answer.problem)


def _as_json(
    machine: Machine | None, machine_problem: str, checked: Sequence[Checked], library: Library
) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "torch": machine.torch if machine else None,
        "cuda": machine.cuda if machine else None,
        "driver": machine.driver if machine else None,
        "python": machine.python if machine else None,
        "platform": machine.platform if machine else None,
        "problem": machine_problem or None,
        "devices": [
            {
                "id": one.device.id,
                "name": one.device.name,
                "memory_bytes": one.device.memory_bytes,
                "can_record": one.problem is None,
                "problem": one.problem,
            }
            for one in checked
        ],
        "can_compile_cpu": machine.can_compile_cpu if machine else None,
        "notes": list(machine.notes) if machine else [],
        "data_folder": str(library.root),
        "recordings": len(library.list()),
        "damaged": dict(library.damaged()),
    }


def _as_text(
    machine: Machine | None, machine_problem: str, checked: Sequence[Checked], library: Library
) -> Iterator[str]:
    if machine is None:
        yield f"This machine could not be asked what it can do: {machine_problem}"
    else:
        yield f"PyTorch {machine.torch}, Python {machine.python}, {machine.platform}"
        cuda = f"CUDA {machine.cuda}" if machine.cuda else "a PyTorch without CUDA"
        yield f"{cuda}, {f'driver {machine.driver}' if machine.driver else 'no NVIDIA driver'}"
    for one in checked:
        memory = one.device.memory_bytes
        size = f", {bytes_text(memory)}" if memory else ""
        answer = "can be recorded" if one.problem is None else f"cannot be recorded: {one.problem}"
        yield f"{one.device.id} ({one.device.name}{size}): {answer}"
    if machine is not None:
        if machine.gpu is None:
            yield (
                "No GPU that PyTorch can use: experiments run on the CPU, and the samples show "
                "what a GPU does."
            )
        if not machine.can_compile_cpu:
            yield "torch.compile cannot work on the CPU: no C++ compiler was found; install g++."
        yield from machine.notes
    count = len(library.list())
    yield f"{count} recordings in {library.root} (set {DATA_VARIABLE} to use another folder)"
    for recording_id, reason in library.damaged():
        yield f"{recording_id}: {reason}"
