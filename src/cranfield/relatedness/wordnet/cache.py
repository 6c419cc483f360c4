"""Arrays kept on disk and mapped into memory: the second start reads nothing but what it uses.

The cache lives in `$CRANFIELD_CACHE`, `$XDG_CACHE_HOME/cranfield` or `~/.cache/cranfield`. It can
be deleted at any time, and where it cannot be written Cranfield works without it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cranfield.errors import InputError
from cranfield.io.files import write_whole
from cranfield.relatedness.wordnet.parse import Arrays

# Raised whenever the meaning of an array changes, so that old caches are not read.
LAYOUT = 3
_MAGIC = b"CRANFIELD ARRAYS\n"
_ALIGN = 64


def cache_folder() -> Path:
    if own := os.environ.get("CRANFIELD_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cranfield"


def cached(kind: str, fingerprint: str, build: Callable[[], Arrays]) -> Arrays:
    """The arrays that `build` makes, from disk when they were made before."""
    digest = hashlib.sha256(f"{LAYOUT}\n{kind}\n{fingerprint}".encode()).hexdigest()[:20]
    path = cache_folder() / f"{kind}-{digest}.arrays"
    arrays = load_arrays(path)
    if arrays is not None:
        return arrays
    arrays = build()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, pack_arrays(arrays))
    except (OSError, InputError):
        # A cache that cannot be written costs time, not results.
        return arrays
    return arrays


def pack_arrays(arrays: Arrays) -> bytes:
    """The bytes of a cache file: a line of magic, a JSON header, then the arrays, aligned."""
    header, position = {}, 0
    for name, array in arrays.items():
        header[name] = [array.dtype.str, list(array.shape), position]
        position += -(-array.nbytes // _ALIGN) * _ALIGN
    text = json.dumps(header).encode()
    text += b" " * (-(len(_MAGIC) + 8 + len(text)) % _ALIGN)
    parts = [_MAGIC, len(text).to_bytes(8, "little"), text]
    for array in arrays.values():
        data = array.tobytes()
        parts += [data, bytes(-len(data) % _ALIGN)]
    return b"".join(parts)


def load_arrays(path: Path) -> Arrays | None:
    """The arrays of a cache file, mapped into memory; None when it is absent or damaged."""
    try:
        with path.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        start = len(_MAGIC) + 8
        if mapped[: len(_MAGIC)] != _MAGIC:
            return None
        size = int.from_bytes(mapped[len(_MAGIC) : start], "little")
        header = json.loads(mapped[start : start + size])
        return {
            name: np.frombuffer(
                mapped, np.dtype(kind), int(np.prod(shape)), start + size + position
            ).reshape(shape)
            for name, (kind, shape, position) in header.items()
        }
    except (OSError, ValueError, TypeError):
        return None
