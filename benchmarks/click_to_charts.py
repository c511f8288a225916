"""From a click on a warm app to drawn charts, against a plain script of ten lines.

Usage: PYTHONPATH=. python benchmarks/click_to_charts.py [--repeats 3]
Prints both times and their ratio, alternating the two in one run. With Chromium and Playwright the
click is a real one in a browser; without them the page's script is run by Streamlit's AppTest,
which leaves the drawing out, and the output says so.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

from profcore.library import DATA_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
CHARTS = "[data-testid=stVegaLiteChart] :is(svg.marks, canvas.marks)"
CHROMIUM_ARGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
LIMIT_S = 120.0
SPARE_S = 15.0
"""Pause before each click: "warm" means that the spare child has imported torch."""


def main() -> None:
    """Print one line per repeat and the ratio of the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    app_s, script_s = [], []
    with tempfile.TemporaryDirectory() as scratch:
        os.environ[DATA_VARIABLE] = str(Path(scratch) / "data")
        with _clicker(Path(scratch)) as (how, click):
            print(f"app: {how}; script: benchmarks/plain_script.py")
            time.sleep(SPARE_S)
            click()  # not counted: a tab's first chart loads the code that draws charts
            for _ in range(repeats):
                time.sleep(SPARE_S)
                app_s.append(click())
                time.sleep(SPARE_S)  # the next spare imports torch now, not beside the script
                script_s.append(_script(Path(scratch)))
                print(f"click to charts {app_s[-1]:.2f} s   plain script {script_s[-1]:.2f} s")
    ratio = statistics.median(app_s) / statistics.median(script_s)
    print(f"click to charts takes {ratio:.0%} of the plain script (medians of {repeats})")


def _script(folder: Path) -> float:
    began_s = time.monotonic()
    subprocess.run(
        [sys.executable, "benchmarks/plain_script.py", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return time.monotonic() - began_s


@contextlib.contextmanager
def _clicker(folder: Path) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield how the click is made, and what makes one and returns its seconds."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        yield "AppTest, without the drawing in a browser", _click_in_apptest
        return
    with _server(folder) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(LIMIT_S * 1000)
        page.goto(f"{url}/?size=64")
        progress = page.locator(".st-key-progress")

        def click() -> float:
            run = page.get_by_role("button", name="Run", exact=True)
            run.and_(page.locator(":enabled")).wait_for()
            began_s = time.monotonic()
            run.click()
            progress.wait_for()
            progress.wait_for(state="hidden")
            # The charts of a CPU run are two, of a GPU run three; the last thing on the page
            # stands below them.
            page.locator(CHARTS).nth(1).wait_for()
            page.get_by_role("heading", name="What was seen, and what it likely means").wait_for()
            return time.monotonic() - began_s

        yield "a real click in Chromium", click
        browser.close()


def _click_in_apptest() -> float:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=LIMIT_S).run()
    while (run := _run_button(app)).disabled:
        time.sleep(0.2)
        app.run()
    time.sleep(SPARE_S)
    began_s = time.monotonic()
    run.click().run()
    while not app.get("vega_lite_chart"):
        time.sleep(0.05)
        app.run()
        if time.monotonic() - began_s > LIMIT_S:
            sys.exit("no chart came")
    return time.monotonic() - began_s


def _run_button(app: AppTest):  # noqa: ANN202 - Streamlit does not export the type
    return next(button for button in app.button if button.label == "Run")


@contextlib.contextmanager
def _server(folder: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--server.port", port], cwd=ROOT, stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(f"{url}/_stcore/health").close()  # noqa: S310
                break
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
