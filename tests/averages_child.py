"""Child program: profile a few shapes of program on the CPU and write what torch says of each.

    python -m tests.averages_child FOLDER

Per program it writes NAME/trace.json.gz and NAME/averages.json (a list of `recording.Average`).
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from profcore.files import write_json
from profcore.recording import AVERAGES_FILE, TRACE_FILE, Average

if TYPE_CHECKING:
    from collections.abc import Callable


def nested_operators() -> None:
    """Operators inside operators: matmul makes mm, linear makes addmm, softmax and so on."""
    x, w, b = torch.randn(8, 16), torch.randn(16, 16), torch.randn(16)
    y = torch.nn.functional.linear(torch.matmul(x, w), w, b)
    torch.softmax(y.to(torch.float64).reshape(4, 32), dim=1).sum().item()


def annotations() -> None:
    """Annotations in annotations, two of the same name with one child each."""
    x = torch.randn(8, 8)
    with record_function("outer"):
        with record_function("inner"):
            x = x @ x
        with record_function("same"), record_function("same"), record_function("same"):
            x = x + x
        with record_function("same"):
            x = x - 1
            with record_function("same"):
                x = x * 2
            with record_function("empty"):
                pass


def loops() -> None:
    """Many calls of few operators."""
    x = torch.zeros(4)
    for _ in range(200):
        x = x.add_(1).mul_(0.5)


def backward() -> None:
    """Forward, then a backward pass, which a GPU would run on a thread of its own."""
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 4)
    )
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(8, 16)).square().mean().backward()
        optimizer.step()


def threads() -> None:
    """Work on two further threads, beside that of the main thread."""

    def products(x: torch.Tensor) -> None:
        for _ in range(20):
            x = torch.matmul(x, x)

    others = [threading.Thread(target=products, args=(torch.eye(8),)) for _ in range(2)]
    for one in others:
        one.start()
    products(torch.eye(8))
    for one in others:
        one.join()


PROGRAMS: tuple[Callable[[], None], ...] = (
    nested_operators,
    annotations,
    loops,
    backward,
    threads,
)


def averages(prof: profile) -> list[Average]:
    """Return torch's own table as numbers."""
    return [
        Average(
            name=event.key,
            device="cpu" if event.device_type == torch.autograd.DeviceType.CPU else "device",
            calls=event.count,
            self_cpu_us=event.self_cpu_time_total,
            total_cpu_us=event.cpu_time_total,
            self_device_us=event.self_device_time_total,
            total_device_us=event.device_time_total,
            is_annotation=event.is_user_annotation,
        )
        for event in prof.key_averages()
    ]


def record(program: Callable[[], None], folder: Path, *, scheduled: bool) -> None:
    """Profile a program, with a schedule (ProfilerStep rows) or without."""
    folder.mkdir(parents=True)
    plan = schedule(wait=1, warmup=1, active=3, repeat=1) if scheduled else None
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=plan,
        acc_events=True,
        experimental_config=_ExperimentalConfig(profile_all_threads=True),
    ) as prof:
        for _ in range(5 if scheduled else 1):
            program()
            if scheduled:
                prof.step()
    prof.export_chrome_trace(str(folder / TRACE_FILE))
    write_json(folder / AVERAGES_FILE, averages(prof))


def main(folder: Path) -> None:
    """Record every program both ways."""
    torch.manual_seed(0)
    for program in PROGRAMS:
        program()  # whatever the first call sets up is not part of the comparison
        record(program, folder / program.__name__, scheduled=False)
        record(program, folder / f"{program.__name__}_steps", scheduled=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
