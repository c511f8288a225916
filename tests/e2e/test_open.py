"""Opening a trace in a real browser: upload, doubts, the link, a refusal, hostile names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests import handmade
from tests.e2e import screen
from tests.trace_bytes import annotation, kernel, launch, op, step, trace_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.server import Server

pytestmark = pytest.mark.browser

TRAP = "http://127.0.0.1:9/"  # nothing listens there; asking is enough
HOSTILE = f"gemm ![i]({TRAP}p.png) [l]({TRAP}) {TRAP} www.evil.example `x` <b>y</b> <img src=x>"
LINK = re.compile(r"/open\?trace=[0-9a-f]{32}")
READ_MS = 60_000
"""A child process starts and numpy is imported; machines are shared."""


def enter(page: Page, server: Server, path: str = "/open") -> None:
    screen.visit(page, server, path)
    dialog = page.get_by_role("dialog")  # the first deep link of a server's life shows one
    if dialog.count():
        dialog.get_by_role("button").first.click()
        expect(dialog).to_have_count(0)


def upload(page: Page, name: str, data: bytes) -> None:
    chooser = page.get_by_test_id("stFileUploaderDropzoneInput")
    chooser.set_input_files({"name": name, "mimeType": "application/json", "buffer": data})


def expect_shown(page: Page) -> None:
    expect(page.locator(".st-key-verdict")).to_contain_text("How sure:", timeout=READ_MS)
    screen.settle(page)


def test_an_upload_is_shown_with_its_doubts_and_found_again_by_its_link(
    server: Server, visitor: Callable[..., Page]
) -> None:
    page = visitor()
    enter(page, server)
    upload(page, "leaked.json", trace_bytes(*handmade.leaked_rows()))
    expect_shown(page)
    trust = page.locator(".st-key-trust")
    expect(trust).to_contain_text("1 piece of GPU work has no launch call in the file")
    above = trust.bounding_box()
    below = page.locator(".st-key-verdict").bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] < below["y"]
    for figure in ("0", "1", "2", "3", "4"):
        expect(screen.charts(page, figure).first).to_be_visible()
    expect(page).to_have_url(LINK)
    link = page.evaluate("location.href")
    # WHEN it is loaded anew, and by somebody else
    page.reload()
    expect_shown(page)
    other = visitor()
    other.goto(link)
    expect_shown(other)
    # THEN the server holds columns, not the file
    kept = {path.name for path in (server.data / "opened").rglob("*") if path.is_file()}
    assert kept <= {"about.json", "columns.npz", "trace.json"}


def test_a_refused_file_shows_its_sentence_and_nothing_else(server: Server, page: Page) -> None:
    enter(page, server)
    upload(page, "cut.json", trace_bytes(*handmade.plain_rows())[:-70])
    sentence = page.get_by_text("This file cannot be opened. cut.json ends early")
    expect(sentence).to_be_visible(timeout=READ_MS)
    screen.settle(page)
    expect(page.locator(screen.CHART)).to_have_count(0)
    # AND the next file is welcome
    upload(page, "whole.json", trace_bytes(*handmade.plain_rows()))
    expect_shown(page)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_page_is_sound_with_hostile_names(
    server: Server, visitor: Callable[..., Page], scheme: str, width: int
) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": width, "height": 844})
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    enter(page, server)
    rows = [
        step(1, 0, 100),
        annotation(HOSTILE, 5, 90),
        op(HOSTILE, 10, 60),
        launch(20, 5, correlation=1),
        kernel(HOSTILE + "y" * 5000, 40, 500, correlation=1),
        kernel("😀 名前", 60, 10),
    ]
    upload(page, f"{HOSTILE}.json", trace_bytes(*rows, devices=()))
    expect_shown(page)
    for fold in ("What does a kernel's name say?", "About this file"):
        page.get_by_text(fold).click()
    page.wait_for_load_state("networkidle")
    assert hosts <= {server.host, ""}
    assert screen.overflow_px(page) == 0
    expect(page.locator("[data-testid=stMain] a[href*='127.0.0.1:9']")).to_have_count(0)
    expect(page.locator("[data-testid=stMain] img")).to_have_count(0)
    assert screen.accessibility_faults(page) == []
