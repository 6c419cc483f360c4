"""What other programs export: annotations, topics and predictions, told apart by their content.

Annotations become a judgement log: Label Studio (JSON, JSON-MIN, CSV), Mechanical Turk's CSV,
doccano, Prodigy, Argilla, crowd-kit's columns, and sheets with a column for each annotator, also
from Excel. Topics come from BEIR, TREC's XML and the older TREC topics; runs from MTEB.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from cranfield._lazy import cached_property
from cranfield.data.judgement_log import FilledForm, JudgementLog, log_of_forms, number_name
from cranfield.errors import InputError, MissingExtraError, UsageError, plural, suggest
from cranfield.io.crowd import (
    ANSWER,
    ITEMS,
    is_label_studio,
    item_name,
    parse_time,
    read_crowd_csv,
    read_label_studio,
    unread_results,
)
from cranfield.io.files import (
    FileForm,
    Input,
    csv_text,
    describe,
    inner_suffix,
    open_input,
    read_text,
    run_name,
    write_atomic,
)
from cranfield.io.sniff import separator_of

Records: TypeAlias = "list[dict[str, Any]]"
Rows: TypeAlias = "list[tuple[str, ...]]"
# What an export becomes: a log of judgements, topics with their texts, a run, or figures.
Kind: TypeAlias = Literal["judgements", "topics", "run", "figures"]

_LOG_COLUMNS = frozenset(
    {"annotator", "concept", "category", "value", "question", "topic", "label"}
)
_STUDIO_FACTS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_SPANS = ("entities", "spans", "relations", "bbox")
_CONTENT_LIMIT = 1 << 30


@dataclass(frozen=True)
class Content:
    """An export that was read: its text, and what that is as records or as a table."""

    source: FileForm
    text: str

    @property
    def name(self) -> str:
        return describe(self.source)

    @cached_property
    def document(self) -> Any:
        """What JSON says, None where it is none; JSON lines are a list."""
        if self.text.lstrip()[:1] not in ("{", "["):
            return None
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            pass
        try:
            return [json.loads(line) for line in self.text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None

    @cached_property
    def records(self) -> Records:
        """The objects of a list; none where the export is anything else."""
        document = self.document
        if isinstance(document, dict):
            document = [document]
        if not isinstance(document, list) or not all(isinstance(r, dict) for r in document):
            return []
        return document

    @cached_property
    def table(self) -> list[list[str]]:
        """The rows of a table with its header; none where the export is anything else."""
        if self.text.lstrip()[:1] in ("{", "[", "<"):
            return []
        separator = separator_of(self.text)
        try:
            rows = list(csv.reader(io.StringIO(self.text, newline=""), delimiter=separator))
        except csv.Error:
            return []
        return [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]

    @property
    def header(self) -> list[str]:
        return self.table[0] if self.table else []

    @cached_property
    def table_records(self) -> Records:
        """The rows of a table by the names of their columns."""
        return [dict(zip(self.header, row, strict=False)) for row in self.table[1:]]


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """What an export holds, as the rows of a table, and what of it was not read."""

    form: str
    kind: Kind
    header: tuple[str, ...]
    rows: Rows
    notes: tuple[str, ...] = ()


class _Forms(NamedTuple):
    """Annotations of an export, and what of it was not read."""

    forms: Sequence[FilledForm]
    notes: tuple[str, ...] = ()


class _Table(NamedTuple):
    """Rows that are no judgements."""

    header: tuple[str, ...]
    rows: Rows


class Choice(NamedTuple):
    """What to read of an export: the field that names items, the part of several rankings."""

    item: str | None = None
    part: str | None = None


class ExportForm(NamedTuple):
    """A form of export: what it is, how it is recognised, and its reader."""

    title: str
    kind: Kind
    recognise: Callable[[Content], bool]
    read: Callable[[Content, Choice], _Forms | _Table]


def load_content(source: FileForm) -> Content:
    """The text of an export; a sheet of Excel as CSV."""
    if inner_suffix(source) in (".xlsx", ".xls", ".ods"):
        return Content(source, csv_text(_sheet_rows(source)))
    return Content(source, read_text(source))


def _sheet_rows(source: FileForm) -> list[list[object]]:
    """The rows of the first sheet of a workbook."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ModuleNotFoundError:
        raise MissingExtraError("python-calamine", "sheets", "A workbook of Excel") from None
    with open_input(source) as stream:
        data = stream.read(_CONTENT_LIMIT)
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        rows = workbook.get_sheet_by_index(0).to_python(skip_empty_area=True)
    except (CalamineError, ValueError, IndexError) as error:
        raise InputError.single(describe(source), f"is not a workbook ({error})") from None
    return [[_cell_text(cell) for cell in row] for row in rows]


def _cell_text(cell: object) -> str:
    """A cell as text; a whole number has no point."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def recognise_export(content: Content) -> str:
    """The name of the form that an export has, or ''."""
    return next((name for name, form in EXPORTS.items() if form.recognise(content)), "")


def import_export(
    source: FileForm, *, form: str | None = None, item: str | None = None, part: str | None = None
) -> ImportedTable:
    """Read the export of another program.

    Parameters
    ----------
    source
        The file.
    form
        Its form, one of `EXPORTS`; without, it is recognised by its content.
    item
        The column or field that names the items; without, one with a usual name.
    part
        Which of several rankings in MTEB's predictions, as subset/split.

    Returns
    -------
    ImportedTable
        A judgement log, topics, a run or figures as rows, with notes on what was not read.
    """
    content = load_content(source)
    name = _form_of(content, form)
    result = _read_as(content, name, Choice(item, part))
    kind = EXPORTS[name].kind
    if isinstance(result, _Table):
        return ImportedTable(name, kind, result.header, result.rows)
    log = _log_of(result)
    return ImportedTable(name, kind, log.header, list(log.rows()), log.notes)


def read_export_log(content: Content, name: str) -> JudgementLog:
    """The judgements of an export whose form is recognised."""
    result = _read_as(content, name, Choice())
    if isinstance(result, _Table):
        raise InputError.single(content.name, f"is {EXPORTS[name].title}, without judgements")
    return _log_of(result)


def _log_of(result: _Forms) -> JudgementLog:
    log, repeated = log_of_forms(result.forms)
    notes = (*result.notes, *_repeated_note(repeated), *_rejected_note(result.forms))
    return replace(log, notes=notes)


def _read_as(content: Content, name: str, choice: Choice) -> _Forms | _Table:
    export = EXPORTS[name]
    try:
        return export.read(content, choice)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        raise InputError.single(
            content.name, f"has an entry of an unknown shape for {export.title} ({error!r})"
        ) from None


def write_import(imported: ImportedTable, target: str | Path | None) -> bytes:
    """The bytes of a file with what was imported, which is written if it has a name."""
    if imported.kind == "run":
        text = "".join(" ".join(row) + "\n" for row in imported.rows)
    else:
        is_tabbed = imported.kind == "topics" or str(target).lower().endswith(".tsv")
        text = csv_text([imported.header, *imported.rows], "\t" if is_tabbed else ",")
    data = text.encode()
    if target is not None:
        write_atomic(Path(target), data)
    return data


def _form_of(content: Content, form: str | None) -> str:
    if form is not None:
        if form not in EXPORTS:
            raise UsageError(
                f"form={form!r} is not one of {', '.join(EXPORTS)}.{suggest(form, EXPORTS)}"
            )
        return form
    name = recognise_export(content)
    if not name:
        raise unknown_export(content, "; name one with form=")
    return name


def unknown_export(content: Content, advice: str = "") -> InputError:
    """The error for a file that no export looks like."""
    titles = ", ".join(export.title for export in EXPORTS.values())
    message = f"is none of the exports that are known: {titles}{advice}"
    return InputError.single(content.name, message)


def _repeated_note(repeated: Sequence[FilledForm]) -> list[str]:
    if not repeated:
        return []
    first = repeated[0]
    return [
        f"{plural(len(repeated), 'answer')} on an item that the same person had judged before; "
        f"the first one counts (such as {first.annotator!r} on {first.item!r})"
    ]


def _rejected_note(forms: Sequence[FilledForm]) -> list[str]:
    reasons = [form.rejected for form in forms if form.rejected]
    if not reasons:
        return []
    return [f"{plural(len(reasons), 'answer')} not counted: {', '.join(dict.fromkeys(reasons))}"]


# Annotations.


def _read_studio(content: Content, _: Choice) -> _Forms:
    source = Input(content.name, content.text.encode())
    return _Forms(read_label_studio(source), unread_results(content.document))


def _is_studio_rows(records: Records) -> bool:
    return bool(records) and all("annotator" in r and "annotation_id" in r for r in records)


def _read_studio_rows(content: Content, choice: Choice) -> _Forms:
    """Label Studio's JSON-MIN and CSV: the data of the task, its id, the answers, the annotator."""
    records = content.records or content.table_records
    data, answers = _studio_columns(content, records, choice.item)
    texts = {name: [_studio_answer(r.get(name)) for r in records] for name in answers}
    unread = [name for name, cells in texts.items() if any(c is None for c in cells)]
    single = {
        name
        for name, cells in texts.items()
        if name not in unread and all(len(c or ()) <= 1 for c in cells)
    }
    several = [name for name in texts if name not in single and name not in unread]
    concepts = dict.fromkeys(a for name in several for cell in texts[name] for a in cell or ())
    forms = []
    for i, record in enumerate(records):
        chosen = {a for name in several for a in texts[name][i] or ()}
        identity = next((str(record[n]) for n in data if record.get(n)), str(record.get("id", "")))
        forms.append(
            FilledForm(
                str(record["annotator"]),
                item_name(identity),
                {concept: str(int(concept in chosen)) for concept in concepts},
                seconds=_seconds(record.get("lead_time")),
                done=parse_time(str(record.get("created_at", ""))),
                categories={n: cell[0] for n in sorted(single) if (cell := texts[n][i])},
            )
        )
    return _Forms(forms, _unread_note(unread))


def _studio_columns(
    content: Content, records: Records, item: str | None
) -> tuple[list[str], list[str]]:
    """The columns that name the item, and those with answers, which stand behind the task's id."""
    names = list(dict.fromkeys(name for record in records for name in record))
    if item is not None:
        if item not in names:
            raise UsageError(f"item={item!r} is not a column.{suggest(item, names)}")
        return [item], [n for n in names if n not in (item, *_STUDIO_FACTS)]
    places = {name: i for i, name in enumerate(names)}
    if not places.get("id", math.inf) < places["annotator"]:
        raise InputError.single(
            content.name, "which column is the item and which are answers? Name it with item="
        )
    between = range(places["id"] + 1, places["annotator"])
    answers = [name for i, name in enumerate(names) if i in between]
    data = [name for name in names if places[name] < places["id"]]
    return sorted(data, key=lambda n: ITEMS.index(n) if n in ITEMS else len(ITEMS)), answers


def _studio_answer(cell: Any) -> list[str] | None:
    """The choices of a cell, which may be text, JSON in text or a list; None for regions."""
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            cell = json.loads(cell)
        except ValueError:
            return [cell]
    if cell is None or cell == "":
        return []
    if isinstance(cell, Mapping):
        return [str(c) for c in cell["choices"]] if "choices" in cell else None
    if isinstance(cell, list):
        if all(isinstance(entry, Mapping) and set(entry) <= {"rating", "number"} for entry in cell):
            return [number_name(value) for entry in cell for value in entry.values()]
        return [str(c) for c in cell] if all(isinstance(c, str) for c in cell) else None
    return [number_name(cell)]


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        return math.nan
    return seconds if math.isfinite(seconds) and seconds >= 0 else math.nan


def _unread_note(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"not read, for they mark regions or spans: {', '.join(dict.fromkeys(names))}",)


def _is_turk(content: Content) -> bool:
    return "WorkerId" in content.header and any(c.startswith(ANSWER) for c in content.header)


def _read_turk(content: Content, _: Choice) -> _Forms:
    return _Forms(read_crowd_csv(Input(content.name, content.text.encode())))


def _is_doccano(content: Content) -> bool:
    records = content.records or content.table_records
    return (
        bool(records)
        and all(
            ("label" in r or "labels" in r) and ("text" in r or "data" in r or "filename" in r)
            for r in records
        )
        and not any("answer" in r or "responses" in r for r in records)
    )


def _read_doccano(content: Content, choice: Choice) -> _Forms:
    """doccano exports a file for each annotator, who is named by the file."""
    records = content.records or content.table_records
    annotator, unread, labels = run_name(content.source), set(), []
    for record in records:
        value = record.get("label", record.get("labels"))
        entries = value.split("#") if isinstance(value, str) else (value or [])
        if any(not isinstance(entry, str) for entry in entries):
            unread.add("label")
            entries = []
        unread |= {name for name in _SPANS if record.get(name)}
        labels.append([entry for entry in entries if entry])
    if unread and not any(labels):
        raise InputError.single(content.name, f"marks only spans ({', '.join(sorted(unread))})")
    identities = [_identity(record, choice.item) for record in records]
    return _Forms(
        _label_forms([annotator] * len(records), identities, labels), _unread_note(sorted(unread))
    )


def _label_forms(
    annotators: Sequence[str], items: Sequence[str], labels: Sequence[Sequence[str]]
) -> list[FilledForm]:
    """Forms of names that were chosen: one category each, or concepts that are there or not."""
    names = dict.fromkeys(name for chosen in labels for name in chosen)
    is_single = len(names) > 1 and all(len(chosen) == 1 for chosen in labels)
    return [
        FilledForm(
            annotator,
            item,
            {} if is_single else {name: str(int(name in chosen)) for name in names},
            categories={"label": chosen[0]} if is_single else {},
        )
        for annotator, item, chosen in zip(annotators, items, labels, strict=True)
    ]


def _identity(record: Mapping[str, Any], item: str | None) -> str:
    """What names the item of a record: a field of that name, an id, a picture, or its text."""
    if item is not None:
        return item_name(str(record[item]))
    meta = record.get("meta")
    fields = {**(meta if isinstance(meta, Mapping) else {}), **record}
    for name in ("item", "image", "filename", "doc_id", "id", "_input_hash", "text", "data"):
        if fields.get(name) not in (None, ""):
            return item_name(str(fields[name]))
    raise KeyError("id")


def _is_prodigy(content: Content) -> bool:
    return bool(content.records) and all("answer" in r for r in content.records)


def _read_prodigy(content: Content, choice: Choice) -> _Forms:
    """Prodigy: choices among options, or a label that was accepted or rejected."""
    forms, unread = [], 0
    accepted = dict.fromkeys(str(c) for r in content.records for c in r.get("accept") or ())
    for record in content.records:
        annotator = record.get("_annotator_id") or record.get("_session_id")
        values: dict[str, str] = {}
        categories: dict[str, str] = {}
        if "options" in record or "accept" in record:
            chosen = [str(choice) for choice in record.get("accept") or ()]
            style = (record.get("config") or {}).get("choice_style")
            if style == "single":
                categories = {"choice": chosen[0]} if chosen else {}
            else:
                options = record.get("options")
                names = list(accepted) if options is None else [str(o["id"]) for o in options]
                values = {name: str(int(name in chosen)) for name in names}
        elif "label" in record and not record.get("spans"):
            values = {str(record["label"]): str(int(record["answer"] == "accept"))}
        else:
            unread += 1
            continue
        rejected = "" if record["answer"] != "ignore" else "ignored by the annotator"
        if "label" not in record and record["answer"] == "reject":
            rejected = "rejected by the annotator"
        forms.append(
            FilledForm(
                str(annotator or run_name(content.source)),
                _identity(record, choice.item),
                values,
                rejected=rejected,
                done=_seconds(record.get("_timestamp")),
                categories=categories,
            )
        )
    if not forms:
        raise InputError.single(
            content.name,
            "has no record with a label, or a choice among options: spans are not read",
        )
    return _Forms(forms, _unread_note([f"{plural(unread, 'record')} with spans"] if unread else []))


def _is_argilla(content: Content) -> bool:
    return bool(content.records) and all(
        isinstance(r.get("responses"), Mapping) and "fields" in r for r in content.records
    )


def _read_argilla(content: Content, choice: Choice) -> _Forms:
    """Argilla's records: for each question a list of responses, with the user of each."""
    answers: dict[tuple[str, str], dict[str, list[str]]] = {}
    unread: list[str] = []
    for record in content.records:
        fields = record["fields"] if isinstance(record["fields"], Mapping) else {}
        identity = _identity({**fields, **record}, choice.item)
        for question, responses in record["responses"].items():
            for response in responses:
                value = response["value"]
                entries = value if isinstance(value, list) else [value]
                if any(isinstance(entry, Mapping | list) for entry in entries):
                    unread.append(str(question))
                    continue
                place = (str(response["user_id"]), identity)
                chosen = [number_name(entry) for entry in entries]
                answers.setdefault(place, {})[str(question)] = chosen
    several = {q for given in answers.values() for q, names in given.items() if len(names) != 1}
    concepts = dict.fromkeys(
        name for given in answers.values() for q in given if q in several for name in given[q]
    )
    forms = []
    for (annotator, identity), by_question in answers.items():
        selected = {name for q in several for name in by_question.get(q, ())}
        forms.append(
            FilledForm(
                annotator,
                identity,
                {c: str(int(c in selected)) for c in concepts},
                categories={q: names[0] for q, names in by_question.items() if q not in several},
            )
        )
    if not forms:
        raise InputError.single(content.name, "has no responses that can be read")
    return _Forms(forms, _unread_note(unread))


def _is_crowd_kit(content: Content) -> bool:
    return {"task", "worker", "label"} <= {name.lower() for name in content.header}


def _read_crowd_kit(content: Content, _: Choice) -> _Forms:
    names = {name.lower(): name for name in content.header}
    return _Forms(
        [
            FilledForm(
                str(row[names["worker"]]),
                str(row[names["task"]]),
                {},
                categories={"label": str(row[names["label"]])},
            )
            for row in content.table_records
        ]
    )


def _is_sheet(content: Content) -> bool:
    names = [name.lower() for name in content.header]
    return len(names) > 2 and names[0] in (*ITEMS, "task", "text") and not _LOG_COLUMNS & {*names}


def _read_sheet(content: Content, choice: Choice) -> _Forms:
    """A column for each annotator; an empty cell is no answer."""
    item_column = choice.item or content.header[0]
    people = [name for name in content.header if name != item_column]
    return _Forms(
        [
            FilledForm(person, row[item_column], {}, categories={"label": row[person]})
            for row in content.table_records
            for person in people
            if row.get(person)
        ]
    )


# Topics, runs and figures.


def _topic_rows(pairs: Iterable[tuple[str, str]]) -> _Table:
    rows = [(topic.strip(), " ".join(text.split())) for topic, text in pairs]
    return _Table(("topic", "text"), [(topic, text) for topic, text in rows if topic])


def _is_beir(content: Content) -> bool:
    return bool(content.records) and all("_id" in r and "text" in r for r in content.records)


def _read_beir(content: Content, _: Choice) -> _Table:
    return _topic_rows((str(r["_id"]), str(r["text"])) for r in content.records)


_TOPIC = re.compile(r"<top(?:ic)?\b[^>]*>.*?</top(?:ic)?>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num(?:ber)?>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"<top(?:ic)?\b[^>]*?\b(?:number|id|num)\s*=\s*[\"']([^\"']+)", re.IGNORECASE
)
_TITLE = re.compile(r"<(title|query|question)>(.*?)(?=<|\Z)", re.DOTALL | re.IGNORECASE)


def _is_trec_topics(content: Content) -> bool:
    return _TOPIC.search(content.text) is not None


def _read_trec_topics(content: Content, _: Choice) -> _Table:
    """TREC's topics, as XML or with the tags of old that are not closed: numbers and titles."""
    import html

    pairs = []
    for match in _TOPIC.finditer(content.text):
        number = _ATTRIBUTE.match(match[0]) or _NUMBER.search(match[0])
        title = _TITLE.search(match[0])
        if number is None or title is None:
            line = content.text.count("\n", 0, match.start()) + 1
            raise InputError.single(content.name, "a topic without a number or a title", line)
        pairs.append((number[1], html.unescape(title[2])))
    return _topic_rows(pairs)


def _is_mteb_predictions(content: Content) -> bool:
    document = content.document
    return isinstance(document, dict) and len(_mteb_parts(document)) > 0


def _mteb_parts(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The rankings of MTEB's predictions by subset and split."""
    return {
        f"{subset}/{split}": topics
        for subset, splits in document.items()
        if isinstance(splits, Mapping) and subset != "mteb_model_meta"
        for split, topics in splits.items()
        if isinstance(topics, Mapping) and all(isinstance(t, Mapping) for t in topics.values())
        if topics and "mteb_model_meta" in document
    }


def _read_mteb_predictions(content: Content, choice: Choice) -> _Table:
    parts = _mteb_parts(content.document)
    if choice.part is None and len(parts) > 1:
        names = ", ".join(parts)
        raise UsageError(f"{content.name} has several rankings; name one with part=: {names}")
    name = choice.part or next(iter(parts))
    if name not in parts:
        raise UsageError(f"part={name!r} is not one of {', '.join(parts)}.{suggest(name, parts)}")
    tag = run_name(content.source)
    rows: Rows = []
    for topic, scores in parts[name].items():
        ranked = sorted(scores.items(), key=lambda entry: (-float(entry[1]), str(entry[0])))
        rows += [
            (str(topic), "Q0", str(i), str(rank), repr(float(score)), tag)
            for rank, (i, score) in enumerate(ranked, 1)
        ]
    return _Table(("topic", "Q0", "item", "rank", "score", "run"), rows)


def _is_mteb_results(content: Content) -> bool:
    document = content.document
    return isinstance(document, dict) and "task_name" in document and "scores" in document


def _read_mteb_results(content: Content, _: Choice) -> _Table:
    document = content.document
    rows: Rows = [
        (
            str(document["task_name"]),
            str(split),
            str(entry.get("hf_subset", "")),
            str(name),
            repr(v),
        )
        for split, entries in document["scores"].items()
        for entry in entries
        for name, v in entry.items()
        if isinstance(v, int | float) and not isinstance(v, bool)
    ]
    return _Table(("task", "split", "subset", "measure", "value"), rows)


# In the order in which they are tried.
EXPORTS: dict[str, ExportForm] = {
    "label-studio": ExportForm(
        "Label Studio's JSON", "judgements", lambda c: is_label_studio(c.document), _read_studio
    ),
    "label-studio-min": ExportForm(
        "Label Studio's JSON-MIN or CSV",
        "judgements",
        lambda c: _is_studio_rows(c.records or c.table_records),
        _read_studio_rows,
    ),
    "mturk": ExportForm("Mechanical Turk's CSV", "judgements", _is_turk, _read_turk),
    "argilla": ExportForm("Argilla's records", "judgements", _is_argilla, _read_argilla),
    "prodigy": ExportForm("Prodigy's JSON lines", "judgements", _is_prodigy, _read_prodigy),
    "doccano": ExportForm("doccano's JSON lines or CSV", "judgements", _is_doccano, _read_doccano),
    "crowd-kit": ExportForm(
        "a table with task, worker and label", "judgements", _is_crowd_kit, _read_crowd_kit
    ),
    "beir": ExportForm("BEIR's queries.jsonl", "topics", _is_beir, _read_beir),
    "trec-topics": ExportForm("TREC's topics", "topics", _is_trec_topics, _read_trec_topics),
    "mteb": ExportForm("MTEB's predictions", "run", _is_mteb_predictions, _read_mteb_predictions),
    "mteb-results": ExportForm("MTEB's results", "figures", _is_mteb_results, _read_mteb_results),
    "sheet": ExportForm(
        "a sheet with a column for each annotator", "judgements", _is_sheet, _read_sheet
    ),
}
