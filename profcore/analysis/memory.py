"""How much memory was allocated and reserved on each device, over time?

From the `[memory]` instants that profile_memory=True leaves: each says what was asked for or given
back, and in newer files how much is then allocated by tensors and reserved from the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from profcore.trace.model import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profcore.analysis.analysis import Analysis

    Ints = NDArray[np.int64]

COLUMNS: Final[dict[str, str]] = {
    "device": "number of the device; -1 for the CPU",
    "time_ns": "when the amount changes",
    "allocated_bytes": "held by tensors from then on; without totals in the file the sum of the "
    "changes so far, which leaves out what was there before and is never below 0",
    "reserved_bytes": "held by PyTorch's allocator from then on, free blocks of its cache "
    "included; -1 when the file does not say",
    "is_relative": "whether the file gives no totals for this device",
}

CPU_TYPE: Final = 0
CPU_DEVICE: Final = -1


def table(analysis: Analysis) -> pd.DataFrame:
    """Return one row per memory row of the file, by device and time."""
    memory = analysis.trace.memory
    device = np.where(memory.device_type == CPU_TYPE, CPU_DEVICE, memory.device)
    order = np.lexsort((memory.start_ns, device))
    device = device[order]
    allocated, size = memory.allocated_bytes[order], memory.size_bytes[order]
    relative = np.zeros(len(order), bool)
    for one in np.unique(device):
        mine = device == one
        if (allocated[mine] == MISSING).any():
            allocated[mine], relative[mine] = _running(size[mine]), True
    return pd.DataFrame(
        {
            "device": device,
            "time_ns": memory.start_ns[order],
            "allocated_bytes": allocated,
            "reserved_bytes": memory.reserved_bytes[order],
            "is_relative": relative,
        }
    )


def _running(change: Ints) -> Ints:
    """Return the sum so far, lifted where it would fall below 0.

    A block that was allocated before the recording and is freed in it takes the sum below 0; it
    was there from the beginning, so everything before it is that much higher.
    """
    total = np.cumsum(change)
    return total - min(int(total.min()), 0)
