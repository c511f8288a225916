"""From a trace or a recording to the answer on standard output."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING

from profcore.errors import RecordingError

if TYPE_CHECKING:
    from pathlib import Path

    from profcore.analysis import Analysis
    from profcore.recording import Recording


def analysis_of(recording: Recording) -> Analysis:
    """Read the trace of a recording.

    Raises:
        RecordingError: the run was not finished, so there is no trace.
        TraceError: the trace cannot be read.
    """
    from profcore.analysis import Analysis
    from profcore.trace import read

    if not recording.trace_path.is_file():
        why = recording.status.message or f"the run is {recording.status.state}"
        msg = f"The recording {recording.id} has no trace: {why}"
        raise RecordingError(msg)
    return Analysis.of_recording(recording, read(recording.trace_path))


def analysis_of_trace(path: Path) -> Analysis:
    """Read a trace that somebody opened.

    Raises:
        TraceError: the file cannot be read.
    """
    from profcore.analysis import Analysis
    from profcore.trace import read

    return Analysis(read(path))


def print_answer(analysis: Analysis, *, as_json: bool) -> None:
    """Print the JSON object or the readable text."""
    from profcore.commands.report import report
    from profcore.commands.text import summary
    from profcore.rules import check_all, judge

    findings, verdict = check_all(analysis), judge(analysis)
    if as_json:
        print_json(report(analysis, findings, verdict))
    else:
        sys.stdout.write(summary(analysis, findings, verdict))


def print_json(answer: object) -> None:
    """Print JSON in ASCII: names from files may hold anything, and so may the terminal."""
    sys.stdout.write(json.dumps(answer, indent=1, allow_nan=False) + "\n")


def say(text: str) -> None:
    """Write progress to standard error; a reader who left does not end the work."""
    with contextlib.suppress(BrokenPipeError):
        print(text, file=sys.stderr, flush=True)
