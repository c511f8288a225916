"""A page that speaks Perfetto's side of the hand-over, on a port of its own."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = b"""<!doctype html><title>stand-in</title><p id="state">waiting</p><script>
let pings = 0;
window.addEventListener("message", (event) => {
  if (event.data === "PING") {
    // Not ready at once, like the real page: the first calls are not answered.
    if (++pings > 3) event.source.postMessage("PONG", event.origin);
    return;
  }
  if (event.data && event.data.perfetto) {
    window.handed = [...(window.handed || []), event.data.perfetto];
    document.getElementById("state").textContent = "opened " + event.data.perfetto.title;
  }
});
</script>"""


class StandIn:
    """The running page and what was asked of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[str] = []
        """Method and path of each request: the trace must not be among them."""


@contextlib.contextmanager
def stand_in() -> Iterator[StandIn]:
    """Serve the page until the end of the block."""
    running = StandIn("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            running.requests.append(f"GET {self.path}")
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE if self.path == "/" else b"")

        def do_POST(self) -> None:
            running.requests.append(f"POST {self.path}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_given: object) -> None:
            """Keep the output of the tests quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
