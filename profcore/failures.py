"""What went wrong in a child process, in one sentence for somebody who has never used torch.

Errors of torch are told apart by name and text, so that nothing here needs to import it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profcore.errors import ProfcoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT_MAX: Final = 300
"""Characters of a foreign message that are shown; some compilers write pages."""

_COMPILER_MODULES: Final = ("torch._dynamo", "torch._inductor")
_MEMORY_SIGNS: Final = (
    "DefaultCPUAllocator: can't allocate",
    "CUDA error: out of memory",
    "ALLOC_FAILED",  # cuBLAS, cuDNN
)
"""Where memory runs out and torch raises a plain RuntimeError."""
_ASKED_FOR: Final = re.compile(r"tried to allocate ([\d.]+ \w+)", re.IGNORECASE)


def explain(error: BaseException) -> str:
    """Return the sentence for an error of any kind."""
    if isinstance(error, ProfcoreError):
        return str(error)
    if any(_is_out_of_memory(part) for part in _causes(error)):
        return _out_of_memory_text(error)
    if any(type(part).__module__.startswith(_COMPILER_MODULES) for part in _causes(error)):
        return f"torch.compile failed: {first_line(error)}; choose eager, or read the log."
    return f"{type(error).__name__}: {first_line(error)}."


def first_line(error: BaseException) -> str:
    """Return the first line of an error that says something, without its full stop."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # torch.compile writes "backend='inductor' raised:" and the reason below.
    lines = [line for line in lines if not line.endswith("raised:")] or lines
    if not lines:
        return "no further message"
    line = lines[0].rstrip(".;:")
    return line if len(line) <= TEXT_MAX else line[: TEXT_MAX - 1] + "…"


def _out_of_memory_text(error: BaseException) -> str:
    text = str(error)
    on_cpu = isinstance(error, MemoryError) or "CPUAllocator" in text
    asked = _ASKED_FOR.search(text)
    more = f" when {asked[1]} more were asked for" if asked else ""
    place = "machine" if on_cpu else "GPU"
    return f"The {place} ran out of memory{more}; choose a smaller size or batch."


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError):
        return True
    if any(base.__name__ == "OutOfMemoryError" for base in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error) for sign in _MEMORY_SIGNS)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__
