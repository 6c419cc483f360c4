"""Rankings as the material of studies; annotations take part as rankings of items by concept."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.data.alignment import align
from cranfield.data.concept_rankings import concept_judgements, concept_ranking
from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.ranked import evaluate
from cranfield.io.annotations import read_annotation, read_truth
from cranfield.io.forms import coerce_judgements, coerce_run, name_runs
from cranfield.lab.material import Material, Names, Scored, Truth
from cranfield.lab.names import possible_measures
from cranfield.lab.pipes import annotations_once, label_options_once, read_once
from cranfield.measures import Measure, parse_measures
from cranfield.notes import Notes
from cranfield.stats._resample import Floats
from cranfield.work.serialisation import remembered


class RankedMaterial(Material):
    """Judgements and rankings; the options are those of `cranfield.evaluate`."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        """The set `all` is taken for those of its measures that have what they need."""
        size = options.get("collection_size")
        chosen = possible_measures(measures, collection_size=size)
        named = [(n, read_once(r, partial(coerce_run, name=n))) for n, r in name_runs(runs)]
        return cls._made(read_once(truth, coerce_judgements), named, chosen, options)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return parse_measures(self.names)

    @property
    def collection_size(self) -> int | None:
        """How many items there are, None where nobody has said it."""
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

    def score(self, run: Any, truth: Truth | None = None) -> Scored:
        return self._scored(run, self.read_truth() if truth is None else truth, Notes())

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[Run, Scored]:
        run = self.read_run(source, name)
        return run, self._scored(run, self.read_truth(), notes)

    def _scored(self, run: Run, truth: Truth, notes: Notes) -> Scored:
        scores = evaluate(truth, [run], self.names, jobs=1, **self.evaluation())
        notes.extend(scores.notes)
        overall = np.array([scores.overall[m][0] for m in scores.measures])
        values = tuple(_if_mean(m, scores.values[m][0]) for m in scores.measures)
        return Scored(overall, values, ("topic",) * len(values))


class ConceptMaterial(RankedMaterial):
    """Annotations as rankings: every concept is a topic, its items ordered by confidence."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        chosen = possible_measures(measures, collection_size=2)
        known = label_options_once(options)
        read = read_once(truth, partial(read_truth, concepts=known["concepts"]))
        return cls._made(read, annotations_once(runs), chosen, known)

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

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[Run, Scored]:
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
    plain = measure.averaging in ("mean", "arithmetic")
    return np.asarray(values, dtype=np.float64) if plain else None


@remembered(4)
def _judgements(material: RankedMaterial) -> Judgements:
    judged = coerce_judgements(material.truth)
    if not judged.topics:
        raise UsageError("the judgements are empty: no topic is judged")
    return judged


@remembered(4)
def _concept_judgements(material: ConceptMaterial) -> Judgements:
    return concept_judgements(_labels(material))


@remembered(4)
def _labels(material: ConceptMaterial) -> LabelMatrix:
    return read_truth(material.truth, concepts=material.concept_names)
