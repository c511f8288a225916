"""The recorded steps, under a schedule that lets no warm-up work in and loses no last work."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from profcore.files import write_json, write_text
from profcore.recorder.baseline import keep_busy
from profcore.recording import AVERAGES_FILE, TABLE_FILE, TRACE_FILE, Average

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.experiment import Experiment
    from profcore.recorder.clock import Clock
    from profcore.recorder.program import Program

UNRECORDED_STEPS: Final = 2
"""Steps with the profiler on and nothing kept: the first capture of a process may lose its first
kernels, and the profiler asks for its own buffers then."""

_NAME_WIDTH: Final = 80


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What is known right after the recording, besides its files."""

    first_step_ns: int
    """Wall time of the first recorded step, until the device was done; for cold starts."""
    has_gpu_rows: bool


def record_steps(
    program: Program,
    experiment: Experiment,
    folder: Path,
    clock: Clock,
    *,
    is_gpu: bool,
    is_cold: bool,
) -> Recorded:
    """Record `experiment.steps` steps and write trace, table and averages into `folder`.

    A warm program keeps the device busy under the profiler first, so that the recorded steps find
    it in the state in which the unprofiled ones were timed: an H200 at its power limit multiplies
    4096×4096 bf16 matrices in 216 µs, a rested one in 170 µs. The device is synchronised before
    the recording begins, so that no kernel of the warm-up is still running when it does. A cold
    program steps the schedule through its warm-up without calling anything: its first call must be
    the first recorded step. The profiler itself waits for the device when it stops.
    """
    activities = [ProfilerActivity.CPU]
    if is_gpu:
        activities.append(ProfilerActivity.CUDA)
    result: list[bool] = []
    with profile(
        activities=activities,
        schedule=schedule(wait=0, warmup=UNRECORDED_STEPS, active=experiment.steps, repeat=1),
        record_shapes=experiment.shapes,
        on_trace_ready=lambda done: result.append(_write(done, folder, is_gpu=is_gpu)),
    ) as profiler:
        for _ in range(UNRECORDED_STEPS):
            if not is_cold:
                keep_busy(program.step, clock, clock.pace.keep_busy_ns)
            profiler.step()
        first_step_ns = 0
        for index in range(experiment.steps):
            with record_function(program.name):
                if is_cold and index == 0:
                    begin_ns = time.perf_counter_ns()
                    program.first()
                    first_step_ns = time.perf_counter_ns() - begin_ns
                else:
                    program.step()
            profiler.step()
    return Recorded(first_step_ns=first_step_ns, has_gpu_rows=result[0])


def _write(profiler: Any, folder: Path, *, is_gpu: bool) -> bool:
    """Write the three files; tell whether any GPU row came out."""
    # A second export raises in torch: this is the only one.
    profiler.export_chrome_trace(str(folder / TRACE_FILE))
    rows = profiler.key_averages()
    sort_by = "self_device_time_total" if is_gpu else "self_cpu_time_total"
    table = rows.table(sort_by=sort_by, row_limit=-1, max_name_column_width=_NAME_WIDTH)
    write_text(folder / TABLE_FILE, table)
    averages = [_average(row) for row in rows]
    write_json(folder / AVERAGES_FILE, averages)
    return any(row.device == "device" and not row.is_annotation for row in averages)


def _average(row: Any) -> Average:
    return Average(
        name=row.key,
        device="cpu" if row.device_type == DeviceType.CPU else "device",
        calls=row.count,
        self_cpu_us=row.self_cpu_time_total,
        total_cpu_us=row.cpu_time_total,
        self_device_us=row.self_device_time_total,
        total_device_us=row.device_time_total,
        is_annotation=bool(getattr(row, "is_user_annotation", False)),
    )
