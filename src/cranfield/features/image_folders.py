"""Which pictures there are: a folder with all that is below it, or a list of files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, Problem, UsageError, os_message
from cranfield.features._spec import Descriptor
from cranfield.features.pictures import ENDINGS
from cranfield.io.convert import encode_table
from cranfield.io.files import read_text, write_atomic
from cranfield.io.labels import write_labels

# What ids keep as it is: everything that text files can hold between blanks.
_KEPT = "".join(chr(c) for c in range(33, 127) if chr(c) != "%")


@dataclass(frozen=True)
class PictureFile:
    """A file that should be a picture: its id, its name as given, and what tells a change."""

    item: str
    file: str
    path: Path
    size: int
    modified: int

    @property
    def state(self) -> tuple[str, int, int]:
        return self.file, self.size, self.modified


@dataclass
class Listing:
    """The pictures of a folder or list, and what could not even be looked at."""

    root: str
    pictures: list[PictureFile] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    others: int = 0


def item_of(file: str) -> str:
    """The id of a picture: its path without ending; what would break a line is written %20.

    >>> item_of("sea side/waves 2.tar.jpg")
    'sea%20side/waves%202.tar'
    """
    stem = os.path.splitext(file)[0]  # noqa: PTH122 (a Path would drop a leading './')
    return "".join(_id_letter(c) for c in stem)


def _id_letter(c: str) -> str:
    if c in _KEPT or (ord(c) > 160 and not c.isspace() and c.isprintable()):
        return c
    return quote_from_bytes(c.encode("utf-8", "surrogateescape"))


def shown(file: str) -> str:
    """A file name that can be printed and written: odd bytes come out as \\udc.. escapes."""
    return file.encode("utf-8", "backslashreplace").decode()


def list_pictures(source: str | Path) -> Listing:
    """The pictures of a folder, or those that a text file lists, by id.

    Two files with one id, such as a.jpg and a.png, are an InputError.
    """
    path = Path(source)
    listing = Listing(os.path.realpath(path))
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False
    for file, picture in _walked(path, listing) if is_folder else _listed(path):
        _add(listing, file, picture)
    listing.pictures.sort(key=lambda p: p.item)
    _check_ids(listing, str(source))
    if not listing.pictures and not listing.skipped:
        raise InputError.single(str(source), "holds no pictures")
    return listing


def _add(listing: Listing, file: str, path: Path) -> None:
    try:
        about = path.stat()
    except OSError as error:
        listing.skipped[file] = os_message(error)
        return
    except ValueError:
        listing.skipped[file] = "is not the name of a file"
        return
    if not stat.S_ISREG(about.st_mode):
        listing.skipped[file] = "is not an ordinary file"
        return
    listing.pictures.append(
        PictureFile(item_of(file), file, path, about.st_size, about.st_mtime_ns)
    )


def _walked(root: Path, listing: Listing) -> Iterator[tuple[str, Path]]:
    """Every file with the ending of a picture; links are followed, each folder once."""
    seen: set[tuple[int, int]] = set()

    def inside(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
        try:
            about = folder.stat()
            entries = sorted(os.scandir(folder), key=lambda e: e.name)
        except OSError as error:
            listing.skipped[name or "."] = os_message(error)
            return
        if (about.st_dev, about.st_ino) in seen:
            listing.skipped[name] = "is a link to a folder that was read already"
            return
        seen.add((about.st_dev, about.st_ino))
        for entry in entries:
            file = f"{name}/{entry.name}" if name else entry.name
            if _is_folder(entry):
                yield from inside(Path(entry.path), file)
            elif Path(entry.name).suffix.lower() in ENDINGS:
                yield file, Path(entry.path)
            else:
                listing.others += 1

    yield from inside(root, "")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link in a circle: told when its file is looked at


def _listed(path: Path) -> Iterator[tuple[str, Path]]:
    for line in read_text(path).splitlines():
        if file := line.strip("\r\n"):
            yield file, path.parent / file


def _check_ids(listing: Listing, source: str) -> None:
    problems = [
        Problem(
            0,
            f"{shown(a.file)!r} and {shown(b.file)!r} have one id {b.item!r}; an id is a path "
            "without its ending",
        )
        for a, b in zip(listing.pictures, listing.pictures[1:], strict=False)
        if a.item == b.item
    ]
    if problems:
        raise InputError(source, problems)


def _classes(folder: str | Path) -> dict[str, str]:
    """The class of each picture: the first folder on its way."""
    class_of = {
        p.item: p.item.partition("/")[0] for p in list_pictures(folder).pictures if "/" in p.item
    }
    if not class_of:
        raise InputError.single(
            str(folder), "has no pictures in folders below it, which would name their classes"
        )
    return class_of


def class_judgements(folder: str | Path) -> Judgements:
    """To each picture as topic, the others of its class are relevant."""
    members: dict[str, list[str]] = {}
    for item, name in _classes(folder).items():
        members.setdefault(name, []).append(item)
    nested = {
        item: {other_item: 1.0 for other_item in items if other_item != item}
        for items in members.values()
        for item in items
        if len(items) > 1
    }
    if not nested:
        raise InputError.single(str(folder), "no class has two pictures")
    return Judgements.from_dict(nested)


def class_labels(folder: str | Path) -> LabelMatrix:
    """Each picture with its class as the one concept it has."""
    classes = _classes(folder)
    concepts = tuple(sorted(set(classes.values())))
    labels = np.array([[name == concept for concept in concepts] for name in classes.values()])
    return LabelMatrix(tuple(classes), concepts, labels=labels, name=Path(folder).name)


def convert_classes(
    folder: str | Path, target: str | Path | None, *, kind: str | None, long: bool = False
) -> bytes:
    """Write class folders as judgements or labels; without a target, the bytes of judgements."""
    if kind == "labels" and target is not None:
        write_labels(class_labels(folder), target, form="long" if long else None)
        return b""
    if kind != "qrels":
        raise UsageError("folders become kind='qrels', or kind='labels' in a file")
    data = encode_table(class_judgements(folder), None if target is None else str(target))
    if target is not None:
        write_atomic(Path(target), data)
    return data


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
    vectors = dict(
        zip(kernels, _core.describe_picture(kernels, np.ascontiguousarray(pixels)), strict=True)
    )
    return [
        (vectors[d.kernel][list(d.takes)] if d.takes else vectors[d.kernel]).astype(d.kind)
        for d in descriptors
    ]
