"""Launch facts of kernels (grid, block, registers ...), as columns."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from profcore.trace.model import MISSING, KernelDetails
from profcore.trace.schema import NULL
from profcore.trace.whole import (
    decoded,
    float_of_json,
    whole_numbers,
    whole_of_json,
    whole_of_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profcore.trace.schema import Args, Raw

_AXES = 3
_WHITESPACE = b" \t\r\n"
_COMMA = ord(",")
_CLOSE = ord("]")


class KernelFacts:
    """Facts of kernels, batch after batch."""

    def __init__(self) -> None:
        self._parts: list[KernelDetails] = []

    def add(self, rows: NDArray[np.int64], kernels: Sequence[Args]) -> None:
        """Take the kernels of one batch; those without any fact are passed over.

        Args:
            rows: (k,) positions of the kernels among all rows, in file order.
            kernels: k arguments.
        """
        told = [
            args.grid is not NULL
            or args.block is not NULL
            or args.registers is not NULL
            or args.shared_memory is not NULL
            or args.occupancy is not NULL
            or args.blocks_per_sm is not NULL
            for args in kernels
        ]
        facts = list(compress(kernels, told))
        self._parts.append(
            KernelDetails(
                row=rows[told] if told else rows,
                grid=_triples([args.grid for args in facts]),
                block=_triples([args.block for args in facts]),
                registers_per_thread=whole_of_json([args.registers for args in facts]),
                shared_memory_bytes=whole_of_json([args.shared_memory for args in facts]),
                occupancy_percent=float_of_json([args.occupancy for args in facts]),
                blocks_per_multiprocessor=float_of_json([args.blocks_per_sm for args in facts]),
            )
        )

    def details(self, position_of: NDArray[np.int64]) -> KernelDetails:
        """Join all batches.

        Args:
            position_of: (n,) where the row at each place of the file ended up.
        """
        rows = self._joined("row", 0)
        order = np.argsort(position_of[rows])
        return KernelDetails(
            row=position_of[rows][order],
            grid=self._joined("grid", _AXES)[order],
            block=self._joined("block", _AXES)[order],
            registers_per_thread=self._joined("registers_per_thread", 0)[order],
            shared_memory_bytes=self._joined("shared_memory_bytes", 0)[order],
            occupancy_percent=self._joined("occupancy_percent", 0, np.float64)[order],
            blocks_per_multiprocessor=self._joined("blocks_per_multiprocessor", 0, np.float64)[
                order
            ],
        )

    def _joined(self, field: str, width: int, dtype: type = np.int64) -> NDArray[Any]:
        empty: NDArray[Any] = np.zeros((0, width) if width else 0, dtype)
        return np.concatenate([empty, *(getattr(part, field) for part in self._parts)])


def _triples(raws: Sequence[Raw]) -> NDArray[np.int64]:
    """Parse lists of three whole numbers; MISSING throughout where it is something else."""
    if all(raw is NULL for raw in raws):
        return np.full((len(raws), _AXES), MISSING, np.int64)
    text = b",".join(raws).translate(None, _WHITESPACE + b"[")
    numbers = text.translate(None, b"]")
    if not numbers.translate(None, b"0123456789,") and _are_triples(text, len(raws)):
        values = whole_of_text(numbers)
        if values is not None:
            return values.reshape(-1, _AXES)
    return np.array([_triple(raw) for raw in raws], np.int64)


def _are_triples(text: bytes, count: int) -> bool:
    """Tell whether `1,2,3],4,5,6]` has three numbers in each of `count` lists."""
    symbols = np.frombuffer(text, np.uint8)
    closes = np.flatnonzero(symbols == _CLOSE)
    commas = np.searchsorted(np.flatnonzero(symbols == _COMMA), closes)
    # Two commas in the first list, and one more before each other list.
    is_filled = b",," not in text and b",]" not in text
    return is_filled and np.array_equal(commas, _AXES * np.arange(1, count + 1) - 1)


def _triple(raw: Raw) -> list[int]:
    value = decoded(raw)
    if isinstance(value, list) and len(value) == _AXES:
        return [int(number) for number in whole_numbers(value)[0]]
    return [MISSING] * _AXES
