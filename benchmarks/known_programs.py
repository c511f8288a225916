"""Small torch programs whose traits are known by construction, each recorded as a trace.

They show what no experiment of the program shows: copies, waiting, attention, training. One child
process records all of them, one after the other; their traces are then opened like anybody's.

Usage: PYTHONPATH=. python benchmarks/known_programs.py FOLDER [--device cuda:0] [--only NAME ...]
Prints, for each program, what the rules say of its trace. Under a minute on an H200.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profcore.analysis import Analysis
from profcore.errors import ProfcoreError
from profcore.files import read_json
from profcore.recording import Timings
from profcore.rules import check_all, judge
from profcore.trace import read

if TYPE_CHECKING:
    from profcore.rules import Finding, Verdict

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What is known of a program before it is recorded."""

    name: str
    truth: str = ""
    """What bounds it, by construction; empty: not constructed to show that."""
    is_healthy: bool = False
    """Keeps the GPU busy with work it needs: no warning and no trust row may fire."""
    shows: tuple[str, ...] = ()
    """Rules that it was made to show."""


PROGRAMS: tuple[Known, ...] = (
    # Waiting, copying, input
    Known(name="item_loop", truth="waiting", shows=("S1",)),
    Known(name="synchronise_loop", truth="waiting", shows=("S5",)),
    Known(name="pageable_copy", truth="copy-bound", shows=("S2", "B3")),
    Known(name="pinned_copy", truth="copy-bound", shows=("S3", "S4")),
    Known(name="slow_loader", truth="input-bound", shows=("S6",)),
    # Healthy: large, steady, what a good program looks like
    Known(name="geglu", truth="compute-bound", is_healthy=True),
    Known(name="geglu_compiled", truth="compute-bound", is_healthy=True, shows=("L7", "K1")),
    Known(name="attention_flash", truth="compute-bound", is_healthy=True, shows=("A4", "A5", "A7")),
    Known(name="attention_cudnn", truth="compute-bound", is_healthy=True, shows=("A4",)),
    Known(name="attention_efficient", truth="compute-bound", is_healthy=True, shows=("A4",)),
    Known(name="training_large", truth="compute-bound", is_healthy=True, shows=("O5",)),
    Known(name="copy_beside_kernels", truth="compute-bound", is_healthy=True, shows=("E11",)),
    # GPU-limited, with something to gain
    Known(name="attention_by_hand", truth="compute-bound", shows=("A1",)),
    Known(name="attention_math", truth="compute-bound", shows=("A2",)),
    Known(name="fp32_product", truth="compute-bound", shows=("N1",)),
    Known(name="convolution_and_norm", truth="compute-bound", shows=("E2", "O3")),
    Known(name="casts", shows=("N5",)),
    Known(name="two_streams", shows=("E11",)),
    # The CPU is the limit
    Known(name="many_adds", truth="overhead-bound", shows=("T4", "E1")),
    Known(name="index_loop", truth="overhead-bound", shows=("O4",)),
    Known(name="training_small", truth="overhead-bound", shows=("O5", "E1")),
    Known(name="tensor_by_tensor_optimizer", truth="overhead-bound", shows=("O1", "O2")),
    Known(name="python_between_kernels", truth="overhead-bound", shows=("E12",)),
    Known(name="graph_break", truth="overhead-bound", shows=("R3",)),
    Known(name="hand_written_kernel", truth="overhead-bound", shows=("L9",)),
    Known(name="recompile", truth="compiling", shows=("R1", "R2")),
    Known(name="own_cuda_graph", shows=("R4",)),
    # The recording itself
    Known(name="allocate_in_steps", shows=("E9",)),
    Known(name="nearly_full_memory", shows=("M1", "Q18")),
    Known(name="other_thread", shows=("Q13",)),
    Known(name="every_other_step_empty", shows=("Q8",)),
    Known(name="without_schedule", shows=("Q6",)),
    Known(name="built_on_the_cpu", shows=("S8",)),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A program, and what the rules say of its trace."""

    known: Known
    analysis: Analysis
    findings: tuple[Finding, ...]
    verdict: Verdict

    def fired(self, *kinds: str) -> list[str]:
        """Return the ids of the rules that fired, of some kinds or of all."""
        return [
            finding.rule
            for finding in self.findings
            if finding.state == "fired" and (not kinds or finding.kind in kinds)
        ]


def record_all(folder: Path, *, device: str, only: tuple[str, ...] = ()) -> None:
    """Record the programs in a child; a program that fails prints why and is left out."""
    script = Path(__file__).with_name("known_steps.py")
    names = only or tuple(known.name for known in PROGRAMS)
    subprocess.run([sys.executable, str(script), str(folder), device, *names], check=True, cwd=ROOT)


def tell_all(folder: Path) -> list[Told]:
    """Open every trace that is there and ask the rules."""
    told = []
    for known in PROGRAMS:
        path = folder / f"{known.name}.json.gz"
        if not path.exists():
            continue
        try:
            timings = read_json(folder / f"{known.name}.timings.json", Timings)
            analysis = Analysis(read(path), timings=timings)
        except ProfcoreError as error:
            print(f"{known.name}: {error}")
            continue
        told.append(
            Told(
                known=known,
                analysis=analysis,
                findings=tuple(check_all(analysis)),
                verdict=judge(analysis),
            )
        )
    return told


def print_told(told: list[Told]) -> None:
    """Print a line per program, and which rules that it should show did not fire."""
    print(f"{'program':28}{'truth':16}{'verdict':16}warnings and trust | notes | facts")
    for one in told:
        fired = set(one.fired())
        missed = [rule for rule in one.known.shows if rule not in fired]
        parts = (one.fired("warning", "trust"), one.fired("note"), one.fired("fact"))
        print(
            f"{one.known.name:28}{one.known.truth:16}{one.verdict.bound:16}"
            + " | ".join(" ".join(part) or "-" for part in parts)
            + (f"   MISSED: {' '.join(missed)}" if missed else "")
        )
    seen = sorted({rule for one in told for rule in one.fired()})
    print(f"\n{len(seen)} rules fired on these programs: {' '.join(seen)}")


def main() -> int:
    """Record and tell; 1 when a program could not be recorded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where the traces go; kept")
    parser.add_argument("--device", default="cuda:0", help="cuda:0, or cpu for a dry run")
    parser.add_argument("--only", nargs="*", default=(), help="names of programs")
    parser.add_argument("--tell", action="store_true", help="open what is there, record nothing")
    arguments = parser.parse_args()
    if not arguments.tell:
        record_all(arguments.folder, device=arguments.device, only=tuple(arguments.only))
    told = tell_all(arguments.folder)
    print_told(told)
    wanted = len(arguments.only) or len(PROGRAMS)
    return 0 if len(told) >= wanted or arguments.device == "cpu" else 1


if __name__ == "__main__":
    sys.exit(main())
