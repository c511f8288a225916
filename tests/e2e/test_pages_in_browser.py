"""Every page in a real browser: deep links, requests, width, accessibility, hostile names."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from profcore.recording import TABLE_FILE, TRACE_FILE
from tests.e2e import screen
from tests.e2e.server import ROOT
from tests.page_recordings import GEMM, gpu_rows, write_recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.server import Server

pytestmark = pytest.mark.browser

ID, HOSTILE_ID, FAILED_ID = "0a0a0a0a0a0a", "0b0b0b0b0b0b", "0c0c0c0c0c0c"
TRAP = "http://127.0.0.1:9/"  # nothing listens there; asking is enough
HOSTILE = f"gemm ![i]({TRAP}p.png) [l]({TRAP}) {TRAP} www.evil.example a@evil.example `x` <b>y</b>"
PAGES = {
    "start": "/",
    "result": f"/?run={ID}",
    "highlighted": f"/?run={ID}&rule=E1&event=1",
    "sample": "/?run=h200-matmul-add-64-cold",
    "failed": f"/?run={FAILED_ID}",
    "guide": "/guide",
    "recordings": "/recordings",
}


@pytest.fixture(scope="session")
def filled(server: Server) -> Server:
    """The server with a recording from a GPU, one with hostile names, and one that failed."""
    write_recording(server.data / ID, rows=gpu_rows(first_us=4000))
    write_recording(server.data / HOSTILE_ID, rows=gpu_rows(gemm=HOSTILE), title=HOSTILE[:70])
    write_recording(server.data / FAILED_ID, state="failed", message=HOSTILE, log_tail=HOSTILE)
    return server


def open_quietly(page: Page, server: Server, path: str) -> None:
    """Open a page; a first deep link shows one dialog, which is closed."""
    screen.visit(page, server, path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    dialog = page.get_by_role("dialog")
    if dialog.count():
        dialog.get_by_role("button").first.click()
        expect(dialog).to_have_count(0)
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(
    ("path", "heading"),
    [("/guide", "Field guide"), ("/recordings", "Recordings"), ("/run", "Where does the time go?")],
)
def test_a_deep_link_to_a_fresh_server_runs_the_whole_app(
    fresh_server: Server, page: Page, path: str, heading: str
) -> None:
    screen.visit(page, fresh_server, path)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    # The menu is the router's, not the one made of file names.
    navigation = page.get_by_role("navigation", name="App pages")
    listed = (ROOT / "app.py").read_text(encoding="utf-8").count("st.Page(")
    expect(navigation.get_by_role("link")).to_have_count(listed)
    for name in ("Run", "Field guide", "Recordings"):
        expect(navigation.get_by_role("link", name=name)).to_be_visible()


def test_every_page_has_its_title_and_is_reached_by_the_menu(filled: Server, page: Page) -> None:
    open_quietly(page, filled, "/")
    expect(page).to_have_title("Run · profcore")
    for name, title in (("Field guide", "Field guide"), ("Recordings", "Recordings")):
        page.get_by_role("link", name=name).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page).to_have_title(f"{name} · profcore")
        screen.settle(page)


def test_a_recording_opens_from_the_list(filled: Server, page: Page) -> None:
    open_quietly(page, filled, "/recordings")
    page.locator(f".st-key-row_{ID}").get_by_role("link", name="Open").click()
    expect(page).to_have_url(f"{filled.url}/?run={ID}")
    expect(page.locator(".st-key-verdict")).to_contain_text("Overhead-bound")
    for figure, count in {"0": 1, "1": 2, "2": 1}.items():  # the first step stands apart
        expect(screen.charts(page, figure)).to_have_count(count)


def test_a_line_of_the_verdict_leads_to_its_table(filled: Server, page: Page) -> None:
    open_quietly(page, filled, f"/?run={ID}")
    screen.settle(page)
    heading = page.get_by_role("heading", name="How long does each step take")
    expect(heading).not_to_be_in_viewport()
    page.locator(".st-key-verdict").get_by_role("link", name="steps").first.click()
    expect(heading).to_be_in_viewport()
    expect(page).to_have_url(f"{filled.url}/?run={ID}#table-steps")


def test_a_line_of_a_table_leads_to_how_it_comes_about(filled: Server, page: Page) -> None:
    open_quietly(page, filled, f"/?run={ID}")
    screen.settle(page)
    table = page.locator(f".st-key-table_2_{ID}")  # of the kernels
    table.scroll_into_view_if_needed()
    # The table is one picture: the box before its first line lies below the one of the heads.
    table.locator(".dvn-scroller").click(position={"x": 18, "y": 52})
    link = page.locator(".st-key-figure_2").get_by_role("link", name="comes about")
    expect(link).to_contain_text("nvjet")
    link.click()
    expect(page).to_have_url(re.compile(rf"/timeline\?run={ID}&row=\d+"))
    expect(page.locator(".st-key-chain")).to_contain_text("aten::mm")


def test_the_link_on_show_opens_the_recording(filled: Server, page: Page) -> None:
    open_quietly(page, filled, f"/?run={ID}")
    page.get_by_role("button", name="Link").click()
    expect(page.get_by_text(f"{filled.url}/?run={ID}")).to_be_visible()


def test_files_come_down_whole(filled: Server, page: Page) -> None:
    open_quietly(page, filled, f"/?run={ID}")

    def download(label: str) -> bytes:
        with page.expect_download() as waiting:
            page.get_by_role("button", name=label).click()
        path = waiting.value.path()
        assert waiting.value.suggested_filename.startswith(f"profcore-{ID}.")
        return path.read_bytes()

    assert download("Trace") == (filled.data / ID / TRACE_FILE).read_bytes()
    assert download("PyTorch's table") == (filled.data / ID / TABLE_FILE).read_bytes()
    assert download("Steps (CSV)").startswith(b"number,row,start_ns,cpu_ns,gpu_busy_ns,")
    assert download("Operators (CSV)").count(b"\naten::mm,operator,5,") == 1
    assert json.loads(download("Report (JSON)"))["totals"]["kernels"] == 10


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_page_is_sound(
    filled: Server, visitor: Callable[..., Page], path: str, scheme: str, width: int
) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": width, "height": 844})
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    open_quietly(page, filled, path)
    # No other host hears of the visit, nothing has to be scrolled sideways, axe is content.
    assert hosts <= {filled.host, ""}
    assert screen.overflow_px(page) == 0
    assert screen.accessibility_faults(page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_evidence_is_highlighted_in_the_charts_and_cleared(
    filled: Server, visitor: Callable[..., Page], scheme: str, width: int
) -> None:
    # GIVEN an observation: kernels too short; its evidence are the product of each of the four
    # warm steps and one sum
    page = visitor(color_scheme=scheme, viewport={"width": width, "height": 844})
    open_quietly(page, filled, f"/?run={ID}")
    row = page.locator(".st-key-finding_E1")
    expect(screen.bars(page, "2")).to_have_count(2)
    expect(screen.outlined(page, "2")).to_have_count(0)

    # WHEN it is highlighted
    row.get_by_role("button", name="Highlight in the charts").click()

    # THEN the page shows the line that says so, and its bars stand out in all three charts: the
    # GPU bars of two operators; of four steps that of the CPU and of the GPU; two kernels
    line = page.locator(".st-key-highlight")
    expect(line).to_contain_text("Kernels too short for their launches")
    expect(line).to_be_in_viewport()
    for figure, count in {"0": 2, "1": 8, "2": 2}.items():
        expect(screen.outlined(page, figure)).to_have_count(count)

    # AND one piece of evidence alone stands out, and a reload shows the same
    line.get_by_role("link", name="Back to the observation").click()
    row.get_by_text("Evidence and source").click()
    row.get_by_role("radiogroup").get_by_text(GEMM).first.click()
    expect(screen.outlined(page, "1")).to_have_count(2)
    expect(screen.outlined(page, "2")).to_have_count(1)
    assert GEMM in (screen.outlined(page, "2").get_attribute("aria-label") or "")
    expect(line).to_be_in_viewport()
    page.reload()
    screen.settle(page)
    expect(screen.outlined(page, "1")).to_have_count(2)

    # AND clearing it in its row leaves the row in view and the charts as they were
    row.get_by_role("button", name="Clear the highlight").click()
    expect(line).to_have_count(0)
    for figure in "012":
        expect(screen.outlined(page, figure)).to_have_count(0)
    expect(row).to_be_in_viewport()


@pytest.mark.parametrize("state", ["Not seen", "Not checked"])
def test_long_lists_of_observations_fit_a_phone(
    filled: Server, visitor: Callable[..., Page], state: str
) -> None:
    page = visitor(viewport={"width": 390, "height": 844})
    open_quietly(page, filled, f"/?run={ID}")
    page.get_by_text(f"{state} (").click()
    expect(page.get_by_text("In bold what was looked for")).to_be_visible()
    screen.settle(page)
    assert screen.overflow_px(page) == 0


@pytest.mark.parametrize(
    "path",
    [f"/?run={HOSTILE_ID}", f"/?run={FAILED_ID}", "/recordings", "/guide", f"/?run={TRAP}"],
    ids=["result", "failed", "recordings", "guide", "id"],
)
def test_hostile_names_are_shown_and_never_obeyed(filled: Server, page: Page, path: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_quietly(page, filled, path)
    for fold in page.get_by_text("Evidence and source").all():
        fold.click()
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if url.startswith(TRAP)]
    links = [link.get_attribute("href") or "" for link in page.get_by_role("link").all()]
    assert not [link for link in links if "127.0.0.1:9/" in link or "evil" in link]
