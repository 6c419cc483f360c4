"""What a study works on: a truth, runs and measures, for ranked retrieval or for annotation.

Runs and truth are paths wherever they can be: a piece of work then carries names, and each
worker reads the files itself. Objects are taken as well; they travel with every piece.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from cranfield.errors import MeasureError, NeedsError, UsageError, plural
from cranfield.io.coerce import coerce_labels, is_file
from cranfield.io.costmap import read_agreement, read_costmap
from cranfield.io.files import can_be_read_again
from cranfield.io.labels import name_annotations, read_concepts, read_threshold
from cranfield.io.ontology import read_ontology
from cranfield.measures import SETS, Measure, optional_measures, parse_measures
from cranfield.measures import measure as parse
from cranfield.measures.labels.registry import LABEL_REGISTRY, LABEL_SETS
from cranfield.notes import Notes
from cranfield.registry import split_names
from cranfield.stats._resample import Floats
from cranfield.work.executors import Plain, Plan
from cranfield.work.serialisation import full_path, numbers, stamp

if TYPE_CHECKING:
    from cranfield.data import Judgements
    from cranfield.data.labels import LabelMatrix
    from cranfield.lab.runs import ConceptMaterial, LabelMaterial, RankedMaterial

Truth: TypeAlias = "Judgements | LabelMatrix"
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
        from cranfield.lab.runs import RankedMaterial

        return RankedMaterial.of(judgements, runs, measures, **options)

    @staticmethod
    def concepts(truth: Any, runs: Any, measures: Names, **options: Any) -> ConceptMaterial:
        """Annotations under measures of rankings: each concept is a topic, ordered by confidence.

        The size of the collection is the number of items, unless it is given.
        """
        from cranfield.lab.runs import ConceptMaterial

        return ConceptMaterial.of(truth, runs, measures, **options)

    @staticmethod
    def labels(truth: Any, runs: Any, measures: Names, **options: Any) -> LabelMaterial:
        """Annotations against their truth.

        The options are ontology, rules, costmap, agreement, concepts and threshold.
        """
        from cranfield.lab.runs import LabelMaterial

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
