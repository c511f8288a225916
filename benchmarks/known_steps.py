"""The child of known_programs.py: it imports torch, times the programs and records their traces.

All are timed before the first is recorded: once the profiler has run in a process, later steps
that wait for the CPU are slower.

Usage: python benchmarks/known_steps.py FOLDER DEVICE NAME ...
Each function takes a place and returns one step of its program, ready to be called. On a CPU the
sizes are a sixteenth, so that a dry run ends soon.
"""
# ruff: noqa: D103 - the table of known_programs.py says what each program is

from __future__ import annotations

import itertools
import json
import statistics
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[], object]

WARMUP: Final = 3
UNRECORDED: Final = 2
ACTIVE: Final = 5
REPEATS: Final = 7
REPEAT_NS: Final = 10_000_000
CALLS_MAX: Final = 200
SETTLE_NS: Final = 150_000_000


@dataclass(kw_only=True)
class Place:
    """Where the tensors of a program live."""

    device: torch.device
    options: dict[str, Any] = field(default_factory=dict)
    """For torch.profiler.profile, when a program wants more than the usual."""
    warmup: int = WARMUP
    active: int = ACTIVE
    scheduled: bool = True
    timed: bool = True
    """Whether an unprofiled step time makes sense: every call does the same."""

    @property
    def is_gpu(self) -> bool:
        """Whether the device is a GPU."""
        return self.device.type == "cuda"

    def size(self, length: int) -> int:
        """Return a length, or a sixteenth of it on a CPU."""
        return length if self.is_gpu else max(16, length // 16)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return random values."""
        return torch.randn(*shape, device=self.device, dtype=dtype)

    def wait(self) -> None:
        """Wait for the device."""
        if self.is_gpu:
            torch.cuda.synchronize(self.device)


# --- waiting, copying, input --------------------------------------------------------------------


def item_loop(place: Place) -> Step:
    x = place.normal(64, 64)
    return lambda: [x.sum().item() for _ in range(10)]


def synchronise_loop(place: Place) -> Step:
    x = place.normal(place.size(512), place.size(512))

    def step() -> None:
        for _ in range(5):
            torch.mm(x, x)
            place.wait()

    return step


def _copy(place: Place, *, pinned: bool) -> Step:
    host = torch.randn(place.size(1 << 24))  # 64 MiB
    if pinned and place.is_gpu:
        host = host.pin_memory()
    there = torch.empty_like(host, device=place.device)

    def step() -> None:
        there.copy_(host, non_blocking=pinned)
        there.add_(1)

    return step


def pageable_copy(place: Place) -> Step:
    return _copy(place, pinned=False)


def pinned_copy(place: Place) -> Step:
    return _copy(place, pinned=True)


class _SlowRows(torch.utils.data.Dataset[torch.Tensor]):
    """Rows that take a while to make, as images do."""

    def __len__(self) -> int:
        return 10_000

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(0.0002)
        return torch.full((1024,), float(index))


def slow_loader(place: Place) -> Step:
    batches = iter(torch.utils.data.DataLoader(_SlowRows(), batch_size=16))
    w = place.normal(1024, 1024)
    return lambda: torch.mm(next(batches).to(place.device), w)


# --- healthy ------------------------------------------------------------------------------------


def _geglu(place: Place) -> tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]:
    n = place.size(4096)
    inputs = tuple(place.normal(n, n, dtype=torch.bfloat16) for _ in range(4))

    def forward(
        x: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, down: torch.Tensor
    ) -> torch.Tensor:
        return (functional.gelu(x @ gate) * (x @ up)) @ down  # (n, n) throughout

    return forward, inputs


def geglu(place: Place) -> Step:
    forward, inputs = _geglu(place)
    return lambda: forward(*inputs)


def geglu_compiled(place: Place) -> Step:
    forward, inputs = _geglu(place)
    compiled = torch.compile(forward, dynamic=False)
    return lambda: compiled(*inputs)


def _heads(place: Place, length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    q, k, v = (place.normal(4, 16, place.size(length), 64, dtype=torch.bfloat16) for _ in range(3))
    return q, k, v  # (batch, heads, length, head size)


def _attention(place: Place, backend: SDPBackend) -> Step:
    q, k, v = _heads(place, 4096)

    def step() -> torch.Tensor:
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    return step


def attention_flash(place: Place) -> Step:
    return _attention(place, SDPBackend.FLASH_ATTENTION)


def attention_cudnn(place: Place) -> Step:
    return _attention(place, SDPBackend.CUDNN_ATTENTION)


def attention_efficient(place: Place) -> Step:
    return _attention(place, SDPBackend.EFFICIENT_ATTENTION)


def attention_math(place: Place) -> Step:
    return _attention(place, SDPBackend.MATH)


def attention_by_hand(place: Place) -> Step:
    q, k, v = _heads(place, 1024)
    length = q.shape[2]
    later = torch.ones(length, length, device=place.device, dtype=torch.bool).triu(1)

    def step() -> torch.Tensor:
        scores = (q @ k.transpose(-2, -1)) / 8  # (batch, heads, length, length)
        return scores.masked_fill(later, float("-inf")).softmax(-1) @ v

    return step


def _training(place: Place, *, width: int, rows: int, dtype: torch.dtype) -> Step:
    model = torch.nn.Sequential(
        torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, width)
    ).to(place.device, dtype)
    optimizer = torch.optim.AdamW(model.parameters(), fused=place.is_gpu)
    x = place.normal(rows, width, dtype=dtype)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def training_large(place: Place) -> Step:
    return _training(place, width=place.size(4096), rows=place.size(8192), dtype=torch.bfloat16)


def training_small(place: Place) -> Step:
    return _training(place, width=256, rows=64, dtype=torch.float32)


def copy_beside_kernels(place: Place) -> Step:
    n = place.size(4096)
    x = place.normal(n, n, dtype=torch.bfloat16)
    host = torch.empty(place.size(1 << 22))
    there = torch.empty_like(host, device=place.device)
    if not place.is_gpu:
        return lambda: (torch.mm(x, x), there.copy_(host))
    host = host.pin_memory()
    stream = torch.cuda.Stream()

    def step() -> None:
        with torch.cuda.stream(stream):
            there.copy_(host, non_blocking=True)
        for _ in range(6):
            torch.mm(x, x)

    return step


# --- the GPU is the limit -----------------------------------------------------------------------


def fp32_product(place: Place) -> Step:
    x = place.normal(place.size(4096), place.size(4096))
    return lambda: torch.mm(x, x)


def convolution_and_norm(place: Place) -> Step:
    images = place.normal(64, 64, place.size(56), place.size(56))
    convolution = torch.nn.Conv2d(64, 64, 3, padding=1).to(place.device)
    norm = torch.nn.BatchNorm2d(64).to(place.device)

    def step() -> torch.Tensor:
        with torch.no_grad():
            return torch.relu(norm(convolution(images)))

    return step


def casts(place: Place) -> Step:
    x = place.normal(place.size(4096), place.size(4096), dtype=torch.bfloat16)
    return lambda: (x.float() * 2).to(torch.bfloat16)


def two_streams(place: Place) -> Step:
    x = place.normal(place.size(2048), place.size(2048), dtype=torch.bfloat16)
    if not place.is_gpu:
        return lambda: torch.mm(x, x)
    stream = torch.cuda.Stream()

    def step() -> None:
        for _ in range(20):
            torch.mm(x, x)
            with torch.cuda.stream(stream):
                torch.mm(x, x)

    return step


# --- the CPU is the limit -----------------------------------------------------------------------


def many_adds(place: Place) -> Step:
    x = place.normal(64, 64)
    return lambda: [torch.add(x, 1) for _ in range(80)]


def index_loop(place: Place) -> Step:
    x = place.normal(64, 64)
    return lambda: [x[row] * 2 for row in range(40)]


def tensor_by_tensor_optimizer(place: Place) -> Step:
    parameters = [torch.nn.Parameter(place.normal(256, 256)) for _ in range(30)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW(parameters, foreach=False, fused=False)

    def step() -> None:
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)

    return step


def python_between_kernels(place: Place) -> Step:
    x = place.normal(64, 64)

    def step() -> int:
        torch.mm(x, x)
        return sum(number * number for number in range(20_000))

    return step


def graph_break(place: Place) -> Step:
    x = place.normal(64, 64)

    def broken(values: torch.Tensor) -> torch.Tensor:
        values = torch.relu(values + 1)
        torch._dynamo.graph_break()  # noqa: SLF001 - its documented name
        return values * 2 + 1

    compiled = torch.compile(broken)
    return lambda: compiled(x)


def recompile(place: Place) -> Step:
    place.warmup, place.active, place.timed = 1, 3, False  # every call compiles
    compiled = torch.compile(lambda values: torch.relu(values + 1) * 2, dynamic=False)
    sizes = iter(range(64, 4096, 8))
    return lambda: compiled(place.normal(next(sizes), 64))


_KERNEL: Final = """
import triton
import triton.language as tl


@triton.jit
def double(values, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < count
    tl.store(values + place, tl.load(values + place, mask=mask) * 2, mask=mask)
"""


def hand_written_kernel(place: Place) -> Step:
    # Triton reads the source of its kernels from their file.
    source = Path(sys.argv[1]) / "hand_written.py"
    source.write_text(_KERNEL, encoding="utf-8")
    sys.path.insert(0, str(source.parent))
    import hand_written

    x = place.normal(64, 64)

    def step() -> None:
        torch.add(x, 1)  # an operator beside it
        for _ in range(5):
            hand_written.double[(16,)](x, x.numel(), BLOCK=256)

    return step


def own_cuda_graph(place: Place) -> Step:
    x = place.normal(place.size(1024), place.size(1024))
    graph = torch.cuda.CUDAGraph()
    torch.relu(x @ x)
    with torch.cuda.graph(graph):
        torch.relu(x @ x)
    return graph.replay


# --- the recording itself -----------------------------------------------------------------------


def allocate_in_steps(place: Place) -> Step:
    n = place.size(4096)

    def step() -> None:
        x = torch.zeros(n, n, device=place.device)
        del x
        if place.is_gpu:
            torch.cuda.empty_cache()

    return step


def nearly_full_memory(place: Place) -> Step:
    place.options = {"profile_memory": True, "record_shapes": True}
    x = place.normal(64, 64)
    if not place.is_gpu:
        return lambda: torch.mm(x, x)
    free, total = torch.cuda.mem_get_info(place.device)
    length = min(int(total * 0.93), free - (1 << 30))

    def step() -> None:
        room = torch.empty(length, dtype=torch.uint8, device=place.device)
        torch.mm(x, x)
        del room

    return step


def other_thread(place: Place) -> Step:
    x = place.normal(64, 64)

    def step() -> None:
        torch.add(x, 1)  # recorded; the product of the other thread is not
        thread = threading.Thread(target=lambda: torch.mm(x, x))
        thread.start()
        thread.join()

    return step


def every_other_step_empty(place: Place) -> Step:
    x = place.normal(64, 64)
    turns = itertools.count()
    return lambda: torch.mm(x, x) if next(turns) % 2 else torch.ones(3) + 1


def without_schedule(place: Place) -> Step:
    place.scheduled = False
    x = place.normal(place.size(2048), place.size(2048), dtype=torch.bfloat16)
    return lambda: torch.mm(x, x)


def built_on_the_cpu(place: Place) -> Step:
    place.options = {"record_shapes": True}
    n = place.size(2048)
    return lambda: torch.zeros(n, n).to(place.device)


# --- timing and recording -----------------------------------------------------------------------


def settle(step: Step, place: Place) -> None:
    """Call a step until the GPU runs at the clock that it keeps: an idle one needs 0.1 s and more.

    Timed from idle, an H200 took a quarter longer for one kernel than in the recording after.
    """
    if not place.timed or not place.is_gpu:
        return
    until_ns = time.perf_counter_ns() + SETTLE_NS
    while time.perf_counter_ns() < until_ns:
        step()
        place.wait()


def time_step(step: Step, place: Place) -> dict[str, Any]:
    """Return unprofiled times of a step, in the form of a recording's timings."""
    begin_ns = time.perf_counter_ns()
    step()
    place.wait()
    first_ns = time.perf_counter_ns() - begin_ns
    settle(step, place)
    begin_ns = time.perf_counter_ns()
    step()
    place.wait()
    calls = max(1, min(CALLS_MAX, REPEAT_NS // (time.perf_counter_ns() - begin_ns)))
    steps_ns, cpus_ns = [], []
    for _ in range(REPEATS):
        begin_ns = time.perf_counter_ns()
        for _ in range(calls):
            step()
        issued_ns = time.perf_counter_ns()
        place.wait()
        steps_ns.append((time.perf_counter_ns() - begin_ns) / calls)
        cpus_ns.append((issued_ns - begin_ns) / calls)
    quartiles = {
        name: statistics.quantiles(times, n=4)
        for name, times in (("step_ns", steps_ns), ("cpu_ns", cpus_ns))
    }
    return {
        "taken": "before",
        "repeats": REPEATS,
        "steps_per_repeat": calls,
        "first_call_ns": first_ns,
        **{
            f"{name}_{part}": quartiles[name][place]
            for name in quartiles
            for place, part in enumerate(("p25", "median", "p75"))
        },
    }


def record(step: Step, place: Place, path: Path) -> None:
    """Warm the step up and record some calls of it."""
    for _ in range(place.warmup):
        step()
    place.wait()
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * place.is_gpu
    plan = schedule(wait=0, warmup=UNRECORDED, active=place.active, repeat=1)
    with profile(
        activities=activities, schedule=plan if place.scheduled else None, **place.options
    ) as profiler:
        for turn in range(UNRECORDED + place.active):
            if not turn:
                settle(step, place)
            step()
            if turn + 1 == UNRECORDED:
                # Before the recording begins: no kernel may run into it, and no wait be part of it.
                place.wait()
            if place.scheduled:
                profiler.step()
        place.wait()
    profiler.export_chrome_trace(str(path))


def main() -> int:
    """Time, then record the programs that are named, in the order given."""
    folder, device = Path(sys.argv[1]), torch.device(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_float32_matmul_precision("highest")
    made: dict[str, tuple[Step, Place]] = {}
    for name in sys.argv[3:]:
        began_s = time.monotonic()
        place = Place(device=device)
        try:
            step = globals()[name](place)
            if place.timed:
                timings = time_step(step, place)
                (folder / f"{name}.timings.json").write_text(json.dumps(timings), encoding="utf-8")
        except Exception:  # noqa: BLE001 - one program fails, the others go on
            print(f"{name}: failed", flush=True)
            traceback.print_exc(limit=3)
        else:
            made[name] = (step, place)
            print(f"{name}: timed, {time.monotonic() - began_s:.1f} s", flush=True)
        if place.is_gpu:
            torch.cuda.empty_cache()
    for name, (step, place) in made.items():
        began_s = time.monotonic()
        try:
            record(step, place, folder / f"{name}.json.gz")
        except Exception:  # noqa: BLE001 - one program fails, the others go on
            print(f"{name}: failed", flush=True)
            traceback.print_exc(limit=3)
        else:
            print(f"{name}: recorded, {time.monotonic() - began_s:.1f} s", flush=True)
        if place.is_gpu:
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())
