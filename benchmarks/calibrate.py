"""Hold the verdict and the warnings against programs whose truth is known by construction.

Usage: PYTHONPATH=. python benchmarks/calibrate.py FOLDER [--device cuda:0] [--golden GOLDEN.json]
       PYTHONPATH=. python benchmarks/calibrate.py FOLDER --tell        judge what is there already
Prints a confusion table (truth × verdict), the warnings of every healthy control (there must be
none), and every prediction of a rule that these runs can test. Exit status 1 when a verdict is
wrong or a healthy control has a warning. About two minutes on an H200; run it on an idle machine.
`--device cpu` is a dry run: two sizes, and the known programs a sixteenth as large.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import known_programs
import msgspec
from calibration_cases import COLD, DRY, DRY_COLD, WARM

from profcore.analysis import Analysis
from profcore.errors import ProfcoreError
from profcore.recording import open_folder
from profcore.rules import check_all, judge
from profcore.rules.arithmetic import roofline
from profcore.rules.data_loading import loader_fraction
from profcore.rules.idle import copy_only_fraction
from profcore.rules.predictions import judge_prediction
from profcore.rules.quantities import Quantities
from profcore.rules.trials import VERDICT_RULES, trial_of
from profcore.rules.waiting import blocked_fraction, synchronised_fraction
from profcore.trace import read

ROOT = Path(__file__).resolve().parents[1]
KEPT_MAX_BYTES = 32 * 1024
"""Traces above it are not kept beside the golden file."""
BESIDE = " beside eager"
UNDECIDED = "cannot-tell"
REASONS = ("R1", "S6", "S1", "S5")
"""Rules that say why the CPU is the limit, in the order in which the verdict asks them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """One run, what is true of it, and what was said of it."""

    name: str
    truth: str
    is_healthy: bool
    analysis: Analysis
    bound: str
    fired: dict[str, list[str]]
    """Kind -> ids of the rules that fired."""

    @property
    def alarms(self) -> list[str]:
        """Warnings and trust rows."""
        return self.fired["warning"] + self.fired["trust"]


def record_all(folder: Path, device: str) -> None:
    """Record every case: the warm ones in one child, the cold ones and the programs in others."""
    warm, cold = (DRY, DRY_COLD) if device == "cpu" else (WARM, COLD)
    groups = [[case.name for case in warm], *([case.name] for case in cold)]
    script = str(Path(__file__).with_name("record_grid.py"))
    for names in groups:
        subprocess.run([sys.executable, script, str(folder), device, *names], check=True, cwd=ROOT)
    known_programs.record_all(folder / "programs", device=device)


def judge_all(folder: Path) -> list[Judged]:
    """Open every recording and trace of a folder and ask the rules."""
    judged, seen = [], set()
    for case in (*WARM, *COLD, *DRY, *DRY_COLD):
        place = folder / case.name
        if case.name in seen or not place.exists():
            continue
        seen.add(case.name)
        recording = open_folder(place)
        try:
            analysis = Analysis.of_recording(recording, read(recording.trace_path))
        except ProfcoreError as error:
            print(f"{case.name}: {recording.status.message or error}")
            continue
        on_cpu = not analysis.environment or analysis.environment.device == "cpu"
        judged.append(
            _judged(
                case.name,
                analysis,
                truth="cpu-run" if on_cpu else case.truth,
                is_healthy=case.is_healthy,
            )
        )
    judged += [
        _judged(
            told.known.name,
            told.analysis,
            truth=told.known.truth if told.analysis.totals.gpu_recorded else "cpu-run",
            is_healthy=told.known.is_healthy,
        )
        for told in known_programs.tell_all(folder / "programs")
    ]
    return judged


def _judged(name: str, analysis: Analysis, *, truth: str, is_healthy: bool) -> Judged:
    fired: dict[str, list[str]] = {kind: [] for kind in ("trust", "warning", "note", "fact")}
    for finding in check_all(analysis):
        if finding.state == "fired":
            fired[finding.kind].append(finding.rule)
    return Judged(
        name=name,
        truth=truth,
        is_healthy=is_healthy,
        analysis=analysis,
        bound=judge(analysis).bound,
        fired=fired,
    )


def print_confusion(judged: list[Judged]) -> bool:
    """Print truth × verdict and what lies off the diagonal; return whether nothing is wrong.

    A trace without an unprofiled step time may leave the verdict undecided.
    """
    known = [one for one in judged if one.truth]
    counts = Counter((one.truth, one.bound) for one in known)
    truths = sorted({one.truth for one in known})
    bounds = sorted({one.bound for one in known} | set(truths))
    print(f"\n{'truth, verdict':16}" + "".join(f"{bound:>16}" for bound in bounds))
    for truth in truths:
        row = "".join(f"{counts[truth, bound] or '·':>16}" for bound in bounds)
        print(f"{truth:16}{row}")
    off = [one for one in known if one.bound != one.truth]
    for one in off:
        word = "undecided" if one.bound == UNDECIDED else "WRONG"
        print(f"{word} {one.name}: {one.bound} instead of {one.truth}; {numbers(one.analysis)}")
    return all(one.bound == UNDECIDED for one in off)


def print_controls(judged: list[Judged]) -> bool:
    """Print what fired on the healthy controls; return whether no warning and no trust row did."""
    controls = [one for one in judged if one.is_healthy]
    print(f"\n{len(controls)} healthy controls")
    for one in controls:
        notes = " ".join(one.fired["note"]) or "-"
        print(f"{one.name:28}warnings: {' '.join(one.alarms) or 'none':12} notes: {notes}")
    return not any(one.alarms for one in controls)


def print_others(judged: list[Judged]) -> None:
    """Print what fired on the runs that have something to gain."""
    print("\nthe other runs")
    for one in judged:
        if not one.is_healthy:
            fired = " | ".join(" ".join(one.fired[kind]) or "-" for kind in one.fired)
            print(f"{one.name:28}{one.bound:16}{fired}")


def with_twins(judged: list[Judged]) -> list[Judged]:
    """Set beside each compiled run its eager twin, and ask the rules that compare again."""
    eager = {one.analysis.experiment: one.analysis for one in judged if one.analysis.experiment}
    pairs = []
    for one in judged:
        made = one.analysis.experiment
        if made is None or made.compile == "eager":
            continue
        twin = eager.get(msgspec.structs.replace(made, compile="eager"))
        if twin is None:
            continue
        beside = Analysis(
            one.analysis.trace,
            experiment=made,
            environment=one.analysis.environment,
            timings=one.analysis.timings,
            twin=twin,
        )
        pairs.append(_judged(f"{one.name}{BESIDE}", beside, truth="", is_healthy=False))
    return pairs


def test_predictions(judged: list[Judged], twins: list[Judged]) -> list[dict[str, Any]]:
    """Hold every prediction of a fired rule against the run that it asks for, where it is there."""
    by_knobs = {
        msgspec.structs.replace(one.analysis.experiment, device="auto"): one
        for one in judged
        if one.analysis.experiment is not None
    }
    results: list[dict[str, Any]] = []
    seen: set[tuple[str, ...]] = set()
    for one in (*judged, *twins):
        fired = [rule for rules in one.fired.values() for rule in rules]
        # The verdict has a prediction of its own, which B1 and B2 would only repeat.
        for rule in ("B1", *(rule for rule in fired if rule not in VERDICT_RULES)):
            trial = trial_of(rule, one.analysis)
            if trial is None or trial.is_example:
                continue
            other = by_knobs.get(msgspec.structs.replace(trial.after, device="auto"))
            if other is None:
                continue
            for prediction in trial.predictions:
                outcome = judge_prediction(prediction, one.analysis, other.analysis)
                name = one.name.removesuffix(BESIDE)
                key = (rule, name, other.name, prediction.sentence)
                if key in seen:
                    continue  # the twin has said it
                seen.add(key)
                results.append(
                    {
                        "rule": rule,
                        "before": name,
                        "after": other.name,
                        "prediction": prediction.sentence,
                        "predicted": outcome.predicted,
                        "measured_before": outcome.before,
                        "measured_after": outcome.after,
                        "held": outcome.held,
                    }
                )
    return results


def print_predictions(results: list[dict[str, Any]]) -> None:
    """Print a line per prediction."""
    held = sum(result["held"] is True for result in results)
    print(f"\n{len(results)} predictions tested, {held} held")
    words = {True: "held", False: "DID NOT HOLD", None: "cannot tell"}
    for result in results:
        print(
            f"{words[result['held']]:13}{result['rule']:4}{result['before']} -> {result['after']}: "
            f"{result['prediction']} {result['measured_before']} -> {result['measured_after']}"
        )


def numbers(analysis: Analysis) -> dict[str, float | None]:
    """Return the fractions that the verdict is decided from, to four digits."""
    quantities = Quantities.of(analysis)
    roof = roofline(quantities)
    found = {
        "busy_unprofiled": quantities.busy_unprofiled_fraction,
        "busy_profiled": quantities.busy_profiled_fraction,
        "busy_at_most": quantities.busy_at_most_fraction,
        "copying": copy_only_fraction(quantities),
        "flops": roof.flops_fraction if roof else None,
        "bytes": roof.bytes_fraction if roof else None,
        "blocked": blocked_fraction(quantities),
        "synchronised": synchronised_fraction(quantities),
        "loader": loader_fraction(quantities),
    }
    return {key: None if value is None else round(value, 4) for key, value in found.items()}


def golden_of(judged: list[Judged], results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a later version of the rules must still say of these runs."""
    where = next(one.analysis.environment for one in judged if one.analysis.environment)
    cases = [
        {
            "name": one.name,
            "truth": one.truth,
            "is_healthy": one.is_healthy,
            "verdict": one.bound,
            "reason": next(
                (rule for rule in REASONS if rule in one.fired["warning"] + one.fired["note"]), ""
            ),
            "fractions": numbers(one.analysis),
            "warnings": one.fired["warning"],
            "trust": one.fired["trust"],
            "notes": one.fired["note"],
        }
        for one in judged
    ]
    return {
        "device": where.device_name,
        "torch": where.torch,
        "cuda": where.cuda,
        "driver": where.driver,
        "recorded_at": where.recorded_at,
        "cases": cases,
        "predictions": results,
    }


def keep_recordings(folder: Path, archive: Path) -> None:
    """Keep the small traces and what is known beside them, so that a test can ask all rules again.

    Times in the archive are fixed, so that the same recordings give the same file.
    """
    names = ("experiment.json", "environment.json", "timings.json", "trace.json.gz")
    files = [path for path in sorted(folder.glob("*/*")) if path.name in names]
    files += sorted((folder / "programs").glob("*.json*"))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files:
            if path.stat().st_size <= KEPT_MAX_BYTES:
                info = zipfile.ZipInfo(str(path.relative_to(folder)), (2026, 1, 1, 0, 0, 0))
                packed.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)


def main() -> int:
    """Record, judge, print, keep; 1 when a verdict is wrong or a healthy control has an alarm."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where the recordings go; kept")
    parser.add_argument("--device", default="cuda:0", help="cuda:0, or cpu for a dry run")
    parser.add_argument("--golden", type=Path, help="write the outcome there")
    parser.add_argument("--record-only", action="store_true", help="judge on another machine")
    parser.add_argument("--tell", action="store_true", help="judge what is there, record nothing")
    arguments = parser.parse_args()
    if not arguments.tell:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        record_all(arguments.folder, arguments.device)
    if arguments.record_only:
        return 0
    judged = judge_all(arguments.folder)
    print_others(judged)
    twins = with_twins(judged)
    for one in twins:
        print(f"{one.name:28}" + " | ".join(" ".join(rules) for rules in one.fired.values()))
    results = test_predictions(judged, twins)
    print_predictions(results)
    healthy = print_controls(judged)
    right = print_confusion(judged)
    if arguments.golden:
        text = json.dumps(golden_of(judged, results), indent=1, ensure_ascii=False)
        arguments.golden.write_text(text + "\n", encoding="utf-8")
        keep_recordings(arguments.folder, arguments.golden.with_suffix(".zip"))
    return 0 if right and healthy else 1


if __name__ == "__main__":
    sys.exit(main())
