"""Runs experiments one after the other on the Run page, whose script AppTest runs: no browser."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from streamlit.testing.v1 import AppTest

from profcore.library import DATA_VARIABLE, Library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profcore.experiment import Experiment
    from profcore.recording import Recording

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 180.0
POLL_S = 0.1


def record_all(experiments: Iterable[Experiment], root: Path) -> Iterator[Recording]:
    """Open the page by a link with the knobs, press Run, wait for the charts; yield the recording.

    Raises:
        RuntimeError: the page showed an exception, or no result in time.
    """
    os.environ[DATA_VARIABLE] = str(root)
    library = Library(root)
    for experiment in experiments:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=LIMIT_S)
        for knob, value in msgspec.to_builtins(experiment).items():
            app.query_params[knob] = str(value).lower()
        before = {recording.id for recording in library.list()}
        app.run()
        _wait(app, lambda app=app: not _run_button(app).disabled)
        _run_button(app).click().run()
        _wait(app, lambda app=app: bool(app.get("vega_lite_chart")))
        new = [recording for recording in library.list() if recording.id not in before]
        shown = app.query_params.get("run")
        if len(new) != 1 or shown not in (new[0].id, [new[0].id]):
            msg = f"the page made {len(new)} recordings and shows {shown}"
            raise RuntimeError(msg)
        yield new[0]


def _run_button(app: AppTest):  # noqa: ANN202 - Streamlit does not export the type
    return next(button for button in app.button if button.label == "Run")


def _wait(app: AppTest, is_there) -> None:  # noqa: ANN001 - a function of nothing
    began_s = time.monotonic()
    while not is_there():
        if app.exception or time.monotonic() - began_s > LIMIT_S:
            msg = f"the page shows {app.exception or 'no result'}"
            raise RuntimeError(msg)
        time.sleep(POLL_S)
        app.run()
