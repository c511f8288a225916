"""The events of one trace as columns.

Every timed row of the file that could be understood is one position in the columns; what was set
aside is counted in `Source`. Nothing here knows what the numbers mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Kind = Literal[
    "operator",  # cpu_op, Operator: work asked for on the CPU
    "annotation",  # user_annotation on the CPU side: record_function, ProfilerStep#N
    "runtime",  # CUDA, HIP and XPU runtime and driver calls
    "overhead",  # the profiler's own work, on the CPU side
    "python",  # python_function rows (with_stack)
    "kernel",
    "memcpy",
    "memset",
    "gpu_annotation",  # copy of an annotation over its kernels: never GPU work
    "gpu_sync",  # cuda_sync rows on the GPU side: never GPU work
    "accelerator",  # device rows that are no kernels by name: MTIA, Ascend
    "other",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""A row's `kind` column is an index into this tuple."""

GPU_WORK: Final[tuple[Kind, ...]] = ("kernel", "memcpy", "memset")
"""What counts as GPU work; nothing else does."""

CPU_SIDE: Final[tuple[Kind, ...]] = ("operator", "annotation", "runtime", "overhead")
"""What torch's own table counts as CPU time (Python frames are left out)."""

MISSING: Final = -1
"""In an integer column: the file does not say."""


def kind_code(kind: Kind) -> int:
    """Return the value of the `kind` column for a kind."""
    return KINDS.index(kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """One (process, thread) of the file; on the GPU side one (device, stream)."""

    pid: int | str
    tid: int | str
    process_name: str = ""
    thread_name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceProperties:
    """One entry of `deviceProperties`; what a writer left out is None."""

    id: int
    name: str
    memory_bytes: int | None = None
    compute_major: int | None = None
    compute_minor: int | None = None
    multiprocessors: int | None = None
    shared_memory_per_block_bytes: int | None = None
    shared_memory_per_block_optin_bytes: int | None = None
    shared_memory_per_multiprocessor_bytes: int | None = None
    registers_per_multiprocessor: int | None = None
    threads_per_multiprocessor: int | None = None
    warp_size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a trace came from and what became of its rows."""

    file: str
    """Name without its folder."""
    size_bytes: int
    """As stored, so compressed for a .gz."""
    events: int
    """Elements of the event list of the file, of every phase."""
    set_aside: dict[str, int] = field(default_factory=dict)
    """Rows left out of every count and sum, by reason in words."""
    repaired: dict[str, int] = field(default_factory=dict)
    """Places mended while reading, by reason in words."""
    untimed: dict[str, int] = field(default_factory=dict)
    """Elements that are no timed rows by their nature (arrows, names, instants ...), by what they
    are. `events` is the rows of the trace, those set aside and these, added up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KernelDetails:
    """Launch facts of GPU rows, for the `m` rows of the trace that carry them."""

    row: NDArray[np.int64]
    """(m,) positions in the trace's columns, ascending."""
    grid: NDArray[np.int64]
    """(m, 3) blocks; MISSING where absent."""
    block: NDArray[np.int64]
    """(m, 3) threads; MISSING where absent."""
    registers_per_thread: NDArray[np.int64]
    """(m,)"""
    shared_memory_bytes: NDArray[np.int64]
    """(m,) per block."""
    occupancy_percent: NDArray[np.float64]
    """(m,) the profiler's static estimate, NaN where absent. Not a measurement."""
    blocks_per_multiprocessor: NDArray[np.float64]
    """(m,) NaN where absent, inf where the writer did not know the multiprocessors."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRows:
    """The `[memory]` instants, in order of time; (k,) each."""

    start_ns: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    """Negative: freed."""
    device_type: NDArray[np.int64]
    """0 CPU, 1 CUDA, as torch numbers them."""
    device: NDArray[np.int64]
    allocated_bytes: NDArray[np.int64]
    """Total Allocated after this row; MISSING where absent."""
    reserved_bytes: NDArray[np.int64]
    """Total Reserved after this row; MISSING where absent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """The timed rows of a file, ordered by start, then longer first, then as in the file.

    All columns have shape (n,). Times count from the earliest kept row.
    """

    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    """0 or more."""
    kind: NDArray[np.uint8]
    """Index into KINDS."""
    name: NDArray[np.int32]
    """Index into `names`."""
    lane: NDArray[np.int32]
    """Index into `lanes`."""
    correlation: NDArray[np.int64]
    """Joins a launch call with its GPU work; MISSING where absent."""
    external_id: NDArray[np.int64]
    """Joins an operator with the launches inside it; MISSING where absent."""
    device: NDArray[np.int64]
    """args.device of GPU rows; MISSING where absent."""
    stream: NDArray[np.int64]
    """args.stream of GPU rows; MISSING where absent."""
    size_bytes: NDArray[np.int64]
    """args.bytes of copies and fills; MISSING where absent."""

    names: tuple[str, ...]
    lanes: tuple[Lane, ...]
    kernel_details: KernelDetails
    memory: MemoryRows
    devices: tuple[DeviceProperties, ...]
    """What `deviceProperties` lists; a listed device need not have worked."""
    options: frozenset[str]
    """Of record_shapes, with_stack, profile_memory, with_flops: those switched on."""
    versions: dict[str, str]
    """cuda_driver_version, cuda_runtime_version, cupti_version, as far as given."""
    source: Source

    def __len__(self) -> int:
        return len(self.start_ns)

    def name_of(self, row: int) -> str:
        """Return the full name of one row."""
        return self.names[int(self.name[row])]

    def is_kind(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Return an (n,) mask of the rows of these kinds."""
        import numpy as np

        return np.isin(self.kind, [kind_code(kind) for kind in kinds])
