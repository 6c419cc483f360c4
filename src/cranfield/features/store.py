"""Vectors in a folder: one .npz per descriptor, which knows the files its rows were made from."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, UsageError, os_message
from cranfield.features._spec import Descriptor
from cranfield.features.folders import Found
from cranfield.io.vectors import write_vectors
from cranfield.io.written import write_whole

MANIFEST = "manifest.json"
# Goes up when a descriptor's numbers change: rows of another one are made again.
EDITION = 1
_BLOCK = 4096


@dataclass(frozen=True)
class Known:
    """The rows of an earlier time, by the file they were made from and its state."""

    path: Path
    items: tuple[str, ...]
    rows: Mapping[tuple[str, int, int], int]

    def vectors(self) -> NDArray[Any]:
        """All rows; they are read when they are needed, and one descriptor after the other."""
        with np.load(self.path, allow_pickle=False) as arrays:
            return np.asarray(arrays["vectors"])


class Store:
    """The folder that describing writes to."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = os_message(error) if isinstance(error, OSError) else "no such name"
            raise UsageError(f"{folder}: cannot be used as a folder: {reason}") from None

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.npz"

    def known(self, descriptor: Descriptor, root: str) -> Known | None:
        """What is there of a descriptor, if it was made from the same folder by these rules."""
        path = self.path(str(descriptor))
        if not path.is_file():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                same = (
                    int(arrays["edition"]) == EDITION
                    and str(arrays["root"]) == root
                    and str(arrays["descriptor"]) == str(descriptor)
                    and (str(arrays["learnt"]) if "learnt" in arrays else "") == descriptor.edition
                )
                if not same:
                    return None
                files, sizes, times = (
                    arrays[name].tolist() for name in ("files", "sizes", "modified")
                )
                items = tuple(arrays["items"].tolist())
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None  # damaged, or of another kind: made again
        states = zip(files, sizes, times, strict=True)
        return Known(path, items, {state: row for row, state in enumerate(states)})

    def write(
        self,
        descriptor: Descriptor,
        root: str,
        pictures: Sequence[Found],
        blocks: Iterator[NDArray[Any]],
    ) -> None:
        """The rows of some pictures, in their order."""
        about = {
            "items": _texts(p.item for p in pictures),
            "descriptor": str(descriptor),
            "distance": descriptor.distance,
            "files": _texts(p.file for p in pictures),
            "sizes": np.array([p.size for p in pictures], dtype=np.int64),
            "modified": np.array([p.modified for p in pictures], dtype=np.int64),
            "root": root,
            "edition": EDITION,
            **({"learnt": descriptor.edition} if descriptor.edition else {}),
        }
        shape = len(pictures), descriptor.length
        write_vectors(self.path(str(descriptor)), blocks, shape, descriptor.kind, about)

    def write_table(
        self, name: str, items: Sequence[str], vectors: NDArray[Any], **others: Any
    ) -> None:
        """Vectors that are not a descriptor's."""
        shape = int(vectors.shape[0]), int(vectors.shape[1])
        about = {"items": _texts(items), "descriptor": name, **others}
        write_vectors(self.path(name), iter([vectors]), shape, vectors.dtype.str, about)

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, ensure_ascii=True, indent=1) + "\n"
        path = self.folder / MANIFEST
        if not path.is_file() or _content(path) != text.encode():
            write_whole(path, text.encode())


def _texts(values: Any) -> NDArray[np.str_]:
    return np.array(list(values), dtype=np.str_)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError.single(str(path), os_message(error)) from None


def merged_rows(
    pictures: Sequence[Found],
    known: Known | None,
    fresh: Mapping[str, int],
    made: NDArray[Any],
) -> Iterator[NDArray[Any]]:
    """The rows of pictures, block by block: made now where `fresh` has their place, else known."""
    old = known.vectors() if known is not None else made[:0]
    for start in range(0, len(pictures), _BLOCK):
        block = pictures[start : start + _BLOCK]
        yield np.stack(
            [
                made[fresh[p.item]] if p.item in fresh else old[known.rows[p.state]]  # type: ignore[union-attr]
                for p in block
            ]
        )
