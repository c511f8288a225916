"""How a recording ended, in one line: a badge and a sentence."""

from pages._panels.results import summarize
from pages._panels.text import plain
from profcore.errors import ProfcoreError
from profcore.recording import Recording

BOUND_COLORS = {
    "overhead-bound": "orange",
    "waiting": "orange",
    "input-bound": "orange",
    "copy-bound": "orange",
    "compiling": "orange",
    "compute-bound": "green",
    "memory-bound": "green",
    "balanced": "blue",
}
"""Orange: time is lost to something other than the work. What is not listed is gray."""

_STATES = {
    "queued": ":gray-badge[waiting]",
    "running": ":blue-badge[under way]",
    "failed": ":red-badge[failed]",
    "cancelled": ":gray-badge[cancelled]",
    "timeout": ":red-badge[took too long]",
}


def bound_badge(bound: str) -> str:
    """Return Markdown of a badge that names what bounds a run."""
    return f":{BOUND_COLORS.get(bound, 'gray')}-badge[{bound.replace('-', ' ')}]"


def verdict_line(recording: Recording) -> str:
    """Return Markdown: the verdict of a finished recording, or how it ended."""
    state = recording.status.state
    if state != "done":
        return f"{_STATES[state]} {plain(recording.status.message)}"
    try:
        summary = summarize(recording)
    except ProfcoreError as error:
        return f":red-badge[cannot be read] {plain(str(error))}"
    # The sentence begins with the words of the badge: they are not said twice.
    sentence = summary.sentence
    words = f"{summary.bound}: "
    if sentence.casefold().startswith(words):
        sentence = sentence[len(words) :]
        sentence = sentence[:1].upper() + sentence[1:]
    return f"{bound_badge(summary.bound)} {plain(sentence)}"
