"""Several servers on one machine, and servers that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.library import Library
from tests import fake_worker as fake
from tests.processes import marked_processes, nothing_left, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures(nothing_left.__name__)

SERVER = """
import sys, time
from pathlib import Path
from tests import fake_worker as fake
from profcore.experiment import Experiment
from profcore.jobs import JobRunner
from profcore.library import Library

runner = JobRunner(Library(Path(sys.argv[1])), command=fake.COMMAND)
if len(sys.argv) > 2:
    print(runner.submit(Experiment(size=int(sys.argv[2]), device="cpu")), flush=True)
else:
    while runner._spare is None:
        time.sleep(0.005)
    print("ready", flush=True)
sys.stdin.read()
"""


class Server:
    """Another program with a queue of its own on the same data folder."""

    def __init__(self, root: Path, part: int | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(root), *([] if part is None else [str(part)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(fake.PROJECT)},
        )
        assert self.process.stdout is not None
        self.answer = self.process.stdout.readline().strip()

    def end(self, signum: signal.Signals | None = None) -> None:
        if signum is not None:
            self.process.send_signal(signum)
        self.process.communicate(timeout=30)  # closes its input: it ends by itself


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def runner(library: Library) -> Iterator[JobRunner]:
    runner = JobRunner(library, command=fake.COMMAND)
    yield runner
    runner.close()


def wait_until_playing(library: Library, run_id: str) -> None:
    path = library.root / run_id / "pid"
    until(lambda: path.exists() and path.read_text(), f"run {run_id}")


def state_of(runner: JobRunner, run_id: str) -> str:
    view = runner.view(run_id)
    assert view is not None
    return view.state


@pytest.mark.parametrize("part", [fake.WAIT, fake.IGNORE_SIGTERM, fake.GRANDCHILD])
def test_a_killed_server_leaves_no_process(library: Library, part: int) -> None:
    server = Server(library.root, part)
    wait_until_playing(library, server.answer)
    server.end(signal.SIGKILL)
    until(lambda: not marked_processes(), "children to end")
    assert library.open(server.answer).status.state == "failed"


def test_a_killed_server_leaves_no_spare(library: Library) -> None:
    server = Server(library.root)
    assert server.answer == "ready"
    server.end(signal.SIGKILL)
    until(lambda: not marked_processes(), "the spare to end")


def test_a_server_that_ends_by_itself_leaves_no_process(library: Library) -> None:
    server = Server(library.root, fake.WAIT)
    wait_until_playing(library, server.answer)
    server.end()
    assert marked_processes() == []
    status = library.open(server.answer).status
    assert (status.state, status.message) == (
        "failed",
        "The server stopped during this run; run it again.",
    )


def test_a_run_of_another_server_is_running_until_that_dies(
    library: Library, runner: JobRunner
) -> None:
    server = Server(library.root, fake.WAIT)
    run_id = server.answer
    wait_until_playing(library, run_id)
    view = runner.view(run_id)
    assert view is not None
    assert view.state == "running"
    assert [phase.name for phase in view.phases] == ["starting", "playing"]
    runner.cancel(run_id)  # not ours: left alone
    assert state_of(runner, run_id) == "running"
    server.end(signal.SIGKILL)
    view = runner.view(run_id)
    assert view is not None
    assert (view.state, view.message) == (
        "failed",
        "The server stopped during this run; run it again.",
    )


def test_two_servers_take_turns(library: Library, runner: JobRunner) -> None:
    server = Server(library.root, fake.WAIT)
    wait_until_playing(library, server.answer)
    mine = runner.submit(Experiment(size=fake.DONE, device="cpu"))

    def phases() -> list[str]:
        view = runner.view(mine)
        assert view is not None
        return [phase.name for phase in view.phases]

    until(lambda: len(phases()) == 2, "my run to wait")
    assert phases() == ["starting", "waiting for another program's run"]
    assert not (library.root / mine / "pid").exists()
    (library.root / server.answer / "go").touch()
    until(lambda: state_of(runner, mine) == "done", "my run to be done")
    assert phases()[-1] == "playing"
    assert state_of(runner, server.answer) == "done"
    server.end()
