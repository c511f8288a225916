"""Record the samples that ship with the program, on the GPU of this machine.

Usage: PYTHONPATH=. python benchmarks/record_samples.py [--prefix h200]
Writes profcore/samples/<id>/ and profcore/samples/order.txt. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from queue_runs import record_all

from profcore.experiment import Experiment

SAMPLES = Path(__file__).resolve().parents[1] / "profcore" / "samples"
FILES = (
    "experiment.json",
    "environment.json",
    "timings.json",
    "trace.json.gz",
    "table.txt",
    "averages.json",
    "status.json",
)

EXPERIMENTS: dict[str, tuple[str, Experiment]] = {
    "matmul-add-64": ("Small product: the GPU waits", Experiment(size=64)),
    "matmul-add-64-cold": ("Small product, cold start", Experiment(size=64, warmup=0)),
    "matmul-add-64-compiled": (
        "Small product, compiled: slower",
        Experiment(size=64, compile="default"),
    ),
    "matmul-add-4096": ("Large product: the GPU works", Experiment(size=4096)),
    "matmul-add-4096-compiled": (
        "Large product, compiled: a hidden copy",
        Experiment(size=4096, compile="default"),
    ),
    "matmul-add-4096-fp32": (
        "Large product in fp32: no tensor cores",
        Experiment(size=4096, dtype="fp32"),
    ),
    "batched-matmul-64": (
        "Batched product: matmul becomes bmm",
        Experiment(workload="batched_matmul", size=64),
    ),
    "linear-64": (
        "Linear layer: the bias inside the product",
        Experiment(workload="linear", size=64),
    ),
    "elementwise-chain-4096": (
        "Eight pointwise operators, eager",
        Experiment(workload="elementwise_chain", size=4096),
    ),
    "elementwise-chain-4096-compiled": (
        "Eight pointwise operators in one kernel",
        Experiment(workload="elementwise_chain", size=4096, compile="default"),
    ),
}
"""Title and experiment of each, in the order in which they are offered."""


def main() -> int:
    """Record all of them, in the order in which they are offered; 1 when one failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", default="h200", help="short name of the GPU, part of every id")
    parser.add_argument("--only", help="record this one and leave the others as they are")
    arguments = parser.parse_args()
    prefix = arguments.prefix
    chosen = {name: known for name, known in EXPERIMENTS.items() if arguments.only in {None, name}}
    with tempfile.TemporaryDirectory() as scratch:
        experiments = [experiment for _, experiment in chosen.values()]
        recordings = record_all(experiments, Path(scratch))
        for (name, (title, _)), recording in zip(chosen.items(), recordings, strict=True):
            if recording.status.state != "done":
                print(f"{name}: {recording.status.message}")
                return 1
            folder = SAMPLES / f"{prefix}-{name}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for file in FILES:
                shutil.copy(recording.folder / file, folder / file)
            (folder / "title.txt").write_text(f"{title}\n", encoding="utf-8")
    order = "".join(f"{prefix}-{name}\n" for name in EXPERIMENTS)
    (SAMPLES / "order.txt").write_text(order, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
