"""What one zoom step of the timeline costs in Chromium, and how long a large trace takes to show.

Usage: PYTHONPATH=. python benchmarks/timeline_zoom.py [--rows 5000 500 400000] [--steps 15]
Prints per size: bars drawn, time until the picture stands, median and longest zoom step, and the
wait for two frames without any zoom. The wheel is turned by the browser and the picture is compared
before and after: otherwise the time of two empty frames looks like a result.
"""

from __future__ import annotations

import argparse
import gzip
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from tests.e2e import screen
from tests.e2e.conftest import CHROMIUM_ARGS
from tests.e2e.server import serve
from tests.page_recordings import write_recording
from tests.trace_bytes import Row, kernel, launch, op, step, trace_bytes

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
MARKS = f".st-key-timeline {screen.CHART}"
STEPS = 5
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PICTURE = "marks => marks.tagName === 'CANVAS' ? marks.toDataURL() : marks.innerHTML"
LIMIT_MS = 120_000


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 5_000, 400_000])
    parser.add_argument("--steps", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, serve(Path(scratch)) as server:
        ids = {rows: f"{rows:012x}" for rows in given.rows}
        for rows, name in ids.items():
            text = trace_bytes(*_rows(rows))
            write_recording(server.data / name, trace=gzip.compress(text))
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            warm = chromium.new_page()
            screen.visit(warm, server, "/")
            for rows, name in ids.items():
                page = chromium.new_page(viewport={"width": 1280, "height": 1000})
                begun_s = time.monotonic()
                page.goto(f"{server.url}/timeline?run={name}&step=all")
                page.wait_for_selector(MARKS, timeout=LIMIT_MS)
                shown_s = time.monotonic() - begun_s
                screen.settle(page)
                print(f"{rows:>7,} rows  shown after {shown_s:.1f} s  {_zoom(page, given.steps)}")
                page.close()
            chromium.close()


def _rows(count: int) -> list[Row]:
    """Return about `count` rows: five steps of many small launches, four rows each."""
    calls = count // STEPS // 4
    rows: list[Row] = []
    for number in range(STEPS):
        begin = number * (calls * 20 + 50)
        rows.append(step(number, begin, calls * 20 + 10))
        for call in range(calls):
            at, correlation = begin + 5 + call * 20, number * calls + call + 1
            rows += [
                op("aten::matmul", at, 15),
                op("aten::mm", at + 1, 13),
                launch(at + 5, 4, correlation=correlation),
                kernel("gemm", at + 12, 3 + call % 5, correlation=correlation),
            ]
    return rows


def _zoom(page: Page, steps: int) -> str:
    marks = page.locator(MARKS)
    page.wait_for_timeout(1_500)
    box = marks.bounding_box()
    if box is None:
        return "the picture is not there"
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    before = marks.evaluate(PICTURE)
    floor_ms = statistics.median(_timed_ms(page, wheel=0) for _ in range(steps))
    # In and out by turns, so that all bars stay in view.
    times_ms = [_timed_ms(page, wheel=-60 if turn % 2 else 60) for turn in range(steps)]
    if marks.evaluate(PICTURE) == before:
        return "the picture did not zoom"
    return (
        f"{marks.evaluate('marks => marks.tagName'):<6}  zoom step "
        f"{statistics.median(times_ms):.0f} ms (longest {max(times_ms):.0f})  "
        f"two frames alone {floor_ms:.0f} ms"
    )


def _timed_ms(page: Page, *, wheel: int) -> float:
    begun_s = time.monotonic()
    if wheel:
        page.mouse.wheel(0, wheel)
    page.evaluate(TWO_FRAMES)
    return (time.monotonic() - begun_s) * 1000


if __name__ == "__main__":
    main()
