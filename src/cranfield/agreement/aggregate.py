"""Many opinions to one truth: the methods under one roof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio
from cranfield.agreement.aggregated import Aggregated
from cranfield.agreement.choices import METHODS, TIES, Method, Ties
from cranfield.agreement.estimate import Estimate, Fitting, Gold, modelled, rated, voted
from cranfield.agreement.exclusive import Ruled
from cranfield.agreement.facts import log_facts, note_log
from cranfield.agreement.majority import accuracy_to_majority, decided, leaders_of, vote
from cranfield.agreement.priors import ModelName
from cranfield.agreement.ruled import OPEN, Questions, exactly_one, keep_rules
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.data.ontology import Ontology, Rules
from cranfield.data.rulebook import RuleBook
from cranfield.errors import UsageError, door, suggest
from cranfield.notes import Notes, Progress

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


@door
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
    tolerance: float = 1e-4,
    rng: np.random.Generator | int = 0,
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

    A model takes everybody for a usual member of the crowd until judgements say otherwise:
    `prior` is the number of judgements that this counts for (None: as calibrated, 0: the
    estimates of the papers). `smoothing` adds judgements to every cell of a dawid-skene table
    instead. The steps end when no probability moves by more than `tolerance`.
    """
    if method not in METHODS:
        raise UsageError(f"no method named {method!r}.{suggest(method, METHODS)}")
    if ties not in TIES:
        raise UsageError(f"no rule for ties named {ties!r}.{suggest(ties, TIES)}")
    given = {
        "ties": ties != "undecided",
        "weights": weights is not None,
        "gold": gold is not None,
        "share": share,
        "prior": prior is not None,
        "smoothing": smoothing is not None,
    }
    for option, is_given in given.items():
        if is_given and option not in TAKES[method]:
            users = ", ".join(m for m in METHODS if option in TAKES[m])
            raise UsageError(f"the method {method!r} has no use for {option} (only: {users})")
    for name, number in (("prior", prior), ("smoothing", smoothing)):
        if number is not None and not 0 <= number < np.inf:
            raise UsageError(f"{name}={number!r} is not a number from 0 on")
    notes = Notes()
    ruled = Ruled.of(log, rules)
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

    def answer(self, ruled: Ruled, rng: np.random.Generator, progress: Progress) -> Aggregated:
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
        winner = np.where(winner == OPEN, decided(leading, self.ties, rng), winner)
        if book is not None and log.kind == "concept":
            winner = self._mended(log, book, estimate, winner)
        self._note_ties(several, tied, estimate.item.size)
        self._note_fits(estimate, log)
        return _aggregated(
            log, self.method, estimate, winner, several + tied, self.ties, self.notes
        )

    def _estimated(self, log: JudgementLog, gold: Gold | None, progress: Progress) -> Estimate:
        if self.method in VOTES:
            return voted(log, self.weights, self.ties)
        fitting = Fitting(
            cast(ModelName, self.method),
            self.share and log.allowed is None,
            self.prior,
            self.smoothing,
            self.iterations,
            self.tolerance,
        )
        return modelled(log, fitting, gold, self.notes, progress)

    def _mended(
        self, log: JudgementLog, book: RuleBook, estimate: Estimate, winner: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        levels = log.levels
        if levels is None:
            return winner
        used = np.bincount(log.value, minlength=levels.size)
        present = levels > 0
        codes = (
            int(np.argmax(np.where(~present, used, -1))),
            int(np.argmax(np.where(present, used, -1))),
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
            what = {"omit": "are left out", "undecided": "stay undecided"}.get(
                self.ties, f"go to {'a' if self.ties == 'random' else 'the'} {self.ties} answer"
            )
            self.notes.add(f"{units} of {total} units are tied and {what}")
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


def _rating(ruled: Ruled, method: Method, notes: Notes) -> Aggregated:
    """The mean or the median of numbers."""
    if ruled.book is not None and ruled.book.groups():
        raise UsageError(f"exclusive groups have no {method}; use a method of votes or a model")
    estimate, numbers = rated(ruled.log, "mean" if method == "mean" else "median")
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
