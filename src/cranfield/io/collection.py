"""Collections: a folder with `collection.toml`, which names every file that belongs to it."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any

from cranfield.data.collection import LAYOUT, Collection, ImageSheet, RunFacts, Team
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.files import (
    csv_rows,
    describe,
    inner_suffix,
    is_number,
    open_input,
    open_text,
    read_text,
    run_name,
    text_lines,
)
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
        "CSV with a column `topic`, if wanted with `text` and `item` (the item asked with)",
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
