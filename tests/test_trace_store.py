"""A trace on disk comes back equal, and what is damaged is refused in one sentence."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from profcore.errors import TraceError
from profcore.trace import Trace, store
from tests import handmade
from tests.handmade import trace_of
from tests.trace_bytes import kernel, memory, op

if TYPE_CHECKING:
    from pathlib import Path


def everything() -> Trace:
    return trace_of(
        *handmade.plain_rows(),
        kernel("with facts 😀 �", 600, 3, grid=[8, 1, 1], block=[64, 2, 1], device=3),
        memory(700, 64, allocated=64, reserved=128),
        op("negative", 0, -1),
        {"ph": "?"},
        record_shapes=1,
        cuda_driver_version=13000,
    )


def assert_same(ours: object, theirs: object) -> None:
    for field in dataclasses.fields(ours):  # type: ignore[arg-type]
        one, other = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        elif dataclasses.is_dataclass(one) and field.name in {"kernel_details", "memory"}:
            assert_same(one, other)
        else:
            assert one == other, field.name


def test_a_trace_comes_back_equal_and_cannot_be_written_to(tmp_path: Path) -> None:
    trace = everything()
    store.save(trace, tmp_path)
    again = store.load(tmp_path)
    assert_same(trace, again)
    with pytest.raises(ValueError, match="read-only"):
        again.start_ns[0] = 1


def test_nothing_in_the_folder_is_a_pickle(tmp_path: Path) -> None:
    store.save(everything(), tmp_path)
    with np.load(tmp_path / store.COLUMNS_FILE, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)
    assert {path.name for path in tmp_path.iterdir()} == {store.COLUMNS_FILE, store.REST_FILE}


def test_a_pickle_in_its_place_is_refused_and_not_run(tmp_path: Path) -> None:
    store.save(everything(), tmp_path)
    np.savez(tmp_path / store.COLUMNS_FILE, start_ns=np.array([{"a": 1}], dtype=object))
    with pytest.raises(TraceError, match="open the file again"):
        store.load(tmp_path)


@pytest.mark.parametrize("file", [store.COLUMNS_FILE, store.REST_FILE])
@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "noise"])
def test_a_damaged_folder_is_refused(tmp_path: Path, file: str, damage: str) -> None:
    store.save(everything(), tmp_path)
    path = tmp_path / file
    data = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes({"empty": b"", "cut": data[:-30], "noise": b"noise" * 20}[damage])
    with pytest.raises(TraceError, match="open the file again"):
        store.load(tmp_path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    store.save(everything(), tmp_path)
    rest = msgspec.json.decode((tmp_path / store.REST_FILE).read_bytes())
    rest["format"] = store.FORMAT + 1
    (tmp_path / store.REST_FILE).write_bytes(msgspec.json.encode(rest))
    with pytest.raises(TraceError, match="another version"):
        store.load(tmp_path)
