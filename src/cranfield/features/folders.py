"""Which pictures there are: a folder with all that is below it, or a list of files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_from_bytes

from cranfield.errors import InputError, Problem, os_message
from cranfield.features.pictures import ENDINGS
from cranfield.io.files import read_text

# What ids keep as it is: everything that text files can hold between blanks.
_KEPT = "".join(chr(c) for c in range(33, 127) if chr(c) != "%")


@dataclass(frozen=True)
class Found:
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
    pictures: list[Found] = field(default_factory=list)
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
    for file, found in _walked(path, listing) if is_folder else _listed(path):
        _add(listing, file, found)
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
    listing.pictures.append(Found(item_of(file), file, path, about.st_size, about.st_mtime_ns))


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


def _check_ids(listing: Listing, where: str) -> None:
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
        raise InputError(where, problems)
