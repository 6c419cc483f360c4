"""Groups of concepts of which exactly one is to be chosen, and the forms that break the rule.

A form is all that one annotator said about one item. The thesis (6.2.2) rejects a form that
leaves an exclusive group without an answer; a form with two answers in a group is rejected too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.data.judgement_log import JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.data.rulebook import RuleBook, exclusive_groups
from cranfield.errors import InputError, UsageError, suggest

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class BrokenForm:
    """A form and the exclusive group in which it does not have exactly one answer."""

    annotator: str
    item: str
    group: str
    answers: tuple[str, ...]

    @property
    def reason(self) -> str:
        if not self.answers:
            return f"no answer in {self.group}"
        return f"{len(self.answers)} answers in {self.group}: {', '.join(self.answers)}"


@dataclass(frozen=True, eq=False)
class Forms:
    """Which forms of a log keep the rules; `kept` is the log of those that do."""

    kept: JudgementLog
    total: int
    rejected: int
    broken: tuple[BrokenForm, ...]
    rejected_per_annotator: NDArray[np.int64]
    forms_per_annotator: NDArray[np.int64]
    seconds_kept: float
    seconds_rejected: float


def check_forms(log: JudgementLog, groups: Groups) -> Forms:
    """Reject the forms that leave a group without an answer or give it several.

    A group that the whole log never speaks of was not asked, and is passed over.
    """
    _known(log, groups)
    form, who, what = _forms(log)
    bad = np.zeros(who.size, dtype=bool)
    broken: list[BrokenForm] = []
    chosen = np.ones(len(log), dtype=bool) if log.kind == "category" else log.selected
    for name, members in groups.items():
        inside, asked = _in_group(log, name, members)
        if not asked:
            continue
        picked = inside & chosen
        count = np.bincount(form[picked], minlength=who.size)
        wrong = np.flatnonzero(count != 1)
        bad[wrong] = True
        answers: dict[int, list[str]] = {int(f): [] for f in wrong}
        several = picked & (count > 1)[form]
        names = log.values if log.kind == "category" else log.concepts
        code = log.value if log.kind == "category" else log.concept
        for f, c in zip(form[several].tolist(), code[several].tolist(), strict=True):
            answers[f].append(names[c])
        broken += [
            BrokenForm(log.annotators[who[f]], log.items[what[f]], name, tuple(said))
            for f, said in answers.items()
        ]
    people = len(log.annotators)
    return Forms(
        log.where(~bad[form]),
        int(who.size),
        int(bad.sum()),
        tuple(broken),
        np.bincount(who[bad], minlength=people),
        np.bincount(who, minlength=people),
        _seconds_per_form(log, form, ~bad),
        _seconds_per_form(log, form, bad),
    )


def question_log(log: JudgementLog, groups: Groups) -> JudgementLog:
    """The exclusive groups of a concept log as questions whose answers are the concepts.

    The log must hold only forms with exactly one answer in a group: `check_forms(...).kept`.
    """
    position = {name: i for i, name in enumerate(log.concepts)}
    asked = {
        name: tuple(position[m] for m in members if m in position)
        for name, members in groups.items()
        if any(m in position for m in members)
    }
    parts = []
    for g, (_, members) in enumerate(asked.items()):
        rows = np.flatnonzero(np.isin(log.concept, members) & log.selected)
        parts.append((rows, np.full(rows.size, g, dtype=np.int32)))
    order = np.concatenate([rows for rows, _ in parts]) if parts else np.empty(0, dtype=np.int64)
    group = np.concatenate([g for _, g in parts]) if parts else np.empty(0, dtype=np.int32)
    return JudgementLog(
        "category",
        log.annotators,
        log.items,
        tuple(asked),
        log.concepts,
        log.annotator[order],
        log.item[order],
        group,
        log.concept[order],
        allowed=tuple(asked.values()),
        source=log.source,
    )


def _known(log: JudgementLog, groups: Groups) -> None:
    names = log.values if log.kind == "category" else log.concepts
    if not any(member in names for members in groups.values() for member in members):
        example = next((m for members in groups.values() for m in members), "")
        raise InputError.single(
            log.source,
            f"the rules name no concept of the log, such as {example!r}.{suggest(example, names)}",
        )


def _forms(
    log: JudgementLog,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The form of each judgement, and the annotator and item of each form."""
    key = log.annotator.astype(np.int64) * len(log.items) + log.item
    forms, form = np.unique(key, return_inverse=True)
    return form.ravel(), forms // len(log.items), forms % len(log.items)


def _in_group(
    log: JudgementLog, name: str, members: Sequence[str]
) -> tuple[NDArray[np.bool_], bool]:
    """Which judgements speak of a group, and whether any does."""
    if log.kind == "category":
        inside = log.concept == (log.concepts.index(name) if name in log.concepts else -1)
    else:
        codes = [i for i, concept in enumerate(log.concepts) if concept in set(members)]
        inside = np.isin(log.concept, codes)
    return inside, bool(inside.any())


def _seconds_per_form(log: JudgementLog, form: NDArray[np.int64], kept: NDArray[np.bool_]) -> float:
    """The mean time of the forms under a mask: the times of a form's judgements add up."""
    if log.seconds is None or not kept.any():
        return float("nan")
    return float(np.bincount(form, log.seconds, minlength=kept.size)[kept].mean())


@dataclass(frozen=True, eq=False)
class Ruled:
    """A log without the forms that break a rule, and the rules of its concepts."""

    log: JudgementLog
    forms: Forms | None = None
    book: RuleBook | None = None

    @classmethod
    def of(cls, log: JudgementLog, rules: Ontology | Rules | None) -> Ruled:
        if rules is None:
            return cls(log)
        named = log.values if log.kind == "category" else log.concepts
        book = RuleBook.of(rules, named)
        groups = book.groups()
        if not groups and not (isinstance(rules, Ontology) and set(named) & set(rules.concepts)):
            # Groups of other concepts than the log's are an error below, no groups are none. An
            # ontology that knows the log's concepts fits, though no group of it was asked for.
            groups = exclusive_groups(rules)
        if not groups:
            return cls(log, None, book)
        forms = check_forms(log, groups)
        if not len(forms.kept):
            first = forms.broken[0]
            raise UsageError(
                f"{log.source}: every form breaks a rule, nothing is left "
                f"(the first: {first.annotator!r} on {first.item!r}, {first.reason})"
            )
        return cls(forms.kept, forms, book)
