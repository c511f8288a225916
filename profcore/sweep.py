"""A sweep: one experiment over lists of sizes, number formats, compile modes and so on.

Plain data. A sweep is made by one child process; every point is a recording of its own:

    <id>/sweep.json      what was asked for
         points/000 ...  one recording each, see `profcore.recording`
         progress.json, status.json, owner.json, title.txt, log.txt   as for a recording
"""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import TYPE_CHECKING, Final

import msgspec

from profcore.errors import ExperimentError

# Read when the plan's JSON form is decoded, so not for the type checker alone.
from profcore.experiment import COMPILE_MODES, CompileMode, Dtype, Experiment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SWEEP_FILE: Final = "sweep.json"
POINTS_FOLDER: Final = "points"

POINTS_MAX: Final = 100
REFINE_MAX: Final = 8
"""Sizes that may be added to one row of sizes."""
BUSY_THRESHOLDS: Final = (0.5, 0.8)
"""Shares of the step in which the GPU works: below the first the GPU waits for the CPU, from the
second on the GPU is the limit (rule B1)."""
NEAR_RATIO: Final = 1.1
"""Neighbouring sizes this close need no further size between them."""
SIZE_UNIT: Final = 16
"""Added sizes are multiples of it, so that no odd size spoils the kernels' alignment."""

_AXES: Final[dict[str, str]] = {
    "sizes": "size",
    "dtypes": "dtype",
    "compiles": "compile",
    "batches": "batch",
    "warmups": "warmup",
}
"""Field of the plan -> knob of the experiment."""
_OUTER: Final = ("compiles", "dtypes", "batches", "warmups")
"""In this order, sizes innermost: a row of sizes is one line of a chart."""


class SweepPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to run. Building one checks it.

    Raises:
        ExperimentError: a value out of range, a cold point, or too many points; one sentence per
            fault.
    """

    base: Experiment
    """The knobs that stay; those of the lists below are replaced."""
    sizes: tuple[int, ...] = ()
    """Empty: the base's. The same for the lists below."""
    dtypes: tuple[Dtype, ...] = ()
    compiles: tuple[CompileMode, ...] = ()
    batches: tuple[int, ...] = ()
    warmups: tuple[int, ...] = ()
    refine: int = 0
    """So many sizes are added to each row of sizes, where the GPU's busy share crosses a
    threshold; 0 on a CPU."""

    def __post_init__(self) -> None:
        if faults := list_faults(self):
            raise ExperimentError(" ".join(faults))

    def values(self, axis: str) -> tuple[Any, ...]:
        """Return the values of one list without repetition, sizes in ascending order."""
        given = tuple(dict.fromkeys(getattr(self, axis)))
        given = given or (getattr(self.base, _AXES[axis]),)
        return tuple(sorted(given)) if axis == "sizes" else given

    def rows(self) -> tuple[tuple[Experiment, ...], ...]:
        """Return the points row by row: in a row only the size changes, ascending."""
        rows = []
        for chosen in product(*(self.values(axis) for axis in _OUTER)):
            knobs = {_AXES[axis]: value for axis, value in zip(_OUTER, chosen, strict=True)}
            rows.append(
                tuple(
                    msgspec.structs.replace(self.base, size=size, **knobs)
                    for size in self.values("sizes")
                )
            )
        return tuple(rows)

    def experiments(self) -> tuple[Experiment, ...]:
        """Return all points in the order in which they are run; added sizes are not among them."""
        return tuple(experiment for row in self.rows() for experiment in row)


def list_faults(plan: SweepPlan) -> list[str]:
    """Return one sentence per fault of a plan."""
    faults = []
    for axis, knob in _AXES.items():
        for value in getattr(plan, axis):
            try:
                msgspec.structs.replace(plan.base, **{knob: value})
            except ExperimentError as error:
                faults.append(str(error))
    if faults:
        return faults
    if 0 in plan.values("warmups"):
        faults.append(
            "A sweep runs all its points in one process, so only the first could be cold: give a "
            "warm-up of at least 1, or run the cold start on its own."
        )
    if type(plan.refine) is not int or not 0 <= plan.refine <= REFINE_MAX:
        faults.append(f"refine is {plan.refine!r}; give 0 to {REFINE_MAX} (sizes to add).")
    count = math.prod(len(plan.values(axis)) for axis in _AXES)
    if count > POINTS_MAX:
        faults.append(f"The sweep has {count} points; give at most {POINTS_MAX}.")
    return faults


def from_json(data: bytes | str) -> SweepPlan:
    """Read the JSON form.

    Raises:
        ExperimentError: not JSON, an unknown field, or a value out of bounds.
    """
    try:
        return msgspec.json.decode(data, type=SweepPlan)
    except msgspec.DecodeError as error:
        msg = f"The sweep cannot be read: {error}."
        raise ExperimentError(msg) from error


def describe(plan: SweepPlan) -> str:
    """Return a line that names a sweep: "matmul_add · size 16 to 8192 · bf16 · eager, default"."""
    sizes = plan.values("sizes")
    parts: list[str] = [plan.base.workload]
    parts.append(f"size {sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0]))
    parts.append(", ".join(plan.values("dtypes")))
    modes = plan.values("compiles")
    parts.append("all compile modes" if set(modes) == set(COMPILE_MODES) else ", ".join(modes))
    if len(plan.values("batches")) > 1:
        parts.append("batch " + ", ".join(map(str, plan.values("batches"))))
    if len(plan.values("warmups")) > 1:
        parts.append("warm-up " + ", ".join(map(str, plan.values("warmups"))))
    return " · ".join(parts)


def crossing(
    points: Sequence[tuple[int, float]], threshold: float
) -> tuple[tuple[int, float], tuple[int, float]] | None:
    """Return the first two neighbours between which the busy share reaches a threshold.

    Args:
        points: (size, busy share) in any order.
        threshold: 0 to 1.

    Returns:
        The last point below and the first at or above; None when it is not crossed upwards.
    """
    for below, above in pairwise(sorted(points)):
        if below[1] < threshold <= above[1]:
            return below, above
    return None


def next_size(points: Sequence[tuple[int, float]]) -> int | None:
    """Return the size to add to a row: the middle, by ratio, of the widest open crossing.

    None: every crossing lies between sizes that are at most NEAR_RATIO apart, or there is none.
    """
    best: tuple[float, int] | None = None
    for threshold in BUSY_THRESHOLDS:
        found = crossing(points, threshold)
        if found is None:
            continue
        low, high = found[0][0], found[1][0]
        middle = round(math.sqrt(low * high) / SIZE_UNIT) * SIZE_UNIT
        if high / low > NEAR_RATIO and low < middle < high:
            best = max(best or (0.0, 0), (high / low, middle))
    return best[1] if best else None
