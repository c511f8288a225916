"""Hold a recording process where it is, so that a test acts while its run surely is under way."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from tests.processes import until

if TYPE_CHECKING:
    from tests.e2e.server import Server

WORKER = b"profcore.worker"


def hold_next_run(server: Server) -> None:
    """Stop the spare process, which takes the next run: that run begins and does not go on.

    The machine is known and nothing is under way. Cancelling ends a stopped process too.
    """
    until(lambda: _spares(server), "a spare process")
    for pid in _spares(server):
        os.kill(pid, signal.SIGSTOP)


def hold_run(server: Server, run_id: str, file_name: str) -> None:
    """Stop the process of a run as soon as it has written a file of that name."""
    folder = server.data / run_id
    until(lambda: any(folder.rglob(file_name)), file_name)
    found = [pid for pid, log in _workers(server).items() if log.is_relative_to(folder)]
    assert found, f"the run {run_id} is over"
    for pid in found:
        os.kill(pid, signal.SIGSTOP)


def _spares(server: Server) -> list[int]:
    return [pid for pid, log in _workers(server).items() if not log.is_relative_to(server.data)]


def _workers(server: Server) -> dict[int, Path]:
    """Return the recording processes of a server and where each writes its log."""
    found = {}
    for children in Path(f"/proc/{server.pid}/task").glob("*/children"):
        for pid in map(int, children.read_text().split()):
            process = Path(f"/proc/{pid}")
            with contextlib.suppress(OSError):  # it ended meanwhile
                if WORKER in (process / "cmdline").read_bytes():
                    found[pid] = (process / "fd/1").readlink()
    return found
