"""What this device can do at most: found where an earlier sweep left it, or measured and kept."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import msgspec

from profcore import ceilings, library, workloads
from profcore.files import read_json, write_json
from profcore.recorder.ceilings import measure_ceilings
from profcore.recorder.environment import describe_environment
from profcore.recording import (
    CEILINGS_FILE,
    ENVIRONMENT_FILE,
    TIMINGS_FILE,
    Environment,
    Timings,
    read_ceilings,
)
from profcore.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import torch

    from profcore.devices import Ceilings
    from profcore.experiment import Experiment
    from profcore.recorder.places import Place

MEASURING: Final = "measuring what the device can do"
AGAIN: Final = "measuring again what the device can do"

STEP_COUNTS: Final = "A step of a sweep was faster and counts."
BEATEN_RATIO: Final = 1.02
"""A step above the ceiling by more than the spread of two measurements: H200, 679 and 687 TFLOP/s
in two processes."""


def find(folder: Path, device: torch.device, on_phase: Callable[[str], None]) -> None:
    """Put the ceilings of the device beside a sweep; measure them when nobody has yet.

    Without memory for that there are none, and the next sweep tries again.

    Args:
        folder: Of the sweep, in the data folder.
        device: Nothing has been profiled on it in this process.
        on_phase: Called before they are measured.
    """
    environment = describe_environment(device, None)
    found = ceilings.load(folder.parent, environment)
    if found is None:
        on_phase(MEASURING)
        found = _measure(device, environment)
    if found is not None:
        _keep(folder, environment, found)


def look_again(
    folder: Path, device: torch.device, places: Sequence[Place], on_phase: Callable[[str], None]
) -> None:
    """Measure the ceilings again where a step was above them: something had slowed the device.

    On a CPU a step that still is above them is itself what the device can do. On a GPU it is not: a
    few steps in a row may be faster than what it keeps up.

    Args:
        folder: Of the sweep.
        device: As in `find`.
        places: The points, timed.
        on_phase: Called before they are measured.
    """
    known, seen = read_ceilings(folder), _seen_flops_per_s(places)
    if known is None or not _is_beaten(known, seen):
        return
    on_phase(AGAIN)
    environment = describe_environment(device, None)
    again = _measure(device, environment)
    if again is None:
        return
    found = ceilings.highest(known, again)
    if device.type == "cpu" and _is_beaten(found, seen):
        rates = {name: max(rate, seen.get(name, 0.0)) for name, rate in found.flops_per_s.items()}
        text = f"{again.source_text} {STEP_COUNTS}"
        found = msgspec.structs.replace(found, flops_per_s=rates, source_text=text)
    _keep(folder, environment, found)


def put_beside_run(experiment: Experiment, folder: Path) -> None:
    """Put the measured ceilings beside a run, if there are any, so that they travel with it.

    Those that the run itself goes far above are left out: they were measured on a busy machine.

    Args:
        experiment: Of the run.
        folder: Of the run; it has its environment and its timings.
    """
    environment = read_json(folder / ENVIRONMENT_FILE, Environment)
    timings = read_json(folder / TIMINGS_FILE, Timings)
    if environment is None or timings is None:
        return
    # A run may be put elsewhere than into the data folder.
    roots = (folder.parent, library.default_root())
    found = next(filter(None, (ceilings.load(root, environment) for root in roots)), None)
    if found is None:
        return
    if not _is_beaten(found, _flops_per_s(experiment, timings.step_ns_median)):
        write_json(folder / CEILINGS_FILE, found)


def _measure(device: torch.device, environment: Environment) -> Ceilings | None:
    try:
        return measure_ceilings(device, environment)
    except RuntimeError as error:  # memory that another process holds
        print(f"What the device can do was not measured: {error}")  # noqa: T201 - into the log
        return None


def _seen_flops_per_s(places: Sequence[Place]) -> dict[str, float]:
    """Return the best rate of the steps by number format."""
    seen: dict[str, float] = {}
    for place in places:
        if place.step_ns:
            for name, rate in _flops_per_s(place.experiment, place.step_ns).items():
                seen[name] = max(seen.get(name, 0.0), rate)
    return seen


def _flops_per_s(experiment: Experiment, step_ns: float) -> dict[str, float]:
    """Return the rate of a matrix product by its format; of other steps nothing.

    The bytes of those may never leave a cache, so they say nothing of the memory.
    """
    workload = workloads.find(experiment.workload)
    if not workload.is_matmul:
        return {}
    return {experiment.dtype: workload.step_flops(experiment) / step_ns * NS_PER_S}


def _is_beaten(known: Ceilings, seen: dict[str, float]) -> bool:
    return any(
        rate > BEATEN_RATIO * known.flops_per_s[name]
        for name, rate in seen.items()
        if name in known.flops_per_s
    )


def _keep(folder: Path, environment: Environment, found: Ceilings) -> None:
    """Put the ceilings beside a sweep, and where later sweeps and runs look for them."""
    with contextlib.suppress(OSError):  # then the next sweep measures again
        ceilings.save(folder.parent, environment, found)
    write_json(folder / CEILINGS_FILE, found)
