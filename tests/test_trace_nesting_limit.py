"""How deep a text nests, and that a trace that nests deeper than allowed is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.errors import TraceError
from profcore.trace import read
from profcore.trace.limits import Limits
from profcore.trace.nesting_limit import nests_deeper
from tests.trace_bytes import op, trace_bytes

values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='a"\\[]{}', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((depth(inner) for inner in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(inner) for inner in value), default=0)
    return 0


@given(values)
def test_never_refuses_what_nests_less(value: object) -> None:
    assert not nests_deeper(json.dumps(value).encode(), depth(value))


@given(st.integers(1, 50))
def test_counts_every_open_list_and_object(levels: int) -> None:
    text = b'[{"a":' * levels + b"1" + b"}]" * levels
    assert nests_deeper(text, 2 * levels - 1)
    assert not nests_deeper(text, 2 * levels)


def test_brackets_in_names_are_no_nesting() -> None:
    names = [op("[" * 100 + '\\"{', at, 5) for at in range(0, 100, 10)]
    assert len(read(trace_bytes(*names))) == 10


@pytest.mark.parametrize(("levels", "opens"), [(5, True), (6, False)])
def test_an_event_may_nest_as_deep_as_the_setting_says(levels: int, opens: bool) -> None:  # noqa: FBT001
    # GIVEN the object, its event list, an event, its args and `levels` lists: 4 + levels in all
    nested: object = 1
    for _ in range(levels):
        nested = [nested]
    data = trace_bytes(op("mul", 0, 10) | {"args": {"deep": nested}})
    limits = Limits(nesting_max_levels=9)
    # THEN
    if opens:
        assert len(read(data, limits=limits)) == 1
    else:
        with pytest.raises(TraceError, match="nests lists and objects too deep"):
            read(data, limits=limits)
