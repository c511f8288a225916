from __future__ import annotations

import gzip
import io
import os
import pickle
import sqlite3
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from profcore.errors import TraceError
from profcore.trace import Limits, list_members, read
from tests.trace_bytes import op, trace_bytes

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = trace_bytes(op("aten::mm", 1, 2), op("aten::add", 4, 1))


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def refusal(source: Path | bytes, **options: object) -> str:
    with pytest.raises(TraceError) as caught:
        read(source, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        b"  \n" + PLAIN + b"\n\n",
        gzip.compress(PLAIN),
        gzip.compress(PLAIN[:50]) + gzip.compress(PLAIN[50:]),  # one document in two members
        gzip.compress(PLAIN) + b"\0" * 512,
        zipped(**{"t.json": PLAIN}),
        zipped(**{"a/b/t.json.gz": gzip.compress(PLAIN), "README.md": b"x", ".DS_Store": b"y"}),
        zipped(**{"t.json": PLAIN, "__MACOSX/t.json": b"x"}),
        zipped(trace=PLAIN),
    ],
    ids=["plain", "bom", "blanks", "gz", "gz-2", "gz-0", "zip", "zip-gz", "zip-mac", "zip-any"],
)
def test_read_opens_every_container(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.bin"
    path.write_bytes(data)
    for piece_bytes in (10, 10**6):
        trace = read(path, limits=Limits(piece_bytes=piece_bytes))
        assert trace.names == ("aten::mm", "aten::add")
        assert trace.source.size_bytes == len(data)
        assert trace.source.repaired == {}


def test_a_zip_of_several_traces_needs_a_choice() -> None:
    other = trace_bytes(op("other", 1, 2))
    data = zipped(**{"rank0.json": PLAIN, "rank1.json.gz": gzip.compress(other)})
    assert list_members(data) == ("rank0.json", "rank1.json.gz")
    assert "rank0.json, rank1.json.gz" in refusal(data)
    assert "rank7" in refusal(data, member="rank7")
    trace = read(data, member="rank1.json.gz", name="both.zip")
    assert trace.names == ("other",)
    assert trace.source.file == "both.zip/rank1.json.gz"


def test_names_in_an_archive_cannot_break_the_sentence() -> None:
    data = zipped(**{f"{number}\n{'x' * 5000}.json": PLAIN for number in range(30)})
    message = refusal(data)
    assert "choose one of 0\ufffdxxx" in message
    assert len(message) < 2000


def test_other_files_have_no_members(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(PLAIN)
    assert list_members(path) == ()
    assert list_members(b"") == ()


def test_bytes_after_the_gzip_data_are_told() -> None:
    trace = read(gzip.compress(PLAIN) + b"garbage")
    assert trace.source.repaired == {"bytes after the end of the gzip data, passed over": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (gzip.compress(b""), "is empty"),
        (b"42\n", "only a number"),
        (b'"text"', "only a single value"),
        (b"null", "only a single value"),
        (b"<!DOCTYPE html>\n<html><body>login</body></html>", "an HTML page"),
        (b'<?xml version="1.0"?><a/>', "XML or a web page"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n",
            "a Git LFS pointer",
        ),
        (b'[[1700000000, "alloc", 512, 0]]', "memory timeline"),
        (b'{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 2}]}', "an execution trace (Chakra)"),
        (b'{"schema": "1.0.1", "pid": 3, "nodes": [{"name": "x"}]}', "an execution trace"),
        (
            b'{ "traceEvents":[{}\n,{"args":{"name":"0 CPU HIP API"},"ph":"M","pid":2}\n]}',
            "output of rocprofiler",
        ),
        (b'{"rocprofiler-sdk-tool": [{"metadata": {}}]}', "output of rocprofiler"),
        (b'{"segments": [], "device_traces": []}', "a memory snapshot"),
        (b'{"Type": 48, "CudaEvent": {}}\n{"Type": 48, "CudaEvent": {}}\n', "Nsight Systems"),
        (b'"Name","Calls","TotalDurationNs"\n"k",1,2\n', "a table (CSV)"),
        (b"Time (%),Total Time (ns),Instances\n1,2,3\n", "a table (CSV)"),
        (pickle.dumps({"segments": []}), "a pickle"),
        (gzip.compress(pickle.dumps([1])), "a pickle"),
        (b"NVR\0binary", "Nsight Compute"),
        (b"\x28\xb5\x2f\xfd....", "zstd"),
        (gzip.compress(gzip.compress(PLAIN)), "compressed twice"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"just words", "is not JSON"),
        (b"{'traceEvents': []}", "not valid JSON at line 1, column 2"),
        (gzip.compress(PLAIN) + gzip.compress(PLAIN), "several documents in one gzip"),
        (PLAIN + PLAIN, "goes on after the trace has ended"),
        (gzip.compress(PLAIN)[:-20], "damaged or cut off"),
        (gzip.compress(PLAIN)[:30] + b"\xff" * 40, "damaged or cut off"),
        (zipped(**{"t.json": PLAIN})[:-30], "damaged or cut off"),
        (zipped(**{"t.json": b""}), "is empty"),
        (zipped(), "without a file"),
        (zipped(**{"m/data.pkl": b"x", "m/version": b"3"}), "torch.save"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_what_it_is(data: bytes, words: str) -> None:
    for piece_bytes in (7, 10**6):
        if piece_bytes == 7 and not data.startswith((b"{", b"\x1f", b"PK")):
            continue
        message = refusal(data, name="f.json", limits=Limits(piece_bytes=max(piece_bytes, 64)))
        assert words in message
        assert message.startswith("f.json")


def test_a_tar_in_a_gzip_is_refused() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        info = tarfile.TarInfo("t.json")
        info.size = len(PLAIN)
        archive.addfile(info, io.BytesIO(PLAIN))
    assert "a tar archive" in refusal(file.getvalue())


def test_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE kernels (name TEXT)")
    connection.close()
    assert "an SQLite database" in refusal(path)


def test_a_report_of_nsight_is_known_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "report.nsys-rep"
    path.write_bytes(b"\x01\x02binary")
    assert "Nsight Systems" in refusal(path)


@pytest.mark.parametrize("kept", range(1, 20))
def test_a_cut_off_file_is_refused_wherever_it_ends(kept: int) -> None:
    data = trace_bytes(op('a "quoted" name', 1, 2), op("b", 2, 3))
    cut = data[: len(data) * kept // 20]
    assert "ends early, at character" in refusal(cut)
    assert "ends early" in refusal(cut, limits=Limits(piece_bytes=64))


def test_the_place_of_a_fault_is_told_by_line_and_column() -> None:
    lines = [
        b'{"traceEvents": [',
        *[b'{"ph": "X", "name": "a", "ts": 1, "dur": 1},'] * 9,
        b"oops]}",
    ]
    data = b"\n".join(lines)
    for piece_bytes in (50, 10**6):
        limits = Limits(piece_bytes=piece_bytes)
        assert "line 11, column 1 (" in refusal(data, limits=limits)
        assert "line 11, column 1 (" in refusal(b"\xef\xbb\xbf" + data, limits=limits)


class TestLimits:
    def test_the_stored_size_is_bounded(self) -> None:
        assert "stored_max_bytes" in refusal(PLAIN, limits=Limits(stored_max_bytes=100))

    @pytest.mark.parametrize("pack", [gzip.compress, lambda data: zipped(**{"t.json": data})])
    def test_a_bomb_stops_at_the_limit(self, pack: object) -> None:
        bomb = pack(b'{"traceEvents": [' + b" " * 5_000_000)  # type: ignore[operator]
        limits = Limits(decompressed_max_bytes=100_000)
        assert "decompressed_max_bytes" in refusal(bomb, limits=limits)

    def test_text_without_the_end_of_an_event_is_bounded(self) -> None:
        bomb = gzip.compress(b'{"traceEvents": [' + b" " * 5_000_000)
        limits = Limits(piece_bytes=10_000, piece_max_bytes=100_000)
        assert "without the end of an event" in refusal(bomb, limits=limits)

    def test_the_number_of_events_is_bounded(self) -> None:
        assert "events_max" in refusal(PLAIN, limits=Limits(events_max=1))
        assert len(read(PLAIN, limits=Limits(events_max=2))) == 2

    def test_the_number_of_zip_members_is_bounded(self) -> None:
        data = zipped(**{f"{number}.json": b"1" for number in range(12)})
        assert "12 files" in refusal(data, limits=Limits(zip_members_max=11))
        assert "choose one of" in refusal(data, limits=Limits(zip_members_max=12))

    @pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":[', b'{"a":[{"b":', b'[{},{"ph":'])
    def test_deep_nesting_is_refused(self, opening: bytes) -> None:
        data = b'{"traceEvents": [{"ph": "X", "args": {"x": ' + opening * 200_000
        for piece_bytes in (1000, 10**7):
            assert "too deep" in refusal(data, limits=Limits(piece_bytes=piece_bytes))

    def test_a_bound_of_zero_is_no_bound(self) -> None:
        with pytest.raises(ValueError, match="events_max"):
            Limits(events_max=0)


class TestPaths:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert "There is no file" in refusal(tmp_path / "no.json")

    def test_a_folder(self, tmp_path: Path) -> None:
        assert "is not a file" in refusal(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
    def test_a_named_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert "is not a file" in refusal(tmp_path / "pipe")

    def test_a_name_with_a_zero_byte(self, tmp_path: Path) -> None:
        assert "cannot be opened" in refusal(tmp_path / "a\0b.json")


def test_a_password_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: object) -> None:
        msg = "File 't.json' is encrypted, password required for extraction"
        raise RuntimeError(msg)

    data = zipped(**{"t.json": PLAIN})
    monkeypatch.setattr(zipfile.ZipFile, "open", locked)
    assert "cannot be read here" in refusal(data)


def test_a_zip_member_with_a_wrong_checksum_is_refused() -> None:
    data = bytearray(zipped(**{"t.json": PLAIN}))
    checksum = zlib.crc32(PLAIN).to_bytes(4, "little")
    for place in (data.find(checksum), data.rfind(checksum)):
        data[place : place + 4] = b"\0\1\2\3"
    assert "damaged or cut off" in refusal(bytes(data))
