"""Whatever the bytes are: a trace with consistent columns, or one sentence that refuses them."""

from __future__ import annotations

import gzip
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profcore.errors import TraceError
from profcore.trace import Limits, read
from tests import reference
from tests.trace_bytes import GPU, kernel, launch, memory, op, step, trace_bytes

SEEDS = (
    trace_bytes(
        step(0, 0, 100),
        op("aten::mm", 10.5, "30.25", external_id=1),
        launch(20, 5, correlation=7),
        kernel("gemm<float>", 40, 50, correlation=7, grid=[8, 1, 1], block=[256, 1, 1]),
        memory(60, 512, allocated=512, reserved=1024),
        {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 3},
        {"ph": "E", "pid": 1, "tid": 1, "ts": 4},
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
        devices=(GPU,),
    ),
    b'[{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1,"dur":2}]',
)
# Bytes and pieces that mean something to a reader of JSON, of gzip or of numbers.
PIECES = (
    *(bytes([code]) for code in b'"\\{}[],:-+.eE0919ntfu \n\t\0\x80\xff\x1f'),
    b"null", b"NaN", b"-Infinity", b"1e999", b"9" * 30, b'"', b"\\u", b"\\ud800", b'"ph":',
    b'},{"ph":"X"', b"}]}", b"[[[[[[", b"\xef\xbb\xbf", b'"traceEvents":', b"\x1f\x8b", b"PK\3\4",
)  # fmt: skip
PIECE_SIZES = (3, 50, 200, 10**6)
ROUNDS = 60


def check(data: bytes, piece_bytes: int) -> None:
    limits = Limits(piece_bytes=piece_bytes, decompressed_max_bytes=10**7, piece_max_bytes=10**7)
    try:
        trace = read(data, limits=limits)
    except TraceError as error:
        message = str(error)
        assert "\n" not in message
        assert len(message) < 600
        return
    source = trace.source
    assert len(trace) > 0
    assert source.events == len(trace) + sum((*source.set_aside.values(), *source.untimed.values()))
    assert (np.diff(trace.start_ns) >= 0).all()
    assert trace.start_ns[0] == 0
    assert (trace.duration_ns >= 0).all()
    assert (trace.start_ns + trace.duration_ns >= 0).all()
    assert trace.name.max() < len(trace.names)
    assert trace.lane.max() < len(trace.lanes)
    assert (np.diff(trace.kernel_details.row) > 0).all()


def mutated(data: bytes, chance: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        place = chance.randrange(len(result) + 1)
        length = chance.choice((1, 1, 1, 4, 40, 400))
        kind = chance.randrange(5)
        if kind == 0:
            del result[place : place + length]
        elif kind == 1:
            result[place:place] = chance.choice(PIECES)
        elif kind == 2:
            result[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 3:
            result[place:place] = result[chance.randrange(len(result) + 1) :][:length]
        elif chance.random() < 0.2:
            del result[place:]
    return bytes(result)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), data=st.sampled_from(SEEDS), size=st.sampled_from(PIECE_SIZES))
def test_a_mutated_trace_is_read_or_refused(seed: int, data: bytes, size: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    check(mutated(data, chance), size)
    check(gzip.compress(mutated(data, chance)), size)
    check(mutated(gzip.compress(data), chance), size)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    check(data, 64)
    check(b'{"traceEvents":[' + data, 64)


@pytest.mark.traces
@pytest.mark.skipif(not reference.files(), reason=reference.MISSING_REASON)
def test_mutated_public_files_are_read_or_refused() -> None:
    chance = random.Random(20260801)  # noqa: S311
    names = sorted(reference.files())
    stored = [(reference.FOLDER / name).read_bytes() for name in names]
    small = [data for data in stored if len(data) < 20_000]
    for _ in range(ROUNDS):
        data = chance.choice(small)
        plain = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        check(mutated(plain, chance), chance.choice((1000, 10**6)))
        check(mutated(data, chance), 10**6)
