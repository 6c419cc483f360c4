"""Many opinions to one truth: the methods under one roof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.choices import METHODS, TIES, Method, Ties
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
    model_estimate,
    rating_estimate,
    vote_estimate,
)
from cranfield.answers import Answer
from cranfield.data.judgement_log import Codes, Floats, JudgementLog, Kind, levels_of
from cranfield.data.ontology import Ontology, RuleBook, Rules
from cranfield.errors import UsageError, suggest
from cranfield.io.label_csv import UNDECIDED
from cranfield.notes import Notes, Progress, with_progress
from cranfield.validation import Real, Seed, validate_params

# The options that mean something to a method.
TAKES: dict[str, set[str]] = {
    "majority": {"ties"},
    "weighted-majority": {"ties", "weights"},
    "dawid-skene": {"ties", "gold", "share", "prior", "smoothing"},
    "one-coin": {"ties", "gold", "share", "prior"},
    "mace": {"ties", "gold", "share", "prior"},
    "mean": set(),
    "median": set(),
}
VOTES = ("majority", "weighted-majority")
RATINGS = ("mean", "median")


@validate_params
@with_progress
def aggregate_judgements(
    log: JudgementLog,
    method: str = "majority",
    *,
    rules: Ontology | Rules | None = None,
    ties: Ties = "undecided",
    weights: Floats | None = None,
    gold: Gold | None = None,
    share: bool = False,
    prior: float | None = None,
    smoothing: float | None = None,
    iterations: int = 500,
    tolerance: Real = 1e-4,
    rng: Seed | np.random.Generator = 0,
    progress: Progress | Callable[[float], None] | None = None,
) -> Aggregated:
    """One truth out of many judgements.

    Concepts of which `rules` want exactly one are one question with one answer, forms that break
    the rules are left out, and the truth is the most probable one that keeps them. `ties` stay
    "undecided", or go to the "lowest" or "highest" answer, to a "random" one (by `rng`), or the
    unit is left out ("omit"); an exclusive group has an answer in any case.

    `weights` are the annotators' weights of the weighted majority; without them an annotator
    weighs as much as the share of its judgements that equal the plain majority. `gold` has
    known answers (items x concepts, -1 for unknown) that the models keep to. The models fit
    every concept on its own, or with `share` all concepts together with one table of
    confusions per annotator.

    A model takes each annotator for a usual member of the crowd until judgements say otherwise:
    `prior` is the number of judgements that this counts for (None: as calibrated, 0: the
    estimates of the papers). `smoothing` adds judgements to every cell of a dawid-skene table
    instead. The steps end when no probability moves by more than `tolerance`.
    """
    if method not in METHODS:
        raise UsageError(f"no method named {method!r}.{suggest(method, METHODS)}")
    if ties not in TIES:
        raise UsageError(f"no rule for ties named {ties!r}.{suggest(ties, TIES)}")
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
            users = ", ".join(m for m in METHODS if option in TAKES[m])
            raise UsageError(f"the method {method!r} has no use for {option} (only: {users})")
    for name, number in (("prior", prior), ("smoothing", smoothing)):
        if number is not None and not 0 <= number < np.inf:
            raise UsageError(f"{name}={number!r} is not a number from 0 on")
    if gold is not None:
        gold = known_answers(log, gold)
    notes = Notes()
    ruled = CheckedLog.of(log, rules)
    note_log(notes, ruled.log, ruled.forms)
    if method in RATINGS:
        return _rating(ruled, method, notes)
    work = _Work(method, ties, weights, gold, share, prior, smoothing, iterations, tolerance, notes)
    if method == "weighted-majority" and weights is None:
        trust, _ = accuracy_to_majority(ruled.log, vote(ruled.log, ties=ties))
        work.weights = np.nan_to_num(trust, nan=0.0)
    return work.answer(ruled, np.random.default_rng(rng), Progress.of(progress))


@dataclass
class _Work:
    """The options of one aggregation, and the steps that they take."""

    method: Method
    ties: Ties
    weights: Floats | None
    gold: Gold | None
    share: bool
    prior: float | None
    smoothing: float | None
    iterations: int
    tolerance: float
    notes: Notes

    def answer(self, ruled: CheckedLog, rng: np.random.Generator, progress: Progress) -> Aggregated:
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
            if log.allowed is not None:
                winner, tied = exactly_one(estimate, self.ties, rng)
        leading = leaders_of(estimate.probability)
        several = int(((leading.sum(axis=1) > 1) & (winner == OPEN)).sum())
        winner = np.where(winner == OPEN, break_ties(leading, self.ties, rng), winner)
        if book is not None and log.kind == "concept":
            winner = self._mended(log, book, estimate, winner)
        self._note_ties(several, tied, estimate.item.size)
        self._note_fits(estimate, log)
        return _aggregated(
            log, self.method, estimate, winner, several + tied, self.ties, self.notes
        )

    def _estimated(self, log: JudgementLog, gold: Gold | None, progress: Progress) -> Estimate:
        if self.method in VOTES:
            return vote_estimate(log, self.weights, self.ties)
        fitting = Fitting(
            cast(ModelName, self.method),
            self.share and log.allowed is None,
            self.prior,
            self.smoothing,
            self.iterations,
            self.tolerance,
        )
        return model_estimate(log, fitting, gold, self.notes, progress)

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


def _rating(ruled: CheckedLog, method: Method, notes: Notes) -> Aggregated:
    """The mean or the median of numbers."""
    if ruled.book is not None and ruled.book.groups():
        raise UsageError(f"exclusive groups have no {method}; use a method of votes or a model")
    estimate, numbers = rating_estimate(ruled.log, "mean" if method == "mean" else "median")
    winner = np.full(numbers.size, -1)
    return _aggregated(ruled.log, method, estimate, winner, 0, "undecided", notes, numbers)


def _aggregated(
    log: JudgementLog,
    method: Method,
    estimate: Estimate,
    winner: NDArray[np.int64],
    tied: int,
    ties: Ties,
    notes: Notes,
    numbers: Floats | None = None,
) -> Aggregated:
    return Aggregated(
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
        notes=notes.lines(),
    )


@dataclass(frozen=True, repr=False, eq=False)
class Aggregated(Answer):
    """One truth out of a log: for every judged unit the probability of each answer.

    `item`, `concept` and `winner` are codes of `items`, `concepts` and `values`. `winner` is the
    answer taken for true, -1 where a tie stays undecided; `numbers` stands in its place for
    means and medians of ratings. `reliability` is, for each annotator, the expected share of
    judgements that equal the truth.
    """

    command: ClassVar[str] = "aggregate"
    method: Method
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
    tied: Ties
    annotators: tuple[str, ...]
    judgements: NDArray[np.int64]
    reliability: Floats
    tables: tuple[Confusions, ...] = ()

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
            if asks:
                row["concept"] = self.concepts[concept]
            row["value" if asks else "category"] = self.answer(i)
            yield {**row, "probability": shares[i]}

    def soft_rows(self) -> Iterator[dict[str, Any]]:
        """A row for every answer that a unit allows, with its probability."""
        every = tuple(range(len(self.values)))
        asks = self.kind == "concept"
        for i, share in enumerate(self.probability.tolist()):
            row: dict[str, Any] = {"item": self.items[self.item[i]]}
            if asks:
                row["concept"] = self.concepts[self.concept[i]]
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

    def payload(self, **_: Any) -> dict[str, Any]:
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
    """Note forms that were left out, and annotators and units with a single judgement."""
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
