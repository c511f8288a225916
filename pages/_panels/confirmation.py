"""The answer to “Confirm it”: predicted against measured, before beside after."""

import msgspec
import streamlit as st

from pages._panels.compare_link import compare_link
from pages._panels.confirm import BEFORE_PARAMETER, CONFIRMS_PARAMETER
from pages._panels.results import Result, load
from pages._panels.text import plain
from profcore.comparison import Comparison, Run
from profcore.errors import ProfcoreError
from profcore.experiment import Experiment
from profcore.library import Library
from profcore.recording import ACTIVE, Recording
from profcore.rules import RULES
from profcore.rules.predictions import Outcome, judge_prediction
from profcore.rules.trials import VERDICT_RULES, Trial, trial_of

_BADGES = {
    True: ":green-badge[:material/check: It held]",
    False: ":red-badge[:material/close: It did not hold]",
    None: ":gray-badge[:material/question_mark: Cannot be told]",
}
_NEWS = (
    "A prediction that fails is news: this machine differs from those the rule was made on, or the "
    "rule misreads this program. Believe what was measured."
)


def confirmation_panel(recording: Recording, result: Result, library: Library) -> None:
    """Draw the outcome when the URL says that this run puts a rule to the test; else nothing."""
    rule = st.query_params.get(CONFIRMS_PARAMETER, "")
    before_id = st.query_params.get(BEFORE_PARAMETER, "")
    if not before_id or rule not in {known.id for known in RULES}:
        return
    try:
        before = library.open(before_id)
        if before.status.state in ACTIVE:
            st.info("The run before is not finished yet; reload the page in a moment.")
            return
        if before.status.state != "done":
            st.warning(
                f"The prediction cannot be judged: the run before it has no result. "
                f"{plain(before.status.message)}"
            )
            return
        first = load(before)
    except ProfcoreError as error:
        st.warning(f"The prediction cannot be judged. {plain(str(error))}")
        return
    trial = trial_of(rule, first.analysis)
    if trial is None or not _same(trial.after, recording.experiment):
        return  # another run has been opened since
    _outcome(trial, before, recording, first, result)


def _same(a: Experiment, b: Experiment) -> bool:
    """Tell whether two experiments are the same wherever they run."""
    return msgspec.structs.replace(a, device="auto") == msgspec.structs.replace(b, device="auto")


def _outcome(
    trial: Trial, before: Recording, after: Recording, first: Result, second: Result
) -> None:
    outcomes = [judge_prediction(one, first.analysis, second.analysis) for one in trial.predictions]
    with st.container(border=True, key="confirmation"):
        st.subheader("Predicted and measured", anchor=False)
        st.caption(_source(trial))
        for prediction, outcome in zip(trial.predictions, outcomes, strict=True):
            with st.container(gap="xxsmall"):
                st.markdown(f"{_BADGES[outcome.held]} **{plain(prediction.sentence)}**")
                st.markdown(f":small[{plain(outcome.sentence)}]")
        st.markdown(_table(outcomes))
        if any(outcome.held is False for outcome in outcomes):
            st.caption(_NEWS)
        _beside(before, after, first, second)


def _source(trial: Trial) -> str:
    if trial.rule in VERDICT_RULES:
        return "The verdict on the run before made this prediction."
    title = next(rule.title for rule in RULES if rule.id == trial.rule)
    return f"Rule {trial.rule} ({plain(title)}), seen in the run before, made this prediction."


def _table(outcomes: list[Outcome]) -> str:
    rows = [
        f"| {plain(one.what)} | {plain(one.predicted)} | {plain(one.before or 'not known')} "
        f"| {plain(one.after or 'not known')} |"
        for one in outcomes
    ]
    return "\n".join(["| What | Predicted | Before | After |", "|:--|:--|:--|:--|", *rows])


def _beside(before: Recording, after: Recording, first: Result, second: Result) -> None:
    """Say in one sentence how the two runs differ, and lead to the whole comparison."""
    compared = Comparison(
        a=Run(analysis=first.analysis, title=before.title),
        b=Run(analysis=second.analysis, title=after.title),
    )
    st.markdown(f"**Before:** {plain(before.title)}  \n**After:** {plain(after.title)}")
    st.caption(plain(compared.verdict.sentence))
    for caution in compared.comparability.cautions:
        st.caption(plain(caution))
    compare_link(before.id, after.id, label="See the two side by side")
