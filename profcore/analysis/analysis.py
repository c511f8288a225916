"""All tables of one trace, each computed when first asked for.

Every table is a pandas DataFrame with a plain RangeIndex, built once and never changed in place.
Times are int64 nanoseconds; a `row` column is a position in the columns of the trace.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from profcore.analysis import (
    activities,
    copies,
    idle,
    kernels,
    launches,
    matching,
    memory,
    nesting,
    operators,
    overlaps,
    queue,
    steps,
    trust,
    windows,
)
from profcore.analysis import totals as totals_module

if TYPE_CHECKING:
    import pandas as pd

    from profcore.devices import Ceilings
    from profcore.experiment import Experiment
    from profcore.recording import Environment, Recording, Timings
    from profcore.trace import Trace


class Analysis:
    """What can be computed from a trace, and what is known beside it."""

    def __init__(
        self,
        trace: Trace,
        *,
        experiment: Experiment | None = None,
        environment: Environment | None = None,
        timings: Timings | None = None,
        ceilings: Ceilings | None = None,
        twin: Analysis | None = None,
    ) -> None:
        self.trace = trace
        self.experiment = experiment
        """None for a trace that somebody opened."""
        self.environment = environment
        self.timings = timings
        """None: the unprofiled step time is not known."""
        self.ceilings = ceilings
        """What this device was measured to do at most; None: nobody had measured it."""
        self.twin = twin
        """Another run to compare with: the same experiment in another compile mode."""

    @classmethod
    def of_recording(
        cls, recording: Recording, trace: Trace, *, twin: Analysis | None = None
    ) -> Analysis:
        """Join a recording's trace with what the recording knows beside it."""
        return cls(
            trace,
            experiment=recording.experiment,
            environment=recording.environment,
            timings=recording.timings,
            ceilings=recording.ceilings,
            twin=twin,
        )

    @cached_property
    def nesting(self) -> nesting.Nesting:
        """Who lies in whom on the CPU side."""
        return nesting.nest(self.trace)

    @cached_property
    def matching(self) -> matching.Matching:
        """Which call launched which GPU work."""
        return matching.match(self.trace)

    @cached_property
    def markers(self) -> steps.Markers:
        """Where the steps lie, and which step rows were left out."""
        return steps.markers(self.trace)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """One row per ProfilerStep#N of the CPU side: see `steps.COLUMNS`.

        Empty steps at the end are left out: see `empty_steps`.
        """
        return self._all_steps.iloc[: self.markers.filled]

    @cached_property
    def empty_steps(self) -> pd.DataFrame:
        """Steps at the end in which nothing was recorded; columns as in `steps`.

        A schedule that stops in the middle of a cycle writes one.
        """
        return self._all_steps.iloc[self.markers.filled :].reset_index(drop=True)

    @cached_property
    def _all_steps(self) -> pd.DataFrame:
        return steps.table(self, self.markers)

    @cached_property
    def windows(self) -> windows.Windows:
        """What may be read as steps: the steps, else an annotation that repeats, else all."""
        return windows.windows(self.trace, self.nesting, self.markers)

    @cached_property
    def window_steps(self) -> pd.DataFrame:
        """The table of `steps` for `windows`: the same where the file marks its steps."""
        return steps.table(self, self.windows.marks).iloc[: self.windows.marks.filled]

    @cached_property
    def idle(self) -> pd.DataFrame:
        """Why the GPU was idle, step by step: see `idle.COLUMNS`."""
        return idle.table(self)

    @cached_property
    def queue(self) -> pd.DataFrame:
        """How much launched work waited, over time: see `queue.COLUMNS`."""
        return queue.table(self)

    @cached_property
    def memory(self) -> pd.DataFrame:
        """Allocated and reserved memory per device, over time: see `memory.COLUMNS`."""
        return memory.table(self)

    @cached_property
    def overlaps(self) -> overlaps.Overlaps:
        """GPU work that runs into the next one on its stream, and what is overlong."""
        return overlaps.find(self)

    @cached_property
    def trust(self) -> tuple[trust.Check, ...]:
        """What can be trusted in this file, check by check."""
        return trust.checks(self)

    @cached_property
    def launches(self) -> pd.DataFrame:
        """One row per call that starts GPU work: see `launches.COLUMNS`."""
        return launches.table(self)

    @cached_property
    def activities(self) -> pd.DataFrame:
        """One row per kernel, copy or fill, with its launch and step: see `activities.COLUMNS`."""
        return activities.table(self)

    @cached_property
    def operators(self) -> pd.DataFrame:
        """One row per name, as torch's own table has it: see `operators.COLUMNS`."""
        return operators.table(self)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """One row per kernel name: see `kernels.COLUMNS`."""
        return kernels.table(self)

    @cached_property
    def copies(self) -> pd.DataFrame:
        """One row per name of a copy or fill: see `copies.COLUMNS`."""
        return copies.table(self)

    @cached_property
    def totals(self) -> totals_module.Totals:
        """The totals of the command line's contract."""
        return totals_module.compute(self)
