"""The child process that reads one foreign file: `python -m profcore.opened.child ORDER`.

ORDER is an `Order` as JSON. The child sets its own limits, reads, writes the columns and an answer
into a folder, and ends. It has no use for the network, torch or the library of recordings.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from profcore.opened.order import Order

_STDIN: Final = 0


def main() -> int:
    """Obey the order on the command line; 0 even when the file was refused: there is an answer."""
    # Before numpy is loaded: each of its threads would reserve memory, and none is needed.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import msgspec

    from profcore.opened.order import Order
    from profcore.opened.work import obey

    order = msgspec.json.decode(sys.argv[1], type=Order)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    limit(order)
    obey(order)
    return 0


def limit(order: Order) -> None:
    """Set the limits of this process; a host that allows less keeps its own."""
    for kind, bound in (
        (resource.RLIMIT_AS, order.memory_max_bytes),
        (resource.RLIMIT_CPU, order.cpu_time_max_s),
        (resource.RLIMIT_FSIZE, order.stored_trace_max_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        allowed = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        try:
            resource.setrlimit(kind, (allowed, allowed))
        except (ValueError, OSError):
            continue  # macOS knows some kinds by name only; the time on the clock still holds


def _end_with_the_server() -> None:
    """Wait until standard input ends, as it does when the server is gone; then end at once."""
    while os.read(_STDIN, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
