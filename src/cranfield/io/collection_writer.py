"""A collection written to a folder of its own: its files, and the `collection.toml`."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cranfield.data.collection import LAYOUT, Collection, RunFacts
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError, os_message
from cranfield.io.collection import DECLARED, FILE, RUN_KEYS, Key
from cranfield.io.files import inner_suffix, input_lines, is_number, run_name, write_atomic
from cranfield.io.ontology import RDF_FORMATS
from cranfield.validation import validate_params

# Kinds that are written as tables, after all plain lines.
_TABLES = ("splits", "images", "teams", "run_facts", "years")
_DEFAULTS = {f.name: f.default for f in fields(Collection) if f.default is not MISSING}


@validate_params
def write_collection(collection: Collection, folder: str | Path) -> None:
    """Write a collection to a folder that is not there yet, whole or not at all.

    Files are copied under the names that they have within the collection; those from elsewhere
    come to stand beside them.
    """
    target = Path(folder)
    if target.exists():
        raise InputError.single(str(target), "is there already; a collection gets a new folder")
    if not target.absolute().parent.is_dir():
        raise InputError.single(str(target), "cannot be written: no such directory above it")
    try:
        with tempfile.TemporaryDirectory(
            dir=target.absolute().parent, prefix=f".{target.name[:100]}."
        ) as draft:
            new_folder = Path(draft) / "made"
            new_folder.mkdir()
            (new_folder / FILE).write_text(_Writer(collection, new_folder).text(), encoding="utf-8")
            new_folder.replace(target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None


class _Writer:
    """Copies files and puts the lines that name them together."""

    def __init__(self, collection: Collection, folder: Path) -> None:
        self.collection, self.folder = collection, folder
        self.lines: list[str] = []
        self.copied: dict[Path, str] = {}

    def text(self) -> str:
        """The lines of plain keys; tables come after them, as TOML demands."""
        for key in DECLARED:
            if key.kind not in _TABLES and self._differs_from_default(key):
                self._line(key.name, self._plain(key, getattr(self.collection, key.name)))
        self._splits()
        self._images()
        self._rows("teams", self.collection.teams)
        self._rows("run_facts", map(self._with_threshold, self.collection.run_facts.values()))
        self._years()
        return "\n".join(self.lines) + "\n"

    def _differs_from_default(self, key: Key) -> bool:
        """Whether a value differs from its default, so that it needs a line."""
        return key.name == "layout" or bool(
            getattr(self.collection, key.name) != _DEFAULTS.get(key.name)
        )

    def _plain(self, key: Key, value: Any) -> Any:
        if key.kind == "folder":
            return self._copy_folder(value)
        if key.kind == "files":
            return [self._copy(path) for path in value]
        if key.kind == "texts":
            return list(value)
        if isinstance(value, Path):
            return self._copy_folder(value) if value.is_dir() else self._copy(value)
        return value

    def _with_threshold(self, facts: RunFacts) -> RunFacts:
        """Facts whose file of thresholds, if they have one, has come along."""
        path = self.collection.folder / facts.threshold
        if not facts.threshold or not path.is_file():
            return facts
        return replace(facts, threshold=self._copy(path))

    def _rows(self, name: str, records: Iterable[Any]) -> None:
        for record in records:
            self.lines += ["", f"[[{name}]]"]
            for key, value in asdict(record).items():
                if value:
                    self._line(key, value)

    def _years(self) -> None:
        if not self.collection.years:
            return
        self.lines += ["", "[years]"]
        for name, place in self.collection.years.items():
            copied = self._copy_folder(place) if place.is_dir() else self._copy(place)
            self._line(json.dumps(name, ensure_ascii=False), copied)

    def _splits(self) -> None:
        if not self.collection.splits:
            return
        self.lines += ["", "[splits]"]
        (self.folder / "splits").mkdir(exist_ok=True)
        for number, (name, items) in enumerate(self.collection.splits.items(), 1):
            file = f"splits/{name}.txt" if name.isidentifier() else f"splits/split-{number}.txt"
            (self.folder / file).write_text("\n".join(items) + "\n", encoding="utf-8")
            self._line(json.dumps(name, ensure_ascii=False), file)

    def _images(self) -> None:
        sheet = self.collection.images
        if sheet is None:
            return
        (self.folder / "image-items.txt").write_text(
            "\n".join(sheet.items) + "\n", encoding="utf-8"
        )
        self.lines += ["", "[images]"]
        self._line("file", self._copy(sheet.path))
        self._line("items", "image-items.txt")
        for key in ("width", "height", "columns"):
            self._line(key, getattr(sheet, key))

    def _line(self, key: str, value: Any) -> None:
        # Strings and lists of JSON are strings and lists of TOML, but for one escape.
        toml_value = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
        self.lines.append(f"{key} = {toml_value}")

    def _copy_folder(self, path: Path) -> str:
        """Copy a folder with all that is in it, once; the name that it has there."""
        if path in self.copied:
            return self.copied[path]
        name = self._name(path)
        shutil.copytree(path, self.folder / name, dirs_exist_ok=True)
        self.copied[path] = name
        return name

    def _copy(self, path: Path) -> str:
        """Copy a file into the folder, once; the name that it has there."""
        if path in self.copied:
            return self.copied[path]
        name = self._name(path)
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.folder / name)
        self.copied[path] = name
        return name

    def _name(self, path: Path) -> str:
        """The name of a file within the folder, which no other has there."""
        try:
            name = path.resolve().relative_to(self.collection.folder.resolve()).as_posix()
        except ValueError:
            name = path.name
        number = 1
        while name in self.copied.values():
            name, number = f"{number}-{path.name}", number + 1
        return name


ROWS_LOOKED_AT = 200
PICTURES = frozenset((".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp"))
TRUE_NAMES = re.compile(r"truth|ground|gold|(^|[-_.])gt([-_.]|$)|annotations?$", re.IGNORECASE)
JUDGED_NAMES = re.compile(r"qrel|judg|relevan", re.IGNORECASE)
SPLIT_NAMES = re.compile(r"^(train|test|valid|val|dev|split)", re.IGNORECASE)
SOURCE_NAMES = ("sources", "readme", "source")
TREC_RUN, TREC_QRELS, PLAIN = 6, 4, 3
# Columns by which a CSV file is known: all of them must be there; the first that fits wins.
HEADED: tuple[tuple[tuple[str, ...], str], ...] = (
    (("annotator", "item"), "judgement_log"),
    (("subject", "topic", "item", "significance"), "subject_rankings"),
    (("subject", "item", "category"), "subject_categories"),
    (("category", "parent"), "category_parents"),
    (("concept", "path"), "ontology"),
    (("concept", "agreement"), "agreement_map"),
    (("acronym",), "teams"),
    (("run", "team"), "run_facts"),
)
SINGLE = (
    "sources",
    "items",
    "pictures",
    "topics",
    "concepts",
    "judgements",
    "truth",
    "ontology",
    "rules",
    "agreement_map",
    "judgement_log",
    "subject_rankings",
    "subject_categories",
    "category_parents",
    "teams",
    "run_facts",
)
MANY = ("runs", "label_runs", "cost_maps", "extra")


@dataclass
class Draft:
    """What was found in a folder: files by key, splits by name, texts that follow from them, and
    what nothing is known of."""

    folder: Path
    found: dict[str, list[str]] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def add(self, key: str, name: str) -> None:
        self.found.setdefault(key, []).append(name)


def draft_collection(folder: str | Path) -> Draft:
    """Look at every file of a folder and guess what it is."""
    home = Path(folder)
    if not home.is_dir():
        raise InputError.single(str(folder), "is not a folder")
    draft = Draft(home)
    pictures = _picture_folder(home)
    if pictures is not None:
        draft.add("pictures", pictures)
    classes = _class_folders(home)
    for folder in classes:
        draft.add("truth", folder.relative_to(home).as_posix())
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if path.parent in classes and path.suffix == ".txt":
            continue
        if not path.is_file() or name == FILE or any(p.startswith(".") for p in Path(name).parts):
            continue
        if inner_suffix(path) in PICTURES:
            continue
        key = _key_of(path)
        if key == "split":
            draft.splits[run_name(path)] = name
        elif key:
            draft.add(key, name)
        else:
            draft.unknown.append(name)
    _settle(draft)
    return draft


def _class_folders(home: Path) -> list[Path]:
    """Folders of a truth with a file per concept, as PASCAL VOC has it: items with 1 and -1."""
    files_by_folder: dict[Path, list[Path]] = {}
    for path in sorted(home.rglob("*.txt")):
        if path.parent != home and path.is_file():
            files_by_folder.setdefault(path.parent, []).append(path)
    return [folder for folder, files in files_by_folder.items() if all(map(_of_class, files))]


def _of_class(path: Path) -> bool:
    try:
        rows = _head(path, "")
    except InputError:
        return False
    return bool(rows) and all(len(row) == 2 and row[1] in ("1", "0", "-1") for row in rows)


def write_draft(draft: Draft) -> Path:
    """Write the `collection.toml` of a draft; one that is there already stays as it is."""
    path = draft.folder / FILE
    if path.exists():
        raise InputError.single(str(path), "is there already; nothing was written")
    write_atomic(path, draft_text(draft).encode())
    return path


def draft_text(draft: Draft) -> str:
    """The lines of the file: what was found, and as comments what could be said beside it."""
    lines = [
        "# Written from what was found in this folder: look it over, and say more where a line",
        "# begins with '#'. All that is here may be left out.",
        f"name = {json.dumps(draft.folder.resolve().name)}",
        f"layout = {LAYOUT}",
    ]
    tables = ("splits", "images", "years")
    for key in DECLARED:
        if key.name in ("name", "layout") or key.kind in tables:
            continue
        text = draft.texts.get(key.name)
        files = draft.found.get(key.name, [] if text is None else [text])
        if not files:
            lines.append(f"# {key.name} = {key.example}  # {key.about}")
            continue
        lines += ["", f"# {key.about}"]
        if key.name in MANY:
            entries = "".join(f"    {json.dumps(name)},\n" for name in files)
            lines.append(f"{key.name} = [\n{entries}]")
        else:
            lines.append(f"{key.name} = {json.dumps(files[0])}")
    if draft.unknown:
        lines += ["", "# Nothing is known of:", *(f"#   {name}" for name in draft.unknown)]
    if draft.splits:
        lines += ["", "[splits]"]
        lines += [f"{json.dumps(n)} = {json.dumps(file)}" for n, file in draft.splits.items()]
    return "\n".join(lines) + "\n"


def _picture_folder(home: Path) -> str | None:
    """The folder with most of the pictures, if there are any below this one."""
    counts: dict[str, int] = {}
    for path in home.rglob("*"):
        if path.suffix.lower() in PICTURES and path.parent != home:
            top = path.relative_to(home).parts[0]
            counts[top] = counts.get(top, 0) + 1
    return max(sorted(counts), key=lambda name: counts[name], default=None)


def _endings(draft: Draft) -> list[str]:
    return [f"{mark}{split}" for split in draft.splits for mark in "-_."]


def _settle(draft: Draft) -> None:
    """Keep one file for each single key, and decide which annotation file is the truth."""
    binary = draft.found.pop("binary labels", [])
    truth_files = [name for name in binary if TRUE_NAMES.search(run_name(name))]
    # The truth of one split, such as that to train on, beside a truth of the collection.
    of_split = [name for name in truth_files if run_name(name).endswith(tuple(_endings(draft)))]
    if len(of_split) < len(truth_files):
        for name in of_split:
            draft.add("extra", name)
            truth_files.remove(name)
            binary.remove(name)
    true = truth_files or (binary if len(binary) == 1 else [])
    for name in binary:
        draft.add("truth" if true[:1] == [name] else "label_runs", name)
    for key in SINGLE:
        first, *others = draft.found.get(key, [""])
        if first:
            draft.found[key] = [first]
        draft.unknown += others
    for key in MANY:
        names: set[str] = set()
        for file in list(draft.found.get(key, ())):
            # Two runs of one name cannot stand in one collection.
            if run_name(file) in names:
                draft.found[key].remove(file)
                draft.unknown.append(file)
            names.add(run_name(file))
    draft.unknown.sort()


def _key_of(path: Path) -> str:
    """Guess the collection key of a file; '' if its content is not recognised."""
    suffix = inner_suffix(path)
    if suffix == ".toml":
        return "rules" if _mentions(path, ("exactly_one", "disjoint", "requires")) else ""
    if suffix in RDF_FORMATS:
        return "ontology"
    if run_name(path).lower() in SOURCE_NAMES or suffix == ".md":
        return "sources" if run_name(path).lower().removesuffix(".md") in SOURCE_NAMES else ""
    if suffix in (".npz", ".parquet"):
        return "label_runs" if suffix == ".npz" and "label" in path.as_posix() else ""
    if suffix in (".json", ".jsonl", ".ndjson"):
        return "judgements" if JUDGED_NAMES.search(path.name) else "runs"
    try:
        rows = _head(path, {".csv": ",", ".tsv": "\t"}.get(suffix, ""))
    except (InputError, csv.Error):
        return ""
    if not rows:
        return ""
    return _of_table(rows) if suffix in (".csv", ".tsv") else _of_text(path, rows)


def _mentions(path: Path, words: Iterable[str]) -> bool:
    return any(word in line for line in islice(input_lines(path), 1000) for word in words)


def _head(path: Path, delimiter: str) -> list[list[str]]:
    lines = [line for line in islice(input_lines(path), ROWS_LOOKED_AT) if line.strip()]
    if delimiter:
        return [[c.strip() for c in row] for row in csv.reader(lines, delimiter=delimiter)]
    return [line.split() for line in lines]


def _of_table(rows: Sequence[list[str]]) -> str:
    """Guess the collection key of a CSV file by its header, else by its rows."""
    header, body = [cell.lower() for cell in rows[0]], rows[1:]
    names = set(header)
    for columns, key in HEADED:
        if names >= set(columns):
            # Figures of runs also name their teams, beside measures.
            return key if key != "run_facts" or names <= set(RUN_KEYS) else ""
    roles = {role for role, spellings in HEADERS.items() if names & set(spellings)}
    if {"topic", "item"} <= roles and (roles & {"score", "grade"} or "rank" in names):
        return "judgements" if "grade" in roles and "score" not in roles else "runs"
    if header[0] == "topic":
        return "topics"
    if header[0] == "concept":
        return "concepts"
    if header == [cell.lower() for cell in ["", *(row[0] for row in body)]] and body:
        return "cost_maps"
    values = [row[1:] for row in body]
    if names >= {"item", "concept", "value"}:
        values = [[row[header.index("value")]] for row in body]
    kind = _labels(values) if len(header) > 1 and values else ""
    return kind or ("items" if header[0] == "item" else "")


def _of_text(path: Path, rows: Sequence[list[str]]) -> str:
    """Guess the collection key of a text file without commas by its columns."""
    width = {len(row) for row in rows}
    if width == {1}:
        is_split = SPLIT_NAMES.search(path.name) or path.parent.name == "splits"
        if is_split:
            return "split"
        kind_by_name = {"items": "items", "topics": "topics", "concepts": "concepts"}
        return kind_by_name.get(run_name(path).lower(), "")
    if len(width) > 1 or not all(is_number(row[-1]) for row in rows if len(row) != TREC_RUN):
        return ""
    (columns,) = width
    if columns == TREC_RUN and all(is_number(row[4]) for row in rows):
        return "runs"
    if columns == TREC_QRELS and (JUDGED_NAMES.search(path.name) or rows[0][1] in ("0", "Q0")):
        return "judgements"
    kind = _labels([row[1:] for row in rows])
    return kind or ("runs" if columns == PLAIN else "")


def _labels(values: Sequence[Sequence[str]]) -> str:
    """Labels are 0 and 1, confidences lie between; other numbers are neither."""
    cells = [cell for row in values for cell in row]
    if not all(is_number(cell) and 0 <= float(cell) <= 1 for cell in cells):
        return ""
    return "binary labels" if all(float(cell) in (0.0, 1.0) for cell in cells) else "label_runs"
