"""Tables become pictures: one file per chart, each a pure function from a table to a Figure."""

from profcore.charts.busy_fraction import busy_fraction_figure
from profcore.charts.compare_times import compare_times_figure
from profcore.charts.figure import Figure
from profcore.charts.idle import idle_figure
from profcore.charts.kernels import kernels_figure
from profcore.charts.memory import memory_figure
from profcore.charts.queue import queue_figure
from profcore.charts.roofline import roofline_figure
from profcore.charts.self_times import self_times_figure
from profcore.charts.steps import steps_figure
from profcore.charts.sweep_times import sweep_times_figure
from profcore.charts.throughput import throughput_figure

__all__ = [
    "Figure",
    "busy_fraction_figure",
    "compare_times_figure",
    "idle_figure",
    "kernels_figure",
    "memory_figure",
    "queue_figure",
    "roofline_figure",
    "self_times_figure",
    "steps_figure",
    "sweep_times_figure",
    "throughput_figure",
]
