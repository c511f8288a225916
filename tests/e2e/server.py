"""A server of the app on a free port, with its log in the failure."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A running server."""

    url: str
    pid: int
    data: Path
    """Its folder of recordings."""
    log_path: Path

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def complaints(self) -> str:
        """What the log says beside the greeting; empty when all is well."""
        log = self.log_path.read_text(encoding="utf-8")
        lines = [line for line in log.splitlines() if line.strip()]
        greetings = ("You can now view", "URL:", "Uvicorn server started", "External URL:")
        # A fragment that was on its way when the page was drawn anew: information, no fault.
        usual = (*greetings, "does not exist anymore", "Shutting down", "Stopping...")
        return "\n".join(line for line in lines if not any(words in line for words in usual))


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Run the app with its recordings below `folder`; stop it at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data, log_path = folder / "data", folder / "server.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "streamlit", "run", "app.py"),
                *("--server.headless", "true", "--server.port", str(port)),
                *("--server.fileWatcherType", "none"),
            ],
            cwd=ROOT,
            env={**os.environ, "PROFCORE_DATA": str(data)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    server = Server(url=url, pid=process.pid, data=data, log_path=log_path)
    try:
        _wait_until_healthy(process, server)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=STOP_TIMEOUT_S)


def _wait_until_healthy(process: subprocess.Popen[bytes], server: Server) -> None:
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=1).close()
            return
        time.sleep(0.1)
    pytest.fail(f"the server did not start:\n{server.log_path.read_text(encoding='utf-8')}")
