"""Begin and end rows (ph B and E) become one timed row each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from profcore.trace.schema import NO_ARGS, NULL, Event, Facts, Raw
from profcore.trace.times import exact_ns

if TYPE_CHECKING:
    from collections.abc import Callable

NEVER_ENDED: Final = "begin without an end"
NEVER_BEGUN: Final = "end without a begin"
NO_TIME: Final = "begin or end without a time"
END: Final = "end of a begin/end pair"


class Pairs:
    """The begin and end rows of a file, kept until all of it is read."""

    def __init__(self, lane_of: Callable[[tuple[Any, Any]], int]) -> None:
        self._lane_of = lane_of
        self._rows: dict[int, list[tuple[int, Event]]] = {}
        self.set_aside: Counter[str] = Counter()
        self.ends = 0
        """End rows that closed a begin row."""

    def add(self, event: Event) -> None:
        """Keep a row of ph B or E."""
        start_ns = exact_ns(bytes(event.ts))
        if start_ns is None:
            self.set_aside[NO_TIME] += 1
            return
        lane = self._lane_of((event.pid, event.tid))
        self._rows.setdefault(lane, []).append((start_ns, _detached(event)))

    def join(self) -> list[Event]:
        """Return one timed row per pair; an end closes the last row still open on its lane."""
        joined: list[Event] = []
        for rows in self._rows.values():
            open_rows: list[tuple[int, Event]] = []
            for time_ns, event in sorted(rows, key=lambda row: row[0]):
                if event.ph == "B":
                    open_rows.append((time_ns, event))
                elif open_rows:
                    joined.append(_joined(*open_rows.pop(), time_ns, event))
                else:
                    self.set_aside[NEVER_BEGUN] += 1
            self.set_aside[NEVER_ENDED] += len(open_rows)
        self.set_aside = +self.set_aside
        self.ends = len(joined)
        self._rows.clear()
        return joined


def _joined(start_ns: int, begin: Event, end_ns: int, end: Event) -> Event:
    return Event(
        ph="X",
        name=begin.name or end.name,
        cat=begin.cat or end.cat,
        ts=_micros(start_ns),
        dur=_micros(end_ns - start_ns),
        pid=begin.pid,
        tid=begin.tid,
        args=end.args if begin.args is NO_ARGS else begin.args,
    )


def _micros(time_ns: int) -> Raw:
    sign = "-" if time_ns < 0 else ""
    whole, rest = divmod(abs(time_ns), 1000)
    return Raw(f"{sign}{whole}.{rest:03d}".encode())


def _detached(event: Event) -> Event:
    """Copy what points into the text of the batch, so that the text can be freed."""
    args = event.args or NO_ARGS
    if args is not NO_ARGS:
        texts = {name: getattr(args, name) for name in Facts.__struct_fields__}
        args = msgspec.structs.replace(
            args, **{name: raw if raw is NULL else raw.copy() for name, raw in texts.items()}
        )
    return msgspec.structs.replace(event, ts=NULL, dur=NULL, args=args)
