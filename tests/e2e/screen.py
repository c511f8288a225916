"""What the browser tests look for; Streamlit's test ids are named here and nowhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

if TYPE_CHECKING:
    from tests.e2e.server import Server

SLOW_MS = 30_000
"""The first chart of a browser loads the code that draws charts; machines are shared."""
expect.set_options(timeout=SLOW_MS)
RUN_MS = 90_000
"""A run on a small shared machine: torch is imported first."""
READY = (
    "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
)
EXCEPTION = "stException"
CHART = ":is(svg.marks, canvas.marks)"
RUN_ID = re.compile(r"[?&]run=([0-9a-f]{12})")


def settle(page: Page) -> None:
    """Wait until the app is connected and its script has ended; nothing may have failed."""
    page.wait_for_selector(READY, timeout=60_000)
    expect(page.get_by_test_id(EXCEPTION)).to_have_count(0)


def visit(page: Page, server: Server, path: str = "/") -> None:
    page.goto(server.url + path)
    settle(page)


def run_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Run", exact=True)


def press_run(page: Page) -> None:
    """Press Run as soon as the machine is known."""
    expect(run_button(page)).to_be_enabled(timeout=RUN_MS)
    run_button(page).click()


def cancel_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Cancel")


def expect_result(page: Page) -> None:
    """Wait for verdict, numbers, charts, tables and observations of a CPU run."""
    expect(page.locator(".st-key-verdict")).to_contain_text("This ran on the CPU", timeout=RUN_MS)
    expect(page.get_by_text("Step time, no profiler")).to_be_visible()
    expect(charts(page, "0")).to_have_count(1)
    expect(charts(page, "1").last).to_be_visible()  # a slow first step has a chart of its own
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    expect(
        page.get_by_role("heading", name="What was seen, and what it likely means")
    ).to_be_visible()
    expect(page.locator("[class*='st-key-finding_']").first).to_be_visible()
    settle(page)


def charts(page: Page, figure: str) -> Locator:
    """Return what is drawn for one question: 0 self times, 1 steps, 2 kernels."""
    return page.locator(f".st-key-figure_{figure} {CHART}")


def bars(page: Page, figure: str) -> Locator:
    """Return the bars drawn for one question; each says what it is to people who do not see it."""
    return page.locator(f".st-key-figure_{figure} svg.marks path[aria-roledescription=bar]")


def outlined(page: Page, figure: str) -> Locator:
    """Return the bars of one question that stand out against the others."""
    return page.locator(
        f".st-key-figure_{figure} svg.marks path[aria-roledescription=bar][stroke=currentColor]"
    )


def run_id(page: Page) -> str:
    """Return the id in the address, once it is there."""
    expect(page).to_have_url(RUN_ID)
    found = RUN_ID.search(page.evaluate("location.href"))
    assert found is not None
    return found[1]


def overflow_px(page: Page) -> int:
    """Return how far the page can be scrolled sideways."""
    return int(
        page.evaluate(
            """() => Math.max(...['html', '[data-testid=stMain]'].map(where => {
                const box = document.querySelector(where);
                return box.scrollWidth - box.clientWidth;
            }))"""
        )
    )


AT_REST = """() => !document.querySelector('[data-stale="true"]') && document.getAnimations().every(
    each => each.playState !== 'running' || each.effect.getTiming().iterations === Infinity
)"""
"""Nothing is greyed because its script runs again, and no colour is still fading in."""


LOOKS = 3
PAUSE_MS = 1000


def accessibility_faults(page: Page) -> list[str]:
    """Return what axe finds on the page at rest: the rule and where.

    A fault counts when it is still there after a pause: on a busy machine a colour may begin to
    fade while axe looks.
    """
    faults: list[str] = []
    for _ in range(LOOKS):
        settle(page)
        page.wait_for_function(AT_REST)
        found = Axe().run(page).response["violations"]
        faults = [
            f"{fault['id']}: {', '.join(str(node['target']) for node in fault['nodes'])}"
            for fault in found
        ]
        if not faults:
            break
        page.wait_for_timeout(PAUSE_MS)
    return faults
