"""Two runs side by side, and many runs in a row: what one change did, with the noise beside it."""

from profcore.comparison.compare import Comparison
from profcore.comparison.noise import StepDifference, step_difference
from profcore.comparison.runs import Run, more_runs

__all__ = ["Comparison", "Run", "StepDifference", "more_runs", "step_difference"]
