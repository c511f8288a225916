"""One run on disk: a folder, its files, and the plain data in them.

    <id>/experiment.json   what was asked for
         environment.json  where it ran: device, driver, versions, clocks
         timings.json      what the steps take without the profiler
         beside.json       what they take by turns with another program in the same process, if
                           that was asked for
         ceilings.json     what the device was measured to do at most, if an earlier sweep did that
         trace.json.gz     what the profiler recorded (Chrome trace events)
         table.txt         torch's own table, as text
         averages.json     torch's own table, as numbers (`key_averages`)
         progress.json     the phases and when each began
         status.json       how it ended
         title.txt         the name a person gave it, if any
         log.txt           what the child printed

The child writes all but `status.json`, `title.txt` and `log.txt`; every file is replaced in one
step. A sample that ships with the program is such a folder too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from profcore import experiment as experiments
from profcore.devices import Ceilings
from profcore.errors import ExperimentError, RecordingError
from profcore.experiment import Experiment
from profcore.files import read_json

if TYPE_CHECKING:
    from pathlib import Path

State = Literal["queued", "running", "done", "failed", "cancelled", "timeout"]

ACTIVE: frozenset[State] = frozenset({"queued", "running"})
"""States that will still change."""

RUN_ID = re.compile(r"[0-9a-f]{12}")
"""What an id from a URL must match before it becomes part of a path."""

POINT_ID = re.compile(r"([0-9a-f]{12})-(\d{3})")
"""The id of one point of a sweep: the sweep's id and the number of the point's folder."""

GIVEN_UP = "The server stopped during this run; run it again."
"""Message of a run without a status that nobody makes any more."""

EXPERIMENT_FILE = "experiment.json"
ENVIRONMENT_FILE = "environment.json"
TIMINGS_FILE = "timings.json"
BESIDE_FILE = "beside.json"
CEILINGS_FILE = "ceilings.json"
TRACE_FILE = "trace.json.gz"
TABLE_FILE = "table.txt"
AVERAGES_FILE = "averages.json"
PROGRESS_FILE = "progress.json"
STATUS_FILE = "status.json"
TITLE_FILE = "title.txt"
LOG_FILE = "log.txt"


class Clocks(msgspec.Struct, frozen=True, kw_only=True):
    """Clock facts of the GPU right after the unprofiled timing, from NVML."""

    sm_mhz: int
    sm_max_mhz: int
    memory_mhz: int
    temperature_c: int
    power_w: float
    other_processes: int
    """Other processes that held the GPU then; more than 0 makes every time doubtful."""


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run was made. None: not known there."""

    device: str
    """`cuda:0` or `cpu`, never `auto`."""
    device_name: str
    """For instance "NVIDIA H200", or the processor's model name."""
    device_memory_bytes: int | None = None
    compute_capability: str | None = None
    """For instance "9.0"; None on a CPU."""
    multiprocessors: int | None = None
    torch: str
    cuda: str | None = None
    """CUDA version torch was built with."""
    driver: str | None = None
    python: str
    platform: str
    cpu_name: str
    cpu_threads: int
    """Threads torch uses for CPU operators."""
    boot: str = ""
    """Eight hex digits that change when the machine is another one or was restarted; empty where
    the system does not tell. The same program was seen 1.6 times as fast on another machine with
    the same GPU and the same names."""
    clocks: Clocks | None = None
    recorded_at: str
    """UTC, ISO 8601, whole seconds."""


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Steps without the profiler: device-synchronised around `steps_per_repeat` calls, repeated.

    Per repeat one figure each: wall time over calls, and CPU time until the last call returned
    over calls (the device may still be working then).
    """

    taken: Literal["before", "after"]
    """Before or after profiling. After (cold start), CUPTI is still attached: launch-bound code
    was seen 5 to 49 % slower then."""
    repeats: int
    steps_per_repeat: int
    step_ns_median: float
    step_ns_p25: float
    step_ns_p75: float
    cpu_ns_median: float
    cpu_ns_p25: float
    cpu_ns_p75: float
    device_ns_median: float | None = None
    """Time the device was busy with one step by its own clock (CUDA events round the calls of a
    repeat); None on a CPU. In a launch-bound run it contains the device's waiting too."""
    gpu_queued_ns: float | None = None
    """GPU time per step when the calls wait in a queue and run back to back, by CUDA events; gaps
    of about 1 µs between kernels are in it. Taken in sweeps on a GPU only."""
    first_call_ns: int
    """The first call of the process, compilation included; device-synchronised. In a cold start
    it is profiled and equals the first recorded step with its device work."""
    compile_cache: Literal["", "kept", "shared", "fresh"] = ""
    """Where `first_call_ns` found compiled code. `fresh`: nowhere, so it is the whole cost of
    compiling. `shared`: an earlier point of the sweep had compiled the same program in another
    mode, so it may be less. `kept`: the machine's cache on disk was there, so it may be less.
    Empty: eager, or not noted."""
    step_ns: list[float] = []
    """The wall time per step of every repeat, in the order measured, to 0.1 ns; at most 200. Empty
    in recordings made before this was kept."""


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """Steps without the profiler, by turns with those of another program in the same process.

    What slows the machine for a while slows both alike, so their ratio is far surer than that of
    two runs.
    """

    experiment: Experiment
    """The other one; its device is the same."""
    step_ns: list[float]
    """Wall time per step of the recorded experiment, one figure per round, in order."""
    other_step_ns: list[float]
    """The same of the other one."""


class Average(msgspec.Struct, frozen=True, kw_only=True):
    """One row of torch's `key_averages()`; times in µs as torch gives them."""

    name: str
    device: Literal["cpu", "device"]
    calls: int
    self_cpu_us: float
    total_cpu_us: float
    self_device_us: float
    total_device_us: float
    is_annotation: bool


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A named part of a run."""

    name: str
    """For people: "warming up"."""
    began_s: float
    """Seconds since the run began."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """How far a sweep is."""

    number: int
    """The point under way, counted from 1 in this phase."""
    count: int
    """Points of this phase."""
    text: str
    """Which one: the description of its experiment."""


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The phases so far; the last one is under way."""

    phases: list[Phase]
    point: Point | None = None
    """Of a sweep, while it is under way."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    state: State
    message: str = ""
    """One sentence for the visitor when the state is not `done`."""
    log_tail: str = ""
    """The child's last lines, when it failed."""
    created_at: str = ""
    """UTC, ISO 8601: when the run was asked for."""
    run_s: float = 0.0
    """Seconds from start to end."""
    started_cold: bool = False
    """The child was started for this run, because no spare one was waiting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """One run or sample, opened: its small files are read, the trace is not."""

    id: str
    folder: Path
    is_sample: bool
    title: str
    """Given by a person, or the description of the experiment."""
    experiment: Experiment
    status: Status
    environment: Environment | None
    """None when the run ended before it was known."""
    timings: Timings | None
    beside: Beside | None = None
    """None: it was timed alone."""
    ceilings: Ceilings | None = None
    """None: nobody had measured this device when the run was made, or the run was above it."""

    @property
    def trace_path(self) -> Path:
        """Where the trace lies; there only when the run is done."""
        return self.folder / TRACE_FILE

    @property
    def table_path(self) -> Path:
        """Where torch's own table lies."""
        return self.folder / TABLE_FILE


def open_folder(folder: Path, *, is_sample: bool = False) -> Recording:
    """Read the small files of a recording.

    Raises:
        RecordingError: not a recording, or one of its files is damaged.
    """
    try:
        experiment = read_json(folder / EXPERIMENT_FILE, Experiment)
        environment = read_json(folder / ENVIRONMENT_FILE, Environment)
        timings = read_json(folder / TIMINGS_FILE, Timings)
        beside = read_json(folder / BESIDE_FILE, Beside)
        status = read_json(folder / STATUS_FILE, Status)
    except (msgspec.DecodeError, ExperimentError, OSError) as error:
        msg = f"The recording {folder.name} is damaged ({error}); delete it and run it again."
        raise RecordingError(msg) from error
    if experiment is None:
        msg = f"{folder.name} is not a recording: it has no {EXPERIMENT_FILE}."
        raise RecordingError(msg)
    try:
        title = (folder / TITLE_FILE).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        title = ""
    return Recording(
        id=folder.name,
        folder=folder,
        is_sample=is_sample,
        title=title or experiments.describe(experiment),
        experiment=experiment,
        # No status: the server died during the run.
        status=status or Status(state="failed", message=GIVEN_UP),
        environment=environment,
        timings=timings,
        beside=beside,
        ceilings=read_ceilings(folder),
    )


def read_ceilings(folder: Path) -> Ceilings | None:
    """Return the measured ceilings that lie in a folder; None also when they cannot be read."""
    try:
        return read_json(folder / CEILINGS_FILE, Ceilings)
    except (msgspec.DecodeError, OSError):
        return None  # a run is whole without them


def read_averages(recording: Recording) -> list[Average] | None:
    """Return torch's own table, or None when the run did not get that far."""
    return read_json(recording.folder / AVERAGES_FILE, list[Average])
