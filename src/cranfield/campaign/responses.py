"""What came back from people: which forms count, how the batches went, and the log of them.

After the thesis, 6.2.2: a form that leaves an exclusive group empty is rejected; a batch has a
length, workers, a mean time and a share of rejections; Figure 6.3 shows rejections per item and
items per worker, Table 6.1 comments by class.

Who of a crowd is paid: each form approved, or rejected with a reason that its worker may read.

The file is the one that platforms take back: an x in the column Approve, or the reason in Reject.
Reasons are true and tell nothing of the known answers: neither which they are nor how many.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, form_values, read_response
from cranfield.data.judgement_log import FilledForm, JudgementLog, log_of_forms
from cranfield.data.ontology import Ontology, RuleBook, Rules
from cranfield.errors import InputError, UsageError, plural
from cranfield.io.crowd import is_crowd_csv, is_label_studio, read_crowd_csv, read_label_studio
from cranfield.io.files import (
    FileForm,
    Input,
    csv_rows,
    csv_text,
    describe,
    inner_suffix,
    open_text,
    read_json_text,
)
from cranfield.io.judgement_log import read_gold
from cranfield.io.ontology import read_rules_of
from cranfield.notes import Notes
from cranfield.options import DEFAULT_THRESHOLD
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


@dataclass(frozen=True, slots=True)
class SuggestionInfluence:
    """How far answers follow a run where it was seen and where it was not.

    `followed_shown` and `followed_hidden` are the shares of answers that equal the suggestion;
    the interval of their difference is for other items.
    """

    concept: str
    shown: int
    hidden: int
    followed_shown: float
    followed_hidden: float
    interval: tuple[float, float]

    @property
    def difference(self) -> float:
        return self.followed_shown - self.followed_hidden


@dataclass(frozen=True, repr=False, eq=False)
class FormResponses(Answer):
    """Forms that came back, and the log of those that count.

    `twice` are items that one person judged in more than one batch.
    """

    command: ClassVar[str] = "form read"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:responses_document"
    batches: tuple[BatchFacts, ...]
    people: tuple[Tally, ...]
    items: tuple[Tally, ...]
    remarks: tuple[Remark, ...]
    reasons: Mapping[str, int]
    twice: tuple[tuple[str, str], ...]
    log: JudgementLog
    influence: tuple[SuggestionInfluence, ...] = ()

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

    def payload(self, **_: object) -> dict[str, Any]:
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
            **({"suggestions": self._influence()} if self.influence else {}),
        }

    def _influence(self) -> list[dict[str, Any]]:
        return [
            {
                "concept": i.concept,
                "shown": i.shown,
                "hidden": i.hidden,
                "followed_shown": i.followed_shown,
                "followed_hidden": i.followed_hidden,
                "difference": i.difference,
                "ci": list(i.interval),
            }
            for i in self.influence
        ]


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
    A question to which every form has one answer is one of exclusive categories, unless rules or
    `concepts` name what is present or absent.
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
    # Rules speak of concepts that are there or not, so that answers are read as such.
    categories = concepts is None and rule_set is None
    forms = [form for file in files for form in _forms_of(file, concepts, categories)]
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


def _forms_of(
    file: FileForm, concepts: Sequence[str] | None, categories: bool
) -> tuple[FilledForm, ...]:
    if inner_suffix(file) in (".csv", ".tsv") and is_crowd_csv(file):
        return read_crowd_csv(file, concepts=concepts, categories=categories)
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
            return read_label_studio(source, concepts=concepts, categories=categories)
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
            suggested=dict(s.concepts) if (s := response.suggested.get(filled.unit)) else {},
            saw_suggestions=s is not None and s.shown,
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
    checked = reject_broken_forms(forms, rules)
    log, repeated = log_of_forms(checked)
    if repeated:
        notes.add(
            f"{plural(len(repeated), 'form')} on an item that the same person had judged before; "
            f"the first one counts (such as {repeated[0].annotator!r} on {repeated[0].item!r})"
        )
    questions = list(dict.fromkeys(q for f in checked for q in f.categories))
    if questions:
        notes.add(
            f"one answer in every form, so exclusive categories: {', '.join(questions)} "
            "(with concepts or rules each answer is present or absent on its own)"
        )
    answers = [(*f.values, *f.categories.values()) for f in checked]
    concepts = tuple(dict.fromkeys(name for names in answers for name in names))
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
        log,
        suggestion_influence([f for f in checked if f.suggested and not f.rejected]),
        notes=notes.lines("form"),
    )


# The name of all concepts together, and the draws of an interval.
ALL_CONCEPTS, RESAMPLES = "all", 1000


def suggestion_influence(
    forms: Sequence[FilledForm], *, seed: int = 0
) -> tuple[SuggestionInfluence, ...]:
    """How far suggestions moved answers: of all concepts, then of each, the most moved first.

    A run is followed where the answer is what it says. Where it was hidden it is followed by
    chance, and as far as it is right; what is more where it was shown is its influence.
    """
    counts: dict[str, dict[tuple[bool, str], list[int]]] = {}
    for form in forms:
        for concept, value in form.values.items():
            if concept in form.suggested:
                suggests = form.suggested[concept] >= DEFAULT_THRESHOLD
                followed = int((value not in ("0", "")) == suggests)
                for name in (ALL_CONCEPTS, concept):
                    cell = counts.setdefault(name, {}).setdefault(
                        (form.saw_suggestions, form.item), [0, 0]
                    )
                    cell[0] += followed
                    cell[1] += 1
    draw = np.random.default_rng(seed)
    rows = [_influence_on(name, cells, draw) for name, cells in counts.items()]
    return tuple(
        sorted(rows, key=lambda r: (r.concept != ALL_CONCEPTS, -abs(np.nan_to_num(r.difference))))
    )


def _influence_on(
    concept: str, cells: Mapping[tuple[bool, str], Sequence[int]], draw: np.random.Generator
) -> SuggestionInfluence:
    arms = [
        np.array([cell for (saw, _), cell in cells.items() if saw == arm], dtype=float).reshape(
            -1, 2
        )
        for arm in (True, False)
    ]
    shares = [arm[:, 0].sum() / arm[:, 1].sum() if len(arm) else math.nan for arm in arms]
    interval = (math.nan, math.nan)
    # The spread between items cannot be seen on one.
    if min(map(len, arms)) > 1:
        drawn = []
        for arm in arms:
            times = draw.multinomial(len(arm), np.full(len(arm), 1 / len(arm)), size=RESAMPLES)
            drawn.append((times @ arm[:, 0]) / (times @ arm[:, 1]))
        low, high = np.quantile(drawn[0] - drawn[1], [0.025, 0.975])
        interval = (float(low), float(high))
    return SuggestionInfluence(
        concept,
        int(arms[0][:, 1].sum()),
        int(arms[1][:, 1].sum()),
        float(shares[0]),
        float(shares[1]),
        interval,
    )


def reject_broken_forms(
    forms: Sequence[FilledForm], rules: Ontology | Rules | None
) -> list[FilledForm]:
    """The forms in their order; those that break a rule say so."""
    concept_sets = {tuple(form.values) for form in forms}
    books = {} if rules is None else {names: RuleBook.of(rules, names) for names in concept_sets}
    return [_checked(form, books.get(tuple(form.values))) for form in forms]


def _names(forms: Sequence[FilledForm]) -> list[str]:
    return list(dict.fromkeys(f.batch for f in forms))


def _checked(form: FilledForm, book: RuleBook | None) -> FilledForm:
    """A form with the rule that it breaks as the reason of its rejection."""
    if book is None or form.rejected:
        return form
    broken = book.broken(c for c, v in form.values.items() if v not in ("0", ""))
    return form if broken is None else replace(form, rejected=broken.rule)


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


FAILED = "You did not pass the test: too few of the answers that are known were right."
REPEATED = "You had judged this item before."
BROKEN = "The form is not complete or contradicts itself: {rule}."
COLUMNS = ("AssignmentId", "WorkerId", "Approve", "Reject", "Bonus", "BonusReason")
BONUS_REASON = "All answers that are known were right."


@dataclass(frozen=True, slots=True)
class CrowdVerdict:
    """Whether one form is paid, why not, and what is added."""

    assignment: str
    worker: str
    reason: str = ""
    bonus: float = 0.0

    def cells(self) -> tuple[str, ...]:
        """The row of the file."""
        bonus = f"{self.bonus:.2f}" if self.bonus else ""
        return (
            self.assignment,
            self.worker,
            "" if self.reason else "x",
            self.reason,
            bonus,
            BONUS_REASON if self.bonus else "",
        )


@validate_params
def judge_crowd_forms(
    results: str | Path,
    *,
    ontology: str | Path | None = None,
    rules: str | Path | None = None,
    gold: str | Path | None = None,
    least: float = 0.7,
    bonus: float = 0.0,
) -> tuple[CrowdVerdict, ...]:
    """A verdict on each row of a platform's results, in their order.

    Parameters
    ----------
    results
        The platform's CSV, with AssignmentId and WorkerId.
    ontology, rules
        Forms that break a rule are rejected.
    gold
        Known answers (CSV item,concept,value). Who has less than the share `least` of them right
        is rejected in whole.
    bonus
        What is added to each paid form of a worker who has all known answers right.
    """
    if not 0 <= least <= 1 or not 0 <= bonus < float("inf"):
        raise UsageError("least is a share from 0 to 1, and a bonus is an amount from 0 on")
    if not is_crowd_csv(results):
        raise InputError.single(
            describe(results), "expected a crowd platform's CSV with WorkerId and Answer.* columns"
        )
    rule_set = read_rules_of(rules=rules, ontology=ontology)
    concepts = rule_set.concepts if isinstance(rule_set, Ontology) else None
    forms = read_crowd_csv(results, concepts=concepts, categories=rule_set is None)
    checked = reject_broken_forms(forms, rule_set)
    shares = {} if gold is None else _share_right(checked, gold)
    verdicts = []
    seen: set[tuple[str, str]] = set()
    for assignment, form in zip(_assignments(results), checked, strict=True):
        reason = _reason(
            form, shares.get(form.annotator), least, (form.annotator, form.item) in seen
        )
        if not form.rejected:
            seen.add((form.annotator, form.item))
        extra = bonus if not reason and shares.get(form.annotator) == 1 else 0.0
        verdicts.append(CrowdVerdict(assignment, form.annotator, reason, extra))
    return tuple(verdicts)


def _reason(form: FilledForm, share: float | None, least: float, repeated: bool) -> str:
    if form.rejected:
        return BROKEN.format(rule=form.rejected)
    if repeated:
        return REPEATED
    return FAILED if share is not None and share < least else ""


def _assignments(results: str | Path) -> list[str]:
    with open_text(results) as stream:
        rows = list(csv.DictReader(stream))
    if rows and "AssignmentId" not in rows[0]:
        raise InputError.single(describe(results), "expected a column AssignmentId", 1)
    return [(row["AssignmentId"] or "").strip() for row in rows]


def _share_right(forms: Sequence[FilledForm], gold: str | Path) -> Mapping[str, float]:
    """The share of known answers that each worker has right; who met none is not in it."""
    log = collect_responses(forms).log
    known = read_gold(gold, log)[log.item, log.concept]
    shares = {}
    for number, worker in enumerate(log.annotators):
        met = (log.annotator == number) & (known >= 0)
        if met.any():
            shares[worker] = float(np.mean(log.value[met] == known[met]))
    return shares


def verdict_file(verdicts: Sequence[CrowdVerdict]) -> str:
    """The verdicts as the CSV that a platform takes."""
    return csv_text([COLUMNS, *(verdict.cells() for verdict in verdicts)])
