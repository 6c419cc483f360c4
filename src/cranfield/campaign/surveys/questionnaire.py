"""Blind questionnaires: which measure orders ranked lists as people would?

After Chatzichristofis et al., section 5.3. Every question shows some ranked lists, given as the
ranks of their relevant items, and how each measure orders them. The measures are called Method
1, 2, ... in an order that is shuffled anew for each question; the key stays with the makers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.campaign.surveys.kinds import OF_RANKINGS, WITH_COSTS, WITHOUT_COSTS
from cranfield.data.labels import LabelMatrix, align, dense
from cranfield.errors import UsageError, check_at_most, check_counts
from cranfield.evaluation.label_inputs import checked_truth
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.precision_recall import ranking
from cranfield.evaluation.ranked import evaluate
from cranfield.io.files import make_folder, write_atomic
from cranfield.io.labels import name_annotations, read_annotation, read_truth
from cranfield.io.ontology import read_ontology
from cranfield.measures import Measure, parse_measures
from cranfield.measures.labels.registry import parse_label_measures
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator
from cranfield.work.serialisation import numbers

FILES = {
    "questions.json": "the questions as data",
    "questions.html": "the page for people",
    "key.json": "the key: keep it to yourself",
}
MOST_QUESTIONS = 10_000
MOST_ITEMS = 100_000
_STREAM = 41
_SAME = 1e-12


@dataclass(frozen=True, repr=False, eq=False)
class WrittenQuestionnaire(Answer):
    """The files of a questionnaire, each with what it is for."""

    command: ClassVar[str] = "lab votes"
    table_maker: ClassVar[str] = "cranfield.report.tables.surveys:questionnaire_document"

    files: tuple[str, ...]
    purposes: tuple[str, ...]

    def headline(self) -> str:
        return f"a questionnaire in {Path(self.files[0]).parent}"

    def payload(self, **_: object) -> dict[str, Any]:
        return {"files": list(self.files)}


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """`questions` is what people see, `key` which measure hides behind which method."""

    questions: dict[str, Any]
    key: dict[str, Any]
    notes: tuple[str, ...] = ()

    def write(
        self, folder: str | Path, page: str = "", key: Mapping[str, Any] | None = None
    ) -> WrittenQuestionnaire:
        """questions.json, key.json (or a longer one), and questions.html where there is a page."""
        target = make_folder(folder)
        texts = {
            "questions.json": json.dumps(self.questions, indent=1) + "\n",
            "questions.html": page,
            "key.json": json.dumps(key or self.key, indent=1) + "\n",
        }
        files = {name: target / name for name, text in texts.items() if text}
        for name, file in files.items():
            write_atomic(file, texts[name].encode())
        purposes = tuple(FILES[name] for name in files)
        return WrittenQuestionnaire(tuple(map(str, files.values())), purposes, notes=self.notes)


@validate_params
def make_questionnaire(
    measures: str | Sequence[str | Measure] = OF_RANKINGS,
    *,
    questions: int = 10,
    lists: int = 5,
    relevant: int = 5,
    size: int = 100,
    rng: Seed = 0,
) -> Questionnaire:
    """Random ranked lists of `relevant` items in a collection of `size`, the same for all."""
    compared = parse_measures(measures)
    if len(compared) < 2:
        raise UsageError("a questionnaire compares two measures or more")
    if not 1 <= relevant < size or not 2 <= lists <= 26 or questions < 1:
        raise UsageError(
            "a questionnaire has questions from 1 on, 2 to 26 lists, and fewer relevant items "
            "than the collection"
        )
    check_at_most(MOST_QUESTIONS, questions=questions)
    check_at_most(MOST_ITEMS, size=size)
    entries, key, alike = [], {}, {}
    for q in range(1, questions + 1):
        draw = generator(rng, _STREAM, q)
        ranks = {
            chr(65 + n): sorted(int(r) for r in 1 + draw.choice(size, relevant, replace=False))
            for n in range(lists)
        }
        values = _values(compared, ranks, size)
        places = _places(values)
        order = [compared[int(m)] for m in draw.permutation(len(compared))]
        hidden = {f"Method {n}": m for n, m in enumerate(order, 1)}
        method_places = {method: places[m] for method, m in hidden.items()}
        beside = {method: values[m] for method, m in hidden.items()}
        entries.append({"question": q, "lists": ranks, "places": method_places, "values": beside})
        key[str(q)] = {method: str(m) for method, m in hidden.items()}
        groups = _same_orders(places)
        if groups:
            alike[str(q)] = groups
    return Questionnaire(
        {"size": size, "relevant": relevant, "questions": entries},
        {"measures": [str(m) for m in compared], "key": key, "alike": alike, "seed": rng},
    )


def _same_orders(places: Mapping[Measure, Mapping[str, int]]) -> list[list[str]]:
    """The measures that give all lists the same places: who votes for one votes for all."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for measure, order in places.items():
        groups.setdefault(tuple(order.values()), []).append(str(measure))
    return [group for group in groups.values() if len(group) > 1]


def _values(
    measures: Sequence[Measure], ranks: Mapping[str, Sequence[int]], size: int
) -> dict[Measure, dict[str, float]]:
    """The value that each measure gives each list; less is better in all that is shown.

    As in the survey of the paper, AP and its like are shown as 1 - AP.
    """
    relevant = len(next(iter(ranks.values())))
    judged = {"t": {f"r{k}": 1 for k in range(relevant)}}
    runs = {name: {"t": ranking(places, size)} for name, places in ranks.items()}
    # As in the survey of the paper, NMRR looks at the first 4 NG items.
    scores = evaluate(judged, runs, list(measures), collection_size=size, gmt=2 * relevant, jobs=1)
    values = {}
    for m in scores.measures:
        means = scores.overall[m]
        losses = means if m.higher_is_better is False else 1 - means
        values[m] = dict(zip(runs, map(float, losses), strict=True))
    return values


def _places(values: Mapping[Measure, Mapping[str, float]]) -> dict[Measure, dict[str, int]]:
    """The place that each measure gives each list: 1 and how many are better."""
    return {
        m: {
            name: 1 + sum(v < list_values[name] - _SAME for v in list_values.values())
            for name in list_values
        }
        for m, list_values in values.items()
    }


_CONCEPT_STREAM = 42


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
    named_runs = name_annotations(runs)
    if len(named_runs) != 2:
        raise UsageError(
            f"a survey of concept sets compares two annotations, not {len(named_runs)}"
        )
    check_counts(questions=questions)
    if measures is None:
        measures = WITHOUT_COSTS if ontology is None and not costmap else WITH_COSTS
    compared, equal = (
        parse_label_measures(measures),
        parse_label_measures(alike) if len(alike) else (),
    )
    ranked = _read_ranks((*compared, *equal))
    tree = read_ontology(ontology, rules=rules) if isinstance(ontology, str | Path) else ontology
    true = checked_truth(read_truth(truth, concepts=concepts), tree)
    read = {
        name: read_annotation(source, name, concepts=concepts, threshold=threshold)
        for name, source in named_runs
    }
    every_measure = tuple(dict.fromkeys((*compared, *equal)))
    scores = evaluate_labels(
        true,
        read,
        every_measure,
        ontology=tree,
        costmap=costmap,
        agreement=agreement,
        unlisted=unlisted,
        jobs=1,
    )
    sets = [_sets(align(run, true).run, true, ranked) for run in read.values()]
    sampler = _QuestionSampler(
        true, tuple(read), sets, {m: scores.values[m] for m in every_measure}
    )
    return sampler.asked(compared, equal, questions, rng, scores.notes)


def _read_ranks(measures: Sequence[Measure]) -> bool:
    """Whether the measures read ranked concepts; an error where they are not of one mind."""
    for measure in measures:
        plan: Any = measure.plan(measure)
        if plan.unit != "item" or plan.total is not None:
            raise UsageError(f"{measure} is no mean over items; a survey needs measures of items")
    of_ranks = {m: bool(m.plan(m).ranked) for m in measures}
    if len(set(of_ranks.values())) > 1:
        ranked, decided = (next(m for m in measures if of_ranks[m] is r) for r in (True, False))
        raise UsageError(
            f"{ranked} scores the best ranked concepts of an item and {decided} the labels that "
            "a run decided for; a question shows one of these sets, so ask about each in its "
            "own survey"
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


class _QuestionSampler:
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
        candidates = self._worth_asking(measures, alike)
        if candidates.size < questions:
            raise UsageError(
                f"the runs differ on {candidates.size} items in a way that a measure sees"
                + (f" and {', '.join(map(str, alike))} does not" if alike else "")
                + "; ask at most that many questions"
            )
        draw = generator(seed, _CONCEPT_STREAM)
        entries, key, score_table = [], {}, {}
        for number, item in enumerate(draw.choice(candidates, questions, replace=False), 1):
            order = {f"Set {s}": int(k) for s, k in enumerate(draw.permutation(2), 1)}
            entries.append(self._entry(number, int(item), order))
            key[str(number)] = {label: self.runs[k] for label, k in order.items()}
            score_table[str(number)] = {str(m): numbers(self.scores[m][:, item]) for m in measures}
        hidden = {
            "measures": [str(m) for m in measures],
            "runs": list(self.runs),
            "key": key,
            "scores": score_table,
            "less_is_better": [str(m) for m in measures if m.higher_is_better is False],
            "seed": seed,
        }
        return Questionnaire({"questions": entries}, hidden, notes)

    def _worth_asking(
        self, measures: Sequence[Measure], alike: Sequence[Measure]
    ) -> NDArray[np.int64]:
        gaps = {m: np.abs(values[0] - values[1]) for m, values in self.scores.items()}
        separated = np.any([gaps[m] > _SAME for m in measures], axis=0)
        level = np.all([gaps[m] <= _SAME for m in alike], axis=0) if alike else True
        return np.flatnonzero((self.sets[0] != self.sets[1]).any(axis=1) & separated & level)

    def _entry(self, number: int, item: int, order: dict[str, int]) -> dict[str, Any]:
        true = self.true[item]
        return {
            "question": number,
            "item": self.truth.items[item],
            "true": self._names(true),
            "sets": {
                label: {
                    "right": self._names(self.sets[k][item] & true),
                    "wrong": self._names(self.sets[k][item] & ~true),
                    "missed": self._names(true & ~self.sets[k][item]),
                }
                for label, k in order.items()
            },
        }

    def _names(self, row: NDArray[np.bool_]) -> list[str]:
        return [self.truth.concepts[int(k)] for k in np.flatnonzero(row)]
