"""Arrays kept on disk and mapped into memory: the second start parses nothing.

The cache lives in `$CRANFIELD_CACHE`, `$XDG_CACHE_HOME/cranfield` or `~/.cache/cranfield`. It can
be deleted at any time, and where it cannot be written Cranfield works without it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cranfield.errors import InputError
from cranfield.io.files import write_whole
from cranfield.relatedness.wordnet.parse import Arrays

# Raised whenever the meaning of an array changes, so that old caches are not read.
LAYOUT = 4
_MAGIC = b"CRANFIELD ARRAYS 2\n"
_NUMBER = 8  # bytes of the checksum, and of the size of the header
_ALIGN = 64


def cache_folder() -> Path:
    if own := os.environ.get("CRANFIELD_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cranfield"


def cached(kind: str, fingerprint: str, build: Callable[[], Arrays]) -> Arrays:
    """The arrays that `build` makes, from disk when they were made before."""
    named = f"{LAYOUT}\n{kind}\n{fingerprint}"  # with a path, which may be any bytes
    digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:20]
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
    """The bytes of a cache file: magic, checksum, a JSON header, then the arrays, aligned."""
    header, position = {}, 0
    for name, array in arrays.items():
        header[name] = [array.dtype.str, list(array.shape), position]
        position += -(-array.nbytes // _ALIGN) * _ALIGN
    text = json.dumps(header).encode()
    text += b" " * (-(len(_MAGIC) + 2 * _NUMBER + len(text)) % _ALIGN)
    parts = [len(text).to_bytes(_NUMBER, "little"), text]
    for array in arrays.values():
        data = array.tobytes()
        parts += [data, bytes(-len(data) % _ALIGN)]
    body = b"".join(parts)
    return _MAGIC + zlib.crc32(body).to_bytes(_NUMBER, "little") + body


def load_arrays(path: Path) -> Arrays | None:
    """The arrays of a cache file, mapped into memory; None when it is absent or damaged.

    The checksum of 20 MB takes milliseconds, and damage would show as wrong values otherwise.
    """
    try:
        with path.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    body = len(_MAGIC) + _NUMBER
    start = body + _NUMBER
    checksum = int.from_bytes(mapped[len(_MAGIC) : body], "little")
    with memoryview(mapped) as view:
        if view[: len(_MAGIC)] != _MAGIC or len(view) < start:
            return None
        if zlib.crc32(view[body:]) != checksum:
            return None
    size = int.from_bytes(mapped[body:start], "little")
    header = json.loads(mapped[start : start + size])
    return {
        name: np.frombuffer(
            mapped, np.dtype(kind), int(np.prod(shape)), start + size + position
        ).reshape(shape)
        for name, (kind, shape, position) in header.items()
    }
