"""Which findings came with the change, and which went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profcore.rules import Finding
    from profcore.rules.model import Kind, State


@dataclass(frozen=True, kw_only=True, slots=True)
class FindingChange:
    """One rule that fired on one side only."""

    rule: str
    title: str
    kind: Kind
    change: Literal["appeared", "vanished"]
    """From A to B."""
    observation: str
    """Of the side on which it fired."""
    other_state: State
    """`clear`, or `not_checked`: then nobody knows whether it really came or went."""
    other_reason: str
    """Why it was not checked there; empty if it was."""


def finding_changes(a: Sequence[Finding], b: Sequence[Finding]) -> tuple[FindingChange, ...]:
    """Return the rules that fired on one side only, in the order of the registry."""
    other = {finding.rule: finding for finding in b}
    changes = []
    for mine in a:
        theirs = other[mine.rule]
        if (mine.state == "fired") == (theirs.state == "fired"):
            continue
        fired, silent = (theirs, mine) if theirs.state == "fired" else (mine, theirs)
        changes.append(
            FindingChange(
                rule=fired.rule,
                title=fired.title,
                kind=fired.kind,
                change="appeared" if fired is theirs else "vanished",
                observation=fired.observation,
                other_state=silent.state,
                other_reason=silent.reason,
            )
        )
    return tuple(changes)
