"""Shares above 100 % say why, and only those."""

from __future__ import annotations

import pytest

from profcore.rules.beyond import beyond_arithmetic, beyond_memory


@pytest.mark.parametrize(
    ("fraction", "arithmetic", "memory"),
    [
        (0.5, "", ""),
        (1.004, "", ""),
        (1.03, "short burst", "as fast as a copy"),
        (1.15, "short burst", "stays in a cache"),
        (2.0, "slowed the device", "stays in a cache"),
    ],
)
def test_why_a_share_is_above_all(fraction: float, arithmetic: str, memory: str) -> None:
    for words, said in (
        (arithmetic, beyond_arithmetic(fraction)),
        (memory, beyond_memory(fraction)),
    ):
        assert words in said
        assert bool(words) == bool(said)
