"""A first `collection.toml` for a folder of files: what each of them seems to be."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from cranfield.data.collection import LAYOUT
from cranfield.data.columns import HEADERS
from cranfield.errors import InputError
from cranfield.io.collection_keys import DECLARED, FILE, RUN_KEYS
from cranfield.io.files import inner_suffix, input_lines, run_name, write_whole
from cranfield.io.numbers import is_number
from cranfield.io.ontology import RDF_FORMATS

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
MANY = ("runs", "label_runs", "cost_maps")


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
    found: dict[Path, list[Path]] = {}
    for path in sorted(home.rglob("*.txt")):
        if path.parent != home and path.is_file():
            found.setdefault(path.parent, []).append(path)
    return [folder for folder, files in found.items() if all(map(_of_class, files))]


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
    write_whole(path, draft_text(draft).encode())
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
            listed = "".join(f"    {json.dumps(name)},\n" for name in files)
            lines.append(f"{key.name} = [\n{listed}]")
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


def _settle(draft: Draft) -> None:
    """Of several files for one key, one stays; which of the annotations is true is decided."""
    binary = draft.found.pop("binary labels", [])
    named = [name for name in binary if TRUE_NAMES.search(run_name(name))]
    true = named or (binary if len(binary) == 1 else [])
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
    """What a file seems to be, as a key of the collection; empty where nothing tells."""
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
    """What CSV is, by its header, else by its rows."""
    header, body = [cell.lower() for cell in rows[0]], rows[1:]
    names = set(header)
    for wanted, key in HEADED:
        if names >= set(wanted):
            # Figures of runs also name their teams, beside measures.
            return key if key != "run_facts" or names <= set(RUN_KEYS) else ""
    roles = {role for role, known in HEADERS.items() if names & set(known)}
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
    found = _labels(values) if len(header) > 1 and values else ""
    return found or ("items" if header[0] == "item" else "")


def _of_text(path: Path, rows: Sequence[list[str]]) -> str:
    """What text without commas is, by its columns."""
    width = {len(row) for row in rows}
    if width == {1}:
        is_split = SPLIT_NAMES.search(path.name) or path.parent.name == "splits"
        if is_split:
            return "split"
        named = {"items": "items", "topics": "topics", "concepts": "concepts"}
        return named.get(run_name(path).lower(), "")
    if len(width) > 1 or not all(is_number(row[-1]) for row in rows if len(row) != TREC_RUN):
        return ""
    (columns,) = width
    if columns == TREC_RUN and all(is_number(row[4]) for row in rows):
        return "runs"
    if columns == TREC_QRELS and (JUDGED_NAMES.search(path.name) or rows[0][1] in ("0", "Q0")):
        return "judgements"
    found = _labels([row[1:] for row in rows])
    return found or ("runs" if columns == PLAIN else "")


def _labels(values: Sequence[Sequence[str]]) -> str:
    """Labels are 0 and 1, confidences lie between; other numbers are neither."""
    cells = [cell for row in values for cell in row]
    if not all(is_number(cell) and 0 <= float(cell) <= 1 for cell in cells):
        return ""
    return "binary labels" if all(float(cell) in (0.0, 1.0) for cell in cells) else "label_runs"
