"""How fast a large trace becomes tables, beside other tools on the same file in the same run.

    python benchmarks/open_trace.py [TRACE] [--sizes-mb 132,532] [--repeat 3] [--other-python PY]

A trace is repeated with shifted times and ids until it has the size. Each tool then opens it in
a process of its own; a time is the best of the repeats, without imports, and the memory is the
peak of that process. HolisticTraceAnalysis and TraceLens take part where they can be imported, by
this Python or by the one of `--other-python`.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

FOLDER = Path(os.environ.get("PROFCORE_TRACES") or ROOT / "../shared/traces")
TRACE = "public/AMD-AGI__TraceLens__h100~Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
"""Stacks, shapes, memory rows, kernels and one step: what a real job records."""
MB = 10**6
SHIFTED_ARGS = ("correlation", "External id", "Python id", "Python parent id", "Ev Idx")


def grow(source: Path, target: Path, size_bytes: int) -> int:
    """Write a trace of `size_bytes` that repeats the events of `source`; return their number."""
    import msgspec

    data = source.read_bytes()
    text = gzip.decompress(data) if source.suffix == ".gz" else data
    # Decimal, so that no digit of a time is lost.
    trace = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal).decode(text)
    encode = msgspec.json.Encoder(decimal_format="number").encode
    events = trace.pop("traceEvents")
    starts = [event["ts"] for event in events if event.get("ph") == "X"]
    ends = [event["ts"] + event["dur"] for event in events if event.get("ph") == "X"]
    period = max(ends) - min(starts) + 1000
    ids = 1 + max(_largest_id(event) for event in events)
    written = 0
    with target.open("wb") as file:
        file.write(encode(trace)[:-1] + b', "traceEvents": [\n')
        while file.tell() < size_bytes:
            for event in events:
                file.write((b",\n" if written else b"") + encode(event))
                written += 1
                _shift(event, period, ids)
        file.write(b"\n]}\n")
    return written


def _largest_id(event: dict[str, Any]) -> int:
    args = event.get("args") or {}
    values = [event.get("id"), *(args.get(name) for name in SHIFTED_ARGS)]
    return max((value for value in values if isinstance(value, int)), default=0)


def _shift(event: dict[str, Any], period: Decimal, ids: int) -> None:
    if "ts" in event:
        event["ts"] += period
    if isinstance(event.get("id"), int):
        event["id"] += ids
    args = event.get("args") or {}
    for name in SHIFTED_ARGS:
        if isinstance(args.get(name), int):
            args[name] += ids
    name = event.get("name")
    if isinstance(name, str) and name.startswith("ProfilerStep#"):
        event["name"] = f"ProfilerStep#{int(name.partition('#')[2]) + 1}"


def bare_msgspec() -> Callable[[Path], Any]:
    """Return the yardstick: one typed decode of the fields that are needed, and nothing else."""
    import msgspec

    number = int | None
    either = int | str | None
    args = msgspec.defstruct(
        "Args",
        [
            ("correlation", number, None),
            ("external_id", number, None),
            ("stream", either, None),
            ("device", either, None),
        ],
        rename={"external_id": "External id"},
    )
    event = msgspec.defstruct(
        "Event",
        [
            ("ph", str),
            ("name", str, ""),
            ("cat", str, ""),
            ("ts", Decimal, Decimal(0)),
            ("dur", Decimal, Decimal(0)),
            ("pid", either, None),
            ("tid", either, None),
            ("args", args | None, None),
        ],
    )
    decoder = msgspec.json.Decoder(msgspec.defstruct("Trace", [("traceEvents", list[event])]))
    return lambda path: decoder.decode(path.read_bytes())


def reader() -> Callable[[Path], Any]:
    """Return profcore's reader alone: the file as columns."""
    from profcore.trace import read

    return read


def tables() -> Callable[[Path], Any]:
    """Return profcore to finished tables."""
    from profcore.analysis import Analysis
    from profcore.trace import read

    def opened(path: Path) -> Analysis:
        analysis = Analysis(read(path))
        for table in (
            "operators",
            "kernels",
            "steps",
            "launches",
            "activities",
            "copies",
            "totals",
        ):
            getattr(analysis, table)
        return analysis

    return opened


def hta() -> Callable[[Path], Any]:
    """Return HolisticTraceAnalysis: load, temporal, idle and kernel breakdown."""
    from hta.trace_analysis import TraceAnalysis

    def opened(path: Path) -> Any:
        analysis = TraceAnalysis(trace_files={0: path.name}, trace_dir=str(path.parent))
        # It rounds to whole microseconds, and then its own check of the sums can fail.
        with contextlib.suppress(AssertionError):
            analysis.get_temporal_breakdown(visualize=False)
        analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
        analysis.get_gpu_kernel_breakdown(visualize=False)
        return analysis

    return opened


def tracelens() -> Callable[[Path], Any]:
    """Return TraceLens: tree, GPU timeline and kernel launchers."""
    from TraceLens import TreePerfAnalyzer

    def opened(path: Path) -> Any:
        analyzer = TreePerfAnalyzer.from_file(str(path))
        analyzer.get_df_gpu_timeline()
        analyzer.get_df_kernel_launchers()
        return analyzer

    return opened


TOOLS = {
    "msgspec": bare_msgspec,
    "reader": reader,
    "tables": tables,
    "hta": hta,
    "tracelens": tracelens,
}
TITLES = {
    "msgspec": "bare msgspec decode",
    "reader": "profcore, the reader alone",
    "tables": "profcore, to finished tables",
    "hta": "HolisticTraceAnalysis",
    "tracelens": "TraceLens",
}
RIVALS = ("hta", "tracelens")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One run of one tool."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def measure(tool: str, path: Path) -> None:
    """Run one tool in this process and print what it took as JSON."""
    run = TOOLS[tool]()
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    result = run(path)
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    del result
    print(json.dumps({"wall_s": wall_s, "cpu_s": cpu_s, "peak_bytes": peak_bytes}))


def measured(tool: str, path: Path, python: str) -> Measured | None:
    """Run one tool in a child process; None when it is not installed or fails."""
    command = [python, str(Path(__file__).resolve()), "--measure", tool, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        print(f"  {TITLES[tool]}: not measured ({reason})", file=sys.stderr)
        return None
    return Measured(**json.loads(done.stdout.strip().splitlines()[-1]))


def compare(path: Path, *, repeat: int, other_python: str) -> None:
    """Measure all tools on one file and print their times, memory and ratios."""
    runs: dict[str, list[Measured]] = {}
    # Round after round, so that a busy moment of the machine meets every tool.
    for number in range(repeat):
        for tool in TOOLS:
            if tool in RIVALS and (number or tool in runs):
                continue
            python = other_python if tool in RIVALS else sys.executable
            if (run := measured(tool, path, python)) is not None:
                runs.setdefault(tool, []).append(run)
    print(f"{'':32}{'seconds':>9}{'CPU s':>9}{'peak MB':>9}{'x time':>9}{'x memory':>10}")
    base = runs["msgspec"]
    base_s = min(run.wall_s for run in base)
    base_bytes = min(run.peak_bytes for run in base)
    for tool, all_runs in runs.items():
        wall_s = min(run.wall_s for run in all_runs)
        cpu_s = min(run.cpu_s for run in all_runs)
        peak_bytes = min(run.peak_bytes for run in all_runs)
        print(
            f"{TITLES[tool]:32}{wall_s:9.2f}{cpu_s:9.2f}{peak_bytes / MB:9.0f}"
            f"{wall_s / base_s:9.2f}{peak_bytes / base_bytes:10.2f}"
        )
    if "tables" in runs:
        ours_s = min(run.wall_s for run in runs["tables"])
        for tool in RIVALS:
            if tool in runs:
                ratio = min(run.wall_s for run in runs[tool]) / ours_s
                print(f"profcore's tables are there {ratio:.1f} times faster than {TITLES[tool]}'s")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trace", nargs="?", type=Path, default=FOLDER / TRACE)
    parser.add_argument("--sizes-mb", default="132,532", help="sizes of the files, in 10^6 bytes")
    parser.add_argument("--repeat", type=int, default=3, help="runs of profcore and msgspec")
    parser.add_argument("--other-python", default=sys.executable, help="for HTA and TraceLens")
    parser.add_argument("--folder", type=Path, help="keep the grown files here")
    parser.add_argument("--measure", choices=TOOLS, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Measure every size; 2 when there is no trace to grow."""
    options = arguments()
    if options.measure:
        measure(options.measure, options.trace)
        return 0
    if not options.trace.is_file():
        print(f"there is no {options.trace}; give a trace, or set PROFCORE_TRACES", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for size_mb in map(int, options.sizes_mb.split(",")):
            path = folder / f"grown-{size_mb}.json"
            events = (
                "" if path.is_file() else f", {grow(options.trace, path, size_mb * MB):,} events"
            )
            print(f"\n{path.stat().st_size / MB:.0f} MB{events}, from {options.trace.name}")
            compare(path, repeat=options.repeat, other_python=options.other_python)
    return 0


if __name__ == "__main__":
    sys.exit(main())
