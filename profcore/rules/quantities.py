"""The quantities that the rules share, each computed once per analysis.

Source: section 2 of the rule catalogue. Times are nanoseconds; medians may be halves.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from profcore.analysis import intervals
from profcore.rules.constants import (
    BUSY_HIGH_FRACTION,
    COLD_MIN_NS,
    COLD_RATIO,
    INFLATION,
    SHARED_MIN_FRACTION,
    STEPS_FOR_MEDIAN,
    STEPS_FOR_SPREAD,
)
from profcore.rules.limits import limit_profiled, limit_unprofiled
from profcore.rules.recorded import Recorded
from profcore.rules.rows import column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis import Analysis
    from profcore.rules.limits import Limit


class Quantities(Recorded):
    """What the rules ask of one analysis."""

    @classmethod
    def of(cls, analysis: Analysis) -> Quantities:
        """Return the quantities of an analysis; they live as long as it does."""
        kept = analysis.__dict__.get("_quantities")
        if not isinstance(kept, cls):
            kept = analysis.__dict__["_quantities"] = cls(analysis)
        return kept

    @cached_property
    def twin(self) -> Quantities | None:
        """The run to compare with, or None."""
        return None if self.analysis.twin is None else Quantities.of(self.analysis.twin)

    # --- steps ----------------------------------------------------------------------------------

    @cached_property
    def first_step_is_cold(self) -> bool:
        """Whether rule C1 saw a first step far wider than the others: then it is in no median."""
        worked_ns = self.worked_ns
        if len(worked_ns) < STEPS_FOR_MEDIAN:
            return False
        typical_ns = float(np.median(worked_ns[1:]))
        return bool(
            worked_ns[0] >= COLD_RATIO * typical_ns and worked_ns[0] - typical_ns >= COLD_MIN_NS
        )

    @cached_property
    def worked_ns(self) -> NDArray[np.int64]:
        """Step bars without the calls that wait for the GPU.

        A first step that waits for work launched before it is long, but not cold (H200: programs
        that synchronise in their first recorded step).
        """
        cpu_ns = column(self.steps, "cpu_ns")
        place = self.steps_of(self.waits)
        waits, place = self.waits[place >= 0], place[place >= 0]
        waited_ns = np.bincount(
            place, weights=self.trace.duration_ns[waits], minlength=len(cpu_ns)
        ).astype(np.int64)
        worked_ns: NDArray[np.int64] = np.maximum(cpu_ns - waited_ns, 0)
        return worked_ns

    @cached_property
    def gpu_steps(self) -> NDArray[np.int64]:
        """Positions of the steps that count for GPU medians: with GPU work, not cold."""
        has_work = column(self.steps, "activities") > 0
        if self.first_step_is_cold:
            has_work[0] = False
        return np.flatnonzero(has_work)

    @cached_property
    def cpu_steps(self) -> NDArray[np.int64]:
        """Positions of the steps that count for CPU medians.

        The first recorded step is the longest even when warm, so it is left out of five or more
        (rule V4).
        """
        skip = int(self.first_step_is_cold or len(self.steps) >= STEPS_FOR_SPREAD)
        return np.arange(skip, len(self.steps))

    @cached_property
    def kept_steps(self) -> NDArray[np.int64]:
        """Positions of all steps but a cold first one."""
        return np.arange(int(self.first_step_is_cold), len(self.steps))

    @cached_property
    def kept_cpu_ns(self) -> int:
        """Sum of the bars of the kept steps."""
        return int(column(self.steps, "cpu_ns")[self.kept_steps].sum())

    def in_kept_steps(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keep the rows of the CPU side that start inside a kept step."""
        return self.in_some_steps(rows, self.kept_steps)

    def in_most_kept_steps(self, rows: NDArray[np.int64]) -> bool:
        """Tell whether these rows are the rule: they start in at least half of the kept steps."""
        places = np.unique(self.steps_of(self.in_kept_steps(rows)))
        return 0 < len(self.kept_steps) <= 2 * len(places)

    @cached_property
    def gpu_ns(self) -> float | None:
        """GPU work per step: median of the busy times; None without a step with GPU work.

        Where a step's work runs beside that of another step (copies on a stream of their own), the
        time both share counts once: every step gives up its part of what is shared.
        """
        if not len(self.gpu_steps):
            return None
        median_ns = float(np.median(column(self.steps, "gpu_busy_ns")[self.gpu_steps]))
        return median_ns * (1 - self.shared_fraction)

    @cached_property
    def shared_fraction(self) -> float:
        """Share of the steps' GPU work that lies beside that of another step; 0 below 1 %."""
        own_ns = int(column(self.steps, "gpu_busy_ns")[self.gpu_steps].sum())
        if not own_ns:
            return 0.0
        together_ns = self.union_ns(np.isin(column(self.activities, "step"), self.gpu_steps))
        shared = 1 - together_ns / own_ns
        return shared if shared >= SHARED_MIN_FRACTION else 0.0

    @cached_property
    def cpu_ns(self) -> float | None:
        """Median of the step bars of the CPU side, as profiled."""
        if not len(self.cpu_steps):
            return None
        return float(np.median(column(self.steps, "cpu_ns")[self.cpu_steps]))

    @cached_property
    def steps_cpu_ns(self) -> int:
        """Sum of all step bars."""
        return int(column(self.steps, "cpu_ns").sum())

    @cached_property
    def period_ns(self) -> float | None:
        """Median distance of the ends of successive steps' GPU work; None for fewer than two."""
        ends_ns = np.sort(column(self.steps, "gpu_end_ns")[self.gpu_steps])
        return float(np.median(np.diff(ends_ns))) if len(ends_ns) > 1 else None

    # --- busy -----------------------------------------------------------------------------------

    @cached_property
    def gpu_window_ns(self) -> tuple[int, int] | None:
        """From the end of the first step's GPU work to the end of the last one's.

        Both edges are ends: a kernel that a recording dropped at its edge is not read as idle.
        """
        ends_ns = column(self.steps, "gpu_end_ns")[self.gpu_steps]
        if len(ends_ns) <= 1 or ends_ns.max() <= ends_ns.min():
            return None
        return int(ends_ns.min()), int(ends_ns.max())

    def union_ns(self, mask: NDArray[np.bool_], window_ns: tuple[int, int] | None = None) -> int:
        """Return the length of the union of some activities (a mask over their table)."""
        start_ns = column(self.activities, "start_ns")[mask]
        end_ns = start_ns + column(self.activities, "duration_ns")[mask]
        if window_ns is not None:
            start_ns, end_ns = intervals.clip(
                start_ns, end_ns, from_ns=window_ns[0], to_ns=window_ns[1]
            )
        return intervals.busy_ns(start_ns, end_ns)

    @cached_property
    def busy_profiled_fraction(self) -> float | None:
        """Share of the window of the recorded steps in which the GPU worked."""
        window_ns = self.gpu_window_ns
        if window_ns is None:
            return None
        everything = np.ones(len(self.activities), np.bool_)
        return self.union_ns(everything, window_ns) / (window_ns[1] - window_ns[0])

    @cached_property
    def busy_unprofiled_fraction(self) -> float | None:
        """GPU work per step over the unprofiled step time, at most 1; None without timings."""
        if self.timings is None or self.gpu_ns is None or self.timings.step_ns_median <= 0:
            return None
        return min(1.0, self.gpu_ns / self.timings.step_ns_median)

    @cached_property
    def busy_fraction(self) -> float | None:
        """Unprofiled where known, else as profiled."""
        if self.busy_unprofiled_fraction is not None:
            return self.busy_unprofiled_fraction
        return self.busy_profiled_fraction

    @cached_property
    def busy_at_most_fraction(self) -> float | None:
        """How busy the GPU can have been, had the profiler slowed the CPU side by INFLATION."""
        if self.gpu_ns is None or self.period_ns is None:
            return None
        return self.gpu_ns / max(self.gpu_ns, self.period_ns / INFLATION, 1.0)

    @cached_property
    def limit(self) -> Limit | None:
        """What bounds the run by B1, or by B2 without timings; None: neither can say."""
        unprofiled = self.busy_unprofiled_fraction
        if unprofiled is None:
            return self.limit_from_trace
        return limit_unprofiled(unprofiled, self.busy_profiled_fraction)

    @cached_property
    def recording_decides(self) -> bool:
        """Whether the GPU was busier in the recording than the unprofiled time allows."""
        unprofiled = self.busy_unprofiled_fraction
        return self.limit == "gpu" and unprofiled is not None and unprofiled < BUSY_HIGH_FRACTION

    @cached_property
    def limit_from_trace(self) -> Limit | None:
        """What bounds the run by B2: from the trace alone."""
        busy, at_most = self.busy_profiled_fraction, self.busy_at_most_fraction
        if busy is None or at_most is None or len(self.gpu_steps) < STEPS_FOR_MEDIAN:
            return None
        return limit_profiled(busy, at_most)

    # --- GPU time that shares are taken of ------------------------------------------------------

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Mask over the activities: those of the steps that count, or all without such steps."""
        if not len(self.gpu_steps):
            return np.ones(len(self.activities), np.bool_)
        return np.isin(column(self.activities, "step"), self.gpu_steps)

    @cached_property
    def counted_steps(self) -> int:
        """Steps in `counted`; 1 without steps: then the whole recording is one."""
        return max(1, len(self.gpu_steps))

    @cached_property
    def each(self) -> str:
        """What a figure over `counted_steps` is: "per step", or "in all" without steps."""
        return "per step" if len(self.gpu_steps) else "in all"

    def sum_ns(self, mask: NDArray[np.bool_]) -> int:
        """Return the summed durations of the counted activities in a mask."""
        return int(column(self.activities, "duration_ns")[mask & self.counted].sum())

    @cached_property
    def gpu_sum_ns(self) -> int:
        """Summed durations of all counted GPU work."""
        return self.sum_ns(self.counted)

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return a part of the counted GPU time as a fraction of it."""
        return self.sum_ns(mask) / self.gpu_sum_ns if self.gpu_sum_ns else 0.0

    def per_step_ns(self, mask: NDArray[np.bool_]) -> float:
        """Return a part of the counted GPU time per step."""
        return self.sum_ns(mask) / self.counted_steps

    # --- CPU time -------------------------------------------------------------------------------

    @cached_property
    def clean_cpu_ns(self) -> int:
        """Self CPU time without the profiler's own work and without waiting for the GPU.

        Over a thread the self times add up to the union of its rows. A cold first step is left
        out, as it is on the GPU side.
        """
        taken = ~self.trace.is_kind("overhead")
        taken[self.waits] = False
        if self.first_step_is_cold:
            taken &= self.trace.start_ns >= self.step_end_ns[0]
        return int(self.nesting.self_ns[taken].sum())

    @cached_property
    def unrecorded_fraction(self) -> float | None:
        """Share of the kept step bars in which no operator and no call of that thread runs.

        The bars themselves and annotations of the program are no work. None without steps.
        """
        if not self.kept_cpu_ns:
            return None
        self_ns, lane = self.nesting.self_ns, self.trace.lane
        rows = self.in_kept_steps(np.flatnonzero(self.is_label & (self_ns > 0)))
        of_steps = np.isin(lane[rows], np.unique(lane[column(self.steps, "row")]))
        return float(self_ns[rows[of_steps]].sum()) / self.kept_cpu_ns
