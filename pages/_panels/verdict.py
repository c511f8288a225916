"""What bounds this run, the arithmetic that says so, and what to try next."""

import msgspec
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._panels.cost import why_not
from pages._panels.outcome import bound_badge
from pages._panels.samples import load_samples
from pages._panels.start import open_recording, set_knobs_and_start
from pages._panels.table_link import table_link
from pages._panels.text import plain
from profcore.errors import ExperimentError
from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.recording import Recording
from profcore.rules import Suggestion, Verdict
from profcore.rules.constants import INFLATION


def verdict_panel(verdict: Verdict, recording: Recording, runner: JobRunner) -> None:
    """Draw the sentence, its derivation, and a button per suggestion."""
    with st.container(border=True, key="verdict"):
        right = _verdict(verdict)
        with right:
            for position, suggestion in enumerate(verdict.suggestions):
                _suggestion(suggestion, recording, runner, position)


def bare_verdict_panel(verdict: Verdict) -> None:
    """Draw the verdict of a trace that knows nothing but itself, and how sure it is."""
    with st.container(border=True, key="verdict"):
        _verdict(verdict)
        st.caption(
            "A trace holds no step time measured without the profiler, so this rests on the trace "
            f"alone. {_how_sure(verdict.bound)}"
        )


def _verdict(verdict: Verdict) -> DeltaGenerator:
    """Draw sentence, derivation and advice; return the place below the advice."""
    st.markdown(bound_badge(verdict.bound))
    st.subheader(plain(verdict.sentence), anchor=False)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        _arithmetic(verdict)
    with right:
        if verdict.advice:
            st.markdown("**What to try**")
            st.text(verdict.advice)
    return right


def _how_sure(bound: str) -> str:
    if bound == "cannot-tell":
        return "How sure: not sure enough to name what bounds it."
    if bound == "cpu-run":
        return "How sure: shares of operators hold roughly, since the profiler slows each of them."
    return (
        "How sure: it is named only where it holds even if the profiler made the CPU side "
        f"{INFLATION:g} times slower; how much it did here, nobody can tell from the file."
    )


def _arithmetic(verdict: Verdict) -> None:
    if not verdict.arithmetic:
        return
    st.markdown("**How this follows**")
    # A list and not a table: two columns do not fit on a phone when a word in them is long.
    steps = (
        f"{number}. {plain(line.text)} :small[(from {table_link(line.table)})]"
        for number, line in enumerate(verdict.arithmetic, start=1)
    )
    st.markdown("\n".join(steps))


def _suggestion(
    suggestion: Suggestion, recording: Recording, runner: JobRunner, position: int
) -> None:
    """A button that makes the experiment here, or opens the example that has it already."""
    try:
        wanted = next_experiment(recording.experiment, suggestion, runner)
    except ExperimentError:
        return  # beyond the bounds of a knob: nothing to offer
    example = _example_of(wanted) if recording.is_sample else None
    label, key = plain(suggestion.label), f"try_{position}"
    why = suggestion.why
    if example is not None:
        st.button(
            f"{label}: open the example",
            icon=":material/arrow_forward:",
            key=key,
            on_click=open_recording,
            args=(example.id,),
        )
    else:
        reason = why_not(wanted, runner)
        st.button(
            f"{label}: run it",
            icon=":material/play_arrow:",
            key=key,
            on_click=set_knobs_and_start,
            args=(wanted,),
            disabled=bool(reason),
        )
        if reason:
            why += f" Not here: {reason}"
    st.caption(plain(why))


def next_experiment(made: Experiment, suggestion: Suggestion, runner: JobRunner) -> Experiment:
    """Return the experiment with the suggested knobs, on a device that is there.

    Raises:
        ExperimentError: the suggestion leaves the bounds of a knob.
    """
    machine = runner.machine
    is_there = machine is not None and machine.find(made.device) is not None
    knobs = {} if is_there else {"device": "auto"}
    # `replace` does not check bounds again: building one does.
    return Experiment(**msgspec.structs.asdict(made) | knobs | suggestion.knobs)


def _example_of(experiment: Experiment) -> Recording | None:
    """Return the sample of this experiment; where it was made does not matter."""
    wanted = msgspec.structs.replace(experiment, device="auto")
    for sample in load_samples():
        if msgspec.structs.replace(sample.experiment, device="auto") == wanted:
            return sample
    return None
