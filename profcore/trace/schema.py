"""The part of a trace file that is read, as msgspec types; the decoder skips all the rest.

`ts`, `dur` and the rarer facts stay raw text: whole batches of times become integers at once in
`times`, with no digit lost on the way.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

Raw = msgspec.Raw
NULL: Final = Raw(b"null")

Whole = int | str | None
"""What writers put where a whole number belongs."""


class Facts(msgspec.Struct, gc=False, frozen=True):
    """Arguments of kernels, memory rows and metadata, as text; most rows have none of them."""

    grid: Raw = NULL
    block: Raw = NULL
    registers: Raw = msgspec.field(default=NULL, name="registers per thread")
    shared_memory: Raw = msgspec.field(default=NULL, name="shared memory")
    occupancy: Raw = msgspec.field(default=NULL, name="est. achieved occupancy %")
    blocks_per_sm: Raw = msgspec.field(default=NULL, name="blocks per SM")
    name: Raw = NULL
    memory_bytes: Raw = msgspec.field(default=NULL, name="Bytes")
    allocated: Raw = msgspec.field(default=NULL, name="Total Allocated")
    reserved: Raw = msgspec.field(default=NULL, name="Total Reserved")
    device_type: Raw = msgspec.field(default=NULL, name="Device Type")
    device_id: Raw = msgspec.field(default=NULL, name="Device Id")


class Args(Facts, gc=False, frozen=True):
    """The arguments that are used, out of some thirty."""

    correlation: Whole = -1
    external_id: Whole = msgspec.field(default=-1, name="External id")
    external_id_2021: Whole = msgspec.field(default=-1, name="external id")
    device: Whole = -1
    stream: Whole = -1
    size_bytes: Whole = msgspec.field(default=-1, name="bytes")


NO_ARGS: Final = Args()


class Event(msgspec.Struct, gc=False):
    """One element of the event list, as every known writer writes it."""

    ph: str | None = None
    name: str | int | None = ""
    cat: str | None = None
    ts: Raw = NULL
    dur: Raw = NULL
    pid: Whole = ""
    tid: Whole = ""
    args: Args | None = NO_ARGS


class OddArgs(Facts, gc=False, frozen=True):
    """`Args` whatever the types are."""

    correlation: Any = -1
    external_id: Any = msgspec.field(default=-1, name="External id")
    external_id_2021: Any = msgspec.field(default=-1, name="external id")
    device: Any = -1
    stream: Any = -1
    size_bytes: Any = msgspec.field(default=-1, name="bytes")


class OddEvent(msgspec.Struct, gc=False):
    """`Event` whatever the types are: one strange value must not refuse a file."""

    ph: Any = None
    name: Any = ""
    cat: Any = None
    ts: Raw = NULL
    dur: Raw = NULL
    pid: Any = ""
    tid: Any = ""
    args: Raw = NULL


class Header(msgspec.Struct, gc=False):
    """The object round the event list."""

    traceEvents: Raw | msgspec.UnsetType = msgspec.UNSET  # noqa: N815 - names of the format
    deviceProperties: Any = None  # noqa: N815
    record_shapes: Any = None
    with_stack: Any = None
    profile_memory: Any = None
    with_flops: Any = None
    cuda_driver_version: Any = None
    cuda_runtime_version: Any = None
    cupti_version: Any = None
    hip_driver_version: Any = None
    hip_runtime_version: Any = None


class _EventListOnly(msgspec.Struct, gc=False):
    traceEvents: Raw | msgspec.UnsetType = msgspec.UNSET  # noqa: N815


EVENTS: Final = msgspec.json.Decoder(list[Event])
_HEADER: Final = msgspec.json.Decoder(Header)
_EVENT_LIST_ONLY: Final = msgspec.json.Decoder(_EventListOnly)
_RAWS: Final = msgspec.json.Decoder(list[Raw])
_EVENT: Final = msgspec.json.Decoder(Event)
_ODD_EVENT: Final = msgspec.json.Decoder(OddEvent)
_ODD_ARGS: Final = msgspec.json.Decoder(OddArgs)


def decode_header(text: bytes) -> tuple[Header, bool]:
    """Decode the object round the event list; the list itself stays text.

    Returns:
        The header, and whether all of it could be read: a number beyond what a float holds
        leaves nothing of it but the list.

    Raises:
        msgspec.DecodeError: not valid JSON.
    """
    try:
        return _HEADER.decode(text), True
    except msgspec.ValidationError:
        return Header(traceEvents=_EVENT_LIST_ONLY.decode(text).traceEvents), False


def decode_events(text: bytes | Raw) -> tuple[list[Event], int]:
    """Decode a JSON list of events.

    Returns:
        The events, and how many elements were no objects.

    Raises:
        msgspec.DecodeError: not valid JSON.
        msgspec.ValidationError: valid, but not a list.
    """
    try:
        return EVENTS.decode(text), 0
    except msgspec.ValidationError:
        rows = _RAWS.decode(text)
    events = [event for row in rows if (event := _decode_one(row)) is not None]
    return events, len(rows) - len(events)


def _decode_one(row: Raw) -> Event | None:
    try:
        return _EVENT.decode(row)
    except msgspec.ValidationError:
        pass
    try:
        odd = _ODD_EVENT.decode(row)
    except msgspec.ValidationError:
        return None
    return Event(
        ph=odd.ph if isinstance(odd.ph, str) else None,
        name=odd.name if isinstance(odd.name, str) else _text(odd.name),
        cat=odd.cat if odd.cat is None else _text(odd.cat),
        ts=odd.ts,
        dur=odd.dur,
        pid=_whole(odd.pid, ""),
        tid=_whole(odd.tid, ""),
        args=_decode_args(odd.args),
    )


def _decode_args(raw: Raw) -> Args:
    try:
        odd = _ODD_ARGS.decode(raw)
    except msgspec.ValidationError:
        return NO_ARGS
    facts = {name: getattr(odd, name) for name in Facts.__struct_fields__}
    return Args(
        **facts,
        correlation=_whole(odd.correlation, -1),
        external_id=_whole(odd.external_id, -1),
        external_id_2021=_whole(odd.external_id_2021, -1),
        device=_whole(odd.device, -1),
        stream=_whole(odd.stream, -1),
        size_bytes=_whole(odd.size_bytes, -1),
    )


def _whole(value: Any, missing: Whole) -> Whole:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | str) and not isinstance(value, bool) else missing


def _text(value: Any) -> str:
    return "" if value is None else str(value)
