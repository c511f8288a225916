"""Which GPU work is what: masks over the activities of an analysis, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profcore.analysis.copies import direction
from profcore.analysis.names import family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profcore.rules.quantities import Quantities

_COPY_KERNEL: Final = re.compile(r"memcpy\d+(_|$)")


def copies(quantities: Quantities, *directions: str) -> NDArray[np.bool_]:
    """Return the copies in these directions ("HtoD", "DtoH", "DtoD")."""
    return quantities.activity_kind("memcpy") & quantities.activity_names(
        lambda name: direction(name) in directions
    )


def device_copies(quantities: Quantities) -> NDArray[np.bool_]:
    """Return the copies inside the device, also those that run as kernels.

    Newer drivers replay the copies of a CUDA graph as kernels named memcpy128 and the like.
    """
    by_kernel = quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: bool(_COPY_KERNEL.match(name))
    )
    return copies(quantities, "DtoD") | by_kernel


def matrix_products(quantities: Quantities) -> NDArray[np.bool_]:
    """Return the matrix products, Triton's templates among them."""
    return quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: family(name) == "gemm" or name.startswith("triton_tem_")
    )


def of_family(quantities: Quantities, *families: str) -> NDArray[np.bool_]:
    """Return the kernels of these families (`profcore.analysis.names.FAMILIES`)."""
    return quantities.activity_kind("kernel") & quantities.activity_names(
        lambda name: family(name) in families
    )
