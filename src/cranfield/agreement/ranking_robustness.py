"""Does it matter whose truth is used? Systems ranked by each truth, and the rankings compared.

Thesis 6.3.2, 6.4.2 and 6.4.4: the same runs are evaluated against the truth of each annotator
and against merged truths; a high rank correlation says that the choice of the annotator does
not change which system is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.majority import merged_log
from cranfield.answers import Answer
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.stats.correlation import concordant, kendall, kolmogorov_smirnov
from cranfield.validation import validate_params

MERGED = "merged"


@dataclass(frozen=True, slots=True)
class RankingPair:
    """The rankings of the systems by two truths under one measure."""

    a: str
    b: str
    systems: int
    kendall: float
    distance: float
    p: float

    @property
    def concordant(self) -> bool | None:
        return concordant(self.p, self.systems)


@dataclass(frozen=True, eq=False)
class Rankings:
    """One measure: `scores` has a row per truth and a column per run."""

    measure: str
    truths: tuple[str, ...]
    runs: tuple[str, ...]
    scores: Floats
    pairs: tuple[RankingPair, ...]

    def mean_kendall(self, truth: str | None = None) -> float:
        """The mean correlation of all pairs, or of those with one truth."""
        defined = [
            p.kendall
            for p in self.pairs
            if not math.isnan(p.kendall) and (truth is None or truth in (p.a, p.b))
        ]
        return sum(defined) / len(defined) if defined else math.nan

    def to_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "mean_kendall": self.mean_kendall(),
            "truths": [
                {
                    "truth": truth,
                    "mean_kendall": self.mean_kendall(truth),
                    "scores": dict(zip(self.runs, self.scores[i].tolist(), strict=True)),
                }
                for i, truth in enumerate(self.truths)
            ],
            "pairs": [
                {
                    "a": p.a,
                    "b": p.b,
                    "systems": p.systems,
                    "kendall": p.kendall,
                    "kolmogorov_smirnov": p.distance,
                    "p": p.p,
                    "concordant": p.concordant,
                }
                for p in self.pairs
            ],
        }


@dataclass(frozen=True, repr=False, eq=False)
class SystemsStudy(Answer):
    """Rankings under every measure, and the annotators who judged too little for a truth."""

    command: ClassVar[str] = "agreement"
    table_maker: ClassVar[str] = "cranfield.report.tables.agreement:systems_document"
    rankings: tuple[Rankings, ...]
    without_truth: tuple[str, ...]

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "systems": {
                "without_truth": list(self.without_truth),
                "measures": [r.to_dict() for r in self.rankings],
            }
        }

    def headline(self) -> str:
        taus = ", ".join(f"{r.measure} {r.mean_kendall():.4f}" for r in self.rankings)
        return f"mean Kendall's tau between truths: {taus}"


def truths_of(
    log: JudgementLog, *, coverage: float = 0.5
) -> tuple[dict[str, LabelMatrix], tuple[str, ...]]:
    """The truth of each annotator over the items that one judged.

    A concept that an annotator did not select is absent. Who judged less than `coverage` of
    the items has no truth of its own; these names come second.
    """
    truths: dict[str, LabelMatrix] = {}
    without: list[str] = []
    total = np.unique(log.item).size
    for code, name in enumerate(log.annotators):
        judgements = log.where(log.annotator == code)
        items = np.unique(judgements.item)
        if items.size == 0:
            continue
        if items.size < coverage * total:
            without.append(name)
            continue
        truths[name] = _label_matrix(judgements, items, name)
    return truths, tuple(without)


def _label_matrix(log: JudgementLog, items: NDArray[np.int32], name: str) -> LabelMatrix:
    row = np.searchsorted(items, log.item)
    if log.kind == "category":
        concepts, column = log.values, log.value
        selected = np.ones(len(log), dtype=bool)
    else:
        concepts, column, selected = log.concepts, log.concept, log.selected
    labels = np.zeros((items.size, len(concepts)), dtype=bool)
    labels[row[selected], column[selected]] = True
    return LabelMatrix(
        tuple(log.items[i] for i in items.tolist()), concepts, labels=labels, name=name
    )


@validate_params
@with_progress
def compare_rankings(
    log: JudgementLog,
    runs: Sequence[LabelMatrix],
    measures: str,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    coverage: float = 0.5,
    ontology: Any = None,
    costmap: Any = None,
    agreement: Any = None,
    progress: Watcher | None = None,
) -> SystemsStudy:
    """Rank the runs by every truth and correlate the rankings.

    The truths are those of the annotators, and the majority of each group of annotators, or
    of all of them under the name "merged".
    """
    from cranfield.evaluation.labels import evaluate_labels

    if len(runs) < 3:
        raise UsageError(f"{len(runs)} runs make no ranking to correlate; give at least three")
    truths, without = truths_of(log, coverage=coverage)
    panels = groups or {MERGED: log.annotators}
    for name in panels:
        if name in truths:
            raise UsageError(f"a group and an annotator are both named {name!r}")
    truths |= truths_of(merged_log(log, panels), coverage=0.0)[0]
    if len(truths) < 2:
        raise UsageError("fewer than two truths to compare")
    tables: dict[str, list[Floats]] = {}
    signs: dict[str, float] = {}
    notes, watcher = Notes(), Progress.of(progress)
    for number, (name, truth) in enumerate(truths.items()):
        scores = evaluate_labels(
            truth,
            [_trimmed(run, truth) for run in runs],
            measures,
            ontology=ontology,
            costmap=costmap,
            agreement=agreement,
            keep=False,
        )
        for note in scores.notes:
            notes.add(note, about=name)
        for measure in scores.measures:
            tables.setdefault(str(measure), []).append(scores.overall[measure])
            signs[str(measure)] = -1.0 if measure.higher_is_better is False else 1.0
        watcher((number + 1) / len(truths))
    names = tuple(run.name for run in runs)
    rankings = tuple(
        _rankings(measure, tuple(truths), names, np.stack(rows), signs[measure])
        for measure, rows in tables.items()
    )
    if without:
        notes.add(
            f"{len(without)} annotators judged too few items for a truth of their own "
            f"(coverage {coverage:g}), such as {without[0]!r}"
        )
    return SystemsStudy(rankings, without, notes=notes.lines("truth"))


def _trimmed(run: LabelMatrix, truth: LabelMatrix) -> LabelMatrix:
    """A run cut down to the items of a truth, which are fewer where an annotator skipped some."""
    judged = set(truth.items)
    rows = [i for i, item in enumerate(run.items) if item in judged]
    if len(rows) == len(run.items):
        return run
    return run.map(lambda matrix: matrix[rows], items=tuple(run.items[i] for i in rows))


def _rankings(
    measure: str, truths: tuple[str, ...], runs: tuple[str, ...], scores: Floats, sign: float
) -> Rankings:
    pairs = []
    for i, j in combinations(range(len(truths)), 2):
        # A system without a score under one of the truths has no place in that ranking.
        ranked = ~np.isnan(scores[i]) & ~np.isnan(scores[j])
        x, y = sign * scores[i][ranked], sign * scores[j][ranked]
        tau, distance = kendall(x, y), kolmogorov_smirnov(x, y)
        pairs.append(
            RankingPair(
                truths[i], truths[j], int(ranked.sum()), tau.value, distance.value, distance.p
            )
        )
    return Rankings(measure, truths, runs, scores, tuple(pairs))
