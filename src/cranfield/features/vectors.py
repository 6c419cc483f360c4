"""From the pixels of one picture to its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.features._spec import Descriptor


def vectors_of(pixels: NDArray[np.uint8], descriptors: Sequence[Descriptor]) -> list[NDArray[Any]]:
    """One vector per descriptor, of a picture as height x width x 3 bytes.

    >>> from cranfield.features import descriptor
    >>> black = np.zeros((4, 4, 3), dtype=np.uint8)
    >>> vectors_of(black, [descriptor("RGBHistogram")])[0][:3].tolist()
    [255, 0, 0]
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or not pixels.size:
        raise UsageError(
            f"a picture is height x width x 3 bytes, not {pixels.dtype} of shape {pixels.shape}"
        )
    # Variants that share a kernel are computed once.
    kernels = list(dict.fromkeys(d.kernel for d in descriptors))
    found = dict(
        zip(kernels, _core.describe_picture(kernels, np.ascontiguousarray(pixels)), strict=True)
    )
    return [
        (found[d.kernel][list(d.takes)] if d.takes else found[d.kernel]).astype(d.kind)
        for d in descriptors
    ]
