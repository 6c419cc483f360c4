"""From a folder of pictures to vectors: streamed, again only for what is new or changed."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield._version import __version__
from cranfield.answers import Answer
from cranfield.data.toml import parse_toml
from cranfield.errors import (
    InputError,
    MissingExtraError,
    Problem,
    UsageError,
    check_counts,
    os_message,
    plural,
)
from cranfield.features import DESCRIPTORS
from cranfield.features._spec import Descriptor, Source
from cranfield.features.image_folders import Listing, PictureFile, list_pictures, shown, vectors_of
from cranfield.features.pictures import (
    MOST_PIXELS,
    BadPictureError,
    DecodedPicture,
    read_picture,
    resized,
)
from cranfield.features.visual_words import FEATURE_LENGTHS, with_vocabulary
from cranfield.io.arrays import write_vectors
from cranfield.io.counts import read_tagged_items
from cranfield.io.files import write_atomic
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.registry import list_entries
from cranfield.validation import validate_params
from cranfield.work.executors import Plan

FAMILY = "metadata"
# The tags of EXIF, by their numbers.
_EXPOSURE, _F_NUMBER, _ISO, _FOCAL, _FLASH = 33434, 33437, 34855, 37386, 37385
_TAKEN = (36867, 36868, 306)
MOST_TAGS = 1000
Preset: TypeAlias = Literal["lire"]


def _exif_of(decoded: DecodedPicture) -> NDArray[Any]:
    height, width = decoded.pixels.shape[:2]
    return exif_vector(decoded.exif, width, height)


EXIF = Descriptor(
    name="EXIF",
    title="How the picture was taken",
    summary="Exposure, aperture, sensitivity and focal length as powers of two, whether they are "
    "known, the flash, the hour and the month as points on a circle, the shape and the size.",
    formula=r"\log_2 t, \log_2 f, \log_2 S, \log_2 l, \text{known}_4, \text{flash}, "
    r"\sin h, \cos h, \sin m, \cos m, \log_2 \tfrac{w}{h}, \log_2 w h",
    source=Source("nowak-thesis", "10.2.3", deviation="the thesis names no features"),
    family=FAMILY,
    length=15,
    range=(-64.0, 64.0),
    kernel="",
    distance="L1",
    small="what the file does not say is 0",
    checked="unverified: ours",
    shares=False,
    kind="float32",
    compute=_exif_of,
)

DECLARED = (EXIF,)


def exif_vector(exif: Mapping[int, Any], width: int, height: int) -> NDArray[np.float64]:
    """The numbers of a picture's EXIF data; 0 for what it does not say."""
    powers = [_power_of_two(exif.get(tag)) for tag in (_EXPOSURE, _F_NUMBER, _ISO, _FOCAL)]
    flash = exif.get(_FLASH)
    fired = 1.0 if isinstance(flash, int) and flash & 1 else 0.0
    taken_at = next((t for tag in _TAKEN if (t := _moment(exif.get(tag))) is not None), None)
    circles = [0.0] * 4
    if taken_at is not None:
        hour = 2 * math.pi * (taken_at.hour + taken_at.minute / 60) / 24
        month = 2 * math.pi * (taken_at.month - 1) / 12
        circles = [math.sin(hour), math.cos(hour), math.sin(month), math.cos(month)]
    return np.array(
        [
            *(p or 0.0 for p in powers),
            *(float(p is not None) for p in powers),
            fired,
            *circles,
            math.log2(width / height),
            math.log2(width * height),
        ]
    )


def _power_of_two(value: Any) -> float | None:
    if isinstance(value, tuple):
        value = value[0] if value else None
    try:
        number = float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return math.log2(number) if math.isfinite(number) and 2**-64 < number < 2**64 else None


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.strptime(str(value).strip("\0 ")[:19], "%Y:%m:%d %H:%M:%S")
    except ValueError:
        return None


@dataclass(frozen=True)
class TagVectors:
    """Which of the most frequent tags each item has, and how rare these are."""

    terms: tuple[str, ...]
    present: NDArray[np.uint8]
    weighted: NDArray[np.float32]
    untagged: int
    unknown: int


def tag_vectors(
    items: Sequence[str], names: Mapping[str, str], path: str | Path, most_tags: int = MOST_TAGS
) -> TagVectors:
    """The tags of some items, from a corpus that names them by id or by file.

    `names` leads from file names to ids. A tag weighs ln(N / n) where n of N items have it, and
    the weights of an item have length 1.
    """
    check_counts(most_tags=most_tags)
    place = {item: i for i, item in enumerate(items)}
    tags_of_row: dict[int, frozenset[str]] = {}
    unknown = 0
    for tagged in read_tagged_items(path):
        row = place.get(names.get(tagged.item, tagged.item))
        if row is None:
            unknown += 1
        else:
            tags_of_row[row] = tagged.tags
    counts = Counter(tag for tags in tags_of_row.values() for tag in tags)
    terms = tuple(sorted(counts, key=lambda t: (-counts[t], t))[:most_tags])
    column = {term: i for i, term in enumerate(terms)}
    present = np.zeros((len(items), len(terms)), dtype=np.uint8)
    for row, tags in tags_of_row.items():
        present[row, [column[tag] for tag in tags if tag in column]] = 1
    rarity = np.array([math.log(len(items) / counts[term]) for term in terms])
    weights = present * rarity
    lengths = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    weighted = (weights / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return TagVectors(terms, present, weighted, len(items) - len(tags_of_row), unknown)


PREFIX = "onnx:"
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SIZE = 224
_SETTINGS = ("size", "mean", "std", "output")


def model_descriptor(name: str) -> Descriptor:
    """The descriptor that `onnx:FILE` stands for; its vectors go by the name of the file."""
    path = Path(name.removeprefix(PREFIX))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError.single(str(path), os_message(error)) from None
    session = _session(path, content)
    settings = _settings(path.with_suffix(".toml"))
    size, layout = _input_size(path, session, settings)
    output = _output(path, session, settings)
    compute = _computing(path, session, output, size, layout, settings)
    length = len(compute(DecodedPicture(np.zeros((*size, 3), dtype=np.uint8), {})))
    identity = f"{hashlib.sha256(content).hexdigest()}{sorted(settings.items())}"
    return Descriptor(
        name=path.stem,
        title=f"The model {path.name}",
        summary="A model of the user's own.",
        formula=r"f(I)",
        source=Source("onnx"),
        family="models",
        length=length,
        range=(-np.inf, np.inf),
        kernel="",
        distance="cosine",
        small="brought to the model's size",
        checked="unverified: the user's own",
        shares=False,
        kind="float32",
        compute=compute,
        edition=hashlib.sha256(identity.encode()).hexdigest(),
    )


def _session(path: Path, content: bytes) -> Any:
    try:
        runtime = importlib.import_module("onnxruntime")
    except ModuleNotFoundError:
        raise MissingExtraError("onnxruntime", "onnx", "Describing pictures by a model") from None
    runtime.set_default_logger_severity(4)
    options = runtime.SessionOptions()
    # The pictures are shared out over threads already.
    options.intra_op_num_threads = 1
    try:
        session = runtime.InferenceSession(
            content, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime has a class of its own for every kind of fault
        reason = str(error).splitlines()[0][:200]
        raise InputError.single(str(path), f"is no model that can be run: {reason}") from None
    if len(session.get_inputs()) != 1:
        inputs = len(session.get_inputs())
        raise InputError.single(str(path), f"takes {inputs} inputs, expected one picture")
    return session


def _settings(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        settings = parse_toml(path.read_text(encoding="utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise InputError.single(str(path), f"cannot be read: {error}") from None
    unknown = next((key for key in settings if key not in _SETTINGS), None)
    if unknown is not None:
        names = ", ".join(_SETTINGS)
        raise InputError.single(str(path), f"has no setting {unknown!r}, expected one of {names}")
    return settings


def _input_size(
    path: Path, session: Any, settings: Mapping[str, Any]
) -> tuple[tuple[int, int], str]:
    """Height and width that the model takes, and where it has the colours."""
    shape = list(session.get_inputs()[0].shape)
    if len(shape) != 4 or 3 not in (shape[1], shape[3]):
        raise InputError.single(
            str(path), f"takes an input of shape {shape}, expected 1 x 3 x height x width"
        )
    layout = "first" if shape[1] == 3 else "last"
    sides = shape[2:] if layout == "first" else shape[1:3]
    size = settings.get("size", _SIZE)
    if not isinstance(size, int) or not 1 <= size <= 4096:
        raise InputError.single(str(path), f"size = {size!r} is no side from 1 to 4096 pixels")
    height, width = (side if isinstance(side, int) and side > 0 else size for side in sides)
    return (height, width), layout


def _output(path: Path, session: Any, settings: Mapping[str, Any]) -> str:
    names = [output.name for output in session.get_outputs()]
    name = settings.get("output", names[0])
    if name not in names:
        raise InputError.single(str(path), f"has no output {name!r}, only {', '.join(names)}")
    return str(name)


def _three(path: Path, settings: Mapping[str, Any], key: str, usual: tuple[float, ...]) -> Any:
    values = settings.get(key, usual)
    if len(values) != 3 or not all(isinstance(v, int | float) for v in values):
        raise InputError.single(str(path), f"{key} is three numbers, not {values!r}")
    return np.array(values, dtype=np.float32)


def _computing(
    path: Path,
    session: Any,
    output: str,
    size: tuple[int, int],
    layout: str,
    settings: Mapping[str, Any],
) -> Callable[[DecodedPicture], NDArray[Any]]:
    mean, spread = _three(path, settings, "mean", _MEAN), _three(path, settings, "std", _STD)
    name = session.get_inputs()[0].name
    kind = np.float16 if "float16" in session.get_inputs()[0].type else np.float32

    def compute(decoded: DecodedPicture) -> NDArray[Any]:
        pixels = resized(decoded.pixels, *size).astype(np.float32) / 255
        values = ((pixels - mean) / spread).astype(kind)
        batch = (values.transpose(2, 0, 1) if layout == "first" else values)[None]
        vector = session.run([output], {name: np.ascontiguousarray(batch)})[0]
        return np.asarray(vector, dtype=np.float32).reshape(-1)

    return compute


TAGS, TFIDF = "tags", "tags.tfidf"


@dataclass(frozen=True, repr=False, eq=False)
class Description(Answer):
    """What was described: how many pictures, which were left out and why, the files written."""

    command: ClassVar[str] = "describe"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:description_document"
    source: str
    output: str
    described: int
    computed: int
    dropped: int
    skipped: tuple[tuple[str, str], ...]
    written: Mapping[str, int]

    def payload(self, **_: object) -> dict[str, Any]:
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
    preset: Preset | None = None,
    tags: str | Path | None = None,
    most_tags: int = MOST_TAGS,
    exif: bool = False,
    strict: bool = False,
    max_pixels: int = MOST_PIXELS,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Description:
    """Vectors of all pictures of a folder, or of a list of files, as `output/NAME.npz`.

    Pictures that were described before and have not changed since are not read again; those that
    are gone are dropped. A picture that cannot be read is left out and told in the answer and in
    `output/manifest.json`; with `strict` it is an error, and nothing is written. The preset "lire"
    takes each descriptor as LIRE computes and compares it, where it does that in its own way.
    """
    check_counts(jobs=jobs, max_pixels=max_pixels)
    progress = Progress.of(progress)
    selection = tuple(
        dict.fromkeys(_as_preset(d, preset) for d in _select_descriptors(descriptors))
    )
    if exif and EXIF not in selection:
        selection = (*selection, EXIF)
    listing = list_pictures(source)
    store = Store(output)
    learning = (
        progress.part(0.0, 0.2) if any(d.name in FEATURE_LENGTHS for d in selection) else progress
    )
    selection = tuple(
        with_vocabulary(d, listing.pictures, store.folder, learning)
        if d.name in FEATURE_LENGTHS
        else d
        for d in selection
    )
    stored = {d: store.known(d, listing.root) for d in selection}
    with _Work(store.folder, selection, stored, max_pixels, Plan(jobs=jobs).workers) as work:
        work.run(listing, progress.part(0.0, 0.95))
        skipped = dict(sorted(listing.skipped.items()))
        if strict and skipped:
            problems = [Problem(0, f"{shown(file)}: {why}") for file, why in skipped.items()]
            raise InputError(str(source), problems)
        good = [p for p in listing.pictures if p.file not in skipped]
        dropped = work.write(store, listing.root, good)
    notes = _noted(listing, skipped)
    lengths = {str(d): d.length for d in selection}
    if tags is not None:
        lengths |= _write_tags(store, good, tags, most_tags, notes)
    skipped_files = tuple((shown(file), reason) for file, reason in skipped.items())
    description = Description(
        source=str(source),
        output=str(store.folder),
        described=len(good),
        computed=work.computed,
        dropped=dropped,
        skipped=skipped_files,
        written=lengths,
        notes=notes.lines(),
    )
    content = description.payload()
    for passing in ("output", "computed", "dropped"):
        del content[passing]
    store.write_manifest({"cranfield": __version__} | content)
    progress(1.0)
    return description


def _as_preset(descriptor: Descriptor, preset: Preset | None) -> Descriptor:
    """The variant of a descriptor that a preset has, or the descriptor itself."""
    return DESCRIPTORS.get(f"{descriptor.name}.{preset}") or descriptor


def _select_descriptors(
    descriptors: str | Descriptor | Iterable[str | Descriptor],
) -> tuple[Descriptor, ...]:
    """The descriptors of some names, models in files among them."""
    selection: list[Descriptor] = []
    for word in list_entries(descriptors, Descriptor):
        if isinstance(word, str) and word.startswith(PREFIX):
            selection.append(model_descriptor(word))
        else:
            selection += DESCRIPTORS.find_all([word])
    twice = next((d for i, d in enumerate(selection) if d in selection[:i] and d.edition), None)
    if twice is not None:
        raise UsageError(f"two models are named {str(twice)!r}; their vectors would be one file")
    return tuple(dict.fromkeys(selection))


def _noted(listing: Listing, skipped: Mapping[str, str]) -> Notes:
    notes = Notes()
    if listing.others:
        notes.add(f"{plural(listing.others, 'file')} without the ending of a picture left out")
    if skipped:
        notes.add(f"{plural(len(skipped), 'file')} could not be described (see skipped)")
    return notes


def _write_tags(
    store: Store, good: Sequence[PictureFile], path: str | Path, most_tags: int, notes: Notes
) -> dict[str, int]:
    items = [p.item for p in good]
    vectors = tag_vectors(items, {p.file: p.item for p in good}, path, most_tags)
    if vectors.untagged:
        notes.add(f"{plural(vectors.untagged, 'picture')} without tags")
    if vectors.unknown:
        notes.add(f"the tags speak of {plural(vectors.unknown, 'item')} without a picture")
    terms = np.array(vectors.terms, dtype=np.str_)
    store.write_table(TAGS, items, vectors.present, distance="cosine", terms=terms)
    store.write_table(TFIDF, items, vectors.weighted, distance="cosine", terms=terms)
    return {TAGS: len(vectors.terms), TFIDF: len(vectors.terms)}


class _Work:
    """Decodes pictures on some threads and puts the new rows of each descriptor into a file."""

    def __init__(
        self,
        folder: Path,
        descriptors: Sequence[Descriptor],
        stored: Mapping[Descriptor, StoredRows | None],
        max_pixels: int,
        jobs: int,
    ) -> None:
        self._chosen, self._known = descriptors, stored
        self._max_pixels, self._jobs = max_pixels, jobs
        self._fresh: dict[Descriptor, dict[str, int]] = {d: {} for d in descriptors}
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

    def _lacking(self, picture: PictureFile) -> list[Descriptor]:
        return [
            d
            for d in self._chosen
            if (stored := self._known[d]) is None or picture.state not in stored.rows
        ]

    def run(self, listing: Listing, progress: Progress) -> None:
        """Describe what is not known yet; what cannot be is put among the skipped."""
        todo = [(p, lacking) for p in listing.pictures if (lacking := self._lacking(p))]
        with ThreadPoolExecutor(self._jobs) as pool:
            for count, (picture, lacking, result) in enumerate(self._results(pool, todo), 1):
                progress(count / len(todo))
                if isinstance(result, str):
                    listing.skipped[picture.file] = result
                    continue
                self.computed += 1
                for descriptor, vector in zip(lacking, result, strict=True):
                    places = self._fresh[descriptor]
                    places[picture.item] = len(places)
                    self._files[descriptor].write(vector.tobytes())

    def _results(
        self, pool: ThreadPoolExecutor, todo: Sequence[tuple[PictureFile, list[Descriptor]]]
    ) -> Iterator[tuple[PictureFile, list[Descriptor], list[NDArray[Any]] | str]]:
        """In the order of the pictures; only a few are under way, whatever their number."""
        waiting = iter(todo)
        while batch := list(islice(waiting, 16 * self._jobs)):
            vectors = pool.map(lambda one: self._vectors(*one), batch)
            for (picture, lacking), result in zip(batch, vectors, strict=True):
                yield picture, lacking, result

    def _vectors(self, picture: PictureFile, lacking: list[Descriptor]) -> list[NDArray[Any]] | str:
        try:
            decoded = read_picture(picture.path, most_pixels=self._max_pixels)
        except BadPictureError as error:
            return str(error)
        return _described(decoded, lacking)

    def write(self, store: Store, root: str, good: Sequence[PictureFile]) -> int:
        """Write what has changed; the number of pictures that are gone."""
        dropped: set[str] = set()
        items = tuple(p.item for p in good)
        for descriptor in self._chosen:
            stored, new_rows = self._known[descriptor], self._fresh[descriptor]
            if stored is not None:
                dropped |= set(stored.items) - set(items)
                if not new_rows and stored.items == items:
                    continue
            file = self._files[descriptor]
            file.flush()
            vectors = _rows_in(Path(file.name), len(new_rows), descriptor)
            store.write(descriptor, root, good, merged_rows(good, stored, new_rows, vectors))
        return len(dropped)


def _rows_in(path: Path, count: int, descriptor: Descriptor) -> NDArray[Any]:
    shape = count, descriptor.length
    if count == 0:
        return np.zeros(shape, dtype=descriptor.kind)
    return np.memmap(path, dtype=descriptor.kind, mode="r", shape=shape)


def _described(decoded: DecodedPicture, descriptors: Sequence[Descriptor]) -> list[NDArray[Any]]:
    """One vector per descriptor, from the pixels or from what the file says beside them."""
    of_pixels = [d for d in descriptors if d.kernel]
    vectors = dict(zip(of_pixels, vectors_of(decoded.pixels, of_pixels), strict=True))
    for descriptor in descriptors:
        if descriptor.compute is not None:
            vectors[descriptor] = descriptor.compute(decoded).astype(descriptor.kind)
    return [vectors[d] for d in descriptors]


MANIFEST = "manifest.json"
# Goes up when a descriptor's numbers change: rows of another one are made again.
EDITION = 1
_BLOCK = 4096


@dataclass(frozen=True)
class StoredRows:
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

    def known(self, descriptor: Descriptor, root: str) -> StoredRows | None:
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
        return StoredRows(path, items, {state: row for row, state in enumerate(states)})

    def write(
        self,
        descriptor: Descriptor,
        root: str,
        pictures: Sequence[PictureFile],
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
            write_atomic(path, text.encode())


def _texts(values: Any) -> NDArray[np.str_]:
    return np.array(list(values), dtype=np.str_)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError.single(str(path), os_message(error)) from None


def merged_rows(
    pictures: Sequence[PictureFile],
    stored: StoredRows | None,
    new_rows: Mapping[str, int],
    vectors: NDArray[Any],
) -> Iterator[NDArray[Any]]:
    """The rows of pictures, block by block: new where `new_rows` has their place, else stored."""
    old = stored.vectors() if stored is not None else vectors[:0]
    for start in range(0, len(pictures), _BLOCK):
        block = pictures[start : start + _BLOCK]
        yield np.stack(
            [
                vectors[new_rows[p.item]] if p.item in new_rows else old[stored.rows[p.state]]  # type: ignore[union-attr]
                for p in block
            ]
        )
