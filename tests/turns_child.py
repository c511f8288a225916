"""Runs in a process of its own: times two fake steps by turns, prints JSON.

Time is a counter that the fake steps move on; nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import json

from profcore.recorder import baseline, by_turns
from profcore.recorder.clock import GPU_PACE

CPU_NS = (20_000, 22_000)


class FakeMachine:
    """A CPU without a device; it runs at half its speed from SLOW_AT_NS on."""

    SLOW_AT_NS = 450_000_000
    pace = GPU_PACE

    def __init__(self) -> None:
        self.now_ns = 0
        self.told: list[str] = []

    def step(self, index: int) -> None:
        self.told.append(f"step {index}")
        self.now_ns += CPU_NS[index] * (2 if self.now_ns >= self.SLOW_AT_NS else 1)

    def synchronise(self) -> None:
        """Nothing to wait for."""

    def device_ns(self, step: object, calls: int) -> None:
        """No clock of its own."""


def main() -> None:
    machine = FakeMachine()
    for module in (baseline, by_turns):
        module.time.perf_counter_ns = lambda: machine.now_ns  # type: ignore[attr-defined]
    mine_ns, other_ns = by_turns.time_by_turns(
        lambda: machine.step(0),
        lambda: machine.step(1),
        machine,  # type: ignore[arg-type]
        prepare=(lambda: machine.told.append("ready 0"), lambda: machine.told.append("ready 1")),
    )
    turns = [word for word in machine.told if word.startswith("ready")]
    answer = {"mine_ns": mine_ns, "other_ns": other_ns, "turns": turns}
    print(json.dumps(answer))  # noqa: T201


if __name__ == "__main__":
    main()
