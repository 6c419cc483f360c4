"""Which of two concept sets fits an item better? (thesis, 9.5)

The items are those on which two runs differ under one measure and, if so asked, not under
another. At the end stands a question in words, vague on purpose: what matters in a search for
pictures of several things, and what is expected of the results (Table 9.6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cranfield.campaign.annotation_task import Grid, Response, Sheet, Unit, views_of
from cranfield.campaign.forms import Form, Option, Question, Tab
from cranfield.campaign.surveys import PREFERENCE, WITH_COSTS, WITHOUT_COSTS
from cranfield.campaign.surveys.measures import SAME
from cranfield.campaign.surveys.survey import Respondents, Survey
from cranfield.campaign.surveys.votes import BOTH, Preferences, chosen_on, count_sets
from cranfield.data.labels import LabelMatrix, Threshold, align, dense
from cranfield.errors import UsageError, check_counts
from cranfield.evaluation.label_inputs import (
    AgreementSource,
    ConceptSource,
    CostSources,
    OntologySource,
    checked_truth,
)
from cranfield.evaluation.labels import evaluate_labels
from cranfield.io.coerce import LabelsForm
from cranfield.io.labels import name_annotations, read_annotation, read_truth
from cranfield.io.ontology import read_ontology
from cranfield.measures import Measure
from cranfield.measures.labels.registry import parse_label_measures
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.types import JsonObject
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator
from cranfield.work.serialisation import numbers

TITLE = "Which concepts fit better?"
SCENARIO = (
    "Two systems were asked what a picture shows. Each question has the concepts that the picture "
    "truly has, and what each system made of them: right, wrong, and missed. Compare what is wrong "
    "with what was missed, and say whose suggestion is better."
)
LAST = "expectations"
_STREAM = 42
ASKED = (
    "When you search for pictures that show several things, what is most important to you, and "
    "what do you expect of the results?"
)
# Classes of expectations (Table 9.6) and the words that tell them, the first that has one.
CLASSES = ("correct matches", "partly correct matches", "nothing", "others")
_WORDS = {
    "nothing": r"\b(no expectations?|nothing|none)\b",
    "partly correct matches": r"\b(at least|partly|some of|most keywords|having the most)\b",
    "correct matches": r"\b(all|match(es)?|relevant|accuracy|correct|exact|searched|mentioned|"
    r"contain(s)?)\b",
}


def _survey(
    entries: Sequence[JsonObject],
    hidden: JsonObject,
    pictures: Mapping[str, str],
    notes: tuple[str, ...],
) -> Survey:
    """The page that asks about the sets of each entry, and the key with what is hidden."""
    sets = tuple(entries[0]["sets"])
    options_shown = tuple(Option(s, s, key=str(n)) for n, s in enumerate(sets, 1))
    equal = Option(BOTH, "Both are equally good", key=str(len(sets) + 1))
    better = Question("better", "Which set is better?", "one", (*options_shown, equal))
    words = Question("words", ASKED, "text")
    forms = {
        "form": Form(TITLE, (Tab("", (better,)),)),
        LAST: Form("A last question", (Tab("", (words,)),)),
    }
    units = (
        *(_unit(e, pictures.get(str(e["item"]), "")) for e in entries),
        Unit(LAST, LAST, "A last question"),
    )
    key = {"survey": PREFERENCE, "units": [u.name for u in units], **hidden}
    key["wrong"] = {str(e["question"]): _wrong(e) for e in entries}
    sheet = Sheet(TITLE, PREFERENCE, forms, units, SCENARIO)
    return Survey(sheet, key, {"questions": list(entries)}, notes=notes)


def _wrong(entry: JsonObject) -> int:
    """How many concepts a set got wrong; in the design of the thesis both as many."""
    return max(len(parts["wrong"]) for parts in entry["sets"].values())


def _unit(entry: JsonObject, picture: str) -> Unit:
    rows = tuple(
        (name, *(", ".join(parts[k]) or "-" for k in ("right", "wrong", "missed")))
        for name, parts in entry["sets"].items()
    )
    number = str(entry["question"])
    subject = "The picture" if picture else entry["item"]
    text = f"{subject} shows: {', '.join(entry['true']) or '-'}"
    grid = Grid(("", "right", "wrong", "missed"), rows)
    return Unit(number, title=f"Question {number}", text=text, picture=picture, grid=grid)


def count_preference_survey(
    key: JsonObject,
    responses: Sequence[Response],
    classes: Mapping[str, str] | None = None,
) -> Preferences:
    """Tables 9.5 and 9.6: votes beside scores, and expectations by class."""
    counted = count_sets(key, [chosen_on(response, key["key"]) for response in responses])
    texts = [
        text
        for response in responses
        for f in response.done()
        if f.unit == LAST
        for text in response.form_of(f.unit).texts(f.answers).values()
    ]
    class_by_text = classes or {}
    return replace(
        counted,
        wrong=tuple(key["wrong"][question] for question in key["key"]),
        expectations=tuple((text, class_by_text.get(text) or class_of(text)) for text in texts),
        respondents=Respondents.of(responses, len(key["key"])),
    )


def class_of(text: str) -> str:
    """The class of an expectation by its words; a guess that a file of classes can correct.

    >>> class_of("No expectations!"), class_of("all of them match")
    ('nothing', 'correct matches')
    """
    for name, words in _WORDS.items():
        if re.search(words, text, re.IGNORECASE):
            return name
    return "others"


@validate_params
def make_concept_survey(
    truth: LabelsForm,
    runs: Mapping[str, LabelsForm] | Sequence[LabelsForm],
    measures: str | Sequence[str | Measure] | None = None,
    *,
    alike: str | Sequence[str | Measure] = (),
    ontology: OntologySource | None = None,
    rules: str | Path | None = None,
    costmap: CostSources | None = None,
    agreement: AgreementSource | None = None,
    concepts: ConceptSource | None = None,
    threshold: Threshold | str | None = None,
    unlisted: str | None = None,
    questions: int = 10,
    collection: str | Path | None = None,
    pictures: Mapping[str, str] | str | Path | None = None,
    rng: Seed = 0,
) -> Survey:
    """A blind survey that asks which of two runs describes an item better.

    Parameters
    ----------
    truth, runs
        The true concepts of items, and two annotations of them.
    measures
        Measures of single items, which read decisions, or all of them ranked concepts.
    alike
        Measures that must not tell the runs apart.
    ontology, rules, costmap, agreement, concepts, unlisted
        As in `cranfield.evaluate_labels`.
    threshold
        The confidence from which a concept counts as predicted.
    questions
        How many questions, each about another item.
    collection, pictures
        The pictures with which items are shown: of a collection's folder, of a folder, or
        {item: address}.
    rng
        Seed of all random draws.
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
    entries, key = sampler.draw(compared, equal, questions, rng)
    items = tuple(str(entry["item"]) for entry in entries)
    if not isinstance(pictures, Mapping):
        _, pictures = views_of(items, collection=collection, pictures=pictures)
    return _survey(entries, key, pictures, scores.notes)


def _read_ranks(measures: Sequence[Measure]) -> bool:
    """Whether the measures read ranked concepts; an error where they are not of one mind."""
    for measure in measures:
        plan = measure.plan(measure)
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

    def draw(
        self, measures: Sequence[Measure], alike: Sequence[Measure], questions: int, seed: int
    ) -> tuple[list[JsonObject], JsonObject]:
        """As many questions as wanted, each about another item, and what is hidden of them."""
        candidates = self._worth_asking(measures, alike)
        if candidates.size < questions:
            raise UsageError(
                f"the runs differ on {candidates.size} items in a way that a measure sees"
                + (f" and {', '.join(map(str, alike))} does not" if alike else "")
                + "; ask at most that many questions"
            )
        draw = generator(seed, _STREAM)
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
        return entries, hidden

    def _worth_asking(
        self, measures: Sequence[Measure], alike: Sequence[Measure]
    ) -> NDArray[np.int64]:
        gaps = {m: np.abs(values[0] - values[1]) for m, values in self.scores.items()}
        separated = np.any([gaps[m] > SAME for m in measures], axis=0)
        level = np.all([gaps[m] <= SAME for m in alike], axis=0) if alike else True
        return np.flatnonzero((self.sets[0] != self.sets[1]).any(axis=1) & separated & level)

    def _entry(self, number: int, item: int, order: dict[str, int]) -> JsonObject:
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
