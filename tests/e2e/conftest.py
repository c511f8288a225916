"""Fixtures of the browser tests: the distribution's Chromium, visitors, servers.

Nothing is downloaded: `apt-get install chromium`, or name the program in CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.e2e.server import Server, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHROMIUM_ARGS = (
    "--no-sandbox",  # needed as root, as in most containers
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests; its absence is an error, never a silent skip."""
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.fail("no Chromium found: apt-get install chromium, or set CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that do not need a fresh one; its log must stay quiet."""
    with serve(tmp_path_factory.mktemp("server")) as running:
        yield running
        assert not running.complaints()


@pytest.fixture
def fresh_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that nobody has visited."""
    with serve(tmp_path_factory.mktemp("fresh")) as running:
        yield running
        assert not running.complaints()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Return a function that lets a new visitor in: own cookies, own session."""
    contexts: list[BrowserContext] = []

    def enter(**options: object) -> Page:
        given = {"viewport": {"width": 1280, "height": 900}, **options}
        contexts.append(browser.new_context(**given))  # type: ignore[arg-type]
        return contexts[-1].new_page()

    yield enter
    for context in contexts:
        context.close()


@pytest.fixture
def page(visitor: Callable[..., Page]) -> Page:
    """One visitor's tab."""
    return visitor()
