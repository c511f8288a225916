"""What was recorded: the tables of one analysis and the rows that several rules look for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import steps
from profcore.rules import rows as find
from profcore.rules import vocabulary as words
from profcore.rules.rows import column
from profcore.trace.model import GPU_WORK

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

    from profcore.analysis import Analysis
    from profcore.analysis.nesting import Nesting
    from profcore.trace import Trace
    from profcore.trace.model import Kind


class Recorded:
    """Rows and tables of one analysis, each looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.trace: Trace = analysis.trace
        self.experiment = analysis.experiment
        self.environment = analysis.environment
        self.timings = analysis.timings

    # --- tables ---------------------------------------------------------------------------------

    @property
    def steps(self) -> pd.DataFrame:
        """One row per recorded step."""
        return self.analysis.steps

    @property
    def activities(self) -> pd.DataFrame:
        """One row per kernel, copy or fill."""
        return self.analysis.activities

    @property
    def launches(self) -> pd.DataFrame:
        """One row per call that starts GPU work."""
        return self.analysis.launches

    @property
    def nesting(self) -> Nesting:
        """Who lies in whom on the CPU side."""
        return self.analysis.nesting

    def named(self, kinds: tuple[Kind, ...], match: Callable[[str], bool]) -> NDArray[np.int64]:
        """Return the rows of these kinds whose name matches."""
        return find.named(self.trace, kinds, match)

    # --- what was recorded ----------------------------------------------------------------------

    @cached_property
    def has_gpu_work(self) -> bool:
        """Any kernel, copy or fill."""
        return len(self.activities) > 0

    @cached_property
    def has_operators(self) -> bool:
        """Any operator of the CPU side."""
        return bool(self.is_operator.any())

    @cached_property
    def is_operator(self) -> NDArray[np.bool_]:
        """(n,) mask of operators; rows that only mark a stretch of the program are none."""
        markers = self.named(("operator",), words.is_marker)
        return self.trace.is_kind("operator") & ~find.mask_of(self.trace, markers)

    @cached_property
    def is_label(self) -> NDArray[np.bool_]:
        """(n,) mask of rows of the CPU side that mark a stretch of time and do nothing."""
        label = self.trace.is_kind("annotation")
        label[self.named(("operator",), words.is_marker)] = True
        label[self.loader_rows] = False
        return label

    @cached_property
    def loader_rows(self) -> NDArray[np.int64]:
        """Rows of the loop asking a DataLoader for the next batch."""
        return self.named(("operator", "annotation"), words.is_loader)

    @cached_property
    def gpu_was_expected(self) -> bool:
        """A GPU was asked for, is listed in the file, or was sent work.

        Source: rule Q1; "no GPU rows" is then a failed recording, not an idle GPU.
        """
        if self.environment is not None:
            return self.environment.device.startswith("cuda")
        if self.experiment is not None and self.experiment.device.startswith("cuda"):
            return True
        return bool(self.trace.devices) or len(self.launches) > 0

    @cached_property
    def has_other_accelerator(self) -> bool:
        """Rows of a device whose work profcore does not read (MTIA, Ascend)."""
        return bool(np.any(self.trace.is_kind("accelerator")))

    @cached_property
    def is_amd(self) -> bool:
        """Recorded through ROCm: several facts are not written there."""
        return any(name.startswith("hip") for name in self.trace.names) or any(
            "AMD" in device.name for device in self.trace.devices
        )

    @cached_property
    def step_start_ns(self) -> NDArray[np.int64]:
        """(steps,) start of each step bar."""
        return column(self.steps, "start_ns")

    @cached_property
    def step_end_ns(self) -> NDArray[np.int64]:
        """(steps,) end of each step bar."""
        return self.step_start_ns + column(self.steps, "cpu_ns")

    def steps_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position in the steps table of the step each CPU-side row starts in; -1."""
        if not len(rows):
            return np.empty(0, np.int64)
        process = steps.processes(self.trace)[self.trace.lane[rows]]
        position = steps.step_of(self.analysis.markers, self.trace.start_ns[rows], process)
        return np.where(position < len(self.steps), position, -1)

    def step_number_of(self, row: int) -> int | None:
        """Return N of the ProfilerStep#N that a row belongs to, GPU work by its launch."""
        position = int(self._step_of_activity[row])
        if position < 0 and not self.trace.is_kind(*GPU_WORK)[row]:
            position = int(self.steps_of(np.array([row]))[0])
        return int(self.steps["number"].iloc[position]) if position >= 0 else None

    @cached_property
    def _step_of_activity(self) -> NDArray[np.int64]:
        step = np.full(len(self.trace), -1, np.int64)
        step[column(self.activities, "row")] = column(self.activities, "step")
        return step

    def in_some_steps(
        self, rows: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Keep the rows that start inside one of some steps, given by position."""
        return rows[np.isin(self.steps_of(rows), chosen)]

    def in_steps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keep the rows that start inside a step."""
        return rows[self.steps_of(rows) >= 0]

    def activity_names(self, match: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Return a mask over the activities by their full name."""
        code = self.trace.name[column(self.activities, "row")]
        found, place = np.unique(code, return_inverse=True)
        verdicts = np.array([match(self.trace.names[one]) for one in found], np.bool_)
        return verdicts[place] if len(found) else np.zeros(0, np.bool_)

    def activity_kind(self, kind: Kind) -> NDArray[np.bool_]:
        """Return a mask over the activities: kernel, memcpy or memset."""
        return self.trace.is_kind(kind)[column(self.activities, "row")]

    @cached_property
    def waits(self) -> NDArray[np.int64]:
        """Rows of calls that wait for the GPU, the closing one included."""
        return self.named(("runtime",), words.WAITING_CALLS.__contains__)

    @cached_property
    def closing_synchronize(self) -> int | None:
        """Row of the last device synchronise after the last step, or None."""
        synchronize = self.named(("runtime",), words.DEVICE_SYNCHRONIZE.__contains__)
        if len(self.steps):
            synchronize = synchronize[self.trace.start_ns[synchronize] >= self.step_end_ns[-1]]
        return int(synchronize[-1]) if len(synchronize) else None

    @cached_property
    def launching_lane(self) -> int | None:
        """Lane of the thread that made most launches, or None."""
        if not len(self.launches):
            return None
        lanes, counts = np.unique(column(self.launches, "lane"), return_counts=True)
        return int(lanes[np.argmax(counts)])

    @cached_property
    def compile_rows(self) -> NDArray[np.int64]:
        """Rows that only torch.compile leaves.

        Matched by name: their categories differ between versions and capture options.
        """
        return self.named(("operator", "annotation"), words.is_compile_row)

    @cached_property
    def compiled_regions(self) -> NDArray[np.int64]:
        """Rows of calls into compiled code."""
        return self.named(
            ("operator", "annotation"), lambda name: name.startswith(words.COMPILED_REGION)
        )

    @cached_property
    def graph_launches(self) -> NDArray[np.int64]:
        """Rows of CUDA graph replays."""
        return self.named(("runtime",), words.GRAPH_LAUNCHES.__contains__)

    @cached_property
    def occupancy_queries(self) -> NDArray[np.int64]:
        """Rows of calls that ask how many blocks fit on a multiprocessor."""
        return self.named(("runtime",), lambda name: name.startswith(words.OCCUPANCY_PREFIXES))

    @cached_property
    def overhead_rows(self) -> NDArray[np.int64]:
        """Rows of the profiler's own work."""
        return np.flatnonzero(self.trace.is_kind("overhead"))

    @cached_property
    def program_annotations(self) -> NDArray[np.int64]:
        """Rows of the program's own record_function ranges: no step rows, none of the compiler."""
        return self.named(("annotation",), words.is_program_annotation)

    @cached_property
    def compute_capability(self) -> tuple[int, int] | None:
        """Major and minor, as the run or the file says; None: neither does, or not NVIDIA."""
        if self.is_amd:
            return None
        if self.environment is not None and self.environment.compute_capability:
            major, _, minor = self.environment.compute_capability.partition(".")
            return int(major), int(minor or 0)
        for device in self.trace.devices:
            if device.compute_major is not None:
                return device.compute_major, device.compute_minor or 0
        return None

    @cached_property
    def device_name(self) -> str:
        """Name of the device that worked, or an empty text."""
        if self.environment is not None:
            return self.environment.device_name
        used = set(column(self.activities, "device").tolist())
        names = [device.name for device in self.trace.devices if device.id in used]
        return names[0] if names else ""

    @cached_property
    def blocking_copies(self) -> NDArray[np.int64]:
        """Rows of copy calls that hold the CPU: the driver stages pageable memory itself."""
        pageable = self.activity_names(lambda name: "Pageable" in name)
        rows = column(self.activities, "launch_row")[pageable]
        return np.unique(rows[rows >= 0])
