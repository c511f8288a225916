"""Record both sides of a comparison again, by turns, so that a smaller difference can be seen."""

import msgspec
import streamlit as st

from pages._panels.compare_link import A_PARAMETER, B_PARAMETER
from pages._panels.compare_sides import Side
from pages._panels.cost import LOOKING, why_not
from pages._panels.notices import leave_notice
from pages._panels.runner import get_runner
from pages._panels.text import plain
from profcore.comparison import Comparison, more_runs
from profcore.comparison.runs import same_work
from profcore.errors import ProfcoreError
from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.jobs.series import Series, SeriesView, other_sides
from profcore.library import Library
from profcore.machine import Machine
from profcore.recording import POINT_ID, Recording

COUNTS = (1, 2, 4)
"""Each run also times the other side by turns with its own: one of each is enough for most."""
COUNTS_ALONE = (4, 8, 16)
"""Where turns cannot be: from four on each side the noise from run to run is measured, not
assumed."""
START_S = 5.0
"""What a process takes to import torch; a run whose process was waiting already does not show it,
and only the first of a series finds one waiting."""
UNKNOWN_RUN_S = 10.0
"""Counted on where a recording does not say how long its run took."""
KEPT_MAX = 50
LOOK_EVERY_S = 0.5

TURNS_S = 3.0
"""What making the other side ready and timing both by turns adds to a run."""

_BY_TURNS = (
    "The same step can take half as long again in the next process, so two runs are a poor "
    "comparison where the CPU sets the pace. Here both sides run in one process and take turns, "
    "some 10 ms each: what slows the machine slows both, and a small difference can be told from "
    "chance. The runs are kept as recordings."
)
_ALONE = (
    "More runs show how much the step time differs from one process to the next, so that a "
    "smaller difference can be told from chance. They are made by turns, A B A B ..., each in "
    "a process of its own, and kept as recordings."
)

_Pair = tuple[str, str]
_Named = tuple[str, str, Recording]
"""A or B, what the comparison calls it, and the recording."""


@st.cache_resource(show_spinner=False)
def all_series() -> dict[_Pair, Series]:
    """Return the series of this server by the ids of the two sides, the oldest first."""
    return {}


def again_panel(
    a: Side, b: Side, comparison: Comparison, runner: JobRunner, library: Library
) -> None:
    """Draw the button that records both again, or how far that is; nothing where it is no use."""
    if a.recording is None or b.recording is None:
        return  # a trace does not say how it was made
    if comparison.step is None or same_work(a.recording.experiment, b.recording.experiment):
        return  # nobody could say to which of the two a further run belongs
    known = all_series()
    sides = [("A", comparison.names[0], a.recording), ("B", comparison.names[1], b.recording)]
    series = known.get((a.id, b.id))
    if series is None and (series := known.get((b.id, a.id))) is not None:
        sides.reverse()  # it was started before the two were swapped
    with st.container(border=True, key="again"):
        if series is not None and series.is_active:
            _watch(series, sides, library)
            return
        if series is not None:
            _ended(series.view(), sides, library)
        _offer(a.recording, b.recording, runner)


def _offer(a: Recording, b: Recording, runner: JobRunner) -> None:
    machine = runner.machine
    elsewhere = _elsewhere(a, b, machine)
    experiments = [_here(side, machine, moved=bool(elsewhere)) for side in (a, b)]
    takes_turns = all(other_sides(experiments))
    st.markdown("**Look closer**")
    st.caption(_BY_TURNS if takes_turns else _ALONE)
    counts = COUNTS if takes_turns else COUNTS_ALONE
    each_s = sum(run_seconds(side) + (TURNS_S if takes_turns else 0.0) for side in (a, b))
    count = st.segmented_control(
        "Runs of each" if elsewhere else "More runs of each",
        counts,
        default=counts[0],
        required=True,
        format_func=lambda runs: f"{runs} · about {_duration(runs * each_s)}",
        key="again_count",
    )
    refusal = why_not(experiments[0], runner) or why_not(experiments[1], runner)
    st.button(
        _label(count, elsewhere=bool(elsewhere)),
        icon=":material/repeat:",
        key="again_button",
        disabled=bool(refusal),
        on_click=_start,
        args=((a.id, b.id), experiments, count),
    )
    if refusal == LOOKING:
        _wait(runner)
    elif refusal:
        st.caption(f"Not here: {plain(refusal)}")
    elif elsewhere:
        device = machine.resolve(experiments[0].device) if machine else None
        where = f" on {device.name}" if device else ""
        st.caption(
            plain(
                f"{elsewhere} Runs made here cannot be counted with them. Both would be recorded "
                f"here{where}, and those runs compared with each other."
            )
        )


def _label(count: int, *, elsewhere: bool) -> str:
    times = "once" if count == 1 else f"{count} times"
    if elsewhere:
        return f"Record both {times} here"
    return "Record both once more" if count == 1 else f"Record both {count} more times"


@st.fragment(run_every=LOOK_EVERY_S)
def _wait(runner: JobRunner) -> None:
    """Rerun the page once this machine is known."""
    if runner.machine is not None or runner.machine_problem:
        st.rerun()
    st.caption(LOOKING)


def _elsewhere(a: Recording, b: Recording, machine: Machine | None) -> str:
    """Say why runs made here would not count with those on show; empty where they would."""
    why_a, why_b = _place(a, machine), _place(b, machine)
    if why_a == why_b:
        return f"Both were recorded {why_a}." if why_a else ""
    found = [f"{letter} was recorded {why}." for letter, why in (("A", why_a), ("B", why_b)) if why]
    return " ".join(found)


def _place(side: Recording, machine: Machine | None) -> str:
    """Say where a run was made if that was not here, as far as names tell."""
    where = side.environment
    if side.is_sample:
        return f"on another machine ({where.device_name})" if where else "on another machine"
    if machine is None or where is None:
        return ""
    device = machine.find(where.device)
    if device is None or (device.is_gpu and device.name != where.device_name):
        return f"on {where.device_name}, which is not here"
    if machine.torch != where.torch:
        return f"with torch {where.torch} (here is {machine.torch})"
    return ""


def _here(side: Recording, machine: Machine | None, *, moved: bool) -> Experiment:
    """Return the experiment as it can run here."""
    experiment = side.experiment
    if moved and machine is not None and machine.find(experiment.device) is None:
        return msgspec.structs.replace(experiment, device="auto")
    return experiment


def run_seconds(recording: Recording) -> float:
    """Return about how long a run of this experiment takes in a series."""
    status = recording.status
    if status.run_s <= 0 or POINT_ID.fullmatch(recording.id):
        return UNKNOWN_RUN_S  # a point of a sweep shares its process with the others
    return status.run_s + (0.0 if status.started_cold else START_S)


def _duration(seconds: float) -> str:
    """Round to what an estimate deserves."""
    if seconds < 90:  # noqa: PLR2004 - a minute and a half
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{round(seconds / 60)} min"


def _start(pair: _Pair, experiments: list[Experiment], count: int) -> None:
    """Start the series; a refusal is left for the page to show."""
    known = all_series()
    if any(old in known and known[old].is_active for old in (pair, pair[::-1])):
        return  # another visitor was faster
    try:
        series = Series(get_runner(), experiments, count)
    except ProfcoreError as error:
        leave_notice(f"Not started. {error}")
        return
    st.session_state["compare_more"] = True  # what is recorded now is to count
    for old in (pair, pair[::-1]):
        known.pop(old, None)
    known[pair] = series
    for old in [key for key, one in known.items() if not one.is_active][: -KEPT_MAX or None]:
        known.pop(old, None)


@st.fragment(run_every=LOOK_EVERY_S)
def _watch(series: Series, sides: list[_Named], library: Library) -> None:
    """Draw how far it is; when it ends, rerun the page once, with the new runs counted."""
    view = series.view()
    if view.state != "running":
        if view.state == "done" and not _counts(view, sides, library):
            _show_made(view)
        st.rerun()
    letter, name, _ = sides[view.done % 2]
    called = letter if name == letter else f"{letter}, {name}"
    st.markdown(f"**Recording both again** · run {view.done + 1} of {view.count}: {plain(called)}")
    st.progress(view.done / view.count, text=_phase(view))
    st.caption(_left(view, sides))
    st.button(
        "Cancel",
        icon=":material/stop_circle:",
        key="again_cancel",
        on_click=series.cancel,
        help="The runs that are finished stay and are counted.",
    )


def _phase(view: SeriesView) -> str:
    run = view.run
    if run is None:
        return "waiting for a place in the queue"
    if run.state == "queued":
        return f"waiting, place {run.position} in the queue" if run.position else "waiting"
    return plain(run.phases[-1].name) if run.phases else "starting"


def _left(view: SeriesView, sides: list[_Named]) -> str:
    guessed_s = sum(run_seconds(side) for _, _, side in sides) / 2
    each_s = view.elapsed_s / (view.done + 0.5) if view.done else guessed_s
    left_s = max(0.0, view.count * each_s - view.elapsed_s)
    return f"{view.elapsed_s:.0f} s so far; about {_duration(left_s)} more."


def _ended(view: SeriesView, sides: list[_Named], library: Library) -> None:
    """Say how the last series ended and what it left."""
    kept = f"{view.done} of {view.count} runs were made and are kept"
    if view.state == "cancelled":
        st.info(f"Cancelled: {kept}.", icon=":material/info:")
    elif view.state == "failed":
        st.warning(f"{kept}; then: {plain(view.message)}")
    if all(view.made) and not _counts(view, sides, library):
        st.markdown(
            "The runs made here do not count with those on show: another machine, or the same "
            "one before a restart."
        )
        st.button(
            "Compare the runs made here",
            icon=":material/compare_arrows:",
            key="again_show",
            on_click=_show_made,
            args=(view,),
        )


def _counts(view: SeriesView, sides: list[_Named], library: Library) -> bool:
    """Tell whether the runs made are counted beside the sides they were made for."""
    recordings = library.list()
    for (_, _, side), made in zip(sides, view.made, strict=True):
        counted = {one.id for one in more_runs(side, recordings)}
        if not counted.intersection(made):
            return False
    return True


def _show_made(view: SeriesView) -> None:
    """Compare the first two of the new runs; the others count beside them."""
    (first, *_), (second, *_) = view.made
    st.query_params[A_PARAMETER], st.query_params[B_PARAMETER] = first, second
