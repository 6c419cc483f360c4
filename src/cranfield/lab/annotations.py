"""Annotations against their truth, as the material of studies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np

from cranfield.data.defaults import DEFAULT_THRESHOLD
from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.labels import LabelTask, score_run
from cranfield.io.annotations import read_annotation, read_truth
from cranfield.io.labels import read_threshold
from cranfield.lab.material import Material, Names, Scored, Truth
from cranfield.lab.pipes import annotations_once, label_options_once, read_once
from cranfield.measures import Measure
from cranfield.measures.labels.blocks import LabelPlan, PerRankedConcept, SortedRun
from cranfield.measures.labels.registry import parse_label_measures, without_needs
from cranfield.notes import Notes
from cranfield.stats._resample import Floats
from cranfield.work.serialisation import remembered


class LabelMaterial(Material):
    """Options: ontology, rules, costmap, agreement, concepts and threshold."""

    @classmethod
    def of(cls, truth: Any, runs: Any, measures: Names, **options: Any) -> Self:
        """Of a set those measures are taken that have what they need."""
        if isinstance(measures, str):
            known = {"hierarchy"} if options.get("ontology") is not None else set()
            if known or options.get("costmap"):
                known.add("costs")
            measures = without_needs(measures, frozenset({"hierarchy", "costs"} - known))[0]
        chosen = parse_label_measures(_listed(measures))
        given = label_options_once(options)
        read = read_once(truth, partial(read_truth, concepts=given["concepts"]))
        return cls._made(read, annotations_once(runs), chosen, given)

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
        kept = tuple(run for run in self.runs if run[0] not in binary)
        names = tuple(name for name in self.run_names if name in binary)
        return replace(self, runs=kept, token=uuid4().hex), names

    def examine(self, source: Any, name: str, notes: Notes) -> tuple[LabelMatrix, Scored]:
        notes.extend(_task(self).notes)
        run = self._aligned(source, name, notes)
        return run, self.score(run)

    def _aligned(self, source: Any, name: str, notes: Notes) -> LabelMatrix:
        task, given = _task(self), dict(self.options)
        run = read_annotation(
            source, name, concepts=given.get("concepts"), threshold=given.get("threshold")
        )
        return task.aligned(run, notes).run

    def scores(self, run: Any, truths: Iterable[Truth]) -> Iterator[Scored]:
        """What of the run is sorted is so once, whatever is true."""
        ranked = any(isinstance(plan, PerRankedConcept) for plan in _task(self).plans.values())
        known = SortedRun(run) if ranked else None
        return (self.score(run, truth, known) for truth in truths)

    def score(self, run: Any, truth: Truth | None = None, known: SortedRun | None = None) -> Scored:
        task = _task(self)
        true = truth if isinstance(truth, LabelMatrix) else task.truth
        found = score_run(task.plans, true, run, task.knowledge, 1, known)
        units = tuple(task.plans[m].unit for m in found)
        overall = np.array([whole for _, whole in found.values()])
        values = tuple(_if_mean(task.plans[m], v) for m, (v, _) in found.items())
        return Scored(overall, values, units)


def _if_mean(plan: LabelPlan, values: Floats) -> Floats | None:
    """The values per unit where the value of a run is declared to be their mean; else None."""
    pooled = getattr(plan, "total", None) is not None
    return None if pooled else np.asarray(values, dtype=np.float64)


def _listed(measures: str | Measure | Iterable[str | Measure]) -> Any:
    return measures if isinstance(measures, str | Measure) else list(measures)


@remembered(4)
def _task(material: LabelMaterial) -> LabelTask:
    """The truth with what is known beside it and the plans of the measures, once a worker."""
    given = dict(material.options)
    costs = given.get("costmap")
    return LabelTask(
        read_truth(material.truth, concepts=given.get("concepts")),
        material.measures,
        ontology=given.get("ontology"),
        rules=given.get("rules"),
        costmap=dict(costs) if isinstance(costs, tuple) else costs,
        agreement=given.get("agreement"),
        unlisted=given.get("unlisted"),
    )
