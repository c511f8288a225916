"""The charts of a sweep over sizes, batches or warm-up calls, and the sentence they lead to."""

import streamlit as st

from pages._panels.figures import figure_panel
from pages._panels.sweep_data import SweepData, environment_of
from pages._panels.text import plain
from profcore.charts import (
    busy_fraction_figure,
    roofline_figure,
    sweep_times_figure,
    throughput_figure,
)
from profcore.charts.sweep_launches import sweep_launches_figure
from profcore.comparison.crossover import crossover_sentence, range_sentence
from profcore.comparison.roofline import roof_of, roofline_table
from profcore.comparison.warmups import warmup_sentences
from profcore.sweep import BUSY_THRESHOLDS
from profcore.sweeps import Sweep

HEADLINES_MAX = 3
"""More rows share one headline."""


def crossover_panel(sweep: Sweep, data: SweepData) -> None:
    """Say where growing work makes the GPU the limit, and what that rests on."""
    place = environment_of(sweep)
    if place is None:
        return
    with st.container(border=True, key="crossover"):
        if not data.points["gpu_ns"].notna().any():
            st.subheader("A sweep on the CPU has no crossover", anchor=False)
            st.text(
                "It shows how the step time grows with the work. On a GPU there is a point from "
                "which on the GPU is the limit, and not the CPU that feeds it."
            )
            return
        ids = dict(zip(data.points["row"], data.points["id"], strict=True))
        most = [found for found in data.crossings if found.threshold == BUSY_THRESHOLDS[-1]]
        work, device = _work(sweep, data), place.device_name
        sentences = [
            crossover_sentence(one, workload=work, dtype=data.dtypes[ids[one.row]], device=device)
            for one in most
        ]
        if len(most) > HEADLINES_MAX:
            sentences = [range_sentence(most, workload=work, device=device)]
        for sentence in sentences:
            st.subheader(plain(sentence), anchor=False)
        st.markdown("**How this follows**")
        st.markdown("\n".join(f"- {plain(found.sentence)}" for found in data.crossings))
        st.caption(
            "GPU busy is the GPU work of a step over its time without the profiler. Between two "
            "measured points the crossing is put on a straight line over the logarithm of the axis."
        )


def _work(sweep: Sweep, data: SweepData) -> str:
    """Name the work, with its size where that stays the same along a row."""
    name = sweep.plan.base.workload
    return name if data.axis == "size" else f"{name} of size {data.points['size'].iloc[0]:,}"


def warmup_panel(data: SweepData) -> None:
    """Say whether the number of warm-up calls matters, and draw it."""
    with st.container(border=True, key="warmup_answer"):
        for sentence in warmup_sentences(data.points):
            st.subheader(plain(sentence), anchor=False)
        st.caption(
            "All points share one process, and each is kept busy for a while before it is timed, "
            "so a flat line is what to expect, and ups and downs without a direction are noise. "
            "What the first calls of a process cost is shown by a run with 0 warm-up calls on the "
            "Run page."
        )
    figure_panel(sweep_times_figure(data.points, ()), key="sweep_times")


def work_charts(data: SweepData) -> None:
    """Draw everything over what grows, the size or the batch."""
    points, has_gpu = data.points, bool(data.points["gpu_ns"].notna().any())
    figure_panel(sweep_times_figure(points, data.crossings), key="sweep_times")
    if has_gpu:
        figure_panel(busy_fraction_figure(points, data.crossings), key="sweep_busy")
        if points["launches"].notna().any():
            figure_panel(sweep_launches_figure(points), key="sweep_launches")
    _ceiling_charts(data)


@st.fragment
def _ceiling_charts(data: SweepData) -> None:
    """Rates against what the device can do; a ceiling holds for one number format."""
    dtypes = list(dict.fromkeys(data.dtypes.values()))
    dtype = dtypes[0]
    if len(dtypes) > 1:
        chosen = st.segmented_control(
            "Number format of the next two charts",
            dtypes,
            default=dtypes[0],
            required=True,
            key="sweep_ceiling_dtype",
        )
        dtype = str(chosen)
    ids = {point_id for point_id, of in data.dtypes.items() if of == dtype}
    points = data.points[data.points["id"].isin(ids)]
    roof = roof_of(data.ceilings, dtype=dtype, is_matmul=data.is_matmul)
    figure_panel(throughput_figure(points, roof, is_matmul=data.is_matmul), key="sweep_throughput")
    figure_panel(roofline_figure(roofline_table(points, roof), roof), key="sweep_roofline")
    if roof is None:
        st.caption(
            "No ceiling of this device is known for this number format, so the charts show what "
            "was reached and not how much more there is."
        )
