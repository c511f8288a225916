"""Proof that a test leaves no process and no thread behind, and waiting with a deadline."""

from __future__ import annotations

import os
import secrets
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DEADLINE_S = 60.0
MARK = "PROFCORE_TEST_MARK"


def until(is_reached: Callable[[], object], what: str = "the state") -> None:
    """Wait for a state; a test never waits for a duration."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not is_reached():
        if time.monotonic() > deadline_s:
            pytest.fail(f"waited {DEADLINE_S} s for {what}")
        time.sleep(0.005)


def marked_processes() -> list[int]:
    """Return the ids of the living processes that were started with this test's mark."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # gone, or somebody else's
    return found


@pytest.fixture
def nothing_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Mark everything a test starts; at its end nothing of that may live."""
    monkeypatch.setenv(MARK, secrets.token_hex(8))
    monkeypatch.setenv("PROFCORE_LOCK", str(tmp_path / "machine.lock"))
    threads = set(threading.enumerate())
    yield
    until(lambda: set(threading.enumerate()) <= threads, "threads to end")
    # A killed group needs a moment until the kernel has taken it down.
    until(lambda: not marked_processes(), "child processes to end")
