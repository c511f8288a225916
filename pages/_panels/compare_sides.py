"""What can stand on one side of a comparison: recordings, samples, points, opened traces."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pages._panels.open_state import TRACE_PARAMETER, get_shelf
from pages._panels.results import Result, load, load_opened
from pages._panels.start import RUN_PARAMETER
from profcore.comparison import Run, more_runs
from profcore.comparison.runs import KNOBS, matters, same_work, turns_of
from profcore.errors import ProfcoreError, RecordingError
from profcore.experiment import Experiment, describe
from profcore.library import Library
from profcore.opened.shelf import TRACE_ID
from profcore.recording import Recording
from profcore.sweeps import open_sweep

TITLE_MAX = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side, opened."""

    id: str
    title: str
    """Untrusted text."""
    result: Result
    recording: Recording | None
    """None for an opened trace."""

    @property
    def page(self) -> tuple[str, dict[str, str]]:
        """The page that shows it alone, and the parameters of its address."""
        if self.recording is None:
            return "pages/open_page.py", {TRACE_PARAMETER: self.id}
        return "pages/run_page.py", {RUN_PARAMETER: self.id}


def open_side(side_id: str, library: Library) -> Side:
    """Open what an id names; ids come from the URL and may be anything.

    Raises:
        ProfcoreError: there is no such thing, it is not done, or it cannot be read.
    """
    if TRACE_ID.fullmatch(side_id):
        opened = get_shelf().get(side_id)
        return Side(id=side_id, title=opened.title, result=load_opened(opened), recording=None)
    recording = library.open(side_id)
    if recording.status.state != "done":
        msg = (
            f"{recording.title} has no trace, because it did not end well or is not finished: "
            "choose another run."
        )
        raise RecordingError(msg)
    return Side(id=side_id, title=recording.title, result=load(recording), recording=recording)


def recordings_by_id(library: Library, samples: Iterable[Recording]) -> dict[str, Recording]:
    """Return the finished recordings, own ones first, newest first."""
    own = [recording for recording in library.list() if recording.status.state == "done"]
    return {recording.id: recording for recording in (*own, *samples)}


def points_beside(side_id: str, library: Library) -> dict[str, Recording]:
    """Return the finished points of the sweep that a point belongs to; nothing for others."""
    sweep_id, dash, _ = side_id.rpartition("-")
    if not dash:
        return {}
    try:
        sweep = open_sweep(library, sweep_id)
    except ProfcoreError:
        return {}  # a sample that is no point, or something that is not there
    return {point.id: point for point in sweep.done}


def differing(a: Experiment, b: Experiment) -> tuple[str, ...]:
    """Return the knobs in which two experiments differ, those without effect left out."""
    return tuple(
        knob
        for knob in KNOBS
        if getattr(a, knob) != getattr(b, knob) and (matters(knob, a) or matters(knob, b))
    )


def nearest_first(recording: Recording, others: Iterable[Recording]) -> list[Recording]:
    """Return the others, those first that differ in few knobs and were made on the same device."""

    def distance(other: Recording) -> tuple[bool, bool, int]:
        here, there = recording.environment, other.environment
        elsewhere = here is None or there is None or here.device_name != there.device_name
        count = len(differing(recording.experiment, other.experiment))
        # A run of the very same experiment teaches less than one with a single change.
        return elsewhere, count == 0, count

    return sorted((other for other in others if other.id != recording.id), key=distance)


def pairs(recordings: list[Recording]) -> list[tuple[Recording, Recording, str]]:
    """Return the pairs that were made in one place and differ in one knob, and that knob.

    One pair of every knob comes before the second of any.
    """
    found: list[tuple[Recording, Recording, str]] = []
    for position, a in enumerate(recordings):
        for b in recordings[position + 1 :]:
            here, there = a.environment, b.environment
            if here is None or there is None or here.device_name != there.device_name:
                continue
            knobs = differing(a.experiment, b.experiment)
            if len(knobs) == 1:
                found.append((a, b, knobs[0]))
    knobs_so_far = [knob for _, _, knob in found]
    places = [knobs_so_far[:position].count(knob) for position, knob in enumerate(knobs_so_far)]
    return [pair for _, pair in sorted(zip(places, found, strict=True), key=lambda both: both[0])]


def alike(side: Side, other: Side, recordings: Iterable[Recording]) -> list[Recording]:
    """Return further runs of one side's experiment in the same place.

    None where both sides did the same: nobody could say to which of the two they belong.
    """
    if side.recording is None:
        return []
    if other.recording is not None and same_work(
        side.recording.experiment, other.recording.experiment
    ):
        return []
    return more_runs(side.recording, recordings)


def run_of(side: Side, others: Sequence[Recording]) -> Run:
    """Return a side as the comparison takes it."""
    own = () if side.recording is None else (side.recording,)
    return Run(
        analysis=side.result.analysis,
        title=side.title,
        others=tuple(other.timings for other in others if other.timings is not None),
        turns=turns_of((*own, *others)),
    )


def label_of(recording: Recording, beside: Recording | None = None) -> str:
    """Return a line for a list: title, place, and what differs from the other side."""
    where = recording.environment.device_name if recording.environment else "unknown device"
    setting = describe(recording.experiment)
    name = recording.title[:TITLE_MAX]
    parts = [name] if recording.title == setting else [name, setting]
    parts.append(f"example, {where}" if recording.is_sample else where)
    if beside is not None:
        knobs = differing(beside.experiment, recording.experiment)
        parts.append(f"differs in {', '.join(knobs)}" if knobs else "the same setting")
    return " · ".join(parts)


def told_apart(labels: dict[str, str], recordings: dict[str, Recording]) -> dict[str, str]:
    """Return the labels, those that occur more than once with the time of the run or the id added.

    The browser sends back the words of a choice, not its id: of two alike it would mean the first.
    """
    labels = {
        one: f"{text} · {_when(recordings[one])}" if one in recordings and is_twice else text
        for one, text, is_twice in _with_doubles(labels)
    }
    return {
        one: f"{text} · {one}" if is_twice else text
        for one, text, is_twice in _with_doubles(labels)
    }


def _with_doubles(labels: dict[str, str]) -> list[tuple[str, str, bool]]:
    counts = Counter(labels.values())
    return [(one, text, counts[text] > 1) for one, text in labels.items()]


def _when(recording: Recording) -> str:
    """Return for instance "2 Nov 12:22:33": the line is cut where the box ends."""
    try:
        when = datetime.fromisoformat(recording.status.created_at)
    except ValueError:
        return recording.id
    return f"{when.day} {when:%b %H:%M:%S}"
