"""What a sweep shows: its points as a table, crossovers, break-evens, ceilings; kept."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from profcore import ceilings as device_ceilings
from profcore import workloads
from profcore.analysis import Analysis
from profcore.comparison.break_even import BreakEven, break_evens
from profcore.comparison.crossover import Crossover, crossovers
from profcore.comparison.points import points_table
from profcore.devices import Ceilings
from profcore.errors import ProfcoreError
from profcore.experiment import describe
from profcore.library import Library
from profcore.recording import Environment, Recording
from profcore.sweeps import Sweep
from profcore.trace import read


@dataclass(frozen=True, kw_only=True, slots=True)
class SweepData:
    """The numbers of a sweep. Shared by all visitors: nobody writes into it."""

    points: pd.DataFrame
    """The table of `profcore.comparison.points`."""
    dtypes: dict[str, str]
    """Number format by id of the point."""
    crossings: tuple[Crossover, ...]
    break_evens: tuple[tuple[Recording, BreakEven], ...]
    ceilings: Ceilings | None
    is_matmul: bool
    unreadable: tuple[str, ...]
    """A sentence per point whose trace cannot be read."""

    @property
    def axis(self) -> str:
        """The knob that stands on the x axis of the charts."""
        return str(self.points["axis"].iloc[0]) if len(self.points) else "size"

    @property
    def has_course(self) -> bool:
        """Whether there is more than one value of that knob, so that a line can be drawn."""
        return len(set(self.points["x"])) > 1


def environment_of(sweep: Sweep) -> Environment | None:
    """Return where the sweep was made; all its points were made in one place."""
    return next((one.environment for one in sweep.points if one.environment is not None), None)


def timed_data(sweep: Sweep, library: Library) -> SweepData:
    """Return what is known while the sweep is under way: no trace is read."""
    return _data(sweep, library, {}, ())


def full_data(sweep: Sweep, library: Library) -> SweepData:
    """Return everything, the traces of the finished points read."""
    key = tuple((point.id, *_stamp(point)) for point in sweep.points)
    return _full(sweep, library, sweep.id, key)


def _stamp(point: Recording) -> tuple[str, int]:
    # A point that is made again keeps its id.
    try:
        return point.status.state, point.trace_path.stat().st_mtime_ns
    except OSError:
        return point.status.state, 0


# A leading underscore keeps an argument out of the key.
@st.cache_resource(show_spinner="Reading the points ...", max_entries=16)
def _full(
    _sweep: Sweep, _library: Library, sweep_id: str, key: tuple[tuple[str, str, int], ...]
) -> SweepData:
    del sweep_id, key
    analyses: dict[str, Analysis] = {}
    unreadable = []
    for point in _sweep.done:
        try:
            analyses[point.id] = Analysis.of_recording(point, read(point.trace_path))
        except ProfcoreError as error:
            unreadable.append(f"{describe(point.experiment)}: {error}")
    return _data(_sweep, _library, analyses, tuple(unreadable))


def _data(
    sweep: Sweep, library: Library, analyses: dict[str, Analysis], unreadable: tuple[str, ...]
) -> SweepData:
    place = environment_of(sweep)
    points = points_table(sweep.points, analyses)
    return SweepData(
        points=points,
        dtypes={point.id: point.experiment.dtype for point in sweep.timed},
        crossings=crossovers(points),
        break_evens=break_evens(sweep.points),
        ceilings=device_ceilings.beside(sweep.folder, library.root, place) if place else None,
        is_matmul=workloads.find(sweep.plan.base.workload).is_matmul,
        unreadable=unreadable,
    )
