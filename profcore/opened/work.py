"""What the child does: read, write the columns, answer."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from profcore.errors import TraceError
from profcore.files import write_json
from profcore.opened.order import ANSWER_FILE, Answer
from profcore.trace import list_members, read, store

if TYPE_CHECKING:
    from profcore.opened.order import Order
    from profcore.trace import Trace


def obey(order: Order) -> None:
    """Read a file as ordered and write the answer."""
    try:
        answer = _read(order)
    except TraceError as error:
        answer = Answer(state="refused", sentence=str(error))
    except MemoryError:
        answer = Answer(state="memory")
    write_json(Path(order.folder) / ANSWER_FILE, answer)


def _read(order: Order) -> Answer:
    path = Path(order.path)
    if not order.member:
        members = list_members(path, limits=order.limits)
        # A file of torch.save is an archive too; the reader says so.
        if len(members) > 1 and not any(name.endswith("/data.pkl") for name in members):
            return Answer(state="choose", members=members)
    trace = read(path, name=order.name, limits=order.limits, member=order.member or None)
    return _keep(trace, order)


def _keep(trace: Trace, order: Order) -> Answer:
    folder = Path(order.folder)
    too_large = (
        f"{order.name} takes more than {order.stored_trace_max_bytes / 1024**2:,.0f} MiB as "
        "columns and names, which is the limit here; record fewer steps."
    )
    try:
        store.save(trace, folder)
        kept_bytes = sum(entry.stat().st_size for entry in os.scandir(folder))
    except OSError as error:
        if error.errno == errno.EFBIG:  # the limit on the size of one file
            return Answer(state="refused", sentence=too_large)
        sentence = f"{order.name} was read, but could not be kept ({error.strerror})."
        return Answer(state="refused", sentence=sentence)
    if kept_bytes > order.stored_trace_max_bytes:
        return Answer(state="refused", sentence=too_large)
    return Answer(state="done")
