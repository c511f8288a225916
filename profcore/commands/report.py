"""The JSON answer of `run` and `analyze`: a contract that scripts rely on.

Times are microseconds with three decimals, so whole nanoseconds. What a file does not hold is null,
never 0: a GPU that was not recorded is not an idle one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profcore.units import us

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from profcore.analysis import Analysis
    from profcore.analysis.trust import Check
    from profcore.rules import Evidence, Finding, Verdict

SCHEMA_VERSION: Final = 1


def report(analysis: Analysis, findings: Sequence[Finding], verdict: Verdict) -> dict[str, Any]:
    """Return the answer as plain containers, ready for `json.dumps`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "device": device(analysis),
        "source": _source(analysis),
        "totals": _totals(analysis),
        "baseline": _baseline(analysis),
        "steps": [
            {
                "number": int(step.number),
                "start_us": us(step.start_ns),
                "cpu_us": us(step.cpu_ns),
                "gpu_busy_us": us(step.gpu_busy_ns),
                "kernels": int(step.kernels),
                "launches": int(step.launches),
            }
            # Empty ones at the end too: the list says what the file holds, medians leave them out.
            for table in (analysis.steps, analysis.empty_steps)
            for step in rows(table)
        ],
        "operators": [
            {
                "name": row.name,
                "calls": int(row.calls),
                "self_cpu_us": us(row.self_cpu_ns),
                "total_cpu_us": us(row.total_cpu_ns),
                "self_gpu_us": us(row.self_gpu_ns),
                "total_gpu_us": us(row.total_gpu_ns),
            }
            for row in rows(analysis.operators)
        ],
        "kernels": [
            {
                "name": row.name,
                "short_name": row.short_name,
                "calls": int(row.calls),
                "total_us": us(row.sum_ns),
                "mean_us": us(row.mean_ns),
                "min_us": us(row.min_ns),
                "max_us": us(row.max_ns),
            }
            for row in rows(analysis.kernels)
        ],
        "trust": [_check(check) for check in analysis.trust],
        "findings": [_finding(finding) for finding in findings],
        "verdict": {
            "rule": verdict.rule,
            "sentence": verdict.sentence,
            "arithmetic": [line.text for line in verdict.arithmetic],
        },
    }


def device(analysis: Analysis) -> dict[str, Any]:
    """Return what the work ran on: name (null: unknown), kind (gpu or cpu), count.

    For a GPU `count` is the number of devices with recorded work; 0 means that GPUs are named in
    the file and none was recorded.
    """
    environment, trace = analysis.environment, analysis.trace
    worked = sorted({int(number) for number in analysis.activities["device"]})
    if environment is not None:
        if environment.device == "cpu":
            return {"name": environment.cpu_name or None, "kind": "cpu", "count": 1}
        return {"name": environment.device_name, "kind": "gpu", "count": len(worked)}
    if not worked and not trace.devices:
        return {"name": None, "kind": "cpu", "count": 1}
    listed = {known.id: known.name for known in trace.devices}
    names = [listed.get(number, "") for number in worked] or list(listed.values())
    name = next((name for name in names if name), None)
    return {"name": name, "kind": "gpu", "count": len(worked)}


def rows(table: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows of a table as named tuples; the type checker does not know their fields."""
    return iter(table.itertuples(index=False))


def _source(analysis: Analysis) -> dict[str, Any]:
    source = analysis.trace.source
    return {
        "file": source.file,
        "bytes": source.size_bytes,
        "events": source.events,
        "set_aside": dict(source.set_aside),
        "repaired": dict(source.repaired),
    }


def _totals(analysis: Analysis) -> dict[str, Any]:
    totals = analysis.totals

    def gpu_us(duration_ns: float | None) -> float | None:
        return us(duration_ns) if totals.gpu_recorded and duration_ns is not None else None

    return {
        "self_cpu_us": us(totals.self_cpu_ns),
        "operator_cpu_us": us(totals.operator_cpu_ns),
        "gpu_kernel_sum_us": gpu_us(totals.gpu_kernel_sum_ns),
        "gpu_busy_us": gpu_us(totals.gpu_busy_ns),
        "gpu_span_us": gpu_us(totals.gpu_span_ns),
        "kernels": totals.kernels,
        "launches": totals.launches,
        "launch_delay_mean_us": gpu_us(totals.launch_delay_mean_ns),
        "memcpy_us": {name: us(duration) for name, duration in totals.memcpy_ns.items()},
        "profiler_overhead_us": us(totals.profiler_overhead_ns),
    }


def _baseline(analysis: Analysis) -> dict[str, Any] | None:
    timings = analysis.timings
    if timings is None:
        return None
    return {
        "step_us_median": us(timings.step_ns_median),
        "step_us_p25": us(timings.step_ns_p25),
        "step_us_p75": us(timings.step_ns_p75),
        "cpu_us_median": us(timings.cpu_ns_median),
        "repeats": timings.repeats,
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "check": check.id,
        "title": check.title,
        "outcome": check.outcome,
        "text": check.text,
        "snippet": check.snippet or None,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "kind": finding.kind,
        "state": finding.state,
        # Of a rule that was not checked: why not.
        "observation": finding.observation or finding.reason,
        "meaning": finding.meaning,
        "advice": finding.advice,
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    start_ns, duration_ns = evidence.start_ns, evidence.duration_ns
    return {
        "text": evidence.text,
        "start_us": None if start_ns is None else us(start_ns),
        "duration_us": None if duration_ns is None else us(duration_ns),
        "step": None if evidence.step is None else int(evidence.step),
    }
