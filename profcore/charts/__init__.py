"""Tables become pictures: one file per chart, each a pure function from a table to a Figure."""

from profcore.charts.figure import Figure
from profcore.charts.kernels import kernels_figure
from profcore.charts.self_times import self_times_figure
from profcore.charts.steps import steps_figure

__all__ = ["Figure", "kernels_figure", "self_times_figure", "steps_figure"]
