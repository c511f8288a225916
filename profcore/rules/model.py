"""The words of the rule table: rule, observation, finding, verdict. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

    from profcore.rules.quantities import Quantities

Kind = Literal["fact", "note", "warning", "trust"]
"""`fact`: explains what is there. `note`: unusual, no time claimed to be lost. `warning`: time is
being lost and a change is proposed. `trust`: the data may mislead; read before everything else."""

State = Literal["fired", "clear", "not_checked"]
"""Missing input is `not_checked`, never `clear`."""

Family = Literal[
    "measurement quality",
    "what bounds it",
    "cold start",
    "launches and dispatch",
    "waiting",
    "memory copies",
    "kernels and precision",
    "torch.compile",
    "CUDA graphs",
    "attention",
    "training and data loading",
]
FAMILIES: Final[tuple[Family, ...]] = get_args(Family)
"""In order of display."""

Bound = Literal[
    "overhead-bound",  # the GPU waits for the CPU
    "compute-bound",  # the GPU is the limit, by its arithmetic or by an unknown mix
    "memory-bound",  # the GPU is the limit, by the bytes it moves
    "copy-bound",  # the GPU is busy with copies
    "waiting",  # the CPU stops for results, and the GPU runs dry
    "input-bound",  # the loop waits for the data loader
    "compiling",  # torch.compile works inside the recorded steps
    "balanced",  # both matter
    "cpu-run",  # no GPU was asked for
    "cannot-tell",
]

Table = Literal[
    "steps", "timings", "kernels", "copies", "activities", "operators", "launches", "experiment",
    "device", "trace",
]  # fmt: skip
"""Where a number of the verdict comes from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One event that an observation rests on."""

    text: str
    """Short name and duration, for people."""
    row: int | None = None
    """Position in the columns of the trace; None: the evidence is no single event."""
    start_ns: int | None = None
    duration_ns: int | None = None
    step: int | None = None
    """N of the ProfilerStep#N that contains it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What a rule saw, and where the case at hand differs from the rule's general words."""

    text: str
    """One or two filled-in sentences with numbers and units."""
    evidence: tuple[Evidence, ...] = ()
    kind: Kind | None = None
    """None: the rule's own kind."""
    meaning: str | None = None
    """None: the rule's own meaning."""
    advice: str | None = None
    """None: the rule's own advice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One row of the catalogue."""

    id: str
    """Stable: part of links, of the JSON output and of test names."""
    title: str
    family: Family
    kind: Kind
    missing: Callable[[Quantities], str | None]
    """Why the rule cannot be checked here, and how to record what it needs; None: it can."""
    observe: Callable[[Quantities], Observation | None]
    """What is seen; None: the rule is clear. Called only when nothing is missing."""
    meaning: str
    advice: str
    """Empty: nothing to try."""
    source: str
    """Where the rule and its threshold come from."""
    saves_gpu_time: bool = False
    """Its advice makes kernels shorter: a fact, not a warning, while the CPU is the limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What one rule says about one analysis."""

    rule: str
    title: str
    family: Family
    kind: Kind
    state: State
    observation: str
    """Empty unless fired."""
    meaning: str
    advice: str
    source: str
    reason: str
    """Why it was not checked; empty otherwise."""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of the verdict's arithmetic."""

    text: str
    table: Table
    """The table its numbers stand in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """An experiment worth running next."""

    label: str
    """For a button: "Size 4,096"."""
    knobs: dict[str, Any] = field(default_factory=dict)
    """Only the knobs that change."""
    why: str
    """What will be seen, as a sentence that the run can prove wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What bounds this run."""

    rule: str
    """B1 (own run), B2 (from the trace alone), or what stood in the way (Q1, ...)."""
    bound: Bound
    sentence: str
    arithmetic: tuple[Line, ...]
    """A derivation to be read from top to bottom."""
    advice: str
    suggestions: tuple[Suggestion, ...] = ()
    """At most three, the most useful first; empty for a trace that somebody opened."""
