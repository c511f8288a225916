"""Two runs beside each other: everything a page or the command line shows of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from profcore.comparison import chains, changes, tables
from profcore.comparison.comparability import Comparability, comparability
from profcore.comparison.figures import Figures, figures
from profcore.comparison.noise import StepDifference, step_difference
from profcore.comparison.runs import same_work
from profcore.comparison.turns import turns_difference
from profcore.comparison.verdict import DifferenceVerdict, side_names, verdict_of
from profcore.rules import check_all

if TYPE_CHECKING:
    import pandas as pd

    from profcore.comparison.chains import Chain
    from profcore.comparison.changes import FindingChange
    from profcore.comparison.runs import Run


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A against B; each part is computed when first asked for."""

    a: Run
    b: Run

    @cached_property
    def comparability(self) -> Comparability:
        """What differs in the settings, and what stands in the way of a fair comparison."""
        return comparability(self.a, self.b)

    @cached_property
    def names(self) -> tuple[str, str]:
        """What to call the two sides in sentences and legends."""
        return side_names(self.comparability)

    @cached_property
    def figures(self) -> tuple[Figures, Figures]:
        """The numbers of both sides, per step."""
        return figures(self.a), figures(self.b)

    @cached_property
    def step(self) -> StepDifference | None:
        """Step times and whether they differ by more than the noise; None without both."""
        if (by_turns := self._by_turns()) is not None:
            return by_turns
        mine, theirs = self.a.timings, self.b.timings
        if not mine or not theirs or min(one.step_ns_median for one in (*mine, *theirs)) <= 0:
            return None
        return step_difference(mine, theirs, same_session=self.comparability.same_session)

    def _by_turns(self) -> StepDifference | None:
        """Decide by turns that the two took in one process, where they did.

        Turns on another machine or device say nothing about the two runs on show.
        """
        a, b = self.a.analysis.experiment, self.b.analysis.experiment
        if a is None or b is None or a.device != b.device or not self.comparability.same_session:
            return None
        return turns_difference(
            [turns for turns in self.a.turns if same_work(turns.experiment, b)],
            [turns for turns in self.b.turns if same_work(turns.experiment, a)],
        )

    @cached_property
    def verdict(self) -> DifferenceVerdict:
        """What the change did, in one sentence with its arithmetic."""
        return verdict_of(*self.figures, self.step, names=self.names)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """Kernels, copies and fills matched: see `tables.COLUMNS`."""
        return tables.matched_kernels(self.a.analysis, self.b.analysis)

    @cached_property
    def operators(self) -> pd.DataFrame:
        """CPU rows matched: see `tables.COLUMNS`."""
        return tables.matched_operators(self.a.analysis, self.b.analysis)

    @cached_property
    def chains(self) -> tuple[tuple[Chain, ...], tuple[Chain, ...]]:
        """How the work of one step came about, on both sides."""
        return chains.chains(self.a.analysis), chains.chains(self.b.analysis)

    @cached_property
    def changes(self) -> tuple[FindingChange, ...]:
        """Findings that appeared or vanished from A to B."""
        return changes.finding_changes(check_all(self.a.analysis), check_all(self.b.analysis))
