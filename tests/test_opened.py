"""Opening files in a child process: kept by content, refused in words, bounded."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import time
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from profcore.errors import TraceError
from profcore.opened.arrivals import UPLOADS_FOLDER, Arrival, arrive, point_at
from profcore.opened.reading import Choice, open_trace
from profcore.opened.settings import OpenSettings
from profcore.opened.shelf import OpenedTrace, Shelf
from profcore.trace.limits import Limits
from tests import handmade
from tests.trace_bytes import op, trace_bytes

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024**2
PLAIN = trace_bytes(*handmade.plain_rows())
ROWS = 25  # three steps of eight rows and a synchronise
NEVER = (sys.executable, "-c", "import sys; sys.exit(7)")
SLEEPER = (sys.executable, "-c", "import time; time.sleep(60)")
SPINNER = (
    sys.executable,
    "-c",
    "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def limited(shelf: Shelf, **settings: object) -> Shelf:
    shelf.settings = replace(shelf.settings, **settings)  # type: ignore[arg-type]
    return shelf


def upload(shelf: Shelf, data: bytes = PLAIN, name: str = "trace.json") -> Arrival:
    return arrive(io.BytesIO(data), name=name, root=shelf.root)


def opened(shelf: Shelf, data: bytes = PLAIN, name: str = "trace.json") -> OpenedTrace:
    found = open_trace(upload(shelf, data, name), shelf)
    assert isinstance(found, OpenedTrace)
    return found


def uploads(shelf: Shelf) -> list[str]:
    return [path.name for path in (shelf.root / UPLOADS_FOLDER).iterdir()]


def hidden(shelf: Shelf) -> list[str]:
    return [path.name for path in shelf.root.iterdir() if path.name.startswith(".")]


def archive(**members: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.json", content)
    return data.getvalue()


class TestReading:
    def test_an_upload_is_read_kept_and_its_copy_deleted(self, shelf: Shelf) -> None:
        found = opened(shelf)
        trace = found.load()
        assert len(trace) == ROWS
        assert trace.source.file == "trace.json"
        assert found.title == "trace.json"
        assert found.about.size_bytes == len(PLAIN)
        assert uploads(shelf) == []
        assert hidden(shelf) == []

    def test_a_second_look_starts_no_child(self, shelf: Shelf) -> None:
        first = opened(shelf)
        again = open_trace(upload(shelf, name="other name.json"), shelf, command=NEVER)
        assert again == first
        assert uploads(shelf) == []

    def test_gzip_of_the_same_trace_is_another_content(self, shelf: Shelf) -> None:
        assert opened(shelf, gzip.compress(PLAIN), "t.json.gz").id != opened(shelf).id

    def test_a_refusal_is_the_readers_sentence(self, shelf: Shelf) -> None:
        with pytest.raises(TraceError, match=r"^t\.json ends early, at character"):
            opened(shelf, PLAIN[:-40], "t.json")
        assert uploads(shelf) == []
        assert shelf.newest_first() == ()

    def test_a_file_of_this_machine_is_read_where_it_lies_and_stays(
        self, shelf: Shelf, tmp_path: Path
    ) -> None:
        path = tmp_path / "here.json"
        path.write_bytes(PLAIN)
        found = open_trace(point_at(str(path), limit_bytes=MIB), shelf)
        assert isinstance(found, OpenedTrace)
        assert found.title == "here.json"
        assert path.read_bytes() == PLAIN
        # The same content is the same trace, wherever it came from.
        assert opened(shelf).id == found.id


class TestArchives:
    def test_several_traces_are_offered_and_one_is_read(self, shelf: Shelf) -> None:
        data = archive(a=PLAIN, b=trace_bytes(op("only", 0, 5)))
        arrival = upload(shelf, data, "two.zip")
        assert open_trace(arrival, shelf) == Choice(members=("a.json", "b.json"))
        found = open_trace(arrival, shelf, member="b.json")
        assert isinstance(found, OpenedTrace)
        assert found.title == "two.zip / b.json"
        assert len(found.load()) == 1
        other = open_trace(arrival, shelf, member="a.json")  # the archive is still there
        assert isinstance(other, OpenedTrace)
        assert other.id != found.id

    def test_a_single_trace_needs_no_choice(self, shelf: Shelf) -> None:
        assert len(opened(shelf, archive(a=PLAIN), "one.zip").load()) == ROWS

    def test_a_member_that_is_not_there_is_refused(self, shelf: Shelf) -> None:
        arrival = upload(shelf, archive(a=PLAIN, b=PLAIN), "two.zip")
        with pytest.raises(TraceError, match="has no member"):
            open_trace(arrival, shelf, member="../c.json")


class TestLimits:
    def test_memory(self, shelf: Shelf) -> None:
        # One string of 300 MiB cannot be decoded within 400 MiB, numpy included.
        data = b'{"traceEvents":[{"name":"' + b"x" * 300 * MIB + b'"}]}'
        limited(shelf, memory_max_bytes=400 * MIB)
        with pytest.raises(TraceError, match="needs more than 400 MiB of memory"):
            opened(shelf, gzip.compress(data, 1), "fat.json.gz")

    def test_what_the_reader_allows(self, shelf: Shelf) -> None:
        limited(shelf, reader=Limits(events_max=3))
        with pytest.raises(TraceError, match="holds more than 3 events"):
            opened(shelf)

    def test_columns_on_disk(self, shelf: Shelf) -> None:
        limited(shelf, stored_trace_max_bytes=1000)
        with pytest.raises(TraceError, match="as columns and names, which is the limit here"):
            opened(shelf)
        assert hidden(shelf) == []

    def test_time_on_the_clock(self, shelf: Shelf) -> None:
        limited(shelf, wall_time_max_s=0.3)
        with pytest.raises(TraceError, match="could not be read within 0 s"):
            open_trace(upload(shelf), shelf, command=SLEEPER)
        assert hidden(shelf) == []

    def test_processor_time(self, shelf: Shelf) -> None:
        limited(shelf, cpu_time_max_s=1)
        with pytest.raises(TraceError, match="more than 1 s of processor time"):
            open_trace(upload(shelf), shelf, command=SPINNER)

    def test_a_child_that_dies_without_a_word(self, shelf: Shelf) -> None:
        with pytest.raises(TraceError, match="the reader ended with status 7 without a word"):
            open_trace(upload(shelf), shelf, command=NEVER)
        assert uploads(shelf) == []

    def test_giving_up_ends_the_child_and_leaves_nothing(self, shelf: Shelf) -> None:
        class GivenUpError(Exception):
            pass

        def give_up() -> None:
            raise GivenUpError

        arrival = upload(shelf)
        with pytest.raises(GivenUpError):
            open_trace(arrival, shelf, command=SLEEPER, on_tick=give_up)
        assert hidden(shelf) == []
        assert isinstance(open_trace(arrival, shelf), OpenedTrace)  # the next one is let in

    def test_one_file_is_read_at_a_time(self, shelf: Shelf) -> None:
        arrivals = [upload(shelf, trace_bytes(op(f"n{i}", 0, 1)), f"{i}.json") for i in range(3)]
        found: list[object] = []
        threads = [
            threading.Thread(target=lambda one=one: found.append(open_trace(one, shelf)))
            for one in arrivals
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len({one.id for one in found if isinstance(one, OpenedTrace)}) == 3


class TestShelf:
    def test_ids_from_outside_never_become_paths(self, shelf: Shelf) -> None:
        for text in ("", "..", "../" * 4 + "etc", "a" * 32, "A" * 32, "0" * 31, "x\0"):
            with pytest.raises(TraceError, match="Open the file again"):
                shelf.get(text)

    def test_the_ones_used_longest_ago_go_first(self, shelf: Shelf) -> None:
        limited(shelf, kept_traces_max=2)
        ids = []
        for i in range(3):
            found = opened(shelf, trace_bytes(op(f"n{i}", 0, 1)))
            ids.append(found.id)
            # Older than the next one, whatever the file system counts in.
            os.utime(found.folder, (1000 + i, 1000 + i))
            if i == 1:
                shelf.get(ids[0]).load()  # a look counts as use
        assert [one.id for one in shelf.newest_first()] == [ids[0], ids[2]]

    def test_size_counts_too_and_the_newest_stays(self, shelf: Shelf) -> None:
        limited(shelf, kept_max_bytes=1)
        first, second = opened(shelf), opened(shelf, trace_bytes(op("other", 0, 1)))
        assert not shelf.has(first.id)
        assert shelf.has(second.id)

    def test_a_damaged_trace_is_read_again(self, shelf: Shelf) -> None:
        found = opened(shelf)
        (found.folder / "trace.json").unlink()
        assert len(opened(shelf).load()) == ROWS

    def test_uploads_that_nobody_came_back_for_are_deleted(self, shelf: Shelf) -> None:
        old, new = upload(shelf), upload(shelf, b"another")
        long_ago = time.time() - shelf.settings.upload_kept_max_s - 10
        os.utime(old.path, (long_ago, long_ago))
        shelf.prune()
        assert uploads(shelf) == [new.content_hash]

    def test_every_setting_has_its_unit_in_the_name(self) -> None:
        for name in OpenSettings.__slots__:
            assert name.endswith(("_bytes", "_s", "_max", "reader"))


class TestArriving:
    def test_names_are_one_line_and_not_endless(self, shelf: Shelf) -> None:
        assert upload(shelf, name="a\nb\x1b[31m.json").name == "a\ufffdb\ufffd[31m.json"
        assert len(upload(shelf, name="x" * 500).name) < 130

    @pytest.mark.parametrize("text", ["/no/such/file", "", "x\0y", "~nobody-at-all/x", "x" * 5000])
    def test_a_path_that_leads_nowhere_is_refused_in_words(self, text: str) -> None:
        with pytest.raises(TraceError, match="check the path"):
            point_at(text, limit_bytes=10)

    def test_a_file_above_the_limit_is_not_looked_through(self, tmp_path: Path) -> None:
        path = tmp_path / "t.json"
        with path.open("wb") as file:
            file.truncate(2 * MIB)
        with pytest.raises(TraceError, match="larger than 1 MiB"):
            point_at(str(path), limit_bytes=MIB)
