"""Many opinions to one truth: the methods under one roof.

What an adjudicator decided, which stands above votes and models.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.exclusive_labels import (
    OPEN,
    CheckedLog,
    Forms,
    Questions,
    exactly_one,
    keep_rules,
)
from cranfield.agreement.majority import (
    accuracy_to_majority,
    break_ties,
    leaders_of,
    ratio,
    unit_rows,
    vote,
)
from cranfield.agreement.truth_inference import (
    Confusions,
    Estimate,
    Fitting,
    Gold,
    ModelName,
    known_answers,
    mean_estimate,
    model_estimate,
    rating_estimate,
    vote_estimate,
)
from cranfield.answers import Answer
from cranfield.data.judgement_log import Codes, Floats, JudgementLog, Kind, levels_of, number_name
from cranfield.data.ontology import Ontology, RuleBook, Rules
from cranfield.errors import InputError, UsageError, suggest
from cranfield.io.files import FileForm, describe, open_text
from cranfield.io.judgement_log import LogForm, coerce_log
from cranfield.io.labels_csv import UNDECIDED
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import AGGREGATION_METHODS, VOTE_TIES, AggregationMethod, VoteTies
from cranfield.validation import Real, Seed, validate_params

# The options that mean something to a method.
TAKES: dict[str, set[str]] = {
    "majority": {"ties", "prior"},
    "weighted-majority": {"ties", "weights", "prior"},
    "dawid-skene": {"ties", "gold", "share", "prior", "smoothing"},
    "one-coin": {"ties", "gold", "share", "prior"},
    "mace": {"ties", "gold", "share", "prior"},
    "dawid-skene+mace": {"ties", "gold", "share", "prior"},
    "mean": set(),
    "median": set(),
    "auto": {"ties", "gold", "share", "prior"},
}
VOTES = ("majority", "weighted-majority")
RATINGS = ("mean", "median")
# A model that leaves the majority on this share of the units may have settled on a shared bias.
LEAVES_MAJORITY = 0.25
# `auto` needs as many judgements of the median annotator, and opinions per unit, for models.
LEARNS_FROM, OPINIONS = 5.0, 2.0


@validate_params
@with_progress
def aggregate_judgements(
    log: LogForm,
    method: AggregationMethod = "majority",
    *,
    rules: Ontology | Rules | None = None,
    ties: VoteTies = "undecided",
    weights: Floats | None = None,
    gold: Gold | None = None,
    share: bool = False,
    prior: float | None = None,
    smoothing: float | None = None,
    iterations: int = 500,
    tolerance: Real = 1e-4,
    rng: Seed | np.random.Generator = 0,
    progress: Watcher | None = None,
) -> AggregatedTruth:
    """One truth out of many judgements.

    `log` is a JudgementLog, a file of one or an export of an annotation tool, or a data frame:
    annotator, item and category (concept and value), or crowd-kit's worker, task and label.
    Concepts of which `rules` want exactly one are one question with one answer, forms that break
    the rules are left out, and the truth is the most probable one that keeps them. `ties` stay
    "undecided", or go to the "lowest" or "highest" answer, to a "random" one (by `rng`), or the
    unit is left out ("omit"); an exclusive group has an answer in any case.

    `weights` are the annotators' weights of the weighted majority; without them an annotator
    weighs as much as the share of its judgements that equal the plain majority. `gold` has
    known answers (items x concepts, -1 for unknown) that the models keep to. The models fit
    every concept on its own, or with `share` all concepts together with one table of
    confusions per annotator.

    The method "auto" takes the majority where annotators gave too few judgements to learn from,
    and else the mean of dawid-skene and mace; a note says which and why.

    A model takes each annotator for a usual member of the crowd (as the votes show the whole
    crowd to answer) until judgements say otherwise: `prior` is the number of judgements that
    this counts for (None: as calibrated, 0: the estimates of the papers). Of votes it is the
    number that every unit has before, spread evenly (None: 1). `smoothing` adds judgements to
    every cell of a dawid-skene table instead. The steps end when no probability moves by more
    than `tolerance`.
    """
    if method not in AGGREGATION_METHODS:
        raise UsageError(f"no method named {method!r}.{suggest(method, AGGREGATION_METHODS)}")
    if ties not in VOTE_TIES:
        raise UsageError(f"no rule for ties named {ties!r}.{suggest(ties, VOTE_TIES)}")
    options = {
        "ties": ties != "undecided",
        "weights": weights is not None,
        "gold": gold is not None,
        "share": share,
        "prior": prior is not None,
        "smoothing": smoothing is not None,
    }
    for option, is_set in options.items():
        if is_set and option not in TAKES[method]:
            users = ", ".join(m for m in AGGREGATION_METHODS if option in TAKES[m])
            raise UsageError(f"the method {method!r} has no use for {option} (only: {users})")
    for name, number in (("prior", prior), ("smoothing", smoothing)):
        if number is not None and not 0 <= number < np.inf:
            raise UsageError(f"{name}={number!r} is not a number from 0 on")
    log = coerce_log(log)
    if gold is not None:
        gold = known_answers(log, gold)
    notes = Notes()
    ruled = CheckedLog.of(log, rules)
    note_log(notes, ruled.log, ruled.forms)
    if method == "auto":
        method, reason = recommended_method(ruled.log, gold is not None)
        notes.add(reason)
    if method in RATINGS:
        return _rating(ruled, method, notes)
    work = _Work(method, ties, weights, gold, share, prior, smoothing, iterations, tolerance, notes)
    if method == "weighted-majority" and weights is None:
        trust, _ = accuracy_to_majority(ruled.log, vote(ruled.log, ties=ties))
        work.weights = np.nan_to_num(trust, nan=0.0)
    return work.answer(ruled, np.random.default_rng(rng), Progress.of(progress))


def recommended_method(log: JudgementLog, has_gold: bool = False) -> tuple[AggregationMethod, str]:
    """The method for a log, and a sentence that says which and why."""
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    units, _ = unit_rows(log)
    typical = float(np.median(judged[judged > 0])) if len(log) else 0.0
    opinions = len(log) / max(units.size, 1)
    facts = (
        f"the median annotator gave {typical:.0f} judgements and a unit has {opinions:.1f} opinions"
    )
    if not has_gold and (typical < LEARNS_FROM or opinions < OPINIONS):
        return "majority", (
            f"method: majority, because {facts}; models of annotators need "
            f"{LEARNS_FROM:.0f} and {OPINIONS:.0f}"
        )
    return "dawid-skene+mace", (
        f"method: dawid-skene+mace, the mean of their probabilities, because {facts}: enough to "
        "learn how people err, and the two err in different ways"
    )


@dataclass
class _Work:
    """The options of one aggregation, and the steps that they take."""

    method: AggregationMethod
    ties: VoteTies
    weights: Floats | None
    gold: Gold | None
    share: bool
    prior: float | None
    smoothing: float | None
    iterations: int
    tolerance: float
    notes: Notes

    def answer(
        self, ruled: CheckedLog, rng: np.random.Generator, progress: Progress
    ) -> AggregatedTruth:
        log, book = ruled.log, ruled.book
        groups = {} if book is None else book.groups()
        if log.kind == "concept" and groups:
            questions = Questions.of(log, groups)
            joined = questions.joined(
                self._estimated(questions.rest, self.gold, progress.part(0.0, 0.5)),
                self._estimated(
                    questions.asked, questions.gold(self.gold), progress.part(0.5, 1.0)
                ),
                self.ties,
                rng,
            )
            estimate, winner, tied = joined.estimate, joined.winner, joined.tied_groups
        else:
            estimate = self._estimated(log, self.gold, progress)
            winner, tied = np.full(estimate.item.size, OPEN), 0
            # A question that a form asked on its own may stay undecided, unlike a group of rules.
            if log.allowed is not None and not log.names_questions:
                winner, tied = exactly_one(estimate, self.ties, rng)
        leading = leaders_of(estimate.probability)
        several = int(((leading.sum(axis=1) > 1) & (winner == OPEN)).sum())
        winner = np.where(winner == OPEN, break_ties(leading, self.ties, rng), winner)
        if book is not None and log.kind == "concept":
            winner = self._mended(log, book, estimate, winner)
        self._note_ties(several, tied, estimate.item.size)
        self._note_fits(estimate, log)
        self._note_leaving(log, estimate)
        return _aggregated(
            log, self.method, estimate, winner, several + tied, self.ties, self.notes
        )

    def _estimated(self, log: JudgementLog, gold: Gold | None, progress: Progress) -> Estimate:
        if self.method in VOTES:
            return vote_estimate(log, self.weights, self.ties, self.prior)
        models = [cast(ModelName, name) for name in self.method.split("+")]
        fitting = Fitting(
            models[0],
            self.share and log.allowed is None,
            self.prior,
            self.smoothing,
            self.iterations,
            self.tolerance,
        )
        return mean_estimate(
            [
                model_estimate(
                    log,
                    replace(fitting, model=model),
                    gold,
                    self.notes,
                    progress.part(number / len(models), (number + 1) / len(models)),
                )
                for number, model in enumerate(models)
            ]
        )

    def _mended(
        self, log: JudgementLog, book: RuleBook, estimate: Estimate, winner: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        levels = log.levels
        if levels is None:
            return winner
        frequency = np.bincount(log.value, minlength=levels.size)
        present = levels > 0
        codes = (
            int(np.argmax(np.where(~present, frequency, -1))),
            int(np.argmax(np.where(present, frequency, -1))),
        )
        mended, changed, hopeless = keep_rules(book, log.concepts, estimate, winner, present, codes)
        if changed:
            self.notes.add(
                f"the most probable answers on {changed} items break a rule; the most probable "
                "ones that keep all rules are taken"
            )
        if hopeless:
            self.notes.add(f"no answers that keep all rules were found for {hopeless} items")
        return mended

    def _note_ties(self, units: int, groups: int, total: int) -> None:
        if units:
            outcome = {"omit": "are left out", "undecided": "stay undecided"}.get(
                self.ties, f"go to {'a' if self.ties == 'random' else 'the'} {self.ties} answer"
            )
            self.notes.add(f"{units} of {total} units are tied and {outcome}")
        if groups:
            to = (
                f"{'a' if self.ties == 'random' else 'the'} {self.ties} answer"
                if self.ties in ("lowest", "highest", "random")
                else "the answer that is more frequent in the log"
            )
            self.notes.add(f"{groups} exclusive groups are tied and go to {to}")

    def _note_leaving(self, log: JudgementLog, estimate: Estimate) -> None:
        """Say when one coin per annotator contradicts the votes on many units."""
        if self.method != "one-coin" or not estimate.item.size:
            return
        # Units of rules are joined from several questions: their votes are not the log's.
        votes = vote(log)
        if votes.share.shape != estimate.probability.shape:
            return
        leading = leaders_of(votes.share)
        winner = estimate.probability.argmax(axis=1)
        left = ~leading[np.arange(winner.size), winner]
        share = float(left.mean())
        if share >= LEAVES_MAJORITY:
            self.notes.add(
                f"{self.method} leaves the majority on {share:.0%} of the units: it may have "
                "settled on an error that people share; compare with majority and auto, and "
                "check some units by hand (gold=)"
            )

    def _note_fits(self, estimate: Estimate, log: JudgementLog) -> None:
        slow = [t for t in estimate.tables if not t.settled]
        if slow:
            names = ", ".join(t.concept for t in slow[:5])
            self.notes.add(
                f"not settled after {self.iterations} iterations: {names}"
                f"{' ...' if len(slow) > 5 else ''}; {sum(t.moving for t in slow)} units still "
                "move (iterations, tolerance)"
            )
        silent = int(
            np.count_nonzero(np.bincount(log.annotator, minlength=len(log.annotators)) == 0)
        )
        if silent:
            self.notes.add(f"{silent} annotators have no judgement left")


def _rating(ruled: CheckedLog, method: AggregationMethod, notes: Notes) -> AggregatedTruth:
    """The mean or the median of numbers."""
    if ruled.book is not None and ruled.book.groups():
        raise UsageError(f"exclusive groups have no {method}; use a method of votes or a model")
    estimate, numbers = rating_estimate(ruled.log, "mean" if method == "mean" else "median")
    winner = np.full(numbers.size, -1)
    return _aggregated(ruled.log, method, estimate, winner, 0, "undecided", notes, numbers)


def _aggregated(
    log: JudgementLog,
    method: AggregationMethod,
    estimate: Estimate,
    winner: NDArray[np.int64],
    tied: int,
    ties: VoteTies,
    notes: Notes,
    numbers: Floats | None = None,
) -> AggregatedTruth:
    return AggregatedTruth(
        method,
        log.kind,
        log_facts(log),
        log.items,
        log.concepts,
        log.values,
        log.allowed,
        estimate.item,
        estimate.concept,
        estimate.probability,
        winner,
        numbers,
        tied,
        ties,
        log.annotators,
        np.bincount(log.annotator, minlength=len(log.annotators)),
        ratio(estimate.right, estimate.given),
        estimate.tables,
        log.names_questions,
        notes=notes.lines(),
    )


@dataclass(frozen=True, repr=False, eq=False)
class AggregatedTruth(Answer):
    """One truth out of a log: for every judged unit the probability of each answer.

    `item`, `concept` and `winner` are codes of `items`, `concepts` and `values`. `winner` is the
    answer taken for true, -1 where a tie stays undecided; `numbers` stands in its place for
    means and medians of ratings. `reliability` is, for each annotator, the expected share of
    judgements that equal the truth.
    """

    command: ClassVar[str] = "aggregate"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:aggregation_document"
    method: AggregationMethod
    kind: Kind
    log: Mapping[str, int]
    items: tuple[str, ...]
    concepts: tuple[str, ...]
    values: tuple[str, ...]
    allowed: tuple[tuple[int, ...], ...] | None
    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    probability: Floats
    winner: NDArray[np.int64]
    numbers: Floats | None
    ties: int
    tied: VoteTies
    annotators: tuple[str, ...]
    judgements: NDArray[np.int64]
    reliability: Floats
    tables: tuple[Confusions, ...] = ()
    names_questions: bool = False

    @property
    def winning_probability(self) -> Floats:
        """The probability of each unit's answer; of one of the leaders where it is undecided."""
        if self.numbers is not None:
            return np.full(self.winner.size, np.nan)
        rows = np.arange(self.winner.size)
        probability = self.probability[rows, np.maximum(self.winner, 0)]
        return np.where(self.winner >= 0, probability, self.probability.max(axis=1, initial=0.0))

    def answer(self, unit: int) -> str | float:
        """What is taken for true on a unit: an answer, a number, or 'undecided'."""
        if self.numbers is not None:
            return float(self.numbers[unit])
        code = int(self.winner[unit])
        return self.values[code] if code >= 0 else UNDECIDED

    def rows(self) -> Iterator[dict[str, Any]]:
        """The truth unit by unit; ties that are omitted are left out."""
        shares = self.winning_probability.tolist()
        asks = self.kind == "concept"
        for i, (item, concept) in enumerate(
            zip(self.item.tolist(), self.concept.tolist(), strict=True)
        ):
            if self.tied == "omit" and self.winner[i] < 0 and self.numbers is None:
                continue
            row: dict[str, Any] = {"item": self.items[item]}
            if asks or self.names_questions:
                row["concept" if asks else "question"] = self.concepts[concept]
            row["value" if asks else "category"] = self.answer(i)
            yield {**row, "probability": shares[i]}

    def soft_rows(self) -> Iterator[dict[str, Any]]:
        """A row for every answer that a unit allows, with its probability."""
        every = tuple(range(len(self.values)))
        asks = self.kind == "concept"
        for i, share in enumerate(self.probability.tolist()):
            row: dict[str, Any] = {"item": self.items[self.item[i]]}
            if asks or self.names_questions:
                row["concept" if asks else "question"] = self.concepts[self.concept[i]]
            for v in every if self.allowed is None else self.allowed[self.concept[i]]:
                yield {
                    **row,
                    "value" if asks else "category": self.values[v],
                    "probability": share[v],
                }

    def confidences(self) -> Iterator[dict[str, Any]]:
        """item, concept and the probability that the concept is present."""
        levels = levels_of(self.values)
        if self.kind != "concept" or levels is None:
            raise UsageError("confidences need a log with annotator,item,concept,value")
        present = self.probability[:, levels > 0].sum(axis=1).tolist()
        for i, (item, concept) in enumerate(
            zip(self.item.tolist(), self.concept.tolist(), strict=True)
        ):
            yield {
                "item": self.items[item],
                "concept": self.concepts[concept],
                "value": present[i],
            }

    def people(self) -> list[dict[str, Any]]:
        """Every annotator who judged, with the number of judgements and the reliability."""
        return [
            {
                "annotator": name,
                "judgements": int(self.judgements[a]),
                "reliability": float(self.reliability[a]),
            }
            for a, name in enumerate(self.annotators)
            if self.judgements[a]
        ]

    def confusion(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Rows (annotator, concept, true answer, answer, probability), of answers given."""
        if not self.tables:
            raise UsageError(f"the method {self.method!r} estimates no confusions")
        for table in self.tables:
            for annotator, answer, row in zip(
                table.annotator.tolist(),
                table.answer.tolist(),
                table.probability.tolist(),
                strict=True,
            ):
                for true, p in zip(table.answers, row, strict=True):
                    name = self.annotators[annotator]
                    yield name, table.concept, true, table.answers[answer], p

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "method": self.method,
            "log": dict(self.log),
            "ties": self.ties,
            "truth": list(self.rows()),
            "annotators": self.people(),
        }

    def headline(self) -> str:
        return (
            f"{self.item.size} units of {self.log['items']} items by {self.method} out of "
            f"{self.log['judgements']} judgements, {self.ties} tied"
        )


def log_facts(log: JudgementLog) -> dict[str, int]:
    """The size of a log, for the head of an answer."""
    facts = {
        "judgements": len(log),
        "annotators": _distinct(log.annotator),
        "items": _distinct(log.item),
    }
    if log.kind == "concept" or log.allowed is not None:
        facts["concepts"] = _distinct(log.concept)
    return facts


def _distinct(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def note_log(notes: Notes, log: JudgementLog, forms: Forms | None) -> None:
    """Note what was not read or left out, and annotators and units with a single judgement."""
    notes.extend(log.notes)
    if forms is not None and forms.rejected:
        notes.add(
            f"{forms.rejected} of {forms.total} forms break a rule and are left out "
            f"(such as {forms.broken[0].annotator!r} on {forms.broken[0].item!r}: "
            f"{forms.broken[0].reason})"
        )
    judged = np.bincount(log.annotator, minlength=len(log.annotators))
    lonely = np.flatnonzero(judged == 1)
    if lonely.size:
        notes.add(
            f"{lonely.size} annotator{'s' * (lonely.size > 1)} with a single judgement, "
            f"such as {log.annotators[lonely[0]]!r}"
        )
    units, row = unit_rows(log)
    single = int(np.count_nonzero(np.bincount(row, minlength=units.size) == 1))
    if single:
        notes.add(f"{single} of {units.size} units have a single judgement: no pair to agree")


@dataclass(frozen=True, slots=True)
class Decision:
    """What an adjudicator decided about a concept of an item, and why."""

    item: str
    concept: str
    value: str
    reason: str = ""


def adjudicated(truth: AggregatedTruth, decisions: Sequence[Decision]) -> AggregatedTruth:
    """A truth with what was decided in place of what was estimated."""
    unit_of = {
        (truth.items[i], truth.concepts[c]): u
        for u, (i, c) in enumerate(zip(truth.item.tolist(), truth.concept.tolist(), strict=True))
    }
    winner, probability = truth.winner.copy(), truth.probability.copy()
    means = None if truth.numbers is None else truth.numbers.copy()
    for decision in decisions:
        unit = unit_of.get((decision.item, decision.concept))
        if unit is None:
            raise UsageError(f"no annotator judged {decision.concept!r} of item {decision.item!r}")
        if means is not None:
            means[unit] = _number(decision, truth.method)
            continue
        if decision.value not in truth.values:
            raise UsageError(
                f"{decision.value!r} is no answer to {decision.concept!r}."
                f"{suggest(decision.value, truth.values)}"
            )
        winner[unit] = truth.values.index(decision.value)
        probability[unit] = 0.0
        probability[unit, winner[unit]] = 1.0
    note = f"{len(decisions)} of {len(unit_of)} units are as an adjudicator decided"
    return replace(
        truth,
        winner=winner,
        probability=probability,
        numbers=means,
        ties=int(np.count_nonzero(winner < 0)) if truth.method not in RATINGS else truth.ties,
        notes=(*truth.notes, note),
    )


def _number(decision: Decision, method: str) -> float:
    try:
        return float(decision.value)
    except ValueError:
        raise UsageError(f"{decision.value!r} is not a number, as a {method} needs") from None


def read_decisions(path: FileForm) -> tuple[Decision, ...]:
    """Decisions from CSV item,concept,value[,reason]."""
    source = describe(path)
    with open_text(path) as stream:
        rows = csv.DictReader(stream)
        if not {"item", "concept", "value"} <= set(rows.fieldnames or ()):
            raise InputError.single(source, "expected a header: item,concept,value[,reason]", 1)
        decisions: dict[tuple[str, str], Decision] = {}
        for row in rows:
            item, concept, value = ((row[n] or "").strip() for n in ("item", "concept", "value"))
            if not item or not concept or not value:
                raise InputError.single(source, "item, concept or value is empty", rows.line_num)
            if (item, concept) in decisions:
                raise InputError.single(
                    source, f"{concept!r} of item {item!r} is decided twice", rows.line_num
                )
            reason = (row.get("reason") or "").strip()
            decisions[item, concept] = Decision(item, concept, number_name(value), reason)
    return tuple(decisions.values())
