"""Reading the database files of WordNet (man 5 wndb) into plain arrays.

Synsets are numbered 0, 1, 2, ... in the order of data.noun, data.verb, data.adj, data.adv.
Nothing outside this file knows byte offsets: distributions do not agree on them.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import InputError, NeedsError, os_message
from cranfield.io.files import write_atomic

Arrays = dict[str, NDArray[Any]]

# The pointer symbols in the order in which `pointer_kind` numbers them.
SYMBOLS = (
    "!",
    "@",
    "@i",
    "~",
    "~i",
    "#m",
    "#s",
    "#p",
    "%m",
    "%s",
    "%p",
    "=",
    "+",
    "*",
    ">",
    "^",
    "$",
    "&",
    "<",
    "\\",
    ";c",
    "-c",
    ";r",
    "-r",
    ";u",
    "-u",
)
_KIND = {symbol.encode(): number for number, symbol in enumerate(SYMBOLS)}
_PART_OF = {b"n": 0, b"v": 1, b"a": 2, b"s": 2, b"r": 3}
_OFFSET_LIMIT = 10**8
_BLANK = ord(" ")


def parse_database(files: DatabaseFiles) -> Arrays:
    """Everything Cranfield uses of a WordNet database."""
    raw = _Raw()
    for part in range(len(PART_NAMES)):
        raw.read_data(files, part)
    if not raw.address:
        raise InputError.single(str(files.root), "the data files hold no synset")
    address = _Addresses(raw.address)
    arrays = raw.arrays(files, address)
    arrays.update(_lemma_index(files, address, raw.part_start))
    exceptions = [files.read(f"{name}.exc") for name in PART_NAMES]
    arrays.update(_blob("exception", exceptions))
    arrays["tag_count"] = _tag_counts(files, raw)
    return arrays


class _Raw:
    """What has been read so far, as flat lists; arrays are made of them in one go."""

    def __init__(self) -> None:
        self.address: list[int] = []
        self.part_start = [0]
        self.lex_file: list[bytes] = []
        self.words: list[bytes] = []
        self.lex_ids: list[bytes] = []
        self.word_count: list[int] = []
        self.kinds: list[bytes] = []
        self.targets: list[bytes] = []
        self.target_parts: list[bytes] = []
        self.ends: list[bytes] = []
        self.pointer_count: list[int] = []
        self.glosses: list[bytes] = []

    def read_data(self, files: DatabaseFiles, part: int) -> None:
        _each_line(
            files,
            f"data.{PART_NAMES[part]}",
            lambda line: self._read_line(line, part),
            "a synset (expected: offset lex_filenum ss_type w_cnt word lex_id ... p_cnt "
            "pointer ... | gloss)",
        )
        self.part_start.append(len(self.lex_file))

    def _read_line(self, line: bytes, part: int) -> None:
        bar = line.index(b"|")
        fields = line[:bar].split()
        words = int(fields[3], 16)
        first = 4 + 2 * words
        pointers = int(fields[first])
        last = first + 1 + 4 * pointers
        if len(fields) < last:
            raise ValueError
        self.address.append(part * _OFFSET_LIMIT + int(fields[0]))
        self.lex_file.append(fields[1])
        self.words += fields[4:first:2]
        self.lex_ids += fields[5:first:2]
        self.word_count.append(words)
        self.kinds += fields[first + 1 : last : 4]
        self.targets += fields[first + 2 : last : 4]
        self.target_parts += fields[first + 3 : last : 4]
        self.ends += fields[first + 4 : last : 4]
        self.pointer_count.append(pointers)
        # A gloss may itself hold a bar: what follows the last one counts.
        self.glosses.append(line[line.rindex(b"|") + 1 :].strip())

    def arrays(self, files: DatabaseFiles, address: _Addresses) -> Arrays:
        end_of = {text: int(text, 16) for text in set(self.ends)}
        ends = np.array([end_of[text] for text in self.ends], np.uint16)
        try:
            kinds = [_KIND[symbol] for symbol in self.kinds]
            parts = [_PART_OF[part] for part in self.target_parts]
            targets = address.find(self.targets, np.array(parts, np.int64))
        except (KeyError, ValueError) as error:
            raise InputError.single(
                str(files.root), f"a pointer leads nowhere or has an unknown symbol ({error})"
            ) from None
        return {
            "part_start": np.array(self.part_start, np.int32),
            "lexicographer_file": np.array([int(number) for number in self.lex_file], np.uint8),
            "word_start": _starts(self.word_count),
            **_blob("word", self.words),
            "pointer_start": _starts(self.pointer_count),
            "pointer_kind": np.array(kinds, np.uint8),
            "pointer_target": targets,
            "pointer_source_word": (ends >> 8).astype(np.uint8),
            "pointer_target_word": (ends & 0xFF).astype(np.uint8),
            **_blob("gloss", self.glosses),
        }

    def sense_keys(self) -> Iterator[tuple[bytes, int]]:
        """(sense key, synset) of every noun and verb: the others carry no information content."""
        start = list(accumulate(self.word_count, initial=0))
        for part, number in ((0, b"1"), (1, b"2")):
            for synset in range(self.part_start[part], self.part_start[part + 1]):
                prefix = b"%" + number + b":" + self.lex_file[synset] + b":"
                for w in range(start[synset], start[synset + 1]):
                    lex_id = b"%02d" % int(self.lex_ids[w], 16)
                    yield self.words[w].lower() + prefix + lex_id + b"::", synset


class _Addresses:
    """Which synset stands at a byte offset of a data file."""

    def __init__(self, addresses: Sequence[int]) -> None:
        places = np.array(addresses, np.int64)
        self._order = np.argsort(places, kind="stable").astype(np.int32)
        self._places = places[self._order]

    def find(self, offsets: Sequence[bytes], parts: NDArray[np.int64] | int) -> NDArray[np.int32]:
        """The synsets at these offsets; a ValueError when there is none."""
        addresses = np.array(offsets, "S8").astype(np.int64) + parts * _OFFSET_LIMIT
        at = np.searchsorted(self._places, addresses)
        at[at == len(self._places)] = 0
        wrong = np.flatnonzero(self._places[at] != addresses)
        if wrong.size:
            raise ValueError(offsets[wrong[0]].decode("ascii", "replace"))
        return self._order[at]


def _each_line(
    files: DatabaseFiles, name: str, read: Callable[[bytes], None], expected: str
) -> None:
    """Reads every line but the licence at the top, which is indented."""
    for number, line in enumerate(files.read(name).split(b"\n"), 1):
        if line and line[0] != _BLANK:
            try:
                read(line)
            except (ValueError, IndexError, KeyError):
                raise InputError.single(files.where(name), f"not {expected}", number) from None


def _starts(counts: Sequence[int]) -> NDArray[np.int32]:
    starts = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=starts[1:])
    return starts


def _blob(name: str, texts: Sequence[bytes]) -> Arrays:
    """Texts one after the other, and where each starts."""
    return {
        f"{name}_text": np.frombuffer(b"".join(texts), np.uint8),
        f"{name}_text_start": _starts([len(text) for text in texts]),
    }


def _lemma_index(files: DatabaseFiles, address: _Addresses, sizes: Sequence[int]) -> Arrays:
    """The words by part of speech; `sizes` says where the synsets of each part start."""
    lemmas: list[bytes] = []
    part_start = [0]
    counts: list[int] = []
    synsets: list[NDArray[np.int32]] = []
    for part, part_name in enumerate(PART_NAMES):
        name = f"index.{part_name}"
        entries, senses, offsets = _index_entries(files, name)
        try:
            lemma_synsets = address.find(offsets, part)
        except ValueError as error:
            raise InputError.single(
                files.where(name), f"offset {error} is not that of a synset in data.{part_name}"
            ) from None
        count, expected = len(np.unique(lemma_synsets)), sizes[part + 1] - sizes[part]
        if count < expected:
            raise InputError.single(
                files.where(name),
                f"leads to {count} of the {expected} synsets in data.{part_name}; is it truncated?",
            )
        if any(a > b for a, b in pairwise(entries)):
            raise InputError.single(files.where(name), "the entries are not in alphabetical order")
        lemmas += entries
        counts += senses
        synsets.append(lemma_synsets)
        part_start.append(len(lemmas))
    return {
        "lemma_part_start": np.array(part_start, np.int32),
        **_blob("lemma", lemmas),
        "sense_start": _starts(counts),
        "sense_synset": np.concatenate(synsets),
    }


def _index_entries(files: DatabaseFiles, name: str) -> tuple[list[bytes], list[int], list[bytes]]:
    """The lemmas of an index, how many senses each has, and the offsets of all senses."""
    lemmas: list[bytes] = []
    counts: list[int] = []
    offsets: list[bytes] = []

    def read(line: bytes) -> None:
        fields = line.split()
        senses = int(fields[2])
        if not 0 < senses < len(fields) - 5:
            raise ValueError
        lemmas.append(fields[0])
        counts.append(senses)
        offsets.extend(fields[-senses:])

    expected = "lemma pos synset_cnt p_cnt symbol ... sense_cnt tagsense_cnt offset ..."
    _each_line(files, name, read, f"an index entry (expected: {expected})")
    return lemmas, counts, offsets


def _tag_counts(files: DatabaseFiles, raw: _Raw) -> NDArray[np.int64]:
    """How often each synset was tagged in SemCor; empty when no file says so."""
    for name in COUNTS:
        if files.has(name):
            break
    else:
        return np.zeros(0, np.int64)
    key_at, count_at = (0, 2) if name == "cntlist.rev" else (1, 0)
    count_of: dict[bytes, int] = {}

    def read(line: bytes) -> None:
        fields = line.split()
        count_of[fields[key_at]] = int(fields[count_at])

    _each_line(files, name, read, "a tag count (expected a sense key and its count)")
    if not count_of:
        raise InputError.single(files.where(name), "holds no tag count")
    counts = np.zeros(len(raw.lex_file), np.int64)
    for key, synset in raw.sense_keys():
        if key in count_of:
            counts[synset] += count_of[key]
    return counts


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
        database = _database_at(Path(folder))
        if database is None:
            raise InputError.single(str(folder), _why_not(Path(folder)))
        return database
    for variable, inner in (("WNSEARCHDIR", ""), ("WNHOME", "dict")):
        if value := os.environ.get(variable):
            database = _database_at(Path(value) / inner)
            if database is None:
                raise InputError.single(
                    str(Path(value) / inner), f"{_why_not(Path(value) / inner)} (from {variable})"
                )
            return database
    for place in _usual_places():
        database = _database_at(place)
        if database is not None:
            return database
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


# Raised whenever the meaning of an array changes, so that old caches are not read.
LAYOUT = 4
_MAGIC = b"CRANFIELD ARRAYS 2\n"
_NUMBER = 8  # bytes of the checksum, and of the size of the header
_ALIGN = 64


def cache_folder() -> Path:
    if folder := os.environ.get("CRANFIELD_CACHE"):
        return Path(folder)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cranfield"


def cached(kind: str, fingerprint: str, build: Callable[[], Arrays]) -> Arrays:
    """The arrays that `build` makes, from disk when they were made before."""
    identity = f"{LAYOUT}\n{kind}\n{fingerprint}"  # with a path, which may be any bytes
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    path = cache_folder() / f"{kind}-{digest}.arrays"
    arrays = load_arrays(path)
    if arrays is not None:
        return arrays
    arrays = build()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, pack_arrays(arrays))
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
