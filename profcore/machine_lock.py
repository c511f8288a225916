"""One measurement at a time on this machine, whichever program makes it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock, Timeout

from profcore.errors import MachineBusyError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOCK_VARIABLE: Final = "PROFCORE_LOCK"
LOCK_WAIT_S: Final = 60.0
"""How long a run waits for another program's run on this machine."""


def lock_path() -> Path:
    """Return the file whose lock a child holds while it measures.

    One per user and machine, whatever the data folder: two runs at once would bend each other's
    times.

    Raises:
        RunError: its folder belongs to somebody else.
    """
    if chosen := os.environ.get(LOCK_VARIABLE):
        return Path(chosen)
    folder = Path(tempfile.gettempdir()) / f"profcore-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():
        msg = f"{folder} belongs to another user; set {LOCK_VARIABLE} to a file of your own."
        raise RunError(msg)
    return folder / "run.lock"


@contextlib.contextmanager
def machine_lock(
    path: Path, *, on_wait: Callable[[], None], wait_s: float = LOCK_WAIT_S
) -> Iterator[None]:
    """Hold the machine; the kernel lets go of it when this process ends, however it ends.

    Raises:
        MachineBusyError: another program held it for all of `wait_s`.
    """
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait()
        try:
            lock.acquire(timeout=wait_s)
        except Timeout:
            msg = (
                f"Another program on this machine was recording for more than {wait_s:.0f} s; "
                "wait until it is done and run this again."
            )
            raise MachineBusyError(msg) from None
    try:
        yield
    finally:
        lock.release()
