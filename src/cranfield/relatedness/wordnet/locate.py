"""Where the WordNet database is: a folder of Debian, Princeton or nltk, or nltk's zip file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cranfield.errors import InputError, NeedsError, os_message

PART_NAMES = ("noun", "verb", "adj", "adv")
NEEDED = tuple(
    [f"data.{part}" for part in PART_NAMES]
    + [f"index.{part}" for part in PART_NAMES]
    + [f"{part}.exc" for part in PART_NAMES]
)
# How often each sense was tagged in SemCor. Either file says the same; only RES, JCN and LIN
# need one.
COUNTS = ("cntlist.rev", "cntlist")

INSTALL = (
    "Install it with: apt-get install wordnet-base (Debian, Ubuntu), or: "
    "python -m nltk.downloader wordnet, or name its folder with wordnet=, WNSEARCHDIR or WNHOME."
)


@dataclass(frozen=True, slots=True)
class DatabaseFiles:
    """The files of a WordNet database, in a folder or inside a zip file."""

    root: Path
    inside: str = ""

    @property
    def zipped(self) -> bool:
        return self.root.suffix == ".zip"

    def where(self, name: str) -> str:
        """How messages name a file of the database."""
        return f"{self.root}/{self.inside}{name}"

    def has(self, name: str) -> bool:
        if not self.zipped:
            return (self.root / name).is_file()
        with zipfile.ZipFile(self.root) as archive:
            return self.inside + name in archive.namelist()

    def read(self, name: str) -> bytes:
        try:
            if not self.zipped:
                return (self.root / name).read_bytes()
            with zipfile.ZipFile(self.root) as archive:
                return archive.read(self.inside + name)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            message = os_message(error) if isinstance(error, OSError) else str(error)
            raise InputError.single(self.where(name), message) from None

    def fingerprint(self) -> str:
        """A text that changes whenever one of the files does."""
        names = [self.root] if self.zipped else [self.root / n for n in (*NEEDED, *COUNTS)]
        marks = [str(self.root.resolve())]
        for path in names:
            if path.is_file():
                stat = path.stat()
                marks.append(f"{path.name} {stat.st_size} {stat.st_mtime_ns}")
        return "\n".join(marks)


def find_database(folder: str | Path | None = None) -> DatabaseFiles:
    """The database in the folder given, or the first one in the places where it usually is."""
    if folder is not None:
        found = _database_at(Path(folder))
        if found is None:
            raise InputError.single(str(folder), _why_not(Path(folder)))
        return found
    for variable, inner in (("WNSEARCHDIR", ""), ("WNHOME", "dict")):
        if value := os.environ.get(variable):
            found = _database_at(Path(value) / inner)
            if found is None:
                raise InputError.single(
                    str(Path(value) / inner), f"{_why_not(Path(value) / inner)} (from {variable})"
                )
            return found
    for place in _usual_places():
        found = _database_at(place)
        if found is not None:
            return found
    raise NeedsError(f"No WordNet database found. {INSTALL}")


def _usual_places() -> Iterator[Path]:
    yield from map(
        Path,
        (
            "/usr/share/wordnet",
            "/usr/local/WordNet-3.0/dict",
            "/usr/local/share/wordnet",
            "/opt/homebrew/opt/wordnet/dict",
        ),
    )
    bases = [Path(p) for p in os.environ.get("NLTK_DATA", "").split(os.pathsep) if p]
    bases += [Path.home() / "nltk_data"]
    bases += [Path(p) / "nltk_data" for p in ("/usr/share", "/usr/local/share", "/usr/lib")]
    for base in bases:
        yield base / "corpora" / "wordnet"
        yield base / "corpora" / "wordnet.zip"


def _database_at(place: Path) -> DatabaseFiles | None:
    if place.suffix == ".zip" and place.is_file():
        try:
            with zipfile.ZipFile(place) as archive:
                names = archive.namelist()
        except (OSError, zipfile.BadZipFile):
            return None
        for name in names:
            if name.endswith("data.noun"):
                return DatabaseFiles(place, name.removesuffix("data.noun"))
        return None
    for candidate in (place, place / "dict", place / "wordnet", place / "corpora" / "wordnet"):
        if all((candidate / name).is_file() for name in NEEDED):
            return DatabaseFiles(candidate)
    zipped = place / "corpora" / "wordnet.zip"
    return _database_at(zipped) if zipped.is_file() else None


def _why_not(place: Path) -> str:
    if not place.exists():
        return f"no such folder, expected a WordNet database. {INSTALL}"
    lacking = [name for name in NEEDED if not (place / name).is_file()]
    if place.is_dir() and len(lacking) < len(NEEDED):
        return f"not a whole WordNet database: {', '.join(lacking)} missing"
    return (
        f"not a WordNet database (expected the files {NEEDED[0]}, {NEEDED[4]}, ... or a zip "
        "file of them)"
    )
