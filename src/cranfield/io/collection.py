"""Collections: a folder with `collection.toml`, which names every file that belongs to it.

Read, checked and written."""

from __future__ import annotations

import csv
import json
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any

from cranfield.data.collection import LAYOUT, Collection, ImageSheet, RunFacts, Team
from cranfield.data.columns import HEADERS
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, Problem, os_message, suggest
from cranfield.io.files import (
    csv_rows,
    describe,
    inner_suffix,
    input_lines,
    is_number,
    open_input,
    open_text,
    read_text,
    run_name,
    text_lines,
    write_atomic,
)
from cranfield.io.ontology import RDF_FORMATS
from cranfield.options import UNLISTED
from cranfield.validation import validate_params

FILE = "collection.toml"


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its kind (a way to read it), what it says, and a value as it may be written."""

    name: str
    kind: str
    about: str
    example: str


def _key(name: str, kind: str, example: str, about: str) -> Key:
    return Key(name, kind, about, example)


# In the order in which they are written.
DECLARED: tuple[Key, ...] = (
    _key("name", "text", '"digits"', "a short name; the folder's, if it is not given"),
    _key("title", "text", '"Handwritten digits"', "what pages and reports are headed with"),
    _key("version", "text", '"1"', "the version of the collection"),
    _key("licence", "text", '"CC-BY-4.0"', "under what terms it may be used"),
    _key("series", "text", '"Photo annotation"', "the series of campaigns that it belongs to"),
    _key("year", "text", '"2010"', "which year of the series this is"),
    _key("layout", "layout", "2", "the layout of this file; a later one than is known is refused"),
    _key("size", "count", "1120", "how many items can be retrieved; else as many as are public"),
    _key("seed", "whole", "7", "the seed of everything that is drawn; 0 if it is not given"),
    _key("sources", "file", '"SOURCES.md"', "where the files come from"),
    _key(
        "items",
        "file",
        '"items.csv"',
        "the public ids of the items: CSV with a column `item`, if wanted with `text` and "
        "`picture` (a file), or one id per line",
    ),
    _key(
        "pictures",
        "folder",
        '"pictures"',
        "a folder with a picture per item, named by the item's id",
    ),
    _key(
        "topics",
        "file",
        '"topics.csv"',
        "CSV with a column `topic`, if wanted with `text` (or `title` and `description`), "
        "`narrative` and `item` (the item asked with)",
    ),
    _key(
        "concepts",
        "file",
        '"concepts.csv"',
        "CSV with a column `concept`, if wanted with `title`, `question`, `definition`, `example` "
        "(words) and `examples` (items, separated by spaces)",
    ),
    _key(
        "judgements",
        "file",
        '"qrels.txt"',
        "which items are relevant to which topic, also as probabilities; with `silver` the gold: "
        "some topics, or sampled pairs of all",
    ),
    _key(
        "silver",
        "file",
        '"model.qrels"',
        "what a program or a crowd judged: all topics, for estimates from little gold",
    ),
    _key("runs", "files", '["runs/a.run"]', "rankings of items for the topics"),
    _key("measures", "texts", '["AP", "nDCG@10"]', "measures of the rankings"),
    _key("primary", "text", '"AP"', "the measure that rankings are sorted by; else the first"),
    _key("baseline", "text", '"bm25"', "the run that other rankings are compared with"),
    _key("retrieved", "text", '"collection"', "the split whose items can be retrieved; else all"),
    _key(
        "design",
        "file",
        '"design.csv"',
        "how topics were sampled: CSV unit,cluster,stratum,probability, which tests and intervals "
        "obey",
    ),
    _key(
        "scorer",
        "file",
        '"scorer.py"',
        "a program that computes `Own(name='...')` among `measures` for each topic of a run",
    ),
    _key(
        "truth",
        "labels",
        '"truth.csv"',
        "which concepts each item has, also as probabilities; with `label_silver` the gold: some "
        "items",
    ),
    _key(
        "label_silver",
        "file",
        '"model.csv"',
        "what a program or a crowd said of all items, for estimates from little gold",
    ),
    _key("label_runs", "files", '["labels/a.csv"]', "annotations of items with concepts"),
    _key("label_measures", "texts", '["AP.concept"]', "measures of the annotations"),
    _key("label_primary", "text", '"AP.concept"', "the measure annotations are sorted by"),
    _key("label_baseline", "text", '"chance"', "the run that annotations are compared with"),
    _key("label_design", "file", '"items-design.csv"', "how items were sampled; see `design`"),
    _key("label_scorer", "file", '"scorer.py"', "the same for each item of `label_measures`"),
    _key(
        "annotated",
        "text",
        '"test"',
        "the split whose items are to be annotated, and runs scored on; else all",
    ),
    _key(
        "boxes",
        "labels",
        '"instances.json"',
        "where objects are: boxes of items with their concepts, in any format of `eval regions`",
    ),
    _key("box_runs", "files", '["boxes/a.json"]', "boxes that detectors placed"),
    _key("box_measures", "texts", '["AP.region"]', "measures of the boxes"),
    _key("box_primary", "text", '"AP.region"', "the measure that runs of boxes are sorted by"),
    _key(
        "box_baseline", "text", '"templates"', "the run that other runs of boxes are compared with"
    ),
    _key("box_design", "file", '"films.csv"', "how items with boxes were sampled; see `design`"),
    _key(
        "located",
        "text",
        '"test"',
        "the split in whose items objects are to be found, and runs scored on; else all",
    ),
    _key(
        "unlisted",
        "unlisted",
        '"unjudged"',
        "what the cells are that a long `truth` does not list although it lists others as absent: "
        "`absent` or `unjudged`",
    ),
    _key("threshold", "threshold", "0.5", "from which confidence on a label is given, or a file"),
    _key("ontology", "ontology", '"pto-2011"', "a built-in name, or a file"),
    _key("rules", "file", '"rules.toml"', "rules that hold between concepts"),
    _key("cost_maps", "files", '["costs.csv"]', "how much it costs to take a concept for another"),
    _key("counts", "files", '["tags.csv"]', "on how many pages terms occur"),
    _key("agreement_map", "file", '"agreement.csv"', "how far annotators agree on each concept"),
    _key("judgement_log", "file", '"log.csv"', "who judged what, and how long it took"),
    _key("subject_rankings", "file", '"rankings.csv"', "rankings by people, per topic"),
    _key("subject_categories", "file", '"votes.csv"', "votes of people for categories, per item"),
    _key("category_parents", "file", '"categories.csv"', "which category lies in which"),
    _key(
        "extra",
        "files",
        '["truth-train.csv"]',
        "whatever else is public, such as the truth of images to train on",
    ),
    _key("splits", "splits", '{ train = "train.txt" }', "a file of item ids for each split"),
    _key(
        "images",
        "images",
        '{ file = "sheet.png", items = "items.csv", width = 8, height = 8, columns = 43 }',
        "small pictures of many items in one PNG, as tiles",
    ),
    _key(
        "teams",
        "teams",
        '[{ acronym = "FERN", name = "Fernwood Institute", country = "Norland" }]',
        "who takes part, as tables or as a CSV file with these columns",
    ),
    _key(
        "run_facts",
        "run_facts",
        '[{ run = "a", team = "FERN", tag = "r1", configuration = "V" }]',
        "what is known of each run, as tables or as a CSV file with these columns",
    ),
    _key(
        "years",
        "years",
        '{ 2009 = "earlier/2009" }',
        "earlier years: folders of collections, saved scores, or CSV of printed figures",
    ),
)
# What is taken for each kind of value.
KINDS: dict[str, str] = {
    "text": "text in quotes",
    "texts": "a list of texts, or one text of names with blanks between them",
    "count": "a whole number from 1 on",
    "whole": "a whole number from 0 on",
    "layout": "a whole number from 1 on, at most that of this version",
    "file": "the name of a file, relative to the folder and inside it",
    "files": "a list of names of files",
    "labels": "the name of a file, or of a folder as PASCAL VOC has it",
    "folder": "the name of a folder inside the collection's",
    "threshold": "a number in [0, 1], or a file with one per concept",
    "unlisted": "`absent` or `unjudged`",
    "ontology": "a built-in name such as pto-2011, or a file",
    "splits": "a table: for each split a file of item ids, one per line or in a column `item`",
    "images": "a table; tiles of one size go from left to right, top to bottom",
    "teams": "tables or a CSV file; an acronym stands once",
    "run_facts": "tables or a CSV file; a run stands once, under its file's name without endings",
    "years": "a table: for each year a file or folder inside the collection's",
}
KEYS = tuple(key.name for key in DECLARED)
IMAGE_KEYS = ("file", "items", "width", "height", "columns")
TEAM_KEYS = tuple(f.name for f in fields(Team))
RUN_KEYS = tuple(f.name for f in fields(RunFacts))


def key_names_of_kind(*kinds: str) -> tuple[str, ...]:
    """The names of the keys of some kinds, as declared."""
    return tuple(key.name for key in DECLARED if key.kind in kinds)


_YES, _NO = ("1", "true", "yes"), ("", "0", "false", "no")


def read_teams(path: Path) -> tuple[Team, ...]:
    """Teams from CSV; an InputError lists all that is wrong."""
    records = _records(path, TEAM_KEYS, "acronym")
    return tuple(Team(**values) for _, values in records)


def read_run_facts(path: Path) -> tuple[RunFacts, ...]:
    """Facts of runs from CSV; an InputError lists all that is wrong."""
    facts, problems = [], []
    for line, values in _records(path, RUN_KEYS, "run"):
        baseline = str(values.pop("baseline", "")).lower()
        if baseline not in (*_YES, *_NO):
            problems.append(Problem(line, f"baseline is {baseline!r} (expected: yes or no)"))
        facts.append(RunFacts(**values, baseline=baseline in _YES))
    if problems:
        raise InputError(describe(path), problems)
    return tuple(facts)


def _records(path: Path, columns: Sequence[str], required: str) -> list[tuple[int, dict[str, Any]]]:
    source_name = describe(path)
    with open_text(path) as stream:
        rows = csv_rows(stream, source_name, "\t" if inner_suffix(path) == ".tsv" else ",")
        header = [name.strip() for name in next(rows, (0, []))[1]]
        problems = [
            Problem(1, f"unknown column {name!r}.{suggest(name, columns)}")
            for name in header
            if name not in columns
        ]
        if required not in header:
            problems.append(Problem(1, f"the header has no column {required!r}"))
        if problems:
            raise InputError(source_name, problems)
        records = list(_read_records(rows, header))
    seen: dict[str, int] = {}
    for line, values in records:
        name = values.get(required, "")
        if not name:
            problems.append(Problem(line, f"the row has no {required}"))
        elif name in seen:
            message = f"{required} {name!r} is given twice, first on line {seen[name]}"
            problems.append(Problem(line, message))
        seen.setdefault(name, line)
    if problems:
        raise InputError(source_name, problems)
    return records


def _read_records(
    rows: Iterator[tuple[int, list[str]]], header: Sequence[str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, row in rows:
        if any(cell.strip() for cell in row):
            yield line, {name: cell.strip() for name, cell in zip(header, row, strict=False)}


PNG = b"\x89PNG\r\n\x1a\n"


@validate_params
def read_collection(path: str | Path) -> Collection:
    """The collection of a folder, checked: every file that it names is there.

    `path` is the folder or its `collection.toml`. An InputError lists all that is wrong.
    """
    location = Path(path)
    file = location / FILE if location.is_dir() else location
    if not location.exists():
        raise InputError.single(str(path), f"no such folder (expected one with a {FILE})")
    if not file.exists():
        raise InputError.single(str(path), f"has no {FILE}; a collection is a folder with one")
    return _Reader(file).collection()


def read_items(path: str | Path, *, column: str = "item") -> tuple[str, ...]:
    """Ids in order: a column of a CSV or TSV file, or one per line of any other file."""
    suffix = inner_suffix(path)
    if suffix in (".csv", ".tsv"):
        rows = _column(path, "\t" if suffix == ".tsv" else ",", column)
    else:
        rows = [(n, line.strip()) for n, line in enumerate(text_lines(read_text(path)), 1)]
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for line, item in rows:
        if item in seen:
            problems.append(
                Problem(line, f"{column} {item!r} is listed twice, first on line {seen[item]}")
            )
        elif item:
            seen[item] = line
    if not seen and not problems:
        problems.append(Problem(0, f"lists no {column}"))
    if problems:
        raise InputError(describe(path), problems)
    return tuple(seen)


def _column(path: str | Path, delimiter: str, name: str) -> list[tuple[int, str]]:
    with open_text(path) as stream:
        rows = csv_rows(stream, describe(path), delimiter)
        header = [cell.strip() for cell in next(rows, (0, []))[1]]
        if name not in header:
            raise InputError.single(
                describe(path), f"the header {','.join(header)!r} has no column {name!r}", 1
            )
        at = header.index(name)
        return [(line, row[at].strip() if at < len(row) else "") for line, row in rows]


class _Reader:
    """Turns one `collection.toml` into a Collection, gathering every problem on the way."""

    def __init__(self, file: Path) -> None:
        self.folder, self.where = file.parent, str(file)
        self.text = read_text(file)
        self.problems: list[Problem] = []
        self.content = parse_toml(self.text, self.where)

    def collection(self) -> Collection:
        top = self.content
        for key in top.keys() - set(KEYS):
            self._unknown("", key, KEYS)
        read = self._readers()
        fields: dict[str, Any] = {
            key.name: read[key.kind]("", key.name, top[key.name])
            for key in DECLARED
            if key.name in top
        }
        fields.setdefault("name", self.folder.resolve().name)
        self._check_names(fields)
        if self.problems:
            raise InputError(self.where, sorted(self.problems, key=lambda p: p.line))
        return Collection(folder=self.folder, **fields)

    def _readers(self) -> dict[str, Callable[[str, str, Any], Any]]:
        return {
            "text": self._text,
            "texts": self._texts,
            "count": self._count,
            "whole": self._whole,
            "layout": self._layout,
            "file": self._file,
            "files": self._files,
            "labels": self._labels,
            "folder": self._folder,
            "unlisted": self._unlisted,
            "threshold": self._threshold,
            "ontology": self._ontology,
            "splits": self._splits,
            "images": self._images,
            "teams": self._teams,
            "run_facts": self._run_facts,
            "years": self._years,
        }

    def _text(self, table: str, key: str, value: Any) -> str:
        if isinstance(value, str) and value.strip():
            return value
        self._wrong(table, key, value, "text in quotes")
        return ""

    def _count(self, table: str, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self._wrong(table, key, value, "a whole number from 1 on")
        return 1

    def _whole(self, table: str, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._wrong(table, key, value, "a whole number from 0 on")
        return 0

    def _layout(self, table: str, key: str, value: Any) -> int:
        layout = self._count(table, key, value)
        if layout > LAYOUT:
            self._complain(
                f"layout {layout} is later than {LAYOUT}, the last that is known here; this needs "
                "a newer Cranfield",
                table,
                key,
            )
        return layout

    def _texts(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(value.split())
        if isinstance(value, list):
            return tuple(self._text(table, key, name) for name in value)
        self._wrong(table, key, value, 'a list such as ["AP", "nDCG@10"]')
        return ()

    def _file(self, table: str, key: str, value: Any, *, kind: str = "file") -> Path:
        """A file of the collection; its name is relative to the folder and stays inside."""
        name = self._text(table, key, value)
        path = self.folder / name
        if not name:
            return path
        if not is_inside(name):
            self._complain(
                f"{key} names {name!r}, which lies outside of the collection's folder; "
                "move the file into it",
                table,
                key,
                name,
            )
        elif not _exists(path):
            self._complain(
                f"{key} names {name!r}, but there is no such {kind} in {self.folder}",
                table,
                key,
                name,
            )
        elif kind != "place" and path.is_dir() != (kind == "folder"):
            self._complain(f"{key} names {name!r}, which is not a {kind}", table, key, name)
        return path

    def _labels(self, table: str, key: str, value: Any) -> Path:
        return self._file(table, key, value, kind="place")

    def _folder(self, table: str, key: str, value: Any) -> Path:
        return self._file(table, key, value, kind="folder")

    def _files(self, table: str, key: str, value: Any) -> tuple[Path, ...]:
        if isinstance(value, list):
            return tuple(self._file(table, key, name) for name in value)
        self._wrong(table, key, value, 'a list such as ["a.txt", "b.txt"]')
        return ()

    def _unlisted(self, table: str, key: str, value: Any) -> str:
        if value not in UNLISTED:
            self._wrong(table, key, value, " or ".join(UNLISTED))
        return str(value)

    def _threshold(self, table: str, key: str, value: Any) -> float | Path:
        if isinstance(value, int | float) and not isinstance(value, bool):
            if 0 <= value <= 1:
                return float(value)
            self._wrong(table, key, value, "a number in [0, 1] or a file")
            return 0.0
        return self._file(table, key, value)

    def _ontology(self, table: str, key: str, value: Any) -> str | Path:
        # A built-in ontology has a name without an ending, such as pto-2011.
        if isinstance(value, str) and value and not inner_suffix(value):
            return value
        return self._file(table, key, value)

    def _splits(self, _: str, key: str, value: Any) -> MappingProxyType[str, tuple[str, ...]]:
        splits: dict[str, tuple[str, ...]] = {}
        if isinstance(value, dict):
            splits = {name: self._items(key, name, of) for name, of in value.items()}
        else:
            self._wrong("", key, value, "a table [splits] with lines such as train = 'train.txt'")
        return MappingProxyType(splits)

    def _years(self, _: str, key: str, value: Any) -> MappingProxyType[str, Path]:
        years: dict[str, Path] = {}
        if isinstance(value, dict):
            years = {n: self._file(key, n, place, kind="place") for n, place in value.items()}
        else:
            self._wrong("", key, value, "a table [years] with lines such as 2009 = 'y/2009.csv'")
        return MappingProxyType(years)

    def _teams(self, _: str, key: str, value: Any) -> tuple[Team, ...]:
        if isinstance(value, str):
            return tuple(self._listed(key, value, read_teams))
        return tuple(Team(**row) for row in self._rows(key, value, TEAM_KEYS, "acronym"))

    def _run_facts(self, _: str, key: str, value: Any) -> MappingProxyType[str, RunFacts]:
        if isinstance(value, str):
            facts = self._listed(key, value, read_run_facts)
        else:
            rows = self._rows(key, value, RUN_KEYS, "run")
            facts = tuple(RunFacts(**row) for row in rows)
        return MappingProxyType({fact.run: fact for fact in facts})

    def _listed(self, key: str, value: str, read: Callable[[Path], tuple[Any, ...]]) -> Any:
        """Records from a file of their own; what is wrong in it is told with its name."""
        path = self._file("", key, value)
        if not _exists(path) or not path.is_file():
            return ()
        try:
            return read(path)
        except InputError as error:
            for problem in error.problems:
                self._complain(f"{value}:{problem.line}: {problem.message}", "", key, value)
            return ()

    def _rows(
        self, key: str, value: Any, keys: tuple[str, ...], required: str
    ) -> list[dict[str, Any]]:
        """The tables of an array such as [[teams]], each with texts under known names."""
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            self._wrong("", key, value, f"tables [[{key}]] with {', '.join(keys)}, or a CSV file")
            return []
        rows: dict[str, dict[str, Any]] = {}
        for row in value:
            for extra in row.keys() - set(keys):
                self._unknown(key, extra, keys)
            name = row.get(required)
            if not name or not isinstance(name, str):
                self._complain(f"one of [[{key}]] has no {required}", "", key)
                continue
            if name in rows:
                self._complain(f"[[{key}]] gives {required} {name!r} twice", key, required, name)
            rows[name] = {n: self._fact(key, n, row[n]) for n in keys if n in row}
        return list(rows.values())

    def _fact(self, table: str, key: str, value: Any) -> str | bool:
        if key == "baseline":
            if not isinstance(value, bool):
                self._wrong(table, key, value, "true or false")
            return bool(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return "" if value == "" else self._text(table, key, value)

    def _items(self, table: str, key: str, value: Any) -> tuple[str, ...]:
        path = self._file(table, key, value)
        # A file that is missing has been complained of already.
        return read_items(path) if _exists(path) and path.is_file() else ()

    def _images(self, _: str, key: str, value: Any) -> ImageSheet | None:
        if not isinstance(value, dict):
            self._wrong("", key, value, f"a table [images] with {', '.join(IMAGE_KEYS)}")
            return None
        for extra in value.keys() - set(IMAGE_KEYS):
            self._unknown(key, extra, IMAGE_KEYS)
        missing = [name for name in IMAGE_KEYS if name not in value]
        if missing:
            self._complain(f"[images] lacks {', '.join(missing)}", "", key)
            return None
        problem_count = len(self.problems)
        path = self._file(key, "file", value["file"])
        items = self._items(key, "items", value["items"])
        numbers = {n: self._count(key, n, value[n]) for n in ("width", "height", "columns")}
        sheet = ImageSheet(path, items, **numbers)
        if len(self.problems) == problem_count:
            self._check_sheet(sheet, str(value["file"]))
        return sheet

    def _check_sheet(self, sheet: ImageSheet, name: str) -> None:
        with open_input(sheet.path) as stream:
            head = stream.read(24)
        if len(head) < 24 or not head.startswith(PNG):
            self._complain(f"{name!r} is not a PNG image", "images", "file")
            return
        pixels = struct.unpack(">II", head[16:24])
        if pixels != sheet.size:
            self._complain(
                f"{name!r} has {pixels[0]} x {pixels[1]} pixels, expected {sheet.size[0]} x "
                f"{sheet.size[1]}: {len(sheet.items)} tiles of {sheet.width} x {sheet.height} in "
                f"rows of {sheet.columns}",
                "images",
                "file",
            )

    def _check_names(self, fields: dict[str, Any]) -> None:
        for facts in fields.get("run_facts", {}).values():
            self._check_threshold(facts)
        for key in ("retrieved", "annotated", "located"):
            split, splits = fields.get(key), fields.get("splits", {})
            if split and split not in splits:
                message = (
                    f"{key} names {split!r}, which is not among [splits].{suggest(split, splits)}"
                )
                self._complain(message, "", key)
        for key in ("runs", "label_runs", "box_runs"):
            seen: dict[str, Path] = {}
            for path in fields.get(key, ()):
                name = run_name(path)
                if name in seen:
                    self._complain(
                        f"two runs are named {name!r} ({seen[name].name} and {path.name}); "
                        "rename one of them",
                        "",
                        key,
                        path.relative_to(self.folder).as_posix(),
                    )
                seen[name] = path

    def _check_threshold(self, facts: RunFacts) -> None:
        """The threshold of a run is a number, the word rows, or a file of the folder."""
        if facts.threshold in ("", "rows") or is_number(facts.threshold):
            return
        path = self.folder / facts.threshold
        if not is_inside(facts.threshold) or not _exists(path) or not path.is_file():
            statement = f"the threshold of run {facts.run!r} is {facts.threshold!r}"
            expected = "a number, rows, or a file in the collection's folder"
            self._complain(f"{statement} (expected: {expected})", "", "run_facts")

    def _unknown(self, table: str, key: str, keys: tuple[str, ...]) -> None:
        place = f" in [{table}]" if table else ""
        hint = suggest(key, keys) or f" Known: {', '.join(keys)}"
        self._complain(f"unknown key {key!r}{place}.{hint}", table, key)

    def _wrong(self, table: str, key: str, value: Any, expected: str) -> None:
        self._complain(f"{key} is {value!r} (expected: {expected})", table, key)

    def _complain(self, message: str, table: str, key: str, value: str = "") -> None:
        self.problems.append(Problem(_line_of(self.text, table, key, value), message))


def is_inside(name: str) -> bool:
    """Whether a relative name stays within the folder that it is relative to.

    >>> is_inside("runs/a.run"), is_inside("../a.run"), is_inside("/etc/hosts")
    (True, False, False)
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not (name.startswith(("/", "\\")) or PureWindowsPath(name).drive or ".." in parts)


def file_in_collection(collection: Collection, name: str, description: str) -> Path:
    """A file of a collection that one of its other files names; none lies outside of its folder."""
    if not is_inside(name):
        raise InputError.single(
            str(collection.folder),
            f"{description} is {name!r}, which lies outside of the collection's folder",
        )
    return collection.folder / name


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file can have, such as a very long one
        return False


def _line_of(text: str, table: str, key: str, value: str = "") -> int:
    """The line that gives a key, or an element of the list that it gives; 0 if there is none."""
    current, start = "", 0
    for number, line in enumerate(text_lines(text), 1):
        header = re.fullmatch(r"\[+\s*([\w.-]+)\s*\]+\s*(#.*)?", line.strip())
        if header:
            current = header[1]
            if not table and current == key:
                return number
        elif current == table and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            start = number
        if start and (not value or re.search(rf"""["']{re.escape(value)}["']""", line)):
            return number
    return start


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
        message = "is not a folder" if home.exists() else "no such folder"
        raise InputError.single(str(folder), f"{message}; expected one with the files to describe")
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
