"""The main job in a real browser, with the real child: set, run, read, share, cancel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import hold, screen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.torch]


def test_set_run_read_share_and_cancel(
    server: Server, page: Page, visitor: Callable[..., Page]
) -> None:
    # GIVEN the page, and the size moved by one stop
    screen.visit(page, server)
    size = page.get_by_role("slider", name="Size")
    size.press("ArrowRight")
    expect(page).to_have_url(f"{server.url}/?size=96")
    expect(page.get_by_text("1.78 MFLOP")).to_be_visible()  # 2 × 96³ + 96²

    # WHEN it is run
    screen.press_run(page)

    # THEN there is a result, in view, and a reload and another visitor find it by its link
    screen.expect_result(page)
    expect(page.get_by_role("heading", name="matmul_add · 96 · bf16")).to_be_in_viewport()
    expect(screen.cancel_button(page)).to_have_count(0)
    run_id = screen.run_id(page)
    page.reload()
    screen.expect_result(page)
    assert "size=96" in page.evaluate("location.href")
    other = visitor()
    screen.visit(other, server, f"/?run={run_id}")
    screen.expect_result(other)
    expect(other.get_by_role("heading", name="matmul_add · 96 · bf16")).to_be_visible()

    # AND a second run ends at once when it is cancelled
    screen.visit(page, server, "/?size=512&device=cpu")
    hold.hold_next_run(server)
    screen.press_run(page)
    screen.cancel_button(page).click()
    expect(page.get_by_role("heading", name="This run was cancelled")).to_be_visible(timeout=10_000)
    expect(screen.cancel_button(page)).to_have_count(0)


def test_two_visitors_at_once_both_get_their_result(
    server: Server, visitor: Callable[..., Page]
) -> None:
    first, second = visitor(), visitor()
    screen.visit(first, server, "/?size=32&device=cpu")
    screen.visit(second, server, "/?size=48&device=cpu")
    screen.press_run(first)
    screen.press_run(second)
    screen.expect_result(first)
    screen.expect_result(second)
    expect(first.get_by_role("heading", name="matmul_add · 32 · bf16")).to_be_visible()
    expect(second.get_by_role("heading", name="matmul_add · 48 · bf16")).to_be_visible()
    assert screen.run_id(first) != screen.run_id(second)


def test_a_closed_tab_leaves_the_queue_working(
    server: Server, visitor: Callable[..., Page]
) -> None:
    # GIVEN a visitor who starts a run and closes the tab
    gone = visitor()
    screen.visit(gone, server, "/?size=64&device=cpu")
    screen.press_run(gone)
    run_id = screen.run_id(gone)
    gone.context.close()

    # WHEN another one runs something
    page = visitor()
    screen.visit(page, server, "/?size=128&device=cpu")
    screen.press_run(page)
    screen.expect_result(page)

    # THEN the first run has its result too
    screen.visit(page, server, f"/?run={run_id}")
    screen.expect_result(page)


def test_try_next_moves_the_knobs_and_runs(server: Server, page: Page) -> None:
    screen.visit(page, server, "/?device=cpu&dtype=fp32")
    screen.press_run(page)
    screen.expect_result(page)
    before = screen.run_id(page)
    suggestion = page.locator(".st-key-try_0").get_by_role("button")
    expect(suggestion).to_be_enabled()
    suggestion.click()
    # The run before has its result on show until the new one is in the address.
    expect(page).not_to_have_url(re.compile(before))
    screen.expect_result(page)
    assert "size=1024" in page.evaluate("location.href")
