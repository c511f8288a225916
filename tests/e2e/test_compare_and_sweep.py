"""Compare and sweep in a real browser, with the real child on the CPU."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from profcore.recording import TIMINGS_FILE
from tests.e2e import hold, screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.server import Server

SWEEP_ID = re.compile(r"[?&]sweep=([0-9a-f]{12})")
SWEEP_MS = 180_000
"""A few points on a small shared machine."""


@pytest.fixture(scope="module", autouse=True)
def somebody_was_here(server: Server, browser: Browser) -> None:
    """Streamlit tells the first visitor of a fresh server, on a deep link, "Page not found"."""
    page = browser.new_page()
    screen.visit(page, server, "/")
    page.close()


def heading(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("heading", name=name)


def press_sweep(page: Page, name: str = "Run the sweep") -> str:
    """Start a sweep; return its id, once it is in the address."""
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled(timeout=screen.RUN_MS)
    button.click()
    expect(page).to_have_url(SWEEP_ID)
    found = SWEEP_ID.search(page.evaluate("location.href"))
    assert found is not None
    return found[1]


@pytest.mark.browser
def test_an_example_is_compared_from_its_result_and_the_link_holds(
    server: Server, page: Page, visitor: Callable[..., Page]
) -> None:
    # GIVEN an example on show
    screen.visit(page, server, "/?run=h200-matmul-add-64")
    expect(page.get_by_text("There is no GPU here")).to_be_visible(timeout=screen.RUN_MS)
    screen.settle(page)

    # WHEN it is compared with its compiled twin
    page.get_by_role("link", name="Compare with ...").click()
    expect(heading(page, "Worth comparing")).to_be_visible()
    screen.settle(page)
    twin = page.locator(".st-key-compare_h200-matmul-add-64_h200-matmul-add-64-compiled")
    twin.get_by_role("button").click()
    verdict = page.locator(".st-key-difference")

    # THEN
    expect(verdict.get_by_role("heading")).to_be_visible()
    expect(page.locator(".st-key-comparability")).to_contain_text("Can they be compared?")
    expect(screen.charts(page, "compare")).to_be_visible()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(3)
    screen.settle(page)

    # AND a line of its tables leads to the timeline of the sides that have it
    table = page.locator(".st-key-compare_operators_all .dvn-scroller")
    table.scroll_into_view_if_needed()
    table.click(position={"x": 18, "y": 52})
    expect(page.get_by_role("link", name="comes about").first).to_be_visible()
    screen.settle(page)
    sentence = verdict.get_by_role("heading").inner_text()
    page.get_by_role("button", name="Swap A and B").click()
    expect(verdict.get_by_role("heading")).not_to_have_text(sentence)
    screen.settle(page)

    # AND another visitor, on a phone, sees the same by the link
    swapped = verdict.get_by_role("heading").inner_text()
    phone = visitor(viewport={"width": 390, "height": 844})
    phone.goto(page.evaluate("location.href"))
    screen.settle(phone)
    expect(phone.locator(".st-key-difference").get_by_role("heading")).to_have_text(swapped)
    assert screen.overflow_px(phone) == 0


@pytest.mark.browser
def test_the_recorded_sweep_shows_the_crossover(server: Server, page: Page) -> None:
    screen.visit(page, server, "/sweep")
    page.locator(".st-key-open_h200-sweep-matmul-add").get_by_role("button").click()
    expect(page).to_have_url(f"{server.url}/sweep?sweep=h200-sweep-matmul-add")
    expect(page.locator(".st-key-crossover")).to_contain_text("lies near size")
    for figure in ("times", "busy", "launches", "throughput", "roofline"):
        expect(screen.charts(page, f"sweep_{figure}")).to_be_visible()
    screen.settle(page)
    assert screen.overflow_px(page) == 0


@pytest.mark.browser
@pytest.mark.torch
def test_sweep_watch_open_a_point_and_compare_two(server: Server, page: Page) -> None:
    # WHEN
    screen.visit(page, server, "/sweep?sizes=16&sizes=64&device=cpu")
    sweep_id = press_sweep(page)
    expect(page.locator(".st-key-sweep_progress")).to_be_visible()

    # THEN the points come, and the whole stands there at the end
    expect(heading(page, "A sweep on the CPU has no crossover")).to_be_visible(timeout=SWEEP_MS)
    expect(screen.cancel_button(page)).to_have_count(0)
    expect(screen.charts(page, "sweep_times")).to_be_visible()
    screen.settle(page)

    # AND a point is a recording like any other, and compares with the others
    page.get_by_role("link", name="Open it").click()
    screen.expect_result(page)
    expect(page).to_have_url(re.compile(f"run={sweep_id}-000"))
    screen.visit(page, server, f"/compare?a={sweep_id}-000&b={sweep_id}-002")
    expect(page.locator(".st-key-difference").get_by_role("heading")).to_be_visible()
    expect(page.get_by_text("Neither side has GPU work")).to_be_visible()

    # AND both can be recorded again, by turns, for as long as the visitor likes
    hold.hold_next_run(server)
    page.get_by_role("button", name="Record both once more").click()
    again = page.locator(".st-key-again")
    expect(again).to_contain_text("run 1 of 2: A, size 16")
    screen.cancel_button(page).click()
    expect(again).to_contain_text("of 2 runs were made and are kept")
    screen.settle(page)


@pytest.mark.browser
@pytest.mark.torch
def test_with_one_size_the_charts_go_over_the_batch(server: Server, page: Page) -> None:
    # WHEN
    path = "/sweep?workload=batched_matmul&sizes=32&sizes=32&batches=1&batches=4&device=cpu"
    screen.visit(page, server, path)
    expect(page.get_by_text("The charts go over the batch.")).to_be_visible(timeout=screen.RUN_MS)
    press_sweep(page)

    # THEN
    expect(heading(page, "A sweep on the CPU has no crossover")).to_be_visible(timeout=SWEEP_MS)
    expect(screen.charts(page, "sweep_times")).to_be_visible()
    expect(page.locator(".st-key-figure_sweep_times")).to_contain_text("Batch")
    screen.settle(page)
    assert screen.overflow_px(page) == 0


@pytest.mark.browser
@pytest.mark.torch
def test_cancel_keeps_what_is_there_and_the_rest_can_be_made(server: Server, page: Page) -> None:
    # GIVEN a sweep that is under way, with a point on show
    screen.visit(page, server, "/sweep?sizes=16&sizes=128&points=halves+between&device=cpu")
    sweep_id = press_sweep(page)
    hold.hold_run(server, sweep_id, TIMINGS_FILE)
    expect(screen.charts(page, "sweep_live")).to_be_visible(timeout=SWEEP_MS)

    # WHEN
    screen.cancel_button(page).click()

    # THEN
    expect(heading(page, "This sweep was cancelled")).to_be_visible()
    screen.settle(page)
    page.get_by_role("button", name="Make the rest").click()
    expect(page.locator(".st-key-sweep_progress")).to_be_visible()
    expect(heading(page, "A sweep on the CPU has no crossover")).to_be_visible(timeout=SWEEP_MS)
    expect(page.get_by_role("button", name="Make the rest")).to_have_count(0, timeout=SWEEP_MS)
