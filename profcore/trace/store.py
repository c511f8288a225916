"""A Trace on disk: columns as plain arrays, the rest as JSON. Never a pickle.

Reading it back costs a copy of the columns, and runs no decoder of foreign formats.
"""

from __future__ import annotations

import dataclasses
import zipfile
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from profcore.errors import TraceError
from profcore.files import write_json
from profcore.trace.model import (
    DeviceProperties,
    KernelDetails,
    Lane,
    MemoryRows,
    Source,
    Trace,
)

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

COLUMNS_FILE: Final = "columns.npz"
REST_FILE: Final = "trace.json"

FORMAT: Final = 1
"""Raise it when a column or its meaning changes: older folders are then read anew."""

_ARRAYS: Final = (
    *("start_ns", "duration_ns", "kind", "name", "lane", "correlation", "external_id"),
    *("device", "stream", "size_bytes"),
)
_DETAILS: Final = tuple(field.name for field in dataclasses.fields(KernelDetails))
_MEMORY: Final = tuple(field.name for field in dataclasses.fields(MemoryRows))


class _Rest(msgspec.Struct, frozen=True, kw_only=True):
    """All of a Trace that is no column."""

    format: int
    names: tuple[str, ...]
    lanes: tuple[Lane, ...]
    devices: tuple[DeviceProperties, ...]
    options: frozenset[str]
    versions: dict[str, str]
    source: Source


def save(trace: Trace, folder: Path) -> None:
    """Write a trace into an empty folder.

    Raises:
        OSError: the folder cannot be written.
    """
    arrays = {name: getattr(trace, name) for name in _ARRAYS}
    arrays |= {f"details.{name}": getattr(trace.kernel_details, name) for name in _DETAILS}
    arrays |= {f"memory.{name}": getattr(trace.memory, name) for name in _MEMORY}
    np.savez(folder / COLUMNS_FILE, allow_pickle=False, **arrays)
    rest = _Rest(
        format=FORMAT,
        names=trace.names,
        lanes=trace.lanes,
        devices=trace.devices,
        options=trace.options,
        versions=trace.versions,
        source=trace.source,
    )
    write_json(folder / REST_FILE, rest)


def load(folder: Path) -> Trace:
    """Read a trace back; the columns cannot be written to.

    Raises:
        TraceError: it is not there, damaged, or of another version of the program.
    """
    try:
        rest = msgspec.json.decode((folder / REST_FILE).read_bytes(), type=_Rest)
        if rest.format != FORMAT:
            msg = "This trace was read by another version of the program; open the file again."
            raise TraceError(msg)
        # Opened here: numpy leaves a damaged file open.
        with (folder / COLUMNS_FILE).open("rb") as file, np.load(file, allow_pickle=False) as parts:
            arrays = {name: _frozen(parts[name]) for name in parts.files}
        return Trace(
            **{name: arrays[name] for name in _ARRAYS},
            kernel_details=KernelDetails(**_part(arrays, "details.", _DETAILS)),
            memory=MemoryRows(**_part(arrays, "memory.", _MEMORY)),
            names=rest.names,
            lanes=rest.lanes,
            devices=rest.devices,
            options=rest.options,
            versions=rest.versions,
            source=rest.source,
        )
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        msgspec.MsgspecError,
        zipfile.BadZipFile,
    ) as error:
        msg = "This trace is no longer kept here, or is damaged; open the file again."
        raise TraceError(msg) from error


def _part(
    arrays: dict[str, NDArray[Any]], prefix: str, names: tuple[str, ...]
) -> dict[str, NDArray[Any]]:
    return {name: arrays[prefix + name] for name in names}


def _frozen(column: NDArray[Any]) -> NDArray[Any]:
    column.flags.writeable = False  # one Trace may serve many readers
    return column
