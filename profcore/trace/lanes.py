"""Which process and thread, or device and stream, each row belongs to, and what they are called."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from profcore.trace.model import Lane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profcore.trace.schema import Event

Key = tuple[int | str, int | str]


class LaneCodes(dict[tuple[Any, Any], int]):
    """From (pid, tid) as written to a code; a number and the same number as text are one lane."""

    def __init__(self) -> None:
        super().__init__()
        self.keys_seen: list[Key] = []
        self._code_of: dict[Key, int] = {}
        self._process_names: dict[int | str, str] = {}
        self._thread_names: dict[Key, str] = {}

    def __missing__(self, written: tuple[Any, Any]) -> int:
        """Give the next code to a lane not seen before."""
        key = (_id(written[0]), _id(written[1]))
        code = self._code_of.setdefault(key, len(self.keys_seen))
        if code == len(self.keys_seen):
            self.keys_seen.append(key)
        self[written] = code
        return code

    def of(self, events: Sequence[Event]) -> NDArray[np.int32]:
        """Return the codes of the lanes of (n,) rows."""
        pids: list[Any] = [event.pid for event in events]
        tids: list[Any] = [event.tid for event in events]
        try:
            pid, tid = np.array(array("q", pids)), np.array(array("q", tids))
        except (TypeError, OverflowError):
            # Some are text.
            codes = array("i", map(self.__getitem__, zip(pids, tids, strict=True)))
            return np.frombuffer(codes, np.int32)
        # Rows of one lane stand together: only the first of each run is looked up.
        changes = (np.diff(pid) != 0) | (np.diff(tid) != 0)
        first = np.flatnonzero(np.concatenate([[True], changes]))
        lanes = zip(pid[first].tolist(), tid[first].tolist(), strict=True)
        codes = array("i", map(self.__getitem__, lanes))
        return np.repeat(np.frombuffer(codes, np.int32), np.diff(first, append=len(pid)))

    def add_name(self, event: Event) -> None:
        """Take the name of a process or thread from a metadata row; pass over other ones."""
        if event.args is None or event.name not in {"process_name", "thread_name"}:
            return
        try:
            name = msgspec.json.decode(event.args.name, type=str)
        except msgspec.DecodeError:
            return
        if event.name == "process_name":
            self._process_names[_id(event.pid)] = name
        else:
            self._thread_names[_id(event.pid), _id(event.tid)] = name

    def process_texts(self, code: int) -> tuple[str, str]:
        """Return the process of a lane as text, and its name or ""."""
        pid = self.keys_seen[code][0]
        return str(pid), self._process_names.get(pid, "")

    def lanes(
        self, codes: NDArray[np.int32], is_gpu: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], tuple[Lane, ...]]:
        """Split lanes that serve both sides, drop those without a row.

        Process 0, thread 0 can hold Python frames and stream 0 of GPU 0: two lanes.

        Args:
            codes: (n,) codes of the rows.
            is_gpu: (n,) rows whose pid and tid are a device and a stream.

        Returns:
            (n,) indices into the lanes, and the lanes in order of first sight.
        """
        sides = codes.astype(np.int64) * 2 + is_gpu
        used = np.zeros(2 * len(self.keys_seen), np.bool_)
        used[sides] = True
        index = np.cumsum(used, dtype=np.int32) - np.int32(1)
        lanes = tuple(self._lane(int(side) // 2) for side in np.flatnonzero(used))
        return index[sides], lanes

    def _lane(self, code: int) -> Lane:
        pid, tid = self.keys_seen[code]
        return Lane(
            pid=pid,
            tid=tid,
            process_name=self._process_names.get(pid, ""),
            thread_name=self._thread_names.get((pid, tid), ""),
        )


def _id(value: Any) -> int | str:
    if isinstance(value, str):
        # "stream 7" stays text; 18 digits are more than any process or thread number has.
        is_whole = value.isdecimal() and value.isascii() and len(value) <= 18  # noqa: PLR2004
        return int(value) if is_whole else value
    return value if isinstance(value, int) else ""
