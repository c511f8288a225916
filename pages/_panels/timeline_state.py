"""What the timeline shows of a trace: stretch, row and rule, all of it in the address."""

import re
from dataclasses import dataclass

import streamlit as st

from pages._panels.results import Result
from pages._panels.timeline_link import (
    PART_PARAMETER,
    ROW_PARAMETER,
    RULE_PARAMETER,
    STEP_PARAMETER,
)
from profcore.analysis import views

PARAMETERS = (STEP_PARAMETER, ROW_PARAMETER, RULE_PARAMETER, PART_PARAMETER)
"""What belongs to one trace and goes when another one is chosen."""
PART_MAX = 100
"""A part of a stretch is given in hundredths of it: "25-50" is the second quarter."""
WHOLE = "all"
"""The whole recording instead of a step."""
TYPICAL = 1
"""Position of the step shown first: the one before it is wide even after warm-up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """The stretch on show."""

    choice: str
    """"all", or the number of the step."""
    position: int | None
    """Of the step in `window_steps`; None for the whole recording."""
    whole_start_ns: int
    whole_end_ns: int
    """The step with all of its work, or the recording."""
    part: tuple[int, int] = (0, PART_MAX)
    """Which hundredths of it are drawn."""

    @property
    def start_ns(self) -> int:
        """Left edge of the picture."""
        return self._at_ns(self.part[0])

    @property
    def end_ns(self) -> int:
        """Right edge of the picture, past the left one."""
        return max(self._at_ns(self.part[1]), self.start_ns + 1)

    def _at_ns(self, hundredth: int) -> int:
        length_ns = self.whole_end_ns - self.whole_start_ns
        return self.whole_start_ns + length_ns * hundredth // PART_MAX


def asked_part() -> tuple[int, int]:
    """Return the part of the address, all of it when there is none or it is no part."""
    found = re.fullmatch(r"(\d{1,3})-(\d{1,3})", st.query_params.get(PART_PARAMETER, ""), re.ASCII)
    low, high = (int(found[1]), int(found[2])) if found else (0, PART_MAX)
    return (low, high) if low < high <= PART_MAX else (0, PART_MAX)


def asked_row(result: Result) -> int | None:
    """Return the row of the address; None when there is none or it is no row of this trace."""
    text = st.query_params.get(ROW_PARAMETER, "")
    if not (text.isascii() and text.isdigit()) or int(text) >= len(result.analysis.trace):
        return None
    return int(text)


def asked_view(result: Result) -> View:
    """Return the stretch that the address asks for: a step, the step of its row, or a typical one.

    What the address asks for and does not exist is passed over.
    """
    analysis = result.analysis
    numbers = step_numbers(result)
    text = st.query_params.get(STEP_PARAMETER, "")
    if text == WHOLE or not numbers:
        return _whole(result)
    if text in numbers:
        return _step(result, numbers.index(text))
    row = asked_row(result)
    if row is not None and (position := views.step_of_row(analysis, row)) is not None:
        return _step(result, position)
    return _step(result, min(TYPICAL, len(numbers) - 1))


def step_numbers(result: Result) -> list[str]:
    """Return the numbers of the steps, or of what stands for steps; [] when nothing does."""
    if result.analysis.windows.source == "recording":
        return []
    return [str(number) for number in result.analysis.window_steps["number"]]


def show(
    *,
    step: str | None = None,
    row: int | None = None,
    rule: str | None = None,
    part: str | None = None,
) -> None:
    """Put what was chosen into the address; None leaves it as it is."""
    chosen = dict(zip(PARAMETERS, (step, row, rule, part), strict=True))
    for name, value in chosen.items():
        if value is not None:
            st.query_params[name] = str(value)


def forget(*names: str) -> None:
    """Take parts out of the address."""
    for name in names:
        if name in st.query_params:
            del st.query_params[name]


def _whole(result: Result) -> View:
    start_ns, end_ns = views.whole_view(result.analysis)
    return View(
        choice=WHOLE,
        position=None,
        whole_start_ns=start_ns,
        whole_end_ns=end_ns,
        part=asked_part(),
    )


def _step(result: Result, position: int) -> View:
    start_ns, end_ns = views.step_view(result.analysis, position)
    return View(
        choice=step_numbers(result)[position],
        position=position,
        whole_start_ns=start_ns,
        whole_end_ns=end_ns,
        part=asked_part(),
    )
