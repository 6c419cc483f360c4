"""Groups of concepts of which exactly one is to be chosen, and the forms that break the rule.

A form is all that one annotator said about one item. The thesis (6.2.2) rejects a form that
leaves an exclusive group without an answer; a form with two answers in a group is rejected too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import break_ties, leaders_of
from cranfield.agreement.truth_inference import Estimate, Gold
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.data.ontology import Ontology, RuleBook, Rules, exclusive_groups
from cranfield.errors import InputError, UsageError, suggest
from cranfield.options import VoteTies

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
    form, form_annotator, form_item = _forms(log)
    bad = np.zeros(form_annotator.size, dtype=bool)
    broken: list[BrokenForm] = []
    selected = np.ones(len(log), dtype=bool) if log.kind == "category" else log.selected
    for name, members in groups.items():
        inside, is_present = _in_group(log, name, members)
        if not is_present:
            continue
        picked = inside & selected
        count = np.bincount(form[picked], minlength=form_annotator.size)
        wrong = np.flatnonzero(count != 1)
        bad[wrong] = True
        answers: dict[int, list[str]] = {int(f): [] for f in wrong}
        several = picked & (count > 1)[form]
        names = log.values if log.kind == "category" else log.concepts
        code = log.value if log.kind == "category" else log.concept
        for f, c in zip(form[several].tolist(), code[several].tolist(), strict=True):
            answers[f].append(names[c])
        broken += [
            BrokenForm(
                log.annotators[form_annotator[f]], log.items[form_item[f]], name, tuple(labels)
            )
            for f, labels in answers.items()
        ]
    people = len(log.annotators)
    return Forms(
        log.where(~bad[form]),
        int(form_annotator.size),
        int(bad.sum()),
        tuple(broken),
        np.bincount(form_annotator[bad], minlength=people),
        np.bincount(form_annotator, minlength=people),
        _seconds_per_form(log, form, ~bad),
        _seconds_per_form(log, form, bad),
    )


def question_log(log: JudgementLog, groups: Groups) -> JudgementLog:
    """The exclusive groups of a concept log as questions whose answers are the concepts.

    The log must hold only forms with exactly one answer in a group: `check_forms(...).kept`.
    """
    position = {name: i for i, name in enumerate(log.concepts)}
    positions = {
        name: tuple(position[m] for m in members if m in position)
        for name, members in groups.items()
        if any(m in position for m in members)
    }
    parts = []
    for g, (_, members) in enumerate(positions.items()):
        rows = np.flatnonzero(np.isin(log.concept, members) & log.selected)
        parts.append((rows, np.full(rows.size, g, dtype=np.int32)))
    order = np.concatenate([rows for rows, _ in parts]) if parts else np.empty(0, dtype=np.int64)
    group = np.concatenate([g for _, g in parts]) if parts else np.empty(0, dtype=np.int32)
    return JudgementLog(
        "category",
        log.annotators,
        log.items,
        tuple(positions),
        log.concepts,
        log.annotator[order],
        log.item[order],
        group,
        log.concept[order],
        allowed=tuple(positions.values()),
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


def _seconds_per_form(log: JudgementLog, form: NDArray[np.int64], mask: NDArray[np.bool_]) -> float:
    """The mean time of the forms under a mask: the times of a form's judgements add up."""
    if log.seconds is None or not mask.any():
        return float("nan")
    return float(np.bincount(form, log.seconds, minlength=mask.size)[mask].mean())


@dataclass(frozen=True, eq=False)
class CheckedLog:
    """A log without the forms that break a rule, and the rules of its concepts."""

    log: JudgementLog
    forms: Forms | None = None
    book: RuleBook | None = None

    @classmethod
    def of(cls, log: JudgementLog, rules: Ontology | Rules | None) -> CheckedLog:
        if rules is None:
            return cls(log)
        names = log.values if log.kind == "category" else log.concepts
        book = RuleBook.of(rules, names)
        groups = book.groups()
        if not groups and not (isinstance(rules, Ontology) and set(names) & set(rules.concepts)):
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


# A probability of 0 or 1 may still be wrong when a rule says so.
SURE = 1e-6


@dataclass(frozen=True, eq=False)
class Questions:
    """A concept log whose exclusive groups are asked as one question each.

    `asked` holds the groups, its answers being the concepts of `log`; `rest` all that is in no
    group. `present` and `absent` are the codes of the values that say so.
    """

    log: JudgementLog
    asked: JudgementLog
    rest: JudgementLog
    present: int
    absent: int

    @classmethod
    def of(cls, log: JudgementLog, groups: Groups) -> Questions:
        """The log must hold only forms with exactly one answer in each group."""
        seen: set[str] = set()
        for members in groups.values():
            twice = seen.intersection(members)
            if twice:
                raise UsageError(f"{sorted(twice)[0]!r} stands in two exclusive groups")
            seen.update(members)
        levels = log.levels
        if levels is None or not (levels > 0).any() or not (levels <= 0).any():
            raise UsageError("exclusive groups need a value for absent (0) and one for present")
        frequency = np.bincount(log.value, minlength=levels.size)
        present = int(np.argmax(np.where(levels > 0, frequency, -1)))
        absent = int(np.argmax(np.where(levels <= 0, frequency, -1)))
        inside = np.array([name in seen for name in log.concepts], dtype=bool)
        return cls(log, question_log(log, groups), log.where(~inside[log.concept]), present, absent)

    def gold(self, gold: Gold | None) -> Gold | None:
        """Known answers of the questions, from those of the concepts."""
        levels = self.log.levels
        if gold is None or self.asked.allowed is None or levels is None:
            return None
        answers = np.full((len(self.log.items), len(self.asked.concepts)), -1, dtype=np.int32)
        for g, members in enumerate(self.asked.allowed):
            for c in members:
                answers[(gold[:, c] >= 0) & (levels[gold[:, c]] > 0), g] = c
        return answers

    def joined(
        self, rest: Estimate, questions: Estimate, ties: VoteTies, rng: np.random.Generator
    ) -> JoinedEstimate:
        """The probabilities of all concepts, and the answers that the groups give them."""
        width, values = len(self.log.concepts), len(self.log.values)
        keys = [rest.item * width + rest.concept]
        shares = [rest.probability]
        winners = [np.full(rest.item.size, OPEN)]
        selection = _one_of_each(questions, ties, rng)
        for g, members in enumerate(self.asked.allowed or ()):
            rows = questions.concept == g
            for c in members:
                share = np.zeros((int(rows.sum()), values))
                share[:, self.present] = questions.probability[rows, c]
                share[:, self.absent] = 1 - questions.probability[rows, c]
                keys.append(questions.item[rows] * width + c)
                shares.append(share)
                winners.append(np.where(selection[rows] == c, self.present, self.absent))
        key = np.concatenate(keys)
        order = np.argsort(key, kind="stable")
        probability = np.concatenate(shares)[order]
        estimate = Estimate(
            key[order] // width,
            key[order] % width,
            probability,
            rest.right + questions.right,
            rest.given + questions.given,
            rest.tables + questions.tables,
        )
        tied = int((leaders_of(questions.probability).sum(axis=1) > 1).sum())
        return JoinedEstimate(estimate, np.concatenate(winners)[order], tied)


# The winner of a unit that no group decides.
OPEN = -2


@dataclass(frozen=True, eq=False)
class JoinedEstimate:
    """An estimate of all units; `winner` is OPEN where no group decides it."""

    estimate: Estimate
    winner: NDArray[np.int64]
    tied_groups: int


def _one_of_each(
    questions: Estimate, ties: VoteTies, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Exactly one answer to each question; a tie goes to the answer that is given more often."""
    leading = leaders_of(questions.probability) & (questions.probability > 0)
    if ties in ("lowest", "highest", "random"):
        return break_ties(leading, ties, rng)
    frequent = 1 + questions.probability.sum(axis=0)
    return np.asarray(np.argmax(leading * frequent, axis=1))


def exactly_one(
    estimate: Estimate, ties: VoteTies, rng: np.random.Generator
) -> tuple[NDArray[np.int64], int]:
    """The winners of a category log with groups, of which each has one, and the ties."""
    tied = int((leaders_of(estimate.probability).sum(axis=1) > 1).sum())
    return _one_of_each(estimate, ties, rng), tied


def keep_rules(
    book: RuleBook,
    concepts: Sequence[str],
    estimate: Estimate,
    winner: NDArray[np.int64],
    present: NDArray[np.bool_],
    codes: tuple[int, int],
) -> tuple[NDArray[np.int64], int, int]:
    """Winners that break no rule, how many items had to change, and how many still break one.

    `present` says which values are those of a concept that is there; `codes` are the values
    that a changed concept gets, (absent, present).
    """
    mended = winner.copy()
    selected = present[np.maximum(winner, 0)] & (winner >= 0)
    starts = np.flatnonzero(np.diff(estimate.item, prepend=-1))
    ends = np.append(starts[1:], estimate.item.size)
    chance = estimate.probability[:, present].sum(axis=1)
    changed = hopeless = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        names = [concepts[c] for c in estimate.concept[start:end].tolist()]
        on = {n for n, t in zip(names, selected[start:end].tolist(), strict=True) if t}
        if book.broken(on) is None:
            continue
        nearest = book.nearest(on, dict(zip(names, _odds(chance[start:end]), strict=True)))
        if nearest is None:
            hopeless += 1
            continue
        changed += 1
        for i, name in enumerate(names, start):
            if (name in nearest) != (name in on):
                mended[i] = codes[name in nearest]
    return mended, changed, hopeless


def _odds(chance: Floats) -> list[float]:
    """What it costs to believe the less likely of present and absent."""
    p = np.clip(chance, SURE, 1 - SURE)
    return [float(x) for x in np.abs(np.log(p / (1 - p)))]
