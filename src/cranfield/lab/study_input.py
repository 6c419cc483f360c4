"""What a study works on: a truth, runs and measures, for ranked retrieval or for annotation.

Runs and truth are paths wherever they can be: a piece of work then carries names, and each
worker reads the files itself. Objects are taken as well; they travel with every piece.
Annotations take part in studies of rankings as rankings of items by concept.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, align, concept_judgements, concept_ranking
from cranfield.errors import MeasureError, NeedsError, UsageError, plural
from cranfield.evaluation.labels import LabelTask, score_run
from cranfield.evaluation.ranked import evaluate
from cranfield.io.coerce import coerce_judgements, coerce_labels, coerce_run, is_file, name_runs
from cranfield.io.costmap import read_agreement, read_costmap
from cranfield.io.files import can_be_read_again
from cranfield.io.labels import (
    check_all_listed,
    name_annotations,
    read_annotation,
    read_concepts,
    read_threshold,
    read_truth,
)
from cranfield.io.ontology import read_ontology
from cranfield.measures import SETS, Measure, optional_measures, parse_measures
from cranfield.measures import measure as parse
from cranfield.measures.labels.blocks import LabelPlan, PerRankedConcept, SortedRun
from cranfield.measures.labels.registry import (
    LABEL_REGISTRY,
    LABEL_SETS,
    parse_label_measures,
    without_needs,
)
from cranfield.notes import Notes
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.registry import split_names
from cranfield.stats._resample import Floats
from cranfield.work.executors import Plain, Plan
from cranfield.work.serialisation import cache_answers, full_path, numbers, stamp

Truth: TypeAlias = Judgements | LabelMatrix
Names: TypeAlias = str | Iterable[str | Measure]

# What finds the distances of concepts in an ontology.
DISTANCES = ("scipy.sparse.csgraph",)


@dataclass(frozen=True, slots=True)
class RunScores:
    """One run under every measure: over all units, and per unit where that is its mean."""

    overall: Floats
    values: tuple[Floats | None, ...]
    units: tuple[str, ...]

    def packed(self, notes: Notes) -> Plain:
        """The values over all units, and what was noticed, as an answer of a piece."""
        return {"overall": numbers(self.overall), "notes": list(notes.lines())}


@dataclass(frozen=True, eq=False)
class StudyInput(ABC):
    """A truth, runs and measures with the options that the measures need.

    `StudyInput.ranked` has judgements and rankings, `StudyInput.labels` the concepts of items, and
    `StudyInput.concepts` annotations read as rankings of items for each concept.
    """

    truth: Any
    runs: tuple[tuple[str, Any], ...]
    names: str
    options: tuple[tuple[str, Any], ...] = ()
    token: str = field(default="")

    @staticmethod
    def ranked(judgements: Any, runs: Any, measures: Names, **options: Any) -> RankedMaterial:
        """Rankings against judgements; the options are those of `cranfield.evaluate`."""
        return RankedMaterial.of(judgements, runs, measures, **options)

    @staticmethod
    def concepts(truth: Any, runs: Any, measures: Names, **options: Any) -> ConceptMaterial:
        """Annotations under measures of rankings: each concept is a topic, ordered by confidence.

        The size of the collection is the number of items, unless it is given.
        """
        return ConceptMaterial.of(truth, runs, measures, **options)

    @staticmethod
    def labels(truth: Any, runs: Any, measures: Names, **options: Any) -> LabelMaterial:
        """Annotations against their truth.

        The options are ontology, rules, costmap, agreement, concepts and threshold.
        """
        return LabelMaterial.of(truth, runs, measures, **options)

    @classmethod
    def _made(
        cls,
        truth: Any,
        runs: Sequence[tuple[str, Any]],
        measures: Iterable[Measure],
        options: Mapping[str, Any],
    ) -> Self:
        seen = [name for name, _ in runs]
        twice = [n for n in seen if seen.count(n) > 1]
        if twice:
            raise UsageError(f"two runs are named {twice[0]!r}; rename one of them")
        settings = tuple((k, v) for k, v in options.items() if v is not None)
        names = " ".join(map(str, measures))
        return cls(truth, tuple(runs), names, settings, uuid.uuid4().hex)

    # Workers keep what they have read: two copies of one material are the same key.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudyInput) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def without_runs(self) -> Self:
        """What a piece about one run carries; the others stay at home."""
        return replace(self, runs=())

    def for_plan(self, plan: Plan) -> Self:
        """Full paths for workers elsewhere, which were started in another folder."""
        if plan.is_local:
            return self
        return replace(
            self,
            truth=full_path(self.truth),
            runs=tuple((name, full_path(source)) for name, source in self.runs),
            options=tuple((k, full_path(v)) for k, v in self.options),
        )

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]: ...

    @property
    def run_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.runs)

    @property
    def signs(self) -> Floats:
        """+1 for measures of which more is better, -1 for the others, from the declarations."""
        return np.array([-1.0 if m.higher_is_better is False else 1.0 for m in self.measures])

    @property
    def loads(self) -> tuple[str, ...]:
        """The modules that scoring loads late: distances in an ontology need SciPy's graphs."""
        return () if dict(self.options).get("ontology") is None else DISTANCES

    def described(self) -> dict[str, Any]:
        """All that the numbers depend on, for the folder of a study."""
        return {
            "material": type(self).__name__,
            "truth": stamp(self.truth),
            "runs": {name: stamp(source) for name, source in self.runs},
            "measures": self.names,
            "options": {k: stamp(v) for k, v in self.options},
        }

    def need_runs(self, minimum: int) -> None:
        if len(self.runs) < minimum:
            raise UsageError(
                f"{plural(len(self.runs), 'run')}: too few to compare; give at least {minimum}"
            )

    # Below: what workers do.

    @abstractmethod
    def read_truth(self) -> Truth:
        """The truth, read once in each worker."""

    @abstractmethod
    def read_run(self, source: Any, name: str) -> Any:
        """A run as an object: a Run, or a LabelMatrix in the order of the truth."""

    @abstractmethod
    def score(self, run: Any, truth: Truth | None = None) -> RunScores:
        """A run that `read_run` gave, against this truth or another one of the same shape."""

    def scores(self, run: Any, truths: Iterable[Truth]) -> Iterator[RunScores]:
        """The same against several truths."""
        return (self.score(run, truth) for truth in truths)

    @abstractmethod
    def examine(self, source: Any, name: str, notes: Notes) -> tuple[Any, RunScores]:
        """A run as `read_run` gives it, its scores, and what a reader of them should know."""


def notes_of(answers: Mapping[str, Plain]) -> tuple[str, ...]:
    """What the pieces of a study noticed about their runs, each thing said once."""
    notes = Notes()
    for run, answer in answers.items():
        for text in answer.get("notes", ()):
            names_run = text.startswith(f"{run}: ")
            notes.add(text.removeprefix(f"{run}: "), about=run if names_run else "")
    return notes.lines()


def read_once(source: Any, read: Callable[[Any], Any]) -> Any:
    """A file stays a name; a pipe and standard input become what they hold."""
    return read(source) if is_file(source) and not can_be_read_again(source) else source


def annotations_once(runs: Any) -> list[tuple[str, Any]]:
    """Annotations under their names, files as names and pipes as matrices."""
    return [
        (name, read_once(run, partial(coerce_labels, name=name)))
        for name, run in name_annotations(runs)
    ]


def label_options_once(options: Mapping[str, Any]) -> dict[str, Any]:
    """What is known beside annotations: {name: cost map} as pairs, for a dict is no key."""
    settings = dict(options)
    ontology: Any = settings.get("ontology")
    rules: Any = settings.get("rules")
    costs = settings.get("costmap")
    if isinstance(ontology, str | Path) and rules is not None and not can_be_read_again(rules):
        settings |= {"ontology": read_ontology(ontology, rules=rules), "rules": None}
    else:
        settings["ontology"] = read_once(ontology, read_ontology)
    if isinstance(costs, Mapping):
        settings["costmap"] = tuple((n, read_once(file, read_costmap)) for n, file in costs.items())
    else:
        settings["costmap"] = read_once(costs, read_costmap)
    readers = {"agreement": read_agreement, "concepts": read_concepts, "threshold": read_threshold}
    for name, read in readers.items():
        settings[name] = read_once(settings.get(name), read)
    return settings


def any_measures(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from names and sets of both kinds; each once, in the order given."""
    entries = [measures] if isinstance(measures, str | Measure) else list(measures)
    selection: dict[Measure, None] = {}
    for entry in entries:
        for name in split_names(entry) if isinstance(entry, str) else [entry]:
            for member in _members(name):
                selection[member.check_complete()] = None
    if not selection:
        raise MeasureError("no measure was asked for. List them with: cranfield measures")
    return tuple(selection)


def _members(name: str | Measure) -> Iterable[Measure]:
    """A measure, or those of a set; `all` is the set of rankings."""
    if isinstance(name, Measure):
        return (name,)
    if name in SETS:
        return possible_measures(name, collection_size=2)
    return (parse(member) for member in LABEL_SETS.get(name, (name,)))


def possible_measures(
    measures: str | Measure | Iterable[str | Measure], *, collection_size: int | None = None
) -> tuple[Measure, ...]:
    """Measures of rankings; of the set `all` those that have what they need."""
    entries = [measures] if isinstance(measures, str | Measure) else list(measures)
    optional = optional_measures(entries)
    return tuple(
        m for m in parse_measures(entries) if m not in optional or _has_needs(m, collection_size)
    )


def _has_needs(measure: Measure, collection_size: int | None) -> bool:
    """Tried on a run of one item that misses another one."""
    from cranfield.evaluation.ranked import evaluate

    try:
        evaluate(
            {"t": {"a": 1, "b": 1}},
            {"run": {"t": {"a": 1.0}}},
            [measure],
            jobs=1,
            collection_size=collection_size and 2,
        )
    except NeedsError:
        return False
    return True


def is_annotation(measure: Measure) -> bool:
    return measure.name in LABEL_REGISTRY


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
        return replace(self, runs=ranked, token=uuid.uuid4().hex), names

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
