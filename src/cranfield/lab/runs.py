"""Rankings as the material of studies; annotations take part as rankings of items by concept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self
from uuid import uuid4

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, align, concept_judgements, concept_ranking, dense
from cranfield.errors import UsageError, check_at_most, plural
from cranfield.evaluation.labels import LabelTask, score_run
from cranfield.evaluation.ranked import evaluate
from cranfield.io.coerce import coerce_judgements, coerce_run, name_runs
from cranfield.io.delimited import trec_blocks
from cranfield.io.files import make_folder, write_atomic
from cranfield.io.labels import (
    check_all_listed,
    read_annotation,
    read_threshold,
    read_truth,
    write_labels,
)
from cranfield.lab.study_input import (
    Names,
    RunScores,
    StudyInput,
    Truth,
    annotations_once,
    label_options_once,
    possible_measures,
    read_once,
)
from cranfield.measures import Measure, parse_measures
from cranfield.measures.labels.blocks import LabelPlan, PerRankedConcept, SortedRun
from cranfield.measures.labels.registry import parse_label_measures, without_needs
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.stats._resample import Floats
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator
from cranfield.work.serialisation import cache_answers


class RankedMaterial(StudyInput):
    """Judgements and rankings; the options are those of `cranfield.evaluate`."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        """The set `all` is taken for those of its measures that have what they need."""
        size = options.get("collection_size")
        selection = possible_measures(measures, collection_size=size)
        named_runs = [(n, read_once(r, partial(coerce_run, name=n))) for n, r in name_runs(runs)]
        return cls._made(read_once(truth, coerce_judgements), named_runs, selection, options)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return parse_measures(self.names)

    @property
    def collection_size(self) -> int | None:
        """How many items there are, None where it was not given."""
        size: int | None = dict(self.options).get("collection_size")
        return size

    def evaluation(self) -> dict[str, Any]:
        """The options of `evaluate`."""
        return dict(self.options)

    def read_judgements(self) -> Judgements:
        """The judgements, read once in each worker."""
        return _judgements(self)

    def read_truth(self) -> Truth:
        return self.read_judgements()

    def read_run(self, source: Any, name: str) -> Run:
        return coerce_run(source, name)

    def score(self, run: Any, truth: Truth | None = None) -> RunScores:
        return self._scored(run, self.read_truth() if truth is None else truth, Notes())

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[Run, RunScores]:
        run = self.read_run(source, name)
        return run, self._scored(run, self.read_truth(), notes)

    def _scored(self, run: Run, truth: Truth, notes: Notes) -> RunScores:
        scores = evaluate(truth, [run], self.names, jobs=1, **self.evaluation())
        notes.extend(scores.notes)
        overall = np.array([scores.overall[m][0] for m in scores.measures])
        values = tuple(_if_mean(m, scores.values[m][0]) for m in scores.measures)
        return RunScores(overall, values, ("topic",) * len(values))


class ConceptMaterial(RankedMaterial):
    """Annotations as rankings: every concept is a topic, its items ordered by confidence."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        selection = possible_measures(measures, collection_size=2)
        settings = label_options_once(options)
        read = read_once(truth, partial(read_truth, concepts=settings["concepts"]))
        return cls._made(read, annotations_once(runs), selection, settings)

    @property
    def collection_size(self) -> int:
        """As many as there are items, unless it was given."""
        return super().collection_size or len(_labels(self).items)

    def evaluation(self) -> dict[str, Any]:
        options = {k: v for k, v in self.options if k != "concepts"}
        return options | {"collection_size": self.collection_size}

    def read_judgements(self) -> Judgements:
        return _concept_judgements(self)

    def read_run(self, source: Any, name: str) -> Run:
        return self._ranking(source, name, Notes())

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[Run, RunScores]:
        run = self._ranking(source, name, notes)
        return run, self._scored(run, self.read_truth(), notes)

    def _ranking(self, source: Any, name: str, notes: Notes) -> Run:
        run = read_annotation(source, name, concepts=self.concept_names)
        aligned = align(run, _labels(self))
        for text in aligned.notes:
            notes.add(text, about=name)
        return concept_ranking(aligned.run)

    @property
    def concept_names(self) -> Any:
        """The names of the concepts, or the file that has them, where one was given."""
        return dict(self.options).get("concepts")


def _if_mean(measure: Measure, values: Floats) -> Floats | None:
    """The values per topic where the value of a run is declared to be their mean; else None."""
    is_mean = measure.averaging in ("mean", "arithmetic")
    return np.asarray(values, dtype=np.float64) if is_mean else None


@cache_answers(4)
def _judgements(material: RankedMaterial) -> Judgements:
    judged = coerce_judgements(material.truth)
    if not judged.topics:
        raise UsageError("the judgements are empty: no topic is judged")
    return judged


@cache_answers(4)
def _concept_judgements(material: ConceptMaterial) -> Judgements:
    return concept_judgements(_labels(material))


@cache_answers(4)
def _labels(material: ConceptMaterial) -> LabelMatrix:
    truth = read_truth(material.truth, concepts=material.concept_names)
    return check_all_listed(truth, "The study")


class LabelMaterial(StudyInput):
    """Options: ontology, rules, costmap, agreement, concepts and threshold."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        """Of a set those measures are taken that have what they need."""
        if isinstance(measures, str):
            available = {"hierarchy"} if options.get("ontology") is not None else set()
            if available or options.get("costmap"):
                available.add("costs")
            measures = without_needs(measures, frozenset({"hierarchy", "costs"} - available))[0]
        selection = parse_label_measures(_listed(measures))
        settings = label_options_once(options)
        read = read_once(truth, partial(read_truth, concepts=settings["concepts"]))
        return cls._made(read, annotations_once(runs), selection, settings)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return parse_label_measures(self.names)

    @property
    def limits(self) -> Floats:
        """The confidence from which each concept counts as predicted, unless a run says it."""
        threshold = dict(self.options).get("threshold", DEFAULT_THRESHOLD)
        concepts = self.read_labels().concepts
        if isinstance(threshold, str | Path):
            threshold = read_threshold(str(threshold))
        if isinstance(threshold, Mapping):
            threshold = [threshold[c] for c in concepts]
        return np.broadcast_to(np.asarray(threshold, dtype=np.float64), (len(concepts),))

    def read_truth(self) -> Truth:
        return self.read_labels()

    def read_labels(self) -> LabelMatrix:
        """The true concepts, read once in each worker."""
        return _task(self).truth

    def read_run(self, source: Any, name: str) -> LabelMatrix:
        return self._aligned(source, name, Notes())

    def with_confidences(self) -> tuple[Self, tuple[str, ...]]:
        """The runs that rank concepts, and the names of those that only decide (No 9.4)."""
        binary = {name for name, source in self.runs if self.read_run(source, name).is_binary}
        ranked = tuple(run for run in self.runs if run[0] not in binary)
        names = tuple(name for name in self.run_names if name in binary)
        return replace(self, runs=ranked, token=uuid4().hex), names

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[LabelMatrix, RunScores]:
        notes.extend(_task(self).notes)
        run = self._aligned(source, name, notes)
        return run, self.score(run)

    def _aligned(self, source: Any, name: str, notes: Notes) -> LabelMatrix:
        task, settings = _task(self), dict(self.options)
        run = read_annotation(
            source, name, concepts=settings.get("concepts"), threshold=settings.get("threshold")
        )
        return task.aligned(run, notes).run

    def scores(self, run: Any, truths: Iterable[Truth]) -> Iterator[RunScores]:
        """What of the run is sorted is so once, whatever is true."""
        ranked = any(isinstance(plan, PerRankedConcept) for plan in _task(self).plans.values())
        sorted_run = SortedRun(run) if ranked else None
        return (self.score(run, truth, sorted_run) for truth in truths)

    def score(
        self, run: Any, truth: Truth | None = None, sorted_run: SortedRun | None = None
    ) -> RunScores:
        task = _task(self)
        true = truth if isinstance(truth, LabelMatrix) else task.truth
        results = score_run(task.plans, true, run, task.knowledge, 1, sorted_run)
        units = tuple(task.plans[m].unit for m in results)
        overall = np.array([mean for _, mean in results.values()])
        values = tuple(_if_mean_of_labels(task.plans[m], v) for m, (v, _) in results.items())
        return RunScores(overall, values, units)


def _if_mean_of_labels(plan: LabelPlan, values: Floats) -> Floats | None:
    """The values per unit where the value of a run is declared to be their mean; else None."""
    pooled = getattr(plan, "total", None) is not None
    return None if pooled else np.asarray(values, dtype=np.float64)


def _listed(measures: str | Measure | Iterable[str | Measure]) -> Any:
    return measures if isinstance(measures, str | Measure) else list(measures)


@cache_answers(4)
def _task(material: LabelMaterial) -> LabelTask:
    """The truth with what is known beside it and the plans of the measures, once a worker."""
    settings = dict(material.options)
    costs = settings.get("costmap")
    task = LabelTask(
        read_truth(material.truth, concepts=settings.get("concepts")),
        material.measures,
        ontology=settings.get("ontology"),
        rules=settings.get("rules"),
        costmap=dict(costs) if isinstance(costs, tuple) else costs,
        agreement=settings.get("agreement"),
        unlisted=settings.get("unlisted"),
    )
    task.check_complete("a study of measures")
    return task


DEPTH = 1000
MOST_SYSTEMS = 10_000
_RANKED, _LABELS = 51, 52


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedRuns(Answer):
    """The files of runs that were made up."""

    command: ClassVar[str] = "lab simulate"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:simulated_runs_document"

    files: tuple[str, ...]

    def headline(self) -> str:
        return f"{plural(len(self.files), 'run')} in {Path(self.files[0]).parent}"

    def payload(self, **_: object) -> dict[str, Any]:
        return {"files": list(self.files)}


@validate_params
@with_progress
def simulate_runs(
    truth: Any,
    folder: str | Path,
    *,
    labels: bool = False,
    count: int = 24,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> SimulatedRuns:
    """Write runs of rising quality into a folder: rankings, or annotations with `labels`.

    `truth` are judgements, or the true concepts of items, as files or objects.
    """
    watched = Progress.of(progress)
    options: dict[str, int] = {"count": count, "rng": rng}
    files: list[str] = []

    def place(name: str) -> Path:
        # The folder is made only now that there is something to put into it.
        files.append(str(make_folder(folder) / name))
        watched(len(files) / count)
        return Path(files[-1])

    if labels:
        for matrix in graded_labels(check_all_listed(read_truth(truth), "The study"), **options):
            write_labels(matrix, place(f"{matrix.name}.csv"))
    else:
        for run in graded_rankings(coerce_judgements(truth), **options):
            write_atomic(place(f"{run.name}.run"), trec_blocks(run))
    return SimulatedRuns(tuple(files))


@validate_params
def graded_rankings(
    judged: Judgements,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[Run]:
    """Runs of rising quality over the judged items of every topic."""
    topics = judged.to_dict()
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        run: dict[str, dict[str, float]] = {}
        taste = generator(rng, _RANKED, number).random()
        for t, (topic, grades) in enumerate(topics.items()):
            draw = generator(rng, _RANKED, number, t)
            items = [*grades, *(f"unjudged-{topic}-{k}" for k in range(len(grades) // 4))]
            gains = np.zeros(len(items))
            judged_grades = np.maximum(np.array(list(grades.values()), dtype=np.float64), 0.0)
            gains[: len(grades)] = np.where(judged_grades > 0, judged_grades**taste, 0.0)
            topic_skill = max(0.0, skill + draw.normal(0.0, 0.6))
            scores = topic_skill * gains + draw.normal(0.0, 1.0, len(items))
            best = np.argsort(-scores, kind="stable")[:DEPTH]
            run[topic] = {items[k]: float(scores[k]) for k in best}
        yield Run.from_dict(run).named(_name(number, count))


@validate_params
def graded_labels(
    truth: LabelMatrix,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[LabelMatrix]:
    """Annotations of rising quality, with confidences, eager and timid ones among them."""
    labels = dense(truth.labels)
    signs = np.where(labels, 1.0, -1.0)
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        draw = generator(rng, _LABELS, number)
        concepts = np.maximum(0.0, skill + draw.normal(0.0, 0.4, labels.shape[1]))
        bias = draw.normal(-0.5, 0.7)
        seen = signs * concepts + draw.normal(0.0, 1.0, labels.shape) + bias
        yield replace(
            truth, name=_name(number, count), labels=None, confidences=1 / (1 + np.exp(-seen))
        )


def _skills(count: int, weakest: float, strongest: float) -> list[float]:
    check_at_most(MOST_SYSTEMS, count=count)
    if count < 2 or not 0 <= weakest < strongest < np.inf:
        raise UsageError("two systems or more, of a skill that rises from 0 or above")
    return [float(s) for s in np.linspace(weakest, strongest, count)]


def _name(number: int, count: int) -> str:
    return f"system{number + 1:0{len(str(count))}}"
