"""A Trace becomes tables; each table answers one question in a module of its own."""

from profcore.analysis.analysis import Analysis

__all__ = ["Analysis"]
