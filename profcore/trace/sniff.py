"""What a file that is no trace is, from its first bytes: the sentence that refuses it."""

from __future__ import annotations

import re
from typing import Final

OPEN_A_TRACE: Final = "open a trace that torch.profiler exported (export_chrome_trace)"
_UNPACK: Final = "unpack it first"

_STARTS: Final[tuple[tuple[bytes, str, str], ...]] = (
    (
        b"SQLite format 3\0",
        "an SQLite database, as Nsight Systems and rocprofiler write",
        OPEN_A_TRACE,
    ),
    (b"NVR\0", "a report of Nvidia Nsight Compute", OPEN_A_TRACE),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd, which is not read here", _UNPACK),
    (b"\xfd7zXZ\0", "compressed with xz, which is not read here", _UNPACK),
    (b"BZh", "compressed with bzip2, which is not read here", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive, which is not read here", _UNPACK),
    (b"\x1f\x8b", "compressed twice", "unpack it once"),
    (b"PK\x03\x04", "a zip archive that was compressed once more", _UNPACK),
    (b"\x89PNG", "a picture (PNG)", OPEN_A_TRACE),
    (b"%PDF", "a PDF document", OPEN_A_TRACE),
    (b"\x7fELF", "a program (ELF)", OPEN_A_TRACE),
    (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the trace itself",
        "fetch the file with `git lfs pull`",
    ),
)
_PATTERNS: Final[tuple[tuple[re.Pattern[bytes], str, str], ...]] = (
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive", "unpack it and open one trace"),
    (re.compile(rb"\x80[\x02-\x05]"), "a pickle, such as a memory snapshot", OPEN_A_TRACE),
    (
        re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)", re.IGNORECASE),
        "an HTML page, perhaps one that asks to log in",
        "download the file itself",
    ),
    (re.compile(rb"\s*<"), "XML or a web page", OPEN_A_TRACE),
    (
        re.compile(rb"\s*\[\s*\["),
        "a list of lists, such as a memory timeline (export_memory_timeline)",
        OPEN_A_TRACE,
    ),
    (re.compile(rb"\s*-?[0-9][0-9.eE+-]*\s*\Z"), "only a number, not a trace", OPEN_A_TRACE),
    (
        re.compile(rb'\s*(?:".*"|true|false|null|NaN|-?Infinity)\s*\Z', re.DOTALL),
        "only a single value, not a trace",
        OPEN_A_TRACE,
    ),
    (
        re.compile(rb'\s*"?[A-Za-z][\w .()%/-]*"?(?:,"?[\w .()%/-]+"?){2,}\r?\n'),
        "a table (CSV), as rocprofiler and Nsight write",
        OPEN_A_TRACE,
    ),
)
_ENDINGS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    ((".nsys-rep", ".qdrep", ".qdstrm"), "a report of Nvidia Nsight Systems"),
    ((".ncu-rep",), "a report of Nvidia Nsight Compute"),
    ((".pftrace", ".perfetto-trace"), "a Perfetto trace in binary form"),
)
_OBJECTS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (
        re.compile(rb'"schema"\s*:\s*"[^"]*chakra|"nodes"\s*:\s*\[\s*\{\s*"(?:id|name)"'),
        "an execution trace (Chakra), which says which operators ran but not when",
    ),
    (re.compile(rb'"rocprofiler'), "output of rocprofiler"),
    (re.compile(rb'"device_traces"|"segments"\s*:\s*\['), "a memory snapshot of PyTorch"),
    (re.compile(rb'"\$schema"\s*:\s*"[^"]*speedscope'), "a profile for speedscope"),
    (re.compile(rb'"nbformat"\s*:'), "a Jupyter notebook"),
    (
        re.compile(rb'"(?:CudaEvent|NvtxEvent|TraceProcessEvent|CompositeEvent)"|"Type"\s*:\s*\d'),
        "an export of Nvidia Nsight Systems",
    ),
)


_ROCPROF: Final = re.compile(rb'"\d+ (?:CPU H(?:IP|SA) API|COPY|GPU\d+)"|"BeginNs"\s*:')
"""Names of processes and arguments in the Chrome traces of rocprof."""


def refusal(head: bytes, name: str) -> str | None:
    """Return "what it is; what to do" when a file is no trace.

    Args:
        head: the first bytes of the text, after decompression.
        name: of the file.
    """
    if not head.strip():
        return f"empty; {OPEN_A_TRACE}"
    known = [
        *((what, cure) for start, what, cure in _STARTS if head.startswith(start)),
        *((what, cure) for pattern, what, cure in _PATTERNS if pattern.match(head)),
    ]
    if known:
        return "; ".join(known[0])
    if _ROCPROF.search(head):
        return f"output of rocprofiler; {OPEN_A_TRACE}"
    if head.lstrip().startswith((b"{", b"[")):
        return None
    reports = (what for endings, what in _ENDINGS if name.lower().endswith(endings))
    return f"{next(reports, 'not JSON')}; {OPEN_A_TRACE}"


def object_without_events(head: bytes) -> str | None:
    """Return what a JSON object without an event list is, when it is known.

    Args:
        head: the first bytes of the text.
    """
    return next((what for pattern, what in _OBJECTS if pattern.search(head)), None)
