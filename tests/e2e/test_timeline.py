"""The timeline in a real browser: select, outline, zoom, hand over to Perfetto."""

from __future__ import annotations

import gzip
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from profcore.charts.timeline_bars import CANVAS_OVER
from profcore.trace import perfetto
from tests.e2e import screen
from tests.e2e.perfetto_stand_in import stand_in
from tests.e2e.server import serve
from tests.page_recordings import GEMM, gpu_rows, write_recording
from tests.trace_bytes import kernel, op, trace_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.e2e.server import Server

pytestmark = pytest.mark.browser

ID = "0d0d0d0d0d0d"
TOP_OF_BARS = """canvas => {
  const column = canvas.getContext('2d').getImageData(500, 0, 1, canvas.height).data;
  const [red, green, blue] = column;
  let length = 0;
  for (let y = 0; y < canvas.height; y++) {
    const at = 4 * y;
    const isEmpty = column[at] === red && column[at + 1] === green && column[at + 2] === blue;
    length = isEmpty ? 0 : length + 1;
    if (length === 12) return y - 11;
  }
}"""
"""Where the first bar begins below the 500th pixel of a canvas, the only thing so high there."""


@pytest.fixture(scope="session")
def timeline_server(server: Server) -> Server:
    """The common server with a recording from a GPU."""
    write_recording(server.data / ID)
    return server


def picture(page: Page) -> Locator:
    return page.locator(".st-key-timeline svg.marks")


def bars(page: Page, words: str) -> Locator:
    """Return the bars whose tooltip holds these words."""
    return picture(page).locator(f'path[aria-label*="{words}"]')


def enter(page: Page, server: Server, path: str) -> None:
    screen.visit(page, server, path)
    dialog = page.get_by_role("dialog")
    if dialog.count():  # the first deep link to a server
        dialog.get_by_role("button").first.click()
        expect(dialog).to_have_count(0)


def open_timeline(page: Page, server: Server, query: str = "") -> None:
    enter(page, server, f"/timeline?run={ID}{query}")
    expect(picture(page)).to_be_visible()


def outlines(page: Page) -> list[float]:
    """Return the left edges of the outlines that can be seen, in pixels of the page."""
    return sorted(
        page.evaluate(
            """() => [...document.querySelectorAll(
                '.st-key-timeline svg.marks path[stroke-width="2.5"]')]
              .map(path => path.getBoundingClientRect()).filter(box => box.width > 1)
              .map(box => box.left)"""
        )
    )


def axis(page: Page) -> str:
    """Return the numbers along the axis of time."""
    return "|".join(picture(page).locator("g.role-axis-label text").all_text_contents())


def test_selecting_a_kernel_shows_its_chain(timeline_server: Server, page: Page) -> None:
    # GIVEN the second step
    open_timeline(page, timeline_server)
    expect(page.get_by_text("Click a bar, or choose a row")).to_be_visible()
    assert outlines(page) == []

    # WHEN its GEMM is clicked
    bars(page, "kernel on the GPU").first.click()

    # THEN the ladder goes from the step down to it, and the address names the row
    chain = page.locator(".st-key-chain")
    expect(chain).to_be_visible()
    rungs = chain.locator("[class*='st-key-rung_']")
    expect(rungs).to_have_count(6)
    expect(rungs.nth(0)).to_contain_text("ProfilerStep#3")
    expect(rungs.nth(2)).to_contain_text("aten::matmul")
    expect(rungs.nth(3)).to_contain_text("aten::mm")
    expect(rungs.nth(4)).to_contain_text("cudaLaunchKernel")
    expect(rungs.nth(5)).to_contain_text(GEMM)
    expect(rungs.nth(5)).to_contain_text("12.0 µs after its launch call began")  # 42 - 30
    expect(page).to_have_url(re.compile(r"row=\d+"))
    expect(page.get_by_role("heading", name="Does this kernel always")).to_be_visible()
    screen.settle(page)
    assert len(outlines(page)) == 1

    # AND the link brings another visitor to the same place
    page.reload()
    expect(chain.locator("[class*='st-key-rung_']")).to_have_count(6)


def test_a_picture_of_many_bars_is_clicked_and_zoomed_too(
    timeline_server: Server, page: Page
) -> None:
    # GIVEN so many bars that they are drawn on a canvas
    many = "0d0d0d0d0d0e"
    length_us, count = 10, CANVAS_OVER + 100
    rows = [op("aten::mm", at * length_us, length_us) for at in range(count)]
    write_recording(timeline_server.data / many, rows=rows)
    enter(page, timeline_server, f"/timeline?run={many}")
    canvas = page.locator(".st-key-timeline canvas.marks")
    expect(canvas).to_be_visible()
    before = canvas.evaluate("marks => marks.toDataURL()")

    # WHEN the wheel is turned above the lane, and a bar is clicked
    top_px = canvas.evaluate(TOP_OF_BARS)
    place = {"x": 500, "y": top_px + 4}
    canvas.hover(position=place)
    expect(page.locator("#vg-tooltip-element")).to_contain_text("aten::mm: operator, 10.0 µs")
    page.mouse.wheel(0, -200)
    canvas.click(position=place)

    # THEN its chain is shown, and the picture is still zoomed
    expect(page.locator(".st-key-chain")).to_contain_text("aten::mm")
    expect(page).to_have_url(re.compile(r"row=\d+"))
    assert canvas.evaluate("marks => marks.toDataURL()") != before


def test_an_opened_file_has_a_timeline(timeline_server: Server, page: Page, tmp_path: Path) -> None:
    # GIVEN a file that somebody opens
    file = tmp_path / "mine.json"
    file.write_bytes(trace_bytes(*gpu_rows()))
    enter(page, timeline_server, "/open")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_role("heading", name="mine.json")).to_be_visible()

    # WHEN its timeline is asked for and a kernel is clicked
    page.get_by_role("link", name="See its timeline").click()
    expect(picture(page)).to_be_visible()
    bars(page, "kernel on the GPU").first.click()

    # THEN the chain is the one of a recording, and the way back leads to the file
    expect(page.locator("[class*='st-key-rung_']")).to_have_count(6)
    expect(page).to_have_url(re.compile(r"trace=[0-9a-f]{32}"))
    page.get_by_role("link", name="Its result").click()
    expect(page.get_by_role("heading", name="mine.json")).to_be_visible()


def test_zooming_needs_no_rerun_and_outlives_a_click(timeline_server: Server, page: Page) -> None:
    open_timeline(page, timeline_server)
    sent: list[str] = []
    page.on("websocket", lambda _socket: sent.append("new"))
    before = axis(page)
    box = picture(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -200)
    page.wait_for_timeout(500)
    zoomed = axis(page)
    assert zoomed != before
    bars(page, "kernel on the GPU").first.click()
    expect(page.locator(".st-key-chain")).to_be_visible()
    screen.settle(page)
    assert axis(page) == zoomed
    assert sent == []


def test_selecting_a_finding_outlines_its_events(timeline_server: Server, page: Page) -> None:
    # GIVEN the last step, in which the closing synchronize stands
    open_timeline(page, timeline_server, "&step=6")
    wait = bars(page, "cudaDeviceSynchronize").bounding_box()
    assert wait is not None

    # WHEN the observation is chosen
    page.get_by_label("Outline the events of an observation").click()
    page.get_by_role("option", name="The closing synchroni").click()

    # THEN its one event is outlined where it stands, and its words are shown
    expect(page.get_by_text("1 of its 1 events lie in this picture")).to_be_visible()
    expect(page).to_have_url(re.compile("rule=C5"))
    screen.settle(page)
    (left,) = outlines(page)
    assert abs(left - wait["x"]) < 4

    # AND from another step a button leads there
    open_timeline(page, timeline_server, "&step=3&rule=C5")
    expect(page.get_by_text("0 of its 1 events lie in this picture")).to_be_visible()
    assert outlines(page) == []


def test_the_strip_leads_to_a_step(timeline_server: Server, page: Page) -> None:
    open_timeline(page, timeline_server)
    page.locator('.st-key-strip path[aria-label*="Step #5"]').first.click()
    expect(page).to_have_url(re.compile("step=5"))
    expect(bars(page, "ProfilerStep#5")).to_have_count(1)


def test_a_landmark_leads_to_its_rule(timeline_server: Server, page: Page) -> None:
    open_timeline(page, timeline_server, "&step=6")
    page.locator(".st-key-landmarks").get_by_role("link", name="closing synchronise").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Field guide")
    expect(page.locator(".st-key-rule_C5")).to_be_visible()
    expect(page.locator("[class*='st-key-rule_']")).to_have_count(1)


@pytest.fixture
def handing_over(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Server, object]]:
    """A server that hands over to a stand-in; its recording has two overlapping kernels."""
    with stand_in() as perfetto_page:
        monkeypatch.setenv("PROFCORE_PERFETTO_ORIGIN", perfetto_page.url)
        with serve(tmp_path_factory.mktemp("perfetto")) as running:
            rows = [*gpu_rows(), kernel("overlapping", 43, 10)]
            write_recording(running.data / ID, rows=rows, title="Mine")
            yield running, perfetto_page
            assert not running.complaints()


def test_the_trace_is_handed_over(
    handing_over: tuple[Server, object], visitor: Callable[..., Page]
) -> None:
    server, perfetto_page = handing_over
    page = visitor()
    hosts: set[str] = set()
    page.context.on("request", lambda request: hosts.add(request.method))
    screen.visit(page, server, "/")
    open_timeline(page, server)

    # WHEN the button is pressed
    with page.expect_popup() as opening:
        page.get_by_role("button", name="Open in Perfetto").click()
    tab = opening.value

    # THEN the other page gets the trace, overlapping rows on threads of their own
    expect(tab.locator("#state")).to_have_text("opened Mine (profcore)")
    expect(page.get_by_text("Handed over. Perfetto shows it")).to_be_visible()
    numbers = tab.evaluate("Array.from(new Uint8Array(window.handed[0].buffer))")
    path = server.data / ID / "trace.json.gz"
    text = gzip.decompress(bytes(numbers))
    assert text == perfetto.for_perfetto(path).text
    assert text != gzip.decompress(path.read_bytes())
    assert tab.evaluate("window.handed.length") == 1
    # AND nothing was uploaded: the other server saw its page being asked for, no more
    assert set(perfetto_page.requests) <= {"GET /", "GET /favicon.ico"}  # type: ignore[attr-defined]
    assert hosts == {"GET"}

    # AND it can be done again
    tab.close()
    with page.expect_popup() as opening:
        page.get_by_role("button", name="Open in Perfetto").click()
    expect(opening.value.locator("#state")).to_have_text("opened Mine (profcore)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_and_accessible(
    timeline_server: Server, visitor: Callable[..., Page], scheme: str
) -> None:
    page = visitor(color_scheme=scheme, viewport={"width": 390, "height": 844})
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    open_timeline(page, timeline_server, "&step=6&row=37&rule=C5")
    expect(page.locator(".st-key-chain")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert hosts <= {timeline_server.host, ""}
    assert screen.overflow_px(page) == 0
    assert screen.accessibility_faults(page) == []
