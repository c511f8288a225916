"""The folder of recordings, and who owns a run that is not finished."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from profcore import library as libraries
from profcore import owner as owners
from profcore.errors import InputError, RecordingError, RunError
from profcore.experiment import Experiment
from profcore.files import write_json, write_text
from profcore.library import Library, default_root, finish, make_folder, sample_ids, samples
from profcore.owner import OWNER_FILE, Owner
from profcore.recording import PROGRESS_FILE, STATUS_FILE, TITLE_FILE, Progress, Status

if TYPE_CHECKING:
    from pathlib import Path

EARLY, LATER, LATEST = (f"2026-01-0{day}T00:00:00+00:00" for day in (1, 2, 3))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


def add(library: Library, created_at: str = EARLY, **knobs: int) -> str:
    """Add a finished recording and return its id."""
    folder = library.new_folder(Experiment(**knobs))  # type: ignore[arg-type]
    finish(folder, Status(state="done", created_at=created_at))
    return folder.name


def abandon(folder: Path) -> None:
    """Let a run be owned by a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    write_json(folder / OWNER_FILE, Owner(pid=process.pid, pid_started="1", created_at=EARLY))


class TestFolders:
    def test_a_new_one_has_an_id_its_experiment_and_its_owner(self, library: Library) -> None:
        experiment = Experiment(size=4096)
        folder = library.new_folder(experiment)
        assert folder.parent == library.root
        assert len(folder.name) == 12
        recording = library.open(folder.name)
        assert recording.experiment == experiment
        assert recording.title == "matmul_add · 4,096 · bf16 · eager · warm-up 3"
        assert sorted(path.name for path in folder.iterdir()) == ["experiment.json", "owner.json"]
        assert [path.name for path in library.root.iterdir()] == [folder.name]

    def test_a_root_that_cannot_be_written_says_what_to_do(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(RunError, match="set PROFCORE_DATA to a folder that can be"):
            Library(tmp_path / "file").new_folder(Experiment())

    def test_a_folder_that_holds_something_is_not_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").touch()
        with pytest.raises(OSError, match="not empty"):
            make_folder(tmp_path / "out", Experiment())
        assert [path.name for path in tmp_path.iterdir()] == ["out"]

    def test_an_empty_folder_is_used(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        make_folder(tmp_path / "out", Experiment())
        assert (tmp_path / "out" / "experiment.json").exists()

    def test_the_root_is_chosen_by_the_environment(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("PROFCORE_DATA", str(tmp_path))
        assert default_root() == tmp_path
        monkeypatch.setenv("PROFCORE_DATA", "")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
        assert default_root().name == "profcore"


class TestList:
    def test_nothing_recorded_yet_is_an_empty_list(self, library: Library) -> None:
        assert library.list() == []
        assert not library.root.exists()

    def test_newest_first(self, library: Library) -> None:
        ids = {at: add(library, at) for at in (LATER, EARLY, LATEST)}
        assert [recording.id for recording in library.list()] == [
            ids[LATEST],
            ids[LATER],
            ids[EARLY],
        ]

    def test_other_files_are_left_alone(self, library: Library) -> None:
        recording_id = add(library)
        (library.root / "notes").mkdir()
        (library.root / ".0123456789ab.1.part").mkdir()
        assert [recording.id for recording in library.list()] == [recording_id]
        assert library.damaged() == []

    @pytest.mark.parametrize(
        ("file", "text", "sentence"),
        [
            ("experiment.json", "{", "is damaged"),
            ("experiment.json", '{"size": 1}', "is damaged"),
            ("experiment.json", None, "is not a recording"),
            ("status.json", '{"state": "asleep"}', "is damaged"),
        ],
    )
    def test_a_damaged_one_is_listed_apart(
        self, library: Library, file: str, text: str | None, sentence: str
    ) -> None:
        good, bad = add(library), add(library)
        if text is None:
            (library.root / bad / file).unlink()
        else:
            (library.root / bad / file).write_text(text)
        assert [recording.id for recording in library.list()] == [good]
        ((damaged_id, reason),) = library.damaged()
        assert damaged_id == bad
        assert sentence in reason
        with pytest.raises(RecordingError, match=sentence):
            library.open(bad)
        library.delete(bad)
        assert library.damaged() == []

    def test_a_title_that_is_no_text_breaks_nothing(self, library: Library) -> None:
        recording_id = add(library)
        (library.root / recording_id / TITLE_FILE).write_bytes(b"\xff\xfe")
        assert [recording.id for recording in library.list()] == [recording_id]


class TestState:
    def test_queued_then_running_then_done(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        queued = library.open(folder.name).status
        assert queued.state == "queued"
        write_json(folder / PROGRESS_FILE, Progress(phases=[]))
        running = library.open(folder.name).status
        assert running.state == "running"
        assert running.created_at == queued.created_at
        finish(folder, Status(state="done", created_at=queued.created_at))
        assert library.open(folder.name).status.state == "done"
        assert not (folder / OWNER_FILE).exists()

    def test_a_run_whose_process_is_gone_has_failed(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        abandon(folder)
        status = library.open(folder.name).status
        assert (status.state, status.created_at) == ("failed", EARLY)
        assert status.message == "The server stopped during this run; run it again."

    def test_a_process_with_the_same_id_is_not_the_owner(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        owner = owners.read(folder)
        assert owner is not None
        assert owner.is_alive()
        other = Owner(pid=owner.pid, pid_started="1", created_at=EARLY)
        assert not other.is_alive()

    def test_a_process_that_is_dead_but_not_reaped_is_gone(self) -> None:
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        started = owners._started(process.pid)
        assert started
        owner = Owner(pid=process.pid, pid_started=started, created_at=EARLY)
        assert owner.is_alive()
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not owner.is_alive()
        process.communicate()

    def test_without_an_owner_it_has_failed(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        (folder / OWNER_FILE).write_text("{")
        assert library.open(folder.name).status.state == "failed"


class TestRename:
    def test_one_line_is_kept(self, library: Library) -> None:
        recording_id = add(library)
        library.rename(recording_id, "  a \n\t title\x1b\u202e ")
        assert library.open(recording_id).title == "a title"

    def test_empty_brings_the_description_back(self, library: Library) -> None:
        recording_id = add(library)
        before = library.open(recording_id).title
        library.rename(recording_id, "x")
        library.rename(recording_id, " \n")
        assert library.open(recording_id).title == before
        assert not (library.root / recording_id / TITLE_FILE).exists()

    def test_eighty_characters_at_most(self, library: Library) -> None:
        recording_id = add(library)
        library.rename(recording_id, "é" * 80)
        with pytest.raises(RecordingError, match="81 characters; give at most 80"):
            library.rename(recording_id, "é" * 81)
        assert library.open(recording_id).title == "é" * 80


class TestDelete:
    def test_a_finished_one_goes(self, library: Library) -> None:
        recording_id = add(library)
        library.delete(recording_id)
        assert list(library.root.iterdir()) == []

    def test_one_under_way_stays(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        with pytest.raises(RecordingError, match="not finished; cancel it first"):
            library.delete(folder.name)
        assert folder.is_dir()

    def test_one_that_its_server_gave_up_goes(self, library: Library) -> None:
        folder = library.new_folder(Experiment())
        abandon(folder)
        library.delete(folder.name)
        assert not folder.exists()

    def test_prune_keeps_the_newest_the_titled_and_the_unfinished(self, library: Library) -> None:
        oldest = add(library, EARLY)
        titled = add(library, EARLY)
        library.rename(titled, "keep")
        middle, newest = add(library, LATER), add(library, LATEST)
        running = library.new_folder(Experiment()).name
        library.prune(keep=2)
        assert {r.id for r in library.list()} == {titled, middle, newest, running}
        library.prune(keep=1)
        assert {r.id for r in library.list()} == {titled, newest, running}
        assert oldest not in {path.name for path in library.root.iterdir()}


@pytest.mark.parametrize(
    "recording_id",
    ["0123456789ab", "../data", "..", "", "0123456789AB", "0123456789ab/..", "x" * 5000, "\0"],
)
class TestStrangeIds:
    def test_they_are_refused_before_they_touch_the_disk(
        self, library: Library, recording_id: str
    ) -> None:
        add(library)
        for act in (
            library.open,
            library.delete,
            lambda strange: library.rename(strange, "title"),
        ):
            with pytest.raises(RecordingError, match="There is no recording") as caught:
                act(recording_id)
            assert len(str(caught.value)) < 120
        assert len(library.list()) == 1


class TestSamples:
    @pytest.fixture(autouse=True)
    def package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        root = tmp_path / "samples"
        for name in ("toy-64-warm", "toy-64-cold"):
            make_folder(root / name, Experiment())
            finish(root / name, Status(state="done", created_at=EARLY))
        write_text(root / "order.txt", "toy-64-warm\ntoy-64-cold\n")
        monkeypatch.setattr(libraries, "_SAMPLES", root)
        return root

    def test_they_come_in_the_order_of_the_list(self, package: Path) -> None:
        assert [sample.id for sample in samples()] == ["toy-64-warm", "toy-64-cold"]
        assert all(sample.is_sample for sample in samples())
        (package / "order.txt").unlink()
        assert samples() == []

    def test_they_open_by_their_id(self, library: Library) -> None:
        assert library.open("toy-64-cold").is_sample
        assert library.list() == []

    def test_they_cannot_be_changed(self, library: Library, package: Path) -> None:
        with pytest.raises(RecordingError, match="Samples keep their titles"):
            library.rename("toy-64-cold", "mine")
        with pytest.raises(RecordingError, match="cannot be deleted"):
            library.delete("toy-64-cold")
        assert (package / "toy-64-cold" / STATUS_FILE).exists()


def test_the_samples_of_the_package_are_whole() -> None:
    for sample in samples():
        assert sample.status.state == "done"
        assert sample.trace_path.is_file()
        assert sample.timings is not None
        assert sample.environment is not None
    assert len(sample_ids()) == len(set(sample_ids()))


def test_two_that_delete_the_same_recording_do_not_meet(library: Library) -> None:
    ids = [add(library) for _ in range(20)]
    gone: list[str] = []

    def delete_all() -> None:
        for recording_id in ids:
            try:
                library.delete(recording_id)
            except RecordingError:
                continue
            gone.append(recording_id)

    threads = [threading.Thread(target=delete_all) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        library.list()
        assert library.damaged() == []
    for thread in threads:
        thread.join()
    assert sorted(gone) == sorted(ids)
    assert list(library.root.iterdir()) == []


def test_a_missing_recording_is_the_users_fault(library: Library) -> None:
    with pytest.raises(InputError):
        library.open("0123456789ab")


def test_a_file_in_place_of_a_folder_is_damaged(library: Library) -> None:
    add(library)
    (library.root / "0123456789ab").touch()
    assert [name for name, _ in library.damaged()] == ["0123456789ab"]
    assert len(library.list()) == 1
