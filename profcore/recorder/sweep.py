"""Many experiments in one process, so that each costs about a second.

Two passes. The first times every point, the second records every point: once the profiler has run
in a process, CUPTI stays attached to the GPU, and later steps that wait for the CPU were seen 5 to
49 % slower. So no unprofiled time may be taken after the first recording.

Between two points the compiler forgets what it compiled, memory is freed, and every point compiles
for its own shape. A point in the second pass is compiled again, from the cache of the first.
"""

from __future__ import annotations

import gc
import shutil
import time
import traceback
from typing import TYPE_CHECKING, Final

import msgspec
import torch

from profcore import experiment as experiments
from profcore import owner, workloads
from profcore.errors import RunError
from profcore.failures import explain
from profcore.files import write_json
from profcore.recorder import kept_ceilings, queued, warm
from profcore.recorder.by_turns import time_beside
from profcore.recorder.clock import clock_of, sweep_pace
from profcore.recorder.places import Place, new_place, places_of
from profcore.recorder.run import COMPILE_CACHE, resolve_device
from profcore.recording import (
    BESIDE_FILE,
    STATUS_FILE,
    TIMINGS_FILE,
    Point,
    Status,
)
from profcore.sweep import POINTS_FOLDER, next_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from profcore.experiment import Experiment
    from profcore.recorder.clock import Clock
    from profcore.sweep import SweepPlan

TIMING: Final = "timing every point without the profiler"
RECORDING: Final = "recording every point with the profiler"


def record_sweep(
    plan: SweepPlan,
    folder: Path,
    *,
    on_phase: Callable[[str], None],
    on_point: Callable[[Point], None],
) -> None:
    """Make every point of a sweep that is not done yet, as recordings below `folder`/points.

    A point that fails (no memory, a compiler that gives up) says so in its status, and the sweep
    goes on.

    Args:
        plan: The points. `auto` becomes the device that was used.
        folder: Of the sweep; points that are there and done are skipped.
        on_phase: Called with the name of each phase as it begins.
        on_point: Called as each point of a phase begins.

    Raises:
        RunError: the device is not there, or not one point could be made.
    """
    device = resolve_device(plan.base.device)
    plan = msgspec.structs.replace(
        plan, base=msgspec.structs.replace(plan.base, device=str(device))
    )
    points = folder / POINTS_FOLDER
    points.mkdir(exist_ok=True)
    cache = folder / COMPILE_CACHE
    try:
        _start(plan, device, cache, on_phase)
        gc.freeze()  # what torch brought with it is not looked at by the collections to come
        kept_ceilings.find(folder, device, on_phase)
        _forget(device)
        on_phase(TIMING)
        places = _time_all(plan, device, points, cache, on_point)
        kept_ceilings.look_again(folder, device, places, on_phase)
        _forget(device)
        on_phase(RECORDING)
        _record_all(places, device, cache, on_point)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    if not any(place.state == "done" for place in places):
        # A plan has at least one point, and each of them says why it failed.
        raise RunError(places[0].message)


def _start(
    plan: SweepPlan, device: torch.device, cache: Path, on_phase: Callable[[str], None]
) -> None:
    """Have the costs that only the first point of a process pays before there is a point."""
    modes = [mode for mode in plan.values("compiles") if mode != "eager"]
    if device.type == "cuda":
        on_phase("starting the GPU")
        torch.cuda.set_device(device)
        torch.cuda.synchronize(device)
    if modes:
        on_phase("starting the compiler")
        warm.prepare_compiler(modes[0], fresh_cache=cache)
        start = torch.compile(torch.sin, dynamic=False)
        start(torch.ones(64, device=device))
        del start
    _forget(device)


def _forget(device: torch.device) -> None:
    """Leave nothing of one point to the next."""
    torch.compiler.reset()
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.empty_cache()


# --- first pass ---------------------------------------------------------------------------------


def _time_all(
    plan: SweepPlan,
    device: torch.device,
    points: Path,
    cache: Path,
    on_point: Callable[[Point], None],
) -> list[Place]:
    there = places_of(points)
    compiled: set[Experiment] = set()
    count = len(plan.experiments())
    places: list[Place] = []
    for row in plan.rows():
        busy: list[tuple[int, float]] = []
        for experiment in _with_added_sizes(row, busy, plan.refine):
            place = there.get(experiment) or new_place(points, experiment)
            places.append(place)
            if not place.is_timed or place.state == "failed":
                count = max(count, len(places))
                on_point(_point(experiment, len(places), count))
                _time_one(place, device, cache, _twin(plan, experiment), compiled)
            share = place.busy_fraction
            if share is not None:
                busy.append((experiment.size, share))
    return places


def _with_added_sizes(
    row: tuple[Experiment, ...], busy: list[tuple[int, float]], refine: int
) -> Iterator[Experiment]:
    """Yield a row, then so many of its kind where the busy share crosses a threshold.

    `busy` is filled by the caller while the row is yielded.
    """
    yield from row
    for _ in range(refine):
        size = next_size(busy)
        if size is None:
            return
        yield msgspec.structs.replace(row[0], size=size)


def _twin(plan: SweepPlan, experiment: Experiment) -> Experiment | None:
    """Return the eager experiment that a compiled point is timed by turns with.

    Only where compile modes are compared at one size: a second for each point of a range of sizes
    would be too much.
    """
    if experiment.compile == "eager" or len(plan.values("sizes")) > 1:
        return None
    if "eager" not in plan.values("compiles"):
        return None
    return msgspec.structs.replace(experiment, compile="eager")


def _time_one(
    place: Place,
    device: torch.device,
    cache: Path,
    twin: Experiment | None,
    compiled: set[Experiment],
) -> None:
    (place.folder / STATUS_FILE).unlink(missing_ok=True)  # of a try that failed
    try:
        _time(place, device, cache, twin, compiled)
    except Exception as error:  # noqa: BLE001 - one point fails, the others go on
        _fail(place, error)
    _forget(device)


def _time(
    place: Place,
    device: torch.device,
    cache: Path,
    twin: Experiment | None,
    compiled: set[Experiment],
) -> None:
    """Time a point; `compiled` holds the programs this process has compiled, whatever the mode."""
    experiment, clock = place.experiment, _clock(place.experiment, device)
    ready = _make_ready(experiment, device, cache)
    program = msgspec.structs.replace(experiment, compile="eager", warmup=1)
    timings = warm.measure(
        ready, experiment, clock, cache="shared" if program in compiled else "fresh"
    )
    if experiment.compile != "eager":
        compiled.add(program)
    if device.type == "cuda":
        gpu_ns = queued.gpu_ns(ready.program.step, cpu_ns=timings.cpu_ns_median)
        timings = msgspec.structs.replace(timings, gpu_queued_ns=gpu_ns)
    warm.write_environment(device, place.folder)
    if twin is not None:
        write_json(place.folder / BESIDE_FILE, time_beside(ready, twin, device))
    write_json(place.folder / TIMINGS_FILE, timings)


def _make_ready(experiment: Experiment, device: torch.device, cache: Path) -> warm.Ready:
    warm.prepare_compiler(experiment.compile, fresh_cache=cache)
    return warm.make_ready(experiment, device, _clock(experiment, device))


# --- second pass --------------------------------------------------------------------------------


def _record_all(
    places: list[Place], device: torch.device, cache: Path, on_point: Callable[[Point], None]
) -> None:
    waiting = [place for place in places if place.is_timed and place.state is None]
    for number, place in enumerate(waiting, start=1):
        on_point(_point(place.experiment, number, len(waiting)))
        began_s = time.monotonic()
        try:
            _record(place, device, cache)
        except Exception as error:  # noqa: BLE001 - one point fails, the others go on
            _fail(place, error)
        else:
            seconds = round(time.monotonic() - began_s, 3)
            done = Status(state="done", created_at=owner.now_text(), run_s=seconds)
            write_json(place.folder / STATUS_FILE, done)
        _forget(device)


def _record(place: Place, device: torch.device, cache: Path) -> None:
    warm.record(
        _make_ready(place.experiment, device, cache),
        place.experiment,
        place.folder,
        _clock(place.experiment, device),
        is_gpu=device.type == "cuda",
        on_again=lambda: None,
    )


def _fail(place: Place, error: Exception) -> None:
    traceback.print_exception(error)  # into the log
    error.__traceback__ = None  # it holds the frames, and those the tensors
    failed = Status(state="failed", message=explain(error), created_at=owner.now_text())
    write_json(place.folder / STATUS_FILE, failed)


def _clock(experiment: Experiment, device: torch.device) -> Clock:
    flops = workloads.find(experiment.workload).step_flops(experiment)
    return clock_of(device, sweep_pace(device, flops))


def _point(experiment: Experiment, number: int, count: int) -> Point:
    return Point(number=number, count=count, text=experiments.describe(experiment))
