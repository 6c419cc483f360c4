"""Blind questionnaires on concept sets: which of two annotations of an item do people prefer?

After the thesis, 9.5 (Tables 9.4 and 9.5). Every question shows an item, its true concepts, and
what two runs make of it, as Set 1 and Set 2 in an order that is shuffled anew for each question.
A set is what the measures score: the labels that a run decided for, or, for measures of ranked
concepts, the |Y| best of them. Items are drawn from those on which the sets differ, at least one
measure prefers a run, and the measures in `alike` do not (in the thesis R-precision, so that only
its semantic form tells the sets apart).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.campaign.questionnaire import Questionnaire
from cranfield.campaign.surveys.kinds import WITH_COSTS, WITHOUT_COSTS
from cranfield.data.alignment import align
from cranfield.data.defaults import DEFAULT_THRESHOLD
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_counts
from cranfield.evaluation.label_inputs import checked_truth
from cranfield.evaluation.labels import evaluate_labels
from cranfield.io.annotations import name_annotations, read_annotation, read_truth
from cranfield.io.ontology import read_ontology
from cranfield.measures import Measure
from cranfield.measures.labels.registry import parse_label_measures
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator
from cranfield.work.serialisation import numbers

_STREAM = 42
_SAME = 1e-12


@validate_params
def make_concept_survey(
    truth: Any,
    runs: Any,
    measures: str | Sequence[str | Measure] | None = None,
    *,
    alike: str | Sequence[str | Measure] = (),
    ontology: Any = None,
    rules: Any = None,
    costmap: Any = None,
    agreement: Any = None,
    concepts: Any = None,
    threshold: Any = None,
    unlisted: str | None = None,
    questions: int = 10,
    rng: Seed = 0,
) -> Questionnaire:
    """Questions about two runs, under measures of single items.

    The measures read decisions, or all of them ranked concepts. `alike` names measures that
    must not tell the runs apart. The rest is as in `cranfield.evaluate_labels`; `concepts` and
    `threshold` are names of concepts and the confidence from which one counts as predicted.
    """
    named = name_annotations(runs)
    if len(named) != 2:
        raise UsageError(f"a survey of concept sets compares two annotations, not {len(named)}")
    check_counts(questions=questions)
    if measures is None:
        measures = WITHOUT_COSTS if ontology is None and not costmap else WITH_COSTS
    asked, equal = parse_label_measures(measures), parse_label_measures(alike) if len(alike) else ()
    ranked = _read_ranks((*asked, *equal))
    known = read_ontology(ontology, rules=rules) if isinstance(ontology, str | Path) else ontology
    true = checked_truth(read_truth(truth, concepts=concepts), known)
    read = {
        name: read_annotation(source, name, concepts=concepts, threshold=threshold)
        for name, source in named
    }
    both = tuple(dict.fromkeys((*asked, *equal)))
    scores = evaluate_labels(
        true,
        read,
        both,
        ontology=known,
        costmap=costmap,
        agreement=agreement,
        unlisted=unlisted,
        jobs=1,
    )
    sets = [_sets(align(run, true).run, true, ranked) for run in read.values()]
    drawn = _Drawn(true, tuple(read), sets, {m: scores.values[m] for m in both})
    return drawn.asked(asked, equal, questions, rng, scores.notes)


def _read_ranks(measures: Sequence[Measure]) -> bool:
    """Whether the measures read ranked concepts; an error where they are not of one mind."""
    for measure in measures:
        plan: Any = measure.plan(measure)
        if plan.unit != "item" or plan.total is not None:
            raise UsageError(f"{measure} is no mean over items; a survey needs measures of items")
    of_ranks = {m: bool(m.plan(m).ranked) for m in measures}
    if len(set(of_ranks.values())) > 1:
        one, other = (next(m for m in measures if of_ranks[m] is r) for r in (True, False))
        raise UsageError(
            f"{one} scores the best ranked concepts of an item and {other} the labels that a run "
            "decided for; a question shows one of these sets, so ask about each in its own survey"
        )
    return next(iter(of_ranks.values()))


def _sets(run: LabelMatrix, truth: LabelMatrix, ranked: bool) -> NDArray[np.bool_]:
    """What measures score: the |Y| best concepts of every item, or those decided for."""
    if not ranked:
        return np.asarray(dense(run.with_threshold(DEFAULT_THRESHOLD).labels), dtype=bool)
    sure = np.asarray(dense(run.labels if run.confidences is None else run.confidences), float)
    # Equal confidences: in the order of the vocabulary, as the measures take them.
    places = np.argsort(np.argsort(-sure, axis=1, kind="stable"), axis=1, kind="stable")
    best: NDArray[np.bool_] = places < dense(truth.labels).sum(axis=1)[:, None]
    return best


class _Drawn:
    """The items of a truth, what two runs make of them, and the scores for it."""

    def __init__(
        self,
        truth: LabelMatrix,
        runs: tuple[str, ...],
        sets: Sequence[NDArray[np.bool_]],
        scores: dict[Measure, NDArray[np.float64]],
    ) -> None:
        self.truth, self.runs, self.sets, self.scores = truth, runs, sets, scores
        self.true = dense(truth.labels)

    def asked(
        self,
        measures: Sequence[Measure],
        alike: Sequence[Measure],
        questions: int,
        seed: int,
        notes: tuple[str, ...],
    ) -> Questionnaire:
        """As many questions as wanted, each about another item."""
        chosen = self._worth_asking(measures, alike)
        if chosen.size < questions:
            raise UsageError(
                f"the runs differ on {chosen.size} items in a way that a measure sees"
                + (f" and {', '.join(map(str, alike))} does not" if alike else "")
                + "; ask at most that many questions"
            )
        draw = generator(seed, _STREAM)
        entries, key, given = [], {}, {}
        for number, item in enumerate(draw.choice(chosen, questions, replace=False), 1):
            order = {f"Set {s}": int(k) for s, k in enumerate(draw.permutation(2), 1)}
            entries.append(self._entry(number, int(item), order))
            key[str(number)] = {shown: self.runs[k] for shown, k in order.items()}
            given[str(number)] = {str(m): numbers(self.scores[m][:, item]) for m in measures}
        hidden = {
            "measures": [str(m) for m in measures],
            "runs": list(self.runs),
            "key": key,
            "scores": given,
            "less_is_better": [str(m) for m in measures if m.higher_is_better is False],
            "seed": seed,
        }
        return Questionnaire({"questions": entries}, hidden, notes)

    def _worth_asking(
        self, measures: Sequence[Measure], alike: Sequence[Measure]
    ) -> NDArray[np.int64]:
        gaps = {m: np.abs(values[0] - values[1]) for m, values in self.scores.items()}
        told = np.any([gaps[m] > _SAME for m in measures], axis=0)
        level = np.all([gaps[m] <= _SAME for m in alike], axis=0) if alike else True
        return np.flatnonzero((self.sets[0] != self.sets[1]).any(axis=1) & told & level)

    def _entry(self, number: int, item: int, order: dict[str, int]) -> dict[str, Any]:
        true = self.true[item]
        return {
            "question": number,
            "item": self.truth.items[item],
            "true": self._names(true),
            "sets": {
                shown: {
                    "right": self._names(self.sets[k][item] & true),
                    "wrong": self._names(self.sets[k][item] & ~true),
                    "missed": self._names(true & ~self.sets[k][item]),
                }
                for shown, k in order.items()
            },
        }

    def _names(self, row: NDArray[np.bool_]) -> list[str]:
        return [self.truth.concepts[int(k)] for k in np.flatnonzero(row)]
