"""From a folder of pictures to vectors: streamed, again only for what is new or changed."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield._version import __version__
from cranfield.answers import Answer
from cranfield.errors import InputError, Problem, UsageError, check_counts, os_message, plural
from cranfield.features import DESCRIPTORS
from cranfield.features._spec import Descriptor
from cranfield.features.image_folders import Found, Listing, list_pictures, shown, vectors_of
from cranfield.features.metadata import EXIF, MOST_TAGS, tag_vectors
from cranfield.features.models import PREFIX, model_descriptor
from cranfield.features.pictures import MOST_PIXELS, BadPictureError, Decoded, read_picture
from cranfield.features.visual_words import SIFT, with_vocabulary
from cranfield.io.vectors import write_vectors
from cranfield.io.written import write_whole
from cranfield.notes import Notes, Progress, with_progress
from cranfield.registry import listed
from cranfield.validation import validate_params
from cranfield.work.executors import Plan

TAGS, TFIDF = "tags", "tags.tfidf"


@dataclass(frozen=True, repr=False, eq=False)
class Description(Answer):
    """What was described: how many pictures, which were left out and why, the files written."""

    command: ClassVar[str] = "describe"
    source: str
    output: str
    described: int
    computed: int
    dropped: int
    skipped: tuple[tuple[str, str], ...]
    written: Mapping[str, int]

    def payload(self, **_: Any) -> dict[str, Any]:
        """The manifest, and what this call has done."""
        return {
            "source": self.source,
            "output": self.output,
            "described": self.described,
            "computed": self.computed,
            "dropped": self.dropped,
            "skipped": [{"file": file, "reason": reason} for file, reason in self.skipped],
            "descriptors": [
                {"name": name, "file": f"{name}.npz", "length": length}
                for name, length in self.written.items()
            ],
        }

    def headline(self) -> str:
        return f"{plural(self.described, 'picture')} described, {len(self.skipped)} left out"


@validate_params
@with_progress
def describe_pictures(
    source: str | Path,
    descriptors: str | Descriptor | Iterable[str | Descriptor],
    output: str | Path,
    *,
    tags: str | Path | None = None,
    most_tags: int = MOST_TAGS,
    exif: bool = False,
    strict: bool = False,
    max_pixels: int = MOST_PIXELS,
    jobs: int | None = None,
    progress: Progress | Callable[[float], None] | None = None,
) -> Description:
    """Vectors of all pictures of a folder, or of a list of files, as `output/NAME.npz`.

    Pictures that were described before and have not changed since are not read again; those that
    are gone are dropped. A picture that cannot be read is left out and told in the answer and in
    `output/manifest.json`; with `strict` it is an error, and nothing is written.
    """
    check_counts(jobs=jobs, max_pixels=max_pixels)
    progress = Progress.of(progress)
    chosen = _chosen(descriptors)
    if exif and EXIF not in chosen:
        chosen = (*chosen, EXIF)
    listing = list_pictures(source)
    store = Store(output)
    learning = progress.part(0.0, 0.2) if any(d.name == SIFT.name for d in chosen) else progress
    chosen = tuple(
        with_vocabulary(d, listing.pictures, store.folder, learning) if d.name == SIFT.name else d
        for d in chosen
    )
    known = {d: store.known(d, listing.root) for d in chosen}
    with _Work(store.folder, chosen, known, max_pixels, Plan(jobs=jobs).workers) as work:
        work.run(listing, progress.part(0.0, 0.95))
        skipped = dict(sorted(listing.skipped.items()))
        if strict and skipped:
            problems = [Problem(0, f"{shown(file)}: {why}") for file, why in skipped.items()]
            raise InputError(str(source), problems)
        good = [p for p in listing.pictures if p.file not in skipped]
        dropped = work.write(store, listing.root, good)
    notes = _noted(listing, skipped)
    written = {str(d): d.length for d in chosen}
    if tags is not None:
        written |= _write_tags(store, good, tags, most_tags, notes)
    told = tuple((shown(file), reason) for file, reason in skipped.items())
    found = Description(
        source=str(source),
        output=str(store.folder),
        described=len(good),
        computed=work.computed,
        dropped=dropped,
        skipped=told,
        written=written,
        notes=notes.lines(),
    )
    content = found.payload()
    for passing in ("output", "computed", "dropped"):
        del content[passing]
    store.write_manifest({"cranfield": __version__} | content)
    progress(1.0)
    return found


def _chosen(
    descriptors: str | Descriptor | Iterable[str | Descriptor],
) -> tuple[Descriptor, ...]:
    """The descriptors of some names, models in files among them."""
    found: list[Descriptor] = []
    for word in listed(descriptors, Descriptor):
        if isinstance(word, str) and word.startswith(PREFIX):
            found.append(model_descriptor(word))
        else:
            found += DESCRIPTORS.find_all([word])
    twice = next((d for i, d in enumerate(found) if d in found[:i] and d.edition), None)
    if twice is not None:
        raise UsageError(f"two models are named {str(twice)!r}; their vectors would be one file")
    return tuple(dict.fromkeys(found))


def _noted(listing: Listing, skipped: Mapping[str, str]) -> Notes:
    notes = Notes()
    if listing.others:
        notes.add(f"{plural(listing.others, 'file')} without the ending of a picture left out")
    if skipped:
        notes.add(f"{plural(len(skipped), 'file')} could not be described (see skipped)")
    return notes


def _write_tags(
    store: Store, good: Sequence[Found], path: str | Path, most: int, notes: Notes
) -> dict[str, int]:
    items = [p.item for p in good]
    found = tag_vectors(items, {p.file: p.item for p in good}, path, most)
    if found.untagged:
        notes.add(f"{plural(found.untagged, 'picture')} without tags")
    if found.unknown:
        notes.add(f"the tags speak of {plural(found.unknown, 'item')} without a picture")
    terms = np.array(found.terms, dtype=np.str_)
    store.write_table(TAGS, items, found.present, distance="cosine", terms=terms)
    store.write_table(TFIDF, items, found.weighted, distance="cosine", terms=terms)
    return {TAGS: len(found.terms), TFIDF: len(found.terms)}


class _Work:
    """Decodes pictures on some threads and puts the new rows of each descriptor into a file."""

    def __init__(
        self,
        folder: Path,
        chosen: Sequence[Descriptor],
        known: Mapping[Descriptor, Known | None],
        max_pixels: int,
        jobs: int,
    ) -> None:
        self._chosen, self._known = chosen, known
        self._max_pixels, self._jobs = max_pixels, jobs
        self._fresh: dict[Descriptor, dict[str, int]] = {d: {} for d in chosen}
        self._files: dict[Descriptor, BinaryIO] = {}
        self._folder = tempfile.TemporaryDirectory(prefix=".cranfield-", dir=folder)
        self.computed = 0

    def __enter__(self) -> _Work:
        for number, descriptor in enumerate(self._chosen):
            self._files[descriptor] = (Path(self._folder.name) / str(number)).open("w+b")
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            file.close()
        self._folder.cleanup()

    def _lacking(self, picture: Found) -> list[Descriptor]:
        return [
            d
            for d in self._chosen
            if (known := self._known[d]) is None or picture.state not in known.rows
        ]

    def run(self, listing: Listing, progress: Progress) -> None:
        """Describe what is not known yet; what cannot be is put among the skipped."""
        todo = [(p, lacking) for p in listing.pictures if (lacking := self._lacking(p))]
        with ThreadPoolExecutor(self._jobs) as pool:
            for done, (picture, lacking, result) in enumerate(self._results(pool, todo), 1):
                progress(done / len(todo))
                if isinstance(result, str):
                    listing.skipped[picture.file] = result
                    continue
                self.computed += 1
                for descriptor, vector in zip(lacking, result, strict=True):
                    places = self._fresh[descriptor]
                    places[picture.item] = len(places)
                    self._files[descriptor].write(vector.tobytes())

    def _results(
        self, pool: ThreadPoolExecutor, todo: Sequence[tuple[Found, list[Descriptor]]]
    ) -> Iterator[tuple[Found, list[Descriptor], list[NDArray[Any]] | str]]:
        """In the order of the pictures; only a few are under way, whatever their number."""
        waiting = iter(todo)
        while batch := list(islice(waiting, 16 * self._jobs)):
            vectors = pool.map(lambda one: self._vectors(*one), batch)
            for (picture, lacking), result in zip(batch, vectors, strict=True):
                yield picture, lacking, result

    def _vectors(self, picture: Found, lacking: list[Descriptor]) -> list[NDArray[Any]] | str:
        try:
            decoded = read_picture(picture.path, most_pixels=self._max_pixels)
        except BadPictureError as error:
            return str(error)
        return _described(decoded, lacking)

    def write(self, store: Store, root: str, good: Sequence[Found]) -> int:
        """Write what has changed; the number of pictures that are gone."""
        dropped: set[str] = set()
        items = tuple(p.item for p in good)
        for descriptor in self._chosen:
            known, fresh = self._known[descriptor], self._fresh[descriptor]
            if known is not None:
                dropped |= set(known.items) - set(items)
                if not fresh and known.items == items:
                    continue
            file = self._files[descriptor]
            file.flush()
            made = _rows_in(Path(file.name), len(fresh), descriptor)
            store.write(descriptor, root, good, merged_rows(good, known, fresh, made))
        return len(dropped)


def _rows_in(path: Path, count: int, descriptor: Descriptor) -> NDArray[Any]:
    shape = count, descriptor.length
    if count == 0:
        return np.zeros(shape, dtype=descriptor.kind)
    return np.memmap(path, dtype=descriptor.kind, mode="r", shape=shape)


def _described(decoded: Decoded, descriptors: Sequence[Descriptor]) -> list[NDArray[Any]]:
    """One vector per descriptor, from the pixels or from what the file says beside them."""
    of_pixels = [d for d in descriptors if d.kernel]
    found = dict(zip(of_pixels, vectors_of(decoded.pixels, of_pixels), strict=True))
    for other in descriptors:
        if other.compute is not None:
            found[other] = other.compute(decoded).astype(other.kind)
    return [found[d] for d in descriptors]


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
