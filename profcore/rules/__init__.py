"""An Analysis becomes Findings and a Verdict; one file per family of rules.

Adding a rule is writing its functions and a `Rule`, and adding one line in `registry.RULES`.
"""

from profcore.rules.check import check, check_all
from profcore.rules.model import (
    FAMILIES,
    Evidence,
    Finding,
    Line,
    Observation,
    Rule,
    Suggestion,
    Verdict,
)
from profcore.rules.registry import RULES
from profcore.rules.verdict import judge

__all__ = [
    "FAMILIES",
    "RULES",
    "Evidence",
    "Finding",
    "Line",
    "Observation",
    "Rule",
    "Suggestion",
    "Verdict",
    "check",
    "check_all",
    "judge",
]
