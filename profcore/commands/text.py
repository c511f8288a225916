"""The readable answer of `run` and `analyze`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profcore import experiment as experiments
from profcore.commands.report import device, rows
from profcore.rules.headline import headline, peak_words
from profcore.units import (
    bytes_rate_text,
    bytes_text,
    flops_rate_text,
    percent_text,
    time_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profcore.analysis import Analysis
    from profcore.rules import Finding, Verdict
    from profcore.rules.headline import Headline

ROWS: Final = 8
"""Operators and kernels shown; all of them are in the JSON answer."""
NAME_MAX: Final = 90
"""Characters of a name; kernel names run to thousands."""


def summary(analysis: Analysis, findings: Sequence[Finding], verdict: Verdict) -> str:
    """Return the answer as text, about fifty lines, ending with a line feed."""
    parts = [
        _origin(analysis),
        _verdict(verdict),
        _numbers(headline(analysis)),
        _operators(analysis),
        _kernels(analysis),
        _findings(findings),
    ]
    text = "\n\n".join("\n".join(part) for part in map(list, parts) if part)
    # Names come from files: none of them may steer the terminal.
    return "".join(char if char == "\n" or char.isprintable() else "\ufffd" for char in text) + "\n"


def _short(name: str) -> str:
    line = name.replace("\n", " ")
    return line if len(line) <= NAME_MAX else line[: NAME_MAX - 1] + "…"


def _origin(analysis: Analysis) -> Iterator[str]:
    source, environment = analysis.trace.source, analysis.environment
    if analysis.experiment is not None:
        yield experiments.describe(analysis.experiment)
    else:
        yield f"{_short(source.file)}: {source.events:,} events, {bytes_text(source.size_bytes)}"
    where = device(analysis)
    name = _short(where["name"] or f"a {where['kind'].upper()} that the file does not name")
    if environment is None:
        yield f"recorded on {name}" + (f", {where['count']} GPUs" if where["count"] > 1 else "")
    else:
        versions = [f"torch {environment.torch}"]
        versions += [f"CUDA {environment.cuda}"] if environment.cuda else []
        yield f"recorded on {name} ({', '.join(versions)}), {environment.recorded_at}"
    for what, counts in (("set aside", source.set_aside), ("repaired", source.repaired)):
        for reason, count in counts.items():
            yield f"{what}: {count:,} × {_short(reason)}"


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield verdict.sentence
    yield from (f"  {line.text}" for line in verdict.arithmetic)
    if verdict.advice:
        yield f"  Try: {verdict.advice}"


def _numbers(numbers: Headline) -> Iterator[str]:
    if numbers.step_ns is not None:
        after = ", taken after profiling" if numbers.taken_after else ""
        yield f"step without the profiler  {time_text(numbers.step_ns)}{after}"
    if numbers.busy_fraction is not None:
        whole = "of that" if numbers.busy_is_unprofiled else "of the profiled window"
        yield f"GPU busy                   {percent_text(numbers.busy_fraction)} {whole}"
    if numbers.launches is not None:
        yield f"launches per step          {numbers.launches:g}"
    if numbers.rate is not None:
        rate = numbers.rate
        line = flops_rate_text(rate.per_s) if rate.is_flops else bytes_rate_text(rate.per_s)
        if rate.peak_fraction is not None:
            line += f", {percent_text(rate.peak_fraction)} of {peak_words(rate)}"
        yield f"achieved                   {line}"


def _operators(analysis: Analysis) -> Iterator[str]:
    table = analysis.operators
    if table.empty:
        return
    has_gpu = analysis.totals.gpu_recorded
    heads = ("self CPU", "total CPU", *(("self GPU",) if has_gpu else ()), "calls", "operator")
    yield from _table(
        heads,
        (
            (
                time_text(row.self_cpu_ns),
                time_text(row.total_cpu_ns),
                *((time_text(row.self_gpu_ns),) if has_gpu else ()),
                f"{row.calls:,}",
                _short(row.name),
            )
            for row in rows(table.head(ROWS))
        ),
    )
    yield from _more(len(table))


def _kernels(analysis: Analysis) -> Iterator[str]:
    table = analysis.kernels
    if table.empty:
        return
    yield from _table(
        ("sum", "share", "mean", "calls", "kernel"),
        (
            (
                time_text(row.sum_ns),
                percent_text(row.share_fraction),
                time_text(row.mean_ns),
                f"{row.calls:,}",
                _short(row.short_name),
            )
            for row in rows(table.head(ROWS))
        ),
    )
    yield from _more(len(table))


def _more(count: int) -> Iterator[str]:
    if count > ROWS:
        yield f"  and {count - ROWS} more"


def _table(heads: tuple[str, ...], cells: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield lines: numbers to the right, the name in the last column to the left."""
    lines = [heads, *cells]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads) - 1)]
    for line in lines:
        numbers = "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=False))
        yield f"  {numbers}  {line[-1]}"


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.state == "fired":
            yield f"{finding.kind} {finding.rule}: {finding.title}. {finding.observation}"
            yield f"  {finding.meaning}"
            if finding.advice:
                yield f"  Try: {finding.advice}"
    unchecked = sum(finding.state == "not_checked" for finding in findings)
    clear = sum(finding.state == "clear" for finding in findings)
    yield f"not seen: {clear} rules; not checked: {unchecked} (--json says why)"
