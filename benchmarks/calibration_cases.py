"""Experiments of the program whose verdict is known by construction."""

from __future__ import annotations

from dataclasses import dataclass

from profcore.experiment import Experiment


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One experiment and what is known of it before it runs, on a data-centre GPU."""

    name: str
    experiment: Experiment
    truth: str = ""
    """What bounds it; empty: it is here for a prediction or a twin."""
    is_healthy: bool = False
    """Keeps the GPU busy with work it needs: no warning and no trust row may fire."""


def _case(name: str, truth: str = "", *, healthy: bool = False, **knobs: object) -> Case:
    return Case(name=name, experiment=Experiment(**knobs), truth=truth, is_healthy=healthy)  # type: ignore[arg-type]


OVERHEAD, COMPUTE, MEMORY = "overhead-bound", "compute-bound", "memory-bound"
CHAIN, LINEAR, BATCHED = "elementwise_chain", "linear", "batched_matmul"

WARM: tuple[Case, ...] = (
    # Microseconds of work per launch
    _case("product-64", OVERHEAD, size=64),
    _case("product-64-compiled", OVERHEAD, size=64, compile="default"),
    _case("linear-64", OVERHEAD, workload=LINEAR, size=64),
    _case("linear-64-compiled", OVERHEAD, workload=LINEAR, size=64, compile="default"),
    _case("batched-64", OVERHEAD, workload=BATCHED, size=64),
    _case("chain-64", OVERHEAD, workload=CHAIN, size=64),
    _case("chain-64-compiled", OVERHEAD, workload=CHAIN, size=64, compile="default"),
    # Two thousand operations and more per byte
    _case("product-4096", COMPUTE, healthy=True, size=4096),
    _case("product-8192", COMPUTE, healthy=True, size=8192),
    _case("product-4096-fp16", COMPUTE, healthy=True, size=4096, dtype="fp16"),
    _case("product-4096-tf32", COMPUTE, healthy=True, size=4096, dtype="tf32"),
    _case("product-4096-fp32", COMPUTE, size=4096, dtype="fp32"),
    _case("product-4095", COMPUTE, size=4095),
    _case(
        "product-4096-vector", COMPUTE, healthy=True, size=4096, compile="default", bias="vector"
    ),
    _case("product-4096-compiled", COMPUTE, size=4096, compile="default"),
    _case("product-4096-graph", COMPUTE, size=4096, compile="reduce-overhead"),
    _case("linear-4096", COMPUTE, healthy=True, workload=LINEAR, size=4096),
    _case("batched-2048", COMPUTE, healthy=True, workload=BATCHED, size=2048),
    # One operation per element and trip through memory
    _case("chain-4096", MEMORY, healthy=True, workload=CHAIN, size=4096),
    _case("chain-4096-fp32", MEMORY, healthy=True, workload=CHAIN, size=4096, dtype="fp32"),
    _case("chain-8192", MEMORY, healthy=True, workload=CHAIN, size=8192),
    _case(
        "chain-8192-compiled", MEMORY, healthy=True, workload=CHAIN, size=8192, compile="default"
    ),
    _case("chain-4096-compiled", workload=CHAIN, size=4096, compile="default"),
)
"""Recorded in one process."""

COLD: tuple[Case, ...] = (
    _case("product-64-cold", OVERHEAD, size=64, warmup=0),
    _case("product-64-compiled-cold", size=64, compile="default", warmup=0),
)
"""Each in a process of its own."""

DRY: tuple[Case, ...] = (
    _case("product-64", "cpu-run", size=64),
    _case("product-1024", "cpu-run", size=1024, dtype="fp32"),
)
"""On a machine without a GPU: the verdict is that nothing can be said of a GPU."""
DRY_COLD: tuple[Case, ...] = (_case("product-64-cold", "cpu-run", size=64, warmup=0),)
