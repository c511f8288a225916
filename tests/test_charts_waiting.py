"""Idle time, queue and memory as pictures, on small tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.analysis import idle, memory, queue
from profcore.charts.idle import HOST, KERNEL, PARTS, idle_figure
from profcore.charts.memory import ALLOCATED, RESERVED, memory_figure
from profcore.charts.queue import queue_figure, together
from profcore.charts.thinning import thinned
from tests.handmade import analysis_of, plain_rows

STEPS = pd.DataFrame({"number": [2, 3, 4, 5], "row": [20, 30, 40, 50]})
IDLE = pd.DataFrame(
    [
        (1, 0, 100_000, 40_000, 0, 10_000, 0, 50_000),
        (2, 100_000, 100_000, 40_000, 5_000, 0, 5_000, 50_000),
        (3, 200_000, 100_000, 100_000, 0, 0, 0, 0),
    ],
    columns=list(idle.COLUMNS),
)


def test_idle_bars_add_up_and_name_their_cause() -> None:
    figure = idle_figure(IDLE, STEPS)
    assert figure.rows == tuple(STEPS["row"].iloc[IDLE["step"]])
    data = figure.chart.data
    assert data.groupby("step")["time"].sum().to_dict() == {"#3": 100.0, "#4": 100.0, "#5": 100.0}
    # Ran: (40 + 45 + 100) of 300; nothing launched: 100 of 300.
    assert figure.takeaway == (
        "Something ran on the GPU 61.7 % of the time. The largest cause of idle time: the CPU had "
        "launched nothing yet (33.3 %)."
    )
    assert figure.sheet["Step"].tolist() == ["#3", "#4", "#5"]
    assert figure.sheet["Nothing launched (µs)"].tolist() == [50.0, 50.0, 0.0]
    assert set(data["part"]) <= set(PARTS.values())
    assert figure.chart.to_dict()


def test_a_step_that_dwarfs_the_others_stands_apart() -> None:
    long = IDLE.assign(window_ns=[1_000_000, 100_000, 100_000], host_ns=[950_000, 50_000, 0])
    figure = idle_figure(long, STEPS)
    assert figure.first is not None
    assert figure.first_takeaway == "#3 took 1.00 ms."
    assert "#3" not in set(figure.chart.data["step"])
    assert len(figure.sheet) == 3


def test_idle_of_the_plain_trace_is_drawn_whole() -> None:
    analysis = analysis_of(*plain_rows())
    figure = idle_figure(analysis.idle, analysis.steps)
    total_us = analysis.idle["window_ns"].sum() / 1000
    assert figure.chart.data["time"].sum() == pytest.approx(total_us)
    assert {KERNEL, HOST} <= set(figure.chart.data["part"])


def queue_table(*rows: tuple[int, int, int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(queue.COLUMNS))


def test_queues_of_all_streams_are_added_up() -> None:
    table = queue_table((0, 7, 0, 1), (0, 7, 10, 2), (0, 7, 40, 0), (0, 8, 10, 1), (0, 8, 20, 0))
    time_ns, depth = together(table)
    assert time_ns.tolist() == [0, 10, 20, 40]
    assert depth.tolist() == [1, 3, 2, 0]
    figure = queue_figure(table)
    # (1 × 10 + 3 × 10 + 2 × 20) / 40 = 2; never empty before the end.
    assert figure.takeaway == (
        "At most 3 launch calls wait at once, 2.0 on average over time; 0.0 % of the time none "
        "does."
    )
    assert figure.sheet["Longest queue"].tolist() == [2, 1]
    assert figure.sheet["Stream"].tolist() == ["7", "8"]
    assert figure.chart.to_dict()


def test_a_queue_that_is_empty_half_of_the_time_says_so() -> None:
    table = queue_table((0, 7, 0, 1), (0, 7, 10, 0), (0, 7, 20, 1), (0, 7, 30, 0))
    assert "33.3 % of the time none does" in queue_figure(table).takeaway
    assert queue_figure(table).sheet["Empty (%)"].round(1).tolist() == [33.3]


def test_work_without_device_and_stream_is_named_so() -> None:
    sheet = queue_figure(queue_table((-1, -1, 0, 1), (-1, -1, 10, 0))).sheet
    assert sheet.loc[0, ["Device", "Stream"]].tolist() == ["not said", "not said"]


MEMORY = pd.DataFrame(
    [
        (-1, 5_000, 64, -1, False),
        (0, 1_000, 1024, 4096, False),
        (0, 2_000, 3072, 4096, False),
        (0, 3_000, 512, 4096, False),
    ],
    columns=list(memory.COLUMNS),
)


def test_memory_lines_are_drawn_per_device_and_kind() -> None:
    figure = memory_figure(MEMORY)
    lines = figure.chart.data.groupby(["device", "what"]).size().to_dict()
    assert lines == {("CPU", ALLOCATED): 1, ("GPU 0", ALLOCATED): 3, ("GPU 0", RESERVED): 3}
    assert figure.takeaway == (
        "GPU 0 holds the most: 3.00 KiB in tensors, 2.00 µs after the recording began."
    )
    sheet = figure.sheet.set_index("Device")
    assert sheet.loc["GPU 0", "Peak allocated"] == "3.00 KiB"
    assert sheet.loc["GPU 0", "At the end"] == "512 B"
    assert sheet.loc["CPU", "Peak reserved"] == "not said"
    assert "no totals" not in figure.note
    assert figure.chart.to_dict()


def test_sums_of_changes_are_said_to_be_such() -> None:
    assert (
        "For GPU 0 the file gives changes"
        in memory_figure(MEMORY.assign(is_relative=MEMORY["device"] == 0)).note
    )


def test_short_curves_are_left_alone() -> None:
    time_ns, value = np.array([1, 5, 9]), np.array([2, 7, 0])
    assert thinned(time_ns, value, points=3) == (time_ns, value)


@given(
    st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 100)), min_size=1, max_size=60),
    st.integers(1, 20),
)
def test_thinning_keeps_the_peak_and_the_order(rows: list[tuple[int, int]], points: int) -> None:
    rows = sorted(dict(rows).items())
    time_ns, value = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    kept_ns, kept = thinned(time_ns, value, points=points)
    assert len(kept_ns) <= max(points, 1)
    assert kept.max() == value.max()
    assert (np.diff(kept_ns) > 0).all()
    assert set(kept_ns.tolist()) <= set(time_ns.tolist())
    assert kept_ns[0] == time_ns[0]
