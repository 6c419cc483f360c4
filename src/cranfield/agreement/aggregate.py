"""Many opinions to one truth: the methods under one roof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement._arrays import ratio, row_max, row_sum
from cranfield.agreement._em import Fit, Integers, Maximise, Voices, expectation_maximisation
from cranfield.agreement.dawid_skene import dawid_skene
from cranfield.agreement.mace import mace
from cranfield.agreement.majority import CLOSE, Ties, Votes, accuracy_to_majority, unit_rows, vote
from cranfield.agreement.one_coin import one_coin
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.errors import UsageError, suggest

Method: TypeAlias = Literal["majority", "weighted-majority", "dawid-skene", "one-coin", "mace"]
METHODS: tuple[Method, ...] = ("majority", "weighted-majority", "dawid-skene", "one-coin", "mace")
Progress: TypeAlias = Callable[[float], None]
Fitter: TypeAlias = Callable[[Voices, Floats, Integers | None, Progress | None], Fit]
# The options that mean something to a method.
TAKES = {
    "majority": {"ties"},
    "weighted-majority": {"ties", "weights"},
    "dawid-skene": {"gold", "share", "smoothing"},
    "one-coin": {"gold", "share"},
    "mace": {"gold", "share"},
}


@dataclass(frozen=True, eq=False)
class Aggregated:
    """One truth out of a log: for every judged unit the probability of each answer.

    `winner` is the answer taken for true, -1 where a tie is omitted. `reliability` is, for each
    annotator, the expected share of judgements that equal the truth; `confusion` yields the
    probabilities of an annotator's answers by true answer where the method estimates them.
    """

    log: JudgementLog
    method: Method
    item: NDArray[np.int64]
    concept: NDArray[np.int64]
    probability: Floats
    winner: NDArray[np.int64]
    ties: int
    judgements: NDArray[np.int64]
    reliability: Floats
    fits: tuple[tuple[str, tuple[str, ...], Fit], ...] = ()

    @property
    def winning_probability(self) -> Floats:
        """The probability of each unit's winner (NaN where a tie is omitted)."""
        rows = np.arange(self.winner.size)
        return np.where(self.winner >= 0, self.probability[rows, self.winner], np.nan)

    def confusion(self) -> Iterator[tuple[str, str, str, str, float]]:
        """Rows (annotator, concept, true answer, answer, probability), of answers given."""
        for concept, answers, fit in self.fits:
            speakers = zip(fit.voices.annotator, fit.voices.answer, fit.probability, strict=True)
            for annotator, answer, row in speakers:
                for true, p in zip(answers, row.tolist(), strict=True):
                    yield self.log.annotators[annotator], concept, true, answers[answer], p


def aggregate_judgements(
    log: JudgementLog,
    method: str = "majority",
    *,
    ties: Ties = "lowest",
    weights: Floats | None = None,
    gold: NDArray[np.int32] | None = None,
    share: bool = False,
    smoothing: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-6,
    progress: Progress | None = None,
) -> Aggregated:
    """One truth out of many judgements.

    `weights` are the annotators' weights of the weighted majority; without them an annotator
    weighs as much as the share of its judgements that equal the plain majority. `gold` has
    known answers (items x concepts, -1 for unknown) that the models keep to. The models fit
    every concept on its own, or with `share` all concepts together with one table of
    confusions per annotator.
    """
    if method not in METHODS:
        raise UsageError(f"no method named {method!r}.{suggest(method, METHODS)}")
    given = {
        "ties": ties != "lowest",
        "weights": weights is not None,
        "gold": gold is not None,
        "share": share,
        "smoothing": smoothing != 0,
    }
    for option, is_given in given.items():
        if is_given and option not in TAKES[method]:
            users = ", ".join(m for m in METHODS if option in TAKES[m])
            raise UsageError(f"the method {method!r} has no use for {option} (only: {users})")
    if method in ("majority", "weighted-majority"):
        return _voted(log, method, ties, weights)
    maximise: Maximise = {
        "dawid-skene": dawid_skene(smoothing),
        "one-coin": one_coin,
        "mace": mace,
    }[method]

    def fit(voices: Voices, start: Floats, known: Integers | None, report: Progress | None) -> Fit:
        return expectation_maximisation(
            voices,
            start,
            maximise,
            known=known,
            learn_prior=method != "mace",
            iterations=iterations,
            tolerance=tolerance,
            progress=report,
        )

    return _modelled(log, method, fit, gold, share, progress)


def _voted(log: JudgementLog, method: Method, ties: Ties, weights: Floats | None) -> Aggregated:
    votes = vote(log, ties=ties)
    if method == "weighted-majority":
        if weights is None:
            trust, _ = accuracy_to_majority(log, votes)
            weights = np.nan_to_num(trust, nan=0.0)
        votes = vote(log, weights=weights, ties=ties)
    reliability, judgements = accuracy_to_majority(log, votes)
    return Aggregated(
        log,
        method,
        votes.item,
        votes.concept,
        votes.share,
        votes.winner,
        int(votes.tied.sum()),
        judgements,
        reliability,
    )


def _modelled(
    log: JudgementLog,
    method: Method,
    fit: Fitter,
    gold: NDArray[np.int32] | None,
    share: bool,
    progress: Progress | None,
) -> Aggregated:
    votes = vote(log)
    units, row = unit_rows(log)
    people = len(log.annotators)
    posterior = np.zeros_like(votes.share)
    hits = np.zeros(people)
    fits: list[tuple[str, tuple[str, ...], Fit]] = []
    parts = _parts(log, votes, row, share)
    for done, (name, chosen, judged, answers) in enumerate(parts):
        place = np.full(len(log.values) + 1, -1, dtype=np.int64)
        place[answers] = np.arange(answers.size)
        voices = Voices.of(
            log.annotator[judged],
            (np.cumsum(chosen) - 1)[row[judged]],
            place[log.value[judged]],
            annotators=people,
            units=int(chosen.sum()),
            answers=answers.size,
        )
        # The last place stands for -1, the code of an unknown answer.
        known = None if gold is None else place[gold.ravel()[units[chosen]]]
        report = None if progress is None else _scaled(progress, done, len(parts))
        found = fit(voices, votes.share[np.ix_(chosen, answers)], known, report)
        posterior[np.ix_(chosen, answers)] = found.posterior
        hits += voices.per_annotator(voices.hits(found.expected))
        fits.append((name, tuple(log.values[a] for a in answers), found))
    judgements = np.bincount(log.annotator, minlength=people)
    leading = posterior >= row_max(posterior)[:, None] - CLOSE
    tied = int((row_sum(leading) > 1).sum())
    return Aggregated(
        log,
        method,
        votes.item,
        votes.concept,
        posterior,
        posterior.argmax(axis=1),
        tied,
        judgements,
        ratio(hits, judgements),
        tuple(fits),
    )


Part: TypeAlias = tuple[str, NDArray[np.bool_], NDArray[np.bool_], Integers]


def _parts(log: JudgementLog, votes: Votes, row: NDArray[np.int64], share: bool) -> list[Part]:
    """What is fitted together: (name, its units, its judgements, the answers it allows)."""
    if share or len(log.concepts) == 1:
        if log.allowed is not None and len(log.concepts) > 1:
            raise UsageError("groups of different categories cannot share confusions")
        every = np.array(log.answers_of(0), dtype=np.int64)
        everything = np.ones(votes.item.size, dtype=bool), np.ones(row.size, dtype=bool)
        return [(log.concepts[0] if len(log.concepts) == 1 else "all", *everything, every)]
    present = np.bincount(log.concept, minlength=len(log.concepts)) > 0
    return [
        (name, votes.concept == c, log.concept == c, np.array(log.answers_of(c), dtype=np.int64))
        for c, name in enumerate(log.concepts)
        if present[c]
    ]


def _scaled(progress: Progress, done: int, total: int) -> Progress:
    return lambda fraction: progress((done + fraction) / total)
