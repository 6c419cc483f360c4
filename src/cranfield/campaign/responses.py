"""What came back from people: which forms count, how the batches went, and the log of them.

After the thesis, 6.2.2: a form that leaves an exclusive group empty is rejected; a batch has a
length, workers, a mean time and a share of rejections; Figure 6.3 shows rejections per item and
items per worker, Table 6.1 comments by class.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, form_values, read_response
from cranfield.data.judgement_log import FilledForm, JudgementLog, judgement_log
from cranfield.data.ontology import Ontology, RuleBook, Rules
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.crowd import is_crowd_csv, is_label_studio, read_crowd_csv, read_label_studio
from cranfield.io.files import (
    FileForm,
    Input,
    csv_rows,
    describe,
    inner_suffix,
    open_text,
    read_json_text,
)
from cranfield.io.ontology import read_rules_of
from cranfield.notes import Notes
from cranfield.validation import validate_params

CLASSES = ("content", "work", "feelings", "quality", "other")
# Words that tell what a comment is about; the first class with one of its words has it.
_WORDS: dict[str, str] = {
    "work": "work task hit answer answers question questions category option options button "
    "guideline guidelines annotate easy difficult confusing pay persons person right wrong fitting",
    "quality": "colour color colours light dark blur blurred sharp focus quality resolution "
    "exposure exposed effect composition contrast representation",
    "feelings": "nice cute beautiful love like lovely great creative funny sad pretty amazing "
    "wonderful awesome ugly scary enjoy",
}


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """A batch in numbers; `hours` is from the first form to the last."""

    batch: str
    forms: int
    rejected: int
    annotators: int
    items: int
    seconds: float
    seconds_rejected: float
    hours: float

    @property
    def share(self) -> float:
        return self.rejected / self.forms if self.forms else math.nan


@dataclass(frozen=True, slots=True)
class Tally:
    """How many forms an annotator or an item has, and how many of them were rejected."""

    name: str
    forms: int
    rejected: int
    batches: int


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment, and what it is about."""

    annotator: str
    item: str
    text: str
    about: str


@dataclass(frozen=True, repr=False, eq=False)
class FormResponses(Answer):
    """Forms that came back, and the log of those that count.

    `twice` are items that one person judged in more than one batch.
    """

    command: ClassVar[str] = "form read"
    batches: tuple[BatchFacts, ...]
    people: tuple[Tally, ...]
    items: tuple[Tally, ...]
    remarks: tuple[Remark, ...]
    reasons: Mapping[str, int]
    twice: tuple[tuple[str, str], ...]
    log: JudgementLog

    @property
    def forms(self) -> int:
        return sum(b.forms for b in self.batches)

    @property
    def rejected(self) -> int:
        return sum(b.rejected for b in self.batches)

    def headline(self) -> str:
        return (
            f"{plural(self.forms, 'form')} by {plural(len(self.people), 'annotator')}, "
            f"{self.rejected} rejected; {plural(len(self.log), 'judgement')}"
        )

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "batches": [
                {
                    "batch": b.batch,
                    "forms": b.forms,
                    "rejected": b.rejected,
                    "rejected_share": b.share,
                    "annotators": b.annotators,
                    "items": b.items,
                    "seconds": b.seconds,
                    "seconds_rejected": b.seconds_rejected,
                    "hours": b.hours,
                }
                for b in self.batches
            ],
            "annotators": [
                {
                    "annotator": p.name,
                    "forms": p.forms,
                    "rejected": p.rejected,
                    "batches": p.batches,
                }
                for p in self.people
            ],
            "items": [
                {"item": i.name, "forms": i.forms, "rejected": i.rejected} for i in self.items
            ],
            "comments": [
                {
                    "annotator": r.annotator,
                    "item": r.item,
                    "comment": r.text,
                    "about": r.about,
                }
                for r in self.remarks
            ],
            "reasons": dict(self.reasons),
            "judged_twice": [{"annotator": a, "item": i} for a, i in self.twice],
            "judgements": len(self.log),
        }


@validate_params
def read_forms(
    files: Sequence[FileForm],
    *,
    ontology: str | Path | None = None,
    rules: Ontology | Rules | str | Path | None = None,
    concepts: Sequence[str] | None = None,
    classes: Mapping[str, str] | FileForm | None = None,
    pseudonyms: bool = False,
) -> FormResponses:
    """Forms from files of any kind: answers to our own forms, a crowd platform's CSV, Label
    Studio's JSON.

    Forms that break `rules`, or those of an `ontology`, are rejected. `concepts` are the names
    that a platform's answers may have (default: those of the ontology, or those that occur).
    `classes` say what comments are about, where the words in them should not. With `pseudonyms`
    people are numbered.
    """
    if not len(files):
        raise UsageError("there are no files with answers")
    rule_set = rules if isinstance(rules, Ontology | Rules) else None
    if rule_set is None:
        rule_set = read_rules_of(rules=rules, ontology=ontology)  # type: ignore[arg-type]
    if concepts is None and isinstance(rule_set, Ontology):
        concepts = rule_set.concepts
    if classes is not None and not isinstance(classes, Mapping):
        classes = read_classes(classes)
    forms = [form for file in files for form in _forms_of(file, concepts)]
    return collect_responses(
        number_annotators(forms) if pseudonyms else forms, rules=rule_set, classes=classes
    )


def number_annotators(forms: Sequence[FilledForm]) -> list[FilledForm]:
    """The forms with numbers for names, in the order in which people appear."""
    people = list(dict.fromkeys(f.annotator for f in forms))
    width = len(str(len(people)))
    names = {person: f"annotator-{n:0{width}d}" for n, person in enumerate(people, 1)}
    return [replace(f, annotator=names[f.annotator]) for f in forms]


def read_classes(path: FileForm) -> dict[str, str]:
    """What comments are about, from CSV comment,class."""
    source = describe(path)
    with open_text(path) as stream:
        rows = [(line, [c.strip() for c in row]) for line, row in csv_rows(stream, source) if row]
    if not rows or rows[0][1] != ["comment", "class"]:
        raise InputError.single(source, "expected a header: comment,class", 1)
    for line, row in rows[1:]:
        if len(row) != 2 or row[1] not in CLASSES:
            raise InputError.single(source, f"the class is one of {', '.join(CLASSES)}", line)
    return {row[0]: row[1] for _, row in rows[1:]}


def _forms_of(file: FileForm, concepts: Sequence[str] | None) -> tuple[FilledForm, ...]:
    if inner_suffix(file) in (".csv", ".tsv") and is_crowd_csv(file):
        return read_crowd_csv(file, concepts=concepts)
    if inner_suffix(file) != ".json":
        raise InputError.single(
            describe(file),
            "expected answers of a form (.json), a crowd platform's CSV with WorkerId and "
            "Answer.* columns, or Label Studio's JSON",
        )
    text = read_json_text(file)
    source = Input(describe(file), text.encode())
    if text.lstrip().startswith("["):
        try:
            from_label_studio = is_label_studio(json.loads(text))
        except (ValueError, RecursionError):
            from_label_studio = False
        if from_label_studio:
            return read_label_studio(source, concepts=concepts)
    return forms_of_response(read_response(source))


def forms_of_response(response: Response) -> tuple[FilledForm, ...]:
    """What a person said on our own pages; what was skipped is no form."""
    return tuple(
        FilledForm(
            response.annotator,
            filled.unit,
            form_values(response.form_of(filled.unit), filled.answers),
            f"{response.title} (version {response.version})",
            seconds=filled.seconds,
            comment=filled.comment,
            words=response.form_of(filled.unit).texts(filled.answers),
        )
        for filled in response.done()
    )


def collect_responses(
    forms: Sequence[FilledForm],
    *,
    rules: Ontology | Rules | None = None,
    classes: Mapping[str, str] | None = None,
) -> FormResponses:
    """Which forms count, and the figures of all of them."""
    notes = Notes()
    concept_sets = {tuple(form.values) for form in forms}
    books = {} if rules is None else {names: RuleBook.of(rules, names) for names in concept_sets}
    checked = [_checked(form, books.get(tuple(form.values))) for form in forms]
    first_forms, repeated = _split_repeated([f for f in checked if not f.rejected])
    if repeated:
        notes.add(
            f"{plural(len(repeated), 'form')} on an item that the same person had judged before; "
            f"the first one counts (such as {repeated[0].annotator!r} on {repeated[0].item!r})"
        )
    concepts = tuple(dict.fromkeys(c for f in checked for c in f.values))
    remarks = tuple(
        Remark(f.annotator, f.item, f.comment, classify_remark(f.comment, concepts, classes or {}))
        for f in checked
        if f.comment
    )
    return FormResponses(
        tuple(_facts(name, [f for f in checked if f.batch == name]) for name in _names(checked)),
        _tallies(checked, "annotator"),
        _tallies(checked, "item"),
        remarks,
        dict(Counter(f.rejected for f in checked if f.rejected).most_common()),
        tuple((f.annotator, f.item) for f in repeated),
        _log(first_forms),
        notes=notes.lines("form"),
    )


def _names(forms: Sequence[FilledForm]) -> list[str]:
    return list(dict.fromkeys(f.batch for f in forms))


def _checked(form: FilledForm, book: RuleBook | None) -> FilledForm:
    """A form with the rule that it breaks as the reason of its rejection."""
    if book is None or form.rejected:
        return form
    broken = book.broken(c for c, v in form.values.items() if v not in ("0", ""))
    return form if broken is None else replace(form, rejected=broken.rule)


def _split_repeated(forms: Sequence[FilledForm]) -> tuple[list[FilledForm], list[FilledForm]]:
    """The first form of each person and item, and the others."""
    seen: set[tuple[str, str]] = set()
    first_forms: list[FilledForm] = []
    repeated: list[FilledForm] = []
    for form in forms:
        cell = (form.annotator, form.item)
        (repeated if cell in seen else first_forms).append(form)
        seen.add(cell)
    return first_forms, repeated


def _log(forms: Sequence[FilledForm]) -> JudgementLog:
    rows = [
        (f.annotator, f.item, concept, value, f.seconds / len(f.values))
        for f in forms
        for concept, value in f.values.items()
    ]
    if not rows:
        raise UsageError("no form counts, so there is no log")
    annotators, items, concepts, values, seconds = zip(*rows, strict=True)
    timed = not any(map(math.isnan, seconds))
    return judgement_log(
        annotators, items, values, concepts=concepts, seconds=seconds if timed else None
    )


def _facts(name: str, forms: Sequence[FilledForm]) -> BatchFacts:
    bad = [f for f in forms if f.rejected]
    starts = [f.given if not math.isnan(f.given) else f.done for f in forms]
    start_times = [t for t in starts if not math.isnan(t)]
    ends = [f.done for f in forms if not math.isnan(f.done)]
    return BatchFacts(
        name,
        len(forms),
        len(bad),
        len({f.annotator for f in forms}),
        len({f.item for f in forms}),
        _mean([f.seconds for f in forms]),
        _mean([f.seconds for f in bad]),
        (max(ends) - min(start_times)) / 3600 if start_times and ends else math.nan,
    )


def _mean(values: Sequence[float]) -> float:
    numbers = [v for v in values if not math.isnan(v)]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _tallies(forms: Sequence[FilledForm], key: str) -> tuple[Tally, ...]:
    """Names by the number of their forms, the largest first."""
    groups: dict[str, list[FilledForm]] = {}
    for form in forms:
        groups.setdefault(getattr(form, key), []).append(form)
    tallies = [
        Tally(
            name,
            len(members),
            sum(bool(f.rejected) for f in members),
            len({f.batch for f in members}),
        )
        for name, members in groups.items()
    ]
    return tuple(sorted(tallies, key=lambda t: (-t.forms, t.name)))


def classify_remark(text: str, concepts: Sequence[str], classes: Mapping[str, str]) -> str:
    """What a comment is about, by its words; a guess that `classes` can correct.

    >>> classify_remark("The colours are too dark", (), {}), classify_remark("So cute!", (), {})
    ('quality', 'feelings')
    """
    if text in classes:
        return classes[text]
    words = set(re.findall(r"[a-z']+", text.lower()))
    for name, class_words in _WORDS.items():
        if words & set(class_words.split()):
            return name
    concept_words = {part for c in concepts for part in re.findall(r"[a-z]+", c.lower())}
    stems = {w.removesuffix("s") for w in words} | words
    # A few words without a verdict name what is seen.
    return "content" if stems & concept_words or 0 < len(words) <= 2 else "other"
