"""“Confirm it”: the button that puts a rule to the test with the experiment it predicts."""

from dataclasses import dataclass

import msgspec
import streamlit as st

from pages._panels.cost import why_not
from pages._panels.notices import leave_notice
from pages._panels.samples import sample_of
from pages._panels.start import RUN_PARAMETER, set_knobs
from pages._panels.text import plain
from profcore.analysis import Analysis
from profcore.errors import ProfcoreError
from profcore.experiment import Experiment, describe
from profcore.jobs import JobRunner
from profcore.recording import Recording
from profcore.rules.trials import Trial, trial_of

CONFIRMS_PARAMETER, BEFORE_PARAMETER = "confirms", "before"
"""Names of the URL parameters: the rule that is put to the test, and the id of the run before."""

VERDICT_RULE = "B1"
"""Stands for the verdict: its prediction follows from what bounds the run."""

RUN_PAGE = "pages/run_page.py"
NO_GPU = "Only a GPU can tell, and there is none here."


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """How a trial can be made here."""

    before_id: str
    """The run before is there already; empty: it must be made here too."""
    after_id: str
    """A sample is the run after; empty: it must be made."""
    after: Experiment
    before: Experiment

    @property
    def is_made(self) -> bool:
        """Whether both runs are there already."""
        return bool(self.before_id and self.after_id)


def confirm_button(
    rule: str, analysis: Analysis, recording: Recording | None, runner: JobRunner
) -> None:
    """Draw what the rule predicts and a button that tests it; nothing where no knob can.

    Inside a fragment too: a click leads to the Run page.

    Args:
        rule: Id of a rule that was seen; VERDICT_RULE for the verdict.
        analysis: Of the trace on show.
        recording: What is on show; None for a trace that somebody opened.
        runner: The queue.
    """
    trial = trial_of(rule, analysis)
    if trial is None:
        return
    offer = offer_of(trial, recording, runner)
    if rule == VERDICT_RULE:
        st.markdown("**Do not take its word for it: put the verdict to the test**")
    for prediction in trial.predictions:
        st.caption(f"*Prediction:* {plain(prediction.sentence)}")
    reason = "" if offer.is_made else _why_not(trial, offer, runner)
    words = "open the two examples" if offer.is_made else "run it"
    if not offer.is_made and not offer.before_id:
        words = "run both"
    clicked = st.button(
        f"Confirm it: {words}",
        icon=":material/science:",
        key=f"confirm_{rule}",
        help=f"{plain(_how(trial, offer))}",
        on_click=None if offer.is_made else set_knobs,
        args=(offer.after,),
        disabled=bool(reason),
    )
    if reason:
        st.caption(f"Not here: {plain(reason)}")
    if clicked:
        _confirm(rule, offer, runner)


def offer_of(trial: Trial, recording: Recording | None, runner: JobRunner) -> Offer:
    """Return how to make a trial: with examples where both are there, else with runs here."""
    is_own = recording is not None and not recording.is_sample
    before_id = recording.id if recording is not None else ""
    after_id = ""
    if not is_own:
        before_id = before_id or sample_of(trial.before)
        after_id = sample_of(trial.after)
    if not (before_id and after_id):
        after_id = ""
        if recording is None or not _is_here(recording, runner):
            before_id = ""  # made elsewhere: only runs of one machine are compared
    device = recording.experiment.device if recording is not None else "auto"
    machine = runner.machine
    if machine is None or machine.find(device) is None:
        device = "auto"
    return Offer(
        before_id=before_id,
        after_id=after_id,
        before=msgspec.structs.replace(trial.before, device=device),
        after=msgspec.structs.replace(trial.after, device=device),
    )


def _is_here(recording: Recording, runner: JobRunner) -> bool:
    """Tell whether a recording was made on a device of this machine, as far as names tell."""
    machine, where = runner.machine, recording.environment
    if recording.is_sample or machine is None or where is None:
        return not recording.is_sample
    device = machine.find(where.device)
    return device is not None and (where.device == "cpu" or device.name == where.device_name)


def _why_not(trial: Trial, offer: Offer, runner: JobRunner) -> str:
    machine = runner.machine
    if machine is not None and any(one.needs_gpu for one in trial.predictions):
        device = machine.resolve(offer.after.device)
        if device is None or not device.is_gpu:
            return NO_GPU
    before = "" if offer.before_id else why_not(offer.before, runner)
    return before or why_not(offer.after, runner)


def _how(trial: Trial, offer: Offer) -> str:
    after = describe(offer.after)
    if offer.is_made:
        return f"Opens a recorded pair: the run before, and {after}."
    if offer.before_id:
        return f"Runs {after} and holds what is measured against the prediction."
    first = "the nearest experiment" if trial.is_example else "the same here"
    return f"Runs {first} ({describe(offer.before)}), then {after}, and compares the two."


def _confirm(rule: str, offer: Offer, runner: JobRunner) -> None:
    """Start what is not made yet and show the run after; a refusal is left for the page to say."""
    try:
        before_id = offer.before_id or runner.submit(offer.before)
        after_id = offer.after_id or runner.submit(offer.after)
    except ProfcoreError as error:
        leave_notice(f"Not started. {error}")
        st.rerun()
    st.switch_page(
        RUN_PAGE,
        query_params={
            RUN_PARAMETER: after_id,
            CONFIRMS_PARAMETER: rule,
            BEFORE_PARAMETER: before_id,
        },
    )
