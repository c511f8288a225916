"""Runs in a process of its own: times fake steps with the recorder's baseline, prints JSON.

Usage: python baseline_child.py DEVICE_NS,HELD_UP_NS ...      one device after the other
Time is a counter that the fake step moves on; nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from profcore.recorder import baseline
from profcore.recorder.clock import GPU_PACE

if TYPE_CHECKING:
    from collections.abc import Callable

CPU_NS = 20_000
"""What one call of the fake step costs the CPU."""


class FakeDevice:
    """A queue that works off `device_ns` per step; its clock is also the process's clock."""

    pace = GPU_PACE

    def __init__(self, device_ns: int, held_up_ns: int) -> None:
        self.now_ns = 0
        self.held_up_ns = held_up_ns
        self.free_at_ns = 0
        self.work_ns = device_ns

    def step(self) -> None:
        self.now_ns += self.held_up_ns or CPU_NS
        self.held_up_ns = 0  # the first call only
        self.free_at_ns = max(self.free_at_ns, self.now_ns) + self.work_ns

    def synchronise(self) -> None:
        self.now_ns = max(self.now_ns, self.free_at_ns)

    def device_ns(self, step: Callable[[], object], calls: int) -> float:
        self.synchronise()
        begin_ns = self.now_ns
        for _ in range(calls):
            step()
        self.synchronise()
        return (self.now_ns - begin_ns) / calls


def timed(device_ns: int, held_up_ns: int) -> dict[str, object]:
    device = FakeDevice(device_ns, held_up_ns)
    baseline.time.perf_counter_ns = lambda: device.now_ns  # type: ignore[attr-defined]
    timings = baseline.measure(device.step, device, taken="before", first_call_ns=7)
    return {
        "calls": timings.steps_per_repeat,
        "repeats": timings.repeats,
        "step_ns": timings.step_ns_median,
        "cpu_ns": timings.cpu_ns_median,
        "device_ns": timings.device_ns_median,
        "quartiles": [timings.step_ns_p25, timings.step_ns_p75],
    }


if __name__ == "__main__":
    found = {device: timed(*map(int, device.split(","))) for device in sys.argv[1:]}
    print(json.dumps(found))  # noqa: T201
