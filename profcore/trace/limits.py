"""What the reader does at most with one file, so that no file can fill the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_MIB = 1024**2
_GIB = 1024**3


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of one read; all inclusive."""

    stored_max_bytes: int = 2 * _GIB
    """Size of the file as it is stored, so compressed for a .gz or .zip."""
    decompressed_max_bytes: int = 4 * _GIB
    """Size of the JSON text after decompression; a gzip or zip bomb stops here."""
    events_max: int = 20_000_000
    """Elements of the event list, of every phase."""
    nesting_max_levels: int = 200
    """Lists and objects open at one place of a piece; a trace needs some six."""
    zip_members_max: int = 10_000
    """Files listed in a zip archive."""
    piece_bytes: int = 2 * _MIB
    """Text that is turned into columns at a time; more takes more memory and is no faster."""
    piece_max_bytes: int = 512 * _MIB
    """Text that is decoded at once where it cannot be cut between two events."""

    def __post_init__(self) -> None:
        """Refuse a bound that would refuse every file.

        Raises:
            ValueError: a bound is below 1.
        """
        for name in self.__slots__:
            if getattr(self, name) < 1:
                msg = f"{name} is {getattr(self, name)}; it must be at least 1"
                raise ValueError(msg)


DEFAULT_LIMITS: Final = Limits()
