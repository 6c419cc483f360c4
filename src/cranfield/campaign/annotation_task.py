"""What is put before people (units, each with its form) and what comes back from them.

A sheet is the same whether it is served page by page or handed out as one file. What a person
has filled in comes back as a response, a JSON file that carries the forms it was made with, so
that it can be read and checked alone.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from cranfield.campaign.forms import (
    LONGEST_TEXT,
    Answers,
    Form,
    FormProblem,
    cell_form,
    items_with_concepts,
    mark_form,
    ontology_form,
)
from cranfield.campaign.item_texts import (
    picture_files,
    public_concepts,
    public_items,
    read_item_texts,
    read_texts,
)
from cranfield.campaign.pool import Pool, pooled_cells
from cranfield.data.collection import Collection, ImageSheet, Texts
from cranfield.data.labels import LabelMatrix, dense
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import InputError, MissingExtraError, NeedsError, Problem, UsageError, suggest
from cranfield.io.collection import FILE, read_collection, read_items
from cranfield.io.concepts import Meaning, built_in_meanings, read_meanings
from cranfield.io.files import FileForm, describe, read_json_text, read_text
from cranfield.io.labels import check_all_listed, read_labels, read_truth
from cranfield.io.ontology import read_ontology, read_rules
from cranfield.ontologies import BUILT_IN
from cranfield.options import DEFAULT_THRESHOLD, Shape
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

# How the layout of responses is numbered.
LAYOUT = 1
_STREAM, _SUGGESTED = 43, 47

State: TypeAlias = Literal["done", "cannot tell", "skipped"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table that belongs to a question."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Suggested:
    """What a run says of a unit, by concept, and whether people see it."""

    concepts: tuple[tuple[str, float], ...]
    shown: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON, which `from_dict` reads."""
        return {"shown": self.shown, "concepts": dict(self.concepts)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Suggested:
        concepts = tuple((str(c), float(p)) for c, p in record["concepts"].items())
        return cls(concepts, bool(record["shown"]))

    @property
    def visible(self) -> dict[str, float]:
        """What people see: the concepts that the run is sure enough of."""
        likely = {c: p for c, p in self.concepts if p >= DEFAULT_THRESHOLD}
        return likely if self.shown else {}


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to judge: its name, which form asks about it, and what is shown of it.

    `picture` is an address or the picture itself as a data address, `second` that of the other
    one of a pair; `topic` stays in view while items are judged for it, and so does `query`, the
    picture that a topic asks with. `cards` has the pictures of options that are arranged, and
    `recording` is a sound or film as a data address.
    """

    name: str
    form: str = "form"
    title: str = ""
    text: str = ""
    picture: str = ""
    second: str = ""
    topic: str = ""
    grid: Grid | None = None
    query: str = ""
    cards: tuple[tuple[str, str], ...] = ()
    recording: str = ""
    suggested: Suggested | None = None

    @property
    def heading(self) -> str:
        """What stands above a unit: not its name, which may tell the answer, if more is shown."""
        if self.title:
            return self.title
        if self.second:
            return "The two to compare"
        if self.picture:
            return "The picture to judge"
        if self.recording:
            return "The recording to judge"
        return "The text to judge" if self.text else self.name


@dataclass(frozen=True, eq=False)
class Sheet:
    """Units in the order in which they are shown, with their forms.

    `about` is a form about the person, asked once and first. `scenario` is told before, and
    `guidelines` are one key away; both are plain text.
    """

    title: str
    kind: str
    forms: Mapping[str, Form]
    units: tuple[Unit, ...]
    scenario: str = ""
    guidelines: str = ""
    version: str = "1"
    about: Form | None = None

    def __post_init__(self) -> None:
        lacking = [u.name for u in self.units if u.form not in self.forms]
        if lacking:
            raise UsageError(f"unit {lacking[0]!r} has no form")
        if len({u.name for u in self.units}) < len(self.units):
            raise UsageError("two units of a sheet have one name")

    def cards_of(self, form: str) -> dict[str, str]:
        """The pictures of the options of a form that are arranged."""
        return {
            card: address
            for unit in self.units
            if unit.form == form
            for card, address in unit.cards
        }

    @property
    def sha(self) -> str:
        """A short name of what is asked, the same for all who answer the same."""
        return "-".join(sorted({form.sha for form in self.forms.values()}))[:67]

    def shuffled(self, seed: int) -> Sheet:
        """The same units in an order of their own."""
        order = generator(seed, _STREAM).permutation(len(self.units))
        units = tuple(self.units[int(k)] for k in order)
        return Sheet(
            self.title,
            self.kind,
            self.forms,
            units,
            self.scenario,
            self.guidelines,
            self.version,
            self.about,
        )

    def to_dict(self) -> dict[str, Any]:
        """All that is put before people as JSON, pictures too, which `from_dict` reads."""
        return {
            **self.asked(),
            "scenario": self.scenario,
            "guidelines": self.guidelines,
            "units": [asdict(unit) for unit in self.units],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Sheet:
        """The sheet that `to_dict` has written; a UsageError for anything else."""
        try:
            about = record["about"]
            return cls(
                str(record["title"]),
                str(record["kind"]),
                {str(name): Form.from_dict(form) for name, form in record["forms"].items()},
                tuple(_unit(unit) for unit in record["units"]),
                str(record["scenario"]),
                str(record["guidelines"]),
                str(record["version"]),
                None if about is None else Form.from_dict(about),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(f"this is not a sheet of Cranfield ({error!r})") from None

    def asked(self) -> dict[str, Any]:
        """What a response carries of the sheet: enough to read it alone, and no pictures."""
        return {
            "title": self.title,
            "kind": self.kind,
            "version": self.version,
            "forms": {name: form.to_dict() for name, form in self.forms.items()},
            "about": None if self.about is None else self.about.to_dict(),
            "units": {unit.name: unit.form for unit in self.units},
            **_suggestions({u.name: u.suggested for u in self.units if u.suggested is not None}),
        }


def _suggestions(suggested: Mapping[str, Suggested]) -> dict[str, Any]:
    """What a response carries of suggestions; nothing where there are none."""
    if not suggested:
        return {}
    return {"suggested": {unit: entry.to_dict() for unit, entry in suggested.items()}}


def _unit(record: Mapping[str, Any]) -> Unit:
    fields: dict[str, Any] = {
        name: str(value)
        for name, value in record.items()
        if name not in ("grid", "cards", "suggested")
    }
    suggested = record.get("suggested")
    if suggested is not None:
        entry = {**suggested, "concepts": dict(suggested["concepts"])}
        fields["suggested"] = Suggested.from_dict(entry)
    fields["cards"] = tuple((str(card), str(address)) for card, address in record.get("cards", ()))
    grid = record["grid"]
    if grid is not None:
        rows = tuple(tuple(map(str, row)) for row in grid["rows"])
        fields["grid"] = Grid(tuple(map(str, grid["head"])), rows)
    return Unit(**fields)


@dataclass(frozen=True, slots=True)
class UnitAnswers:
    """What a person said about one unit; `seconds` are those in which the page was in front."""

    unit: str
    answers: Answers
    state: State = "done"
    seconds: float = math.nan
    comment: str = ""


@dataclass(frozen=True, eq=False)
class Response:
    """All that came back from one person."""

    annotator: str
    kind: str
    title: str
    version: str
    forms: Mapping[str, Form]
    units: Mapping[str, str]
    filled: tuple[UnitAnswers, ...]
    about: Mapping[str, Sequence[str]] = field(default_factory=dict)
    about_form: Form | None = None
    source: str = "response"
    suggested: Mapping[str, Suggested] = field(default_factory=dict)

    def done(self) -> tuple[UnitAnswers, ...]:
        """What was answered, without what was skipped or could not be told."""
        return tuple(f for f in self.filled if f.state == "done")

    def form_of(self, unit: str) -> Form:
        return self.forms[self.units[unit]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The units that nothing was said about."""
        answered = {f.unit for f in self.filled}
        return tuple(u for u in self.units if u not in answered)

    @property
    def seconds(self) -> float:
        """All the time that the pages were in front."""
        return math.fsum(f.seconds for f in self.filled)

    def to_dict(self) -> dict[str, Any]:
        """The response as JSON, which `read_response` reads."""
        return {
            "cranfield-response": LAYOUT,
            "annotator": self.annotator,
            "sheet": {
                "title": self.title,
                "kind": self.kind,
                "version": self.version,
                "forms": {name: form.to_dict() for name, form in self.forms.items()},
                "about": None if self.about_form is None else self.about_form.to_dict(),
                "units": dict(self.units),
                **_suggestions(self.suggested),
            },
            "about": {name: list(values) for name, values in self.about.items()},
            "filled": [
                {
                    "unit": f.unit,
                    "state": f.state,
                    "answers": {name: list(values) for name, values in f.answers.items()},
                    "seconds": None if math.isnan(f.seconds) else f.seconds,
                    "comment": f.comment,
                }
                for f in self.filled
            ],
        }


def response_of(
    sheet: Sheet,
    annotator: str,
    filled: Iterable[UnitAnswers],
    about: Mapping[str, Sequence[str]] | None = None,
) -> Response:
    """What a person said about a sheet, checked; a UsageError names the first problem."""
    units = {unit.name: unit.form for unit in sheet.units}
    response = Response(
        annotator,
        sheet.kind,
        sheet.title,
        sheet.version,
        sheet.forms,
        units,
        tuple(filled),
        about or {},
        sheet.about,
        suggested={u.name: u.suggested for u in sheet.units if u.suggested is not None},
    )
    problems = problems_of(response)
    if problems:
        raise UsageError(problems[0])
    return response


def problems_of(response: Response) -> list[str]:
    """What is wrong with a response, a sentence for each problem."""
    messages, seen = [], set()
    for filled in response.filled:
        if filled.unit not in response.units:
            messages.append(f"unit {filled.unit!r} was not asked about")
            continue
        if filled.unit in seen:
            messages.append(f"unit {filled.unit!r} is answered twice")
        seen.add(filled.unit)
        if filled.state == "done":
            wrong = response.form_of(filled.unit).check(filled.answers)
            messages += [f"unit {filled.unit!r}: {problem.message}" for problem in wrong]
    messages += [problem.message for problem in about_problems(response)]
    return messages


def about_problems(response: Response) -> tuple[FormProblem, ...]:
    """What is wrong with the answers about the person."""
    if response.about_form is None:
        return ()
    return response.about_form.check(response.about)


def read_response(path: FileForm) -> Response:
    """A response from its file, every form checked again; an InputError lists what is wrong."""
    source = describe(path)
    try:
        record = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(source, f"is not JSON ({error})") from None
    if not isinstance(record, dict) or record.get("cranfield-response") != LAYOUT:
        raise InputError.single(source, "is not a file of answers to a form of Cranfield")
    try:
        response = _parse_response(record, source)
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        raise InputError.single(source, f"is not a whole file of answers ({error})") from None
    problems = problems_of(response)
    if problems:
        raise InputError(source, [Problem(0, text) for text in problems])
    return response


def _parse_response(record: Mapping[str, Any], source: str) -> Response:
    sheet = record["sheet"]
    forms = {str(name): Form.from_dict(form) for name, form in sheet["forms"].items()}
    units = {str(unit): str(form) for unit, form in sheet["units"].items()}
    if not set(units.values()) <= set(forms):
        raise ValueError("a unit without its form")
    annotator = str(record["annotator"]).strip()
    if not annotator:
        raise ValueError("the annotator has no name")
    about = sheet.get("about")
    return Response(
        annotator,
        str(sheet["kind"]),
        str(sheet["title"]),
        str(sheet["version"]),
        forms,
        units,
        tuple(_parse_answers(entry) for entry in record["filled"]),
        _answers(record.get("about") or {}),
        None if about is None else Form.from_dict(about),
        source,
        {str(u): Suggested.from_dict(entry) for u, entry in sheet.get("suggested", {}).items()},
    )


def _parse_answers(entry: Mapping[str, Any]) -> UnitAnswers:
    state = entry["state"]
    if state not in STATES:
        raise ValueError(f"the state {state!r}")
    seconds = entry.get("seconds")
    time = math.nan if seconds is None else float(seconds)
    if time < 0 or math.isinf(time):
        raise ValueError(f"{seconds!r} seconds")
    comment = str(entry.get("comment", ""))[:LONGEST_TEXT]
    return UnitAnswers(str(entry["unit"]), _answers(entry["answers"]), state, time, comment)


def _answers(record: Mapping[str, Any]) -> dict[str, list[str]]:
    answers = {}
    for name, values in record.items():
        if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
            raise ValueError(f"question {name!r}: expected a list of texts")
        answers[str(name)] = values
    return answers


def form_values(form: Form, answers: Answers) -> dict[str, str]:
    """What a form says, as {concept: value}: labels as 0 and 1, single choices as they are."""
    if form.concepts:
        return {c: str(v) for c, v in form.labels(answers).items()}
    return {
        q.name: answers[q.name][0]
        for q in form.questions()
        if q.kind in ("one", "number") and answers.get(q.name)
    }


# What browsers show by themselves; anything else is turned into PNG.
SHOWN = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".gif": "gif", ".webp": "webp"}
# A picture in guidelines: a line of its own, its caption and where it is.
PICTURE_LINE = re.compile(r"^!\[([^\]\n]*)\]\(([^)\n]+)\)$", re.MULTILINE)
# A tile of a sheet of pictures is made this wide at least, in pixels.
_WIDE = 160
GUIDELINES = (
    "Choose what is representative of the picture, and only what can be seen in it.\n"
    "Of round buttons exactly one answer is needed; of boxes choose all that apply."
)


@validate_params
def make_sheet(
    source: str | Path,
    *,
    rules: str | Path | None = None,
    pictures: str | Path | None = None,
    items: str | Path | None = None,
    split: str | None = None,
    below: str | None = None,
    known: Any = None,
    meanings: str | Path | None = None,
    guidelines: str | Path | None = None,
    version: str = "1",
    title: str | None = None,
    first: int | None = None,
    seed: Seed | None = None,
    pool: Pool | str | Path | None = None,
    marks: Shape | None = None,
    recordings: str | Path | None = None,
    suggestions: LabelMatrix | FileForm | None = None,
    suggestions_shown: float = 0.5,
) -> Sheet:
    """A sheet that asks about the concepts of an ontology.

    `source` is a collection's folder, whose ontology, rules, items and pictures are used, or an
    ontology, which needs `pictures` (a folder) or `items` (ids; in CSV, if wanted, with a column
    `text`). `split` is one of the collection's. With `below` only the concepts below that one are
    asked for, of the items that the labels in `known` give it to. `meanings` define the concepts,
    `guidelines` is a text file.
    `first` units are asked about, in the order of the items or in one drawn by `seed`. With `pool`
    each item is asked only about the concepts that the pool has for it: what comes back is a truth
    of which a part is judged. With `marks` the concepts are marked on the pictures, as boxes or
    points, or as segments in recordings. `recordings` is a folder with sounds and films, whose
    names without endings are the items. `suggestions` is a run of annotations: on a share of
    the items, `suggestions_shown`, people see what it says, on the others they do not, so that its
    influence can be measured; the answers carry it in both cases.
    """
    if marks is not None and (below is not None or pool is not None):
        raise UsageError("marks ask about all concepts: neither below= nor pool= go with them")
    if first is not None and first < 1:
        raise UsageError(f"first={first} is not a whole number from 1 on")
    task = _SheetSource.of(source, rules, meanings)
    text = GUIDELINES if guidelines is None else read_guidelines(guidelines)
    if pool is not None:
        if below is not None or items is not None or split is not None:
            raise UsageError("a pool says itself which items are asked about, and for what")
        asked = pool_sheet(
            pooled_cells(pool),
            task.ontology,
            task.texts,
            pictures=pictures,
            meanings=task.meanings,
            title=title or task.title,
            guidelines=text,
            version=version,
        )
        drawn = asked if seed is None else asked.shuffled(seed)
        return drawn if first is None else replace(drawn, units=drawn.units[:first])
    media = {} if recordings is None else recording_files(Path(recordings))
    if media and pictures is None and items is None and split is None:
        item_ids: Sequence[str] = tuple(media)
    else:
        item_ids = task.items(pictures, items, split)
    if below is not None:
        labels = known if known is not None else task.truth()
        item_ids = items_with_concepts(item_ids, known_labels(labels), [below])
    texts = task.texts
    if items is not None:
        texts = replace(texts, items={**texts.items, **read_item_texts(items)})
    units = _units(item_ids, texts, pictures)
    if media:
        units = tuple(
            replace(u, recording=recording_address(media[u.name])) if u.name in media else u
            for u in units
        )
    heading = title or task.title
    form = (
        mark_form(task.ontology, marks, meanings=task.meanings, title=heading)
        if marks is not None
        else ontology_form(task.ontology, meanings=task.meanings, below=below, title=heading)
    )
    sheet = Sheet(
        title or task.title, "labels", {"form": form}, units, guidelines=text, version=version
    )
    ordered = sheet if seed is None else sheet.shuffled(seed)
    asked_units = ordered.units[:first]
    if suggestions is not None:
        asked_units = _with_suggestions(
            asked_units, form, suggestions, suggestions_shown, seed or 0
        )
    return replace(ordered, units=asked_units)


def pool_sheet(
    cells: Mapping[str, Sequence[str]],
    ontology: Ontology,
    texts: Texts,
    *,
    pictures: str | Path | None = None,
    meanings: Mapping[str, Meaning] | None = None,
    title: str = "Annotation",
    guidelines: str = GUIDELINES,
    version: str = "1",
) -> Sheet:
    """Each item once, with a form for the concepts that are to judge of it."""
    names: dict[tuple[str, ...], str] = {}
    form_of = {
        item: names.setdefault(tuple(sorted(concepts)), f"form{len(names) + 1}")
        for item, concepts in cells.items()
    }
    forms = {
        name: cell_form(ontology, concepts, meanings=meanings, title=title)
        for concepts, name in names.items()
    }
    units = tuple(
        replace(unit, form=form_of[unit.name]) for unit in _units(tuple(cells), texts, pictures)
    )
    return Sheet(title, "labels", forms, units, guidelines=guidelines, version=version)


def read_guidelines(path: str | Path) -> str:
    """The guidelines in a text file; pictures beside it, named as ![caption](file), inside them."""
    folder = Path(path).parent

    def embed(line: re.Match[str]) -> str:
        picture = folder / line[2]
        if picture.suffix.lower() not in SHOWN or not picture.is_file():
            raise UsageError(f"the guidelines name a picture {line[2]!r} that is not in {folder}")
        return f"![{line[1]}]({data_address(picture)})"

    return PICTURE_LINE.sub(embed, read_text(path).strip())


def known_labels(source: Any) -> LabelMatrix:
    """Labels that are known: decisions, not confidences."""
    truth = check_all_listed(read_truth(source), "A check by known labels")
    if truth.labels is None:
        raise UsageError("labels that are known are 0 and 1, not confidences")
    return truth


class _SheetSource:
    """What a collection or an ontology gives to a sheet."""

    def __init__(
        self,
        ontology: Ontology,
        meanings: Mapping[str, Meaning],
        collection: Collection | None,
    ) -> None:
        self.ontology, self.meanings, self._collection = ontology, meanings, collection
        self.title = "Annotation"
        self.texts = Texts()
        if collection is not None:
            self.title = collection.title or collection.name
            self.texts = read_texts(collection)

    @classmethod
    def of(
        cls, source: str | Path, rules: str | Path | None, meanings: str | Path | None
    ) -> _SheetSource:
        collection = None
        ontology_source: str | Path = source
        meanings_file: str | Path | None = meanings
        if Path(source).is_dir() or Path(source).name == FILE:
            collection = read_collection(source)
            meanings_file = meanings or collection.concepts
            rules = rules or collection.rules
            if collection.ontology is None:
                return cls(
                    _flat(collection, rules),
                    read_meanings(meanings_file) if meanings_file else {},
                    collection,
                )
            ontology_source = collection.ontology
        # Tabs are the categories at the top, which the tree of the costs does without.
        listed_name = f"{ontology_source}-listed"
        tree = read_ontology(
            listed_name if listed_name in BUILT_IN else ontology_source, rules=rules
        )
        built_in = meanings_file is None and str(ontology_source) in BUILT_IN
        defined = built_in_meanings() if built_in else {}
        return cls(
            tree, read_meanings(meanings_file) if meanings_file is not None else defined, collection
        )

    def items(
        self, pictures: str | Path | None, items: str | Path | None, split: str | None
    ) -> Sequence[str]:
        if items is not None:
            return read_items(items)
        if self._collection is None:
            if split is not None:
                raise UsageError("only a collection has splits")
            if pictures is None:
                raise NeedsError("an ontology alone has no items: name pictures or items")
            return tuple(picture_files(Path(pictures)))
        splits = self._collection.splits
        if split is not None:
            if split not in splits:
                raise UsageError(f"no split {split!r}.{suggest(split, splits)}")
            return splits[split]
        public = public_items(self._collection, "labels")
        if public is None:
            raise NeedsError(f"{self._collection.folder / FILE} names no items")
        return public

    def truth(self) -> Path:
        if self._collection is None:
            raise NeedsError("below needs known labels")
        return self._collection.need("truth")


def _flat(collection: Collection, rules: str | Path | None) -> Ontology:
    """The concepts of a collection without a hierarchy, one beside the other."""
    concepts = public_concepts(collection)
    if not concepts:
        raise NeedsError(f"{collection.folder / FILE} has no ontology and no concepts")
    rule_set = Rules() if rules is None else read_rules(rules)
    return Ontology.from_paths(((c, c) for c in concepts), rules=rule_set).checked()


def views_of(
    items: Sequence[str], *, collection: str | Path | None = None, pictures: Any = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Texts and pictures (as addresses that hold them) of items, from a collection or a folder."""
    texts = Texts() if collection is None else read_texts(read_collection(collection))
    units = _units(items, texts, pictures) if items else ()
    return {u.name: u.text for u in units if u.text}, {
        u.name: u.picture for u in units if u.picture
    }


def query_views(
    topics: Sequence[str], *, collection: str | Path | None = None, pictures: Any = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Texts of topics and the pictures that they ask with, from a collection or a folder.

    A topic whose name is that of an item asks with the picture of this item.
    """
    texts = Texts() if collection is None else read_texts(read_collection(collection))
    example_of = {topic: texts.topic_items.get(topic, topic) for topic in topics}
    examples = tuple(dict.fromkeys(example_of.values()))
    units = {u.name: u for u in (_units(examples, texts, pictures) if examples else ())}
    return {t: texts.asked(t) for t in topics if texts.asked(t)}, {
        t: units[e].picture for t, e in example_of.items() if units[e].picture
    }


def _units(items: Sequence[str], texts: Texts, pictures: str | Path | None) -> tuple[Unit, ...]:
    files = dict(texts.pictures) if pictures is None else picture_files(Path(pictures))
    tiles = _Tiles(texts.sheet) if texts.sheet is not None and not files else None
    units = []
    for item in items:
        picture = ""
        if item in files:
            picture = data_address(files[item])
        elif tiles is not None and item in tiles.sheet:
            picture = tiles.address(item)
        units.append(Unit(item, text=texts.items.get(item, ""), picture=picture))
    if not units:
        raise UsageError("there is no item to ask about")
    return tuple(units)


def _with_suggestions(
    units: Sequence[Unit],
    form: Form,
    suggestions: LabelMatrix | FileForm,
    share: float,
    seed: int,
) -> tuple[Unit, ...]:
    """Units with what a run says of them, drawn to be seen or not."""
    if not 0 <= share <= 1:
        raise UsageError(f"suggestions_shown={share} is not from 0 to 1")
    run = suggestions if isinstance(suggestions, LabelMatrix) else read_labels(suggestions)
    values = dense(run.labels if run.confidences is None else run.confidences).astype(float)
    columns = [(k, c) for k, c in enumerate(run.concepts) if c in set(form.concepts)]
    row_of = {item: row for row, item in enumerate(run.items)}
    if not columns or not any(unit.name in row_of for unit in units):
        raise UsageError(f"{run.name} says nothing about the items and concepts of the form")
    order = generator(seed, _SUGGESTED).permutation(len(units)).tolist()
    shown = set(order[: round(share * len(units))])
    return tuple(
        replace(
            unit,
            suggested=Suggested(
                tuple((c, round(float(values[row_of[unit.name], k]), 4)) for k, c in columns),
                number in shown,
            ),
        )
        if unit.name in row_of
        else unit
        for number, unit in enumerate(units)
    )


# What browsers play: endings of files, and what they are.
RECORDED = {
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".wav": "audio/wav",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
}


def recording_files(folder: Path) -> dict[str, Path]:
    """The sounds and films of a folder by the names of their items."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder of recordings")
    files = {f.stem: f for f in sorted(folder.iterdir()) if f.suffix.lower() in RECORDED}
    if not files:
        raise UsageError(f"{folder} has no recording ({', '.join(RECORDED)})")
    return files


def recording_address(path: Path) -> str:
    """A recording as an address that holds it."""
    kind = RECORDED[path.suffix.lower()]
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def data_address(path: Path) -> str:
    """A picture as an address that holds it."""
    kind = SHOWN.get(path.suffix.lower())
    if kind is not None:
        return _address(path.read_bytes(), kind)
    image = _imaging().open(path).convert("RGB")
    return _address(_png(image), "png")


class _Tiles:
    """Pictures cut out of one sheet of many."""

    def __init__(self, sheet: ImageSheet) -> None:
        self.sheet = sheet
        self._image = _imaging().open(sheet.path)

    def address(self, item: str) -> str:
        x, y = self.sheet.tile(item)
        box = (x, y, x + self.sheet.width, y + self.sheet.height)
        times = max(1, -(-_WIDE // self.sheet.width))
        tile = self._image.crop(box)
        return _address(_png(tile.resize((tile.width * times, tile.height * times), 0)), "png")


def _imaging() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingExtraError("pillow", "images", "A form with these pictures") from None
    return Image


def _png(image: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "png", optimize=True)
    return out.getvalue()


def _address(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
