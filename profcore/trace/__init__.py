"""Bytes of a Chrome trace become a `Trace`: the events as columns, times in whole nanoseconds."""

from profcore.trace.container import list_members
from profcore.trace.limits import DEFAULT_LIMITS, Limits
from profcore.trace.model import KINDS, Kind, Lane, Trace, kind_code
from profcore.trace.reader import read

__all__ = [
    "DEFAULT_LIMITS",
    "KINDS",
    "Kind",
    "Lane",
    "Limits",
    "Trace",
    "kind_code",
    "list_members",
    "read",
]
