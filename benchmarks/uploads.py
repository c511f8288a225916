"""What uploads cost the server: its memory after each of five, and a page for a large trace.

    python benchmarks/uploads.py [--size-mb 60] [--times 5] [--events 400000]

A public trace is repeated until it has the size. A real browser uploads it several times, each
time with other spaces at its end, so that nothing is known by its content. Printed is the memory
of the server's process before, after each, and after the visitor has left the page. A last, larger
trace must show its page. The browser is the distribution's Chromium (or name it in CHROMIUM).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from open_trace import FOLDER, MB, TRACE, grow  # noqa: E402 - found beside this file

if TYPE_CHECKING:
    from playwright.sync_api import Page

READY = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)
PORT = 8747
SHOWN_MS = 300_000
SETTLE_S = 5.0
"""The server lets go of an upload some moments after the page is drawn."""


def main() -> int:
    """Print the table; 1 when the large trace did not show its page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size-mb", type=int, default=60)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--events", type=int, default=400_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="profcore-uploads-") as name:
        folder = Path(name)
        process = start(folder)
        try:
            return measure(folder, process.pid, given)
        finally:
            process.terminate()
            process.wait()


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Start a server on PORT and wait until it answers."""
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", "app.py"),
                *("--server.headless", "true", "--server.port", str(PORT)),
                *("--server.fileWatcherType", "none"),
            ],
            cwd=ROOT,
            env={**os.environ, "PROFCORE_DATA": str(folder / "data")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/_stcore/health", timeout=1).close()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return process
    sys.exit((folder / "server.log").read_text(encoding="utf-8"))


def measure(folder: Path, pid: int, given: argparse.Namespace) -> int:
    """Upload, and print the memory after each upload."""
    from playwright.sync_api import sync_playwright

    small, large = folder / "small.json", folder / "large.json"
    events = grow(FOLDER / TRACE, small, given.size_mb * MB)
    per_event = small.stat().st_size / events
    large_events = grow(FOLDER / TRACE, large, int(given.events * per_event))
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{PORT}/open")
        page.wait_for_selector(READY, timeout=SHOWN_MS)
        print(f"{given.size_mb} MB, {events:,} events, {given.times} times")
        print(f"{'before':>22} {resident_mb(pid):6.0f} MB")
        for number in range(given.times):
            with small.open("ab") as file:
                file.write(b" \n")
            took_s = upload(page, small)
            print(f"{f'after upload {number + 1}':>22} {resident_mb(pid):6.0f} MB  {took_s:.1f} s")
        took_s = upload(page, large)
        size_mb = large.stat().st_size / MB
        print(f"{f'{large_events:,} events':>22} {resident_mb(pid):6.0f} MB  {took_s:.1f} s")
        print(f"{'of a file of':>22} {size_mb:6.0f} MB")
        words = page.inner_text("[data-testid=stMain]")
        browser.close()
        time.sleep(SETTLE_S)
        print(f"{'after the visit':>22} {resident_mb(pid):6.0f} MB")
    log = (folder / "server.log").read_text(encoding="utf-8")
    is_shown = "How sure:" in words and "MessageSizeError" not in words + log
    print("the large trace shows its page" if is_shown else f"NOT SHOWN:\n{words[:2000]}\n{log}")
    return 0 if is_shown else 1


def upload(page: Page, path: Path) -> float:
    """Upload a file and wait for its verdict; return the seconds that took."""
    page.goto(f"http://127.0.0.1:{PORT}/open")
    page.wait_for_selector(READY, timeout=SHOWN_MS)
    began_s = time.monotonic()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(path)
    page.wait_for_url("**/open?trace=*", timeout=SHOWN_MS)
    page.get_by_text("How sure:").wait_for(timeout=SHOWN_MS)
    page.wait_for_selector(READY, timeout=SHOWN_MS)
    took_s = time.monotonic() - began_s
    time.sleep(SETTLE_S)
    return took_s


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / MB


if __name__ == "__main__":
    sys.exit(main())
