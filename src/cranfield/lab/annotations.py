"""Annotations against their truth, as the material of studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from cranfield.data.labels import LabelMatrix
from cranfield.errors import UsageError
from cranfield.evaluation.labels import check_needs, checked_truth, gather, prepared, score_run
from cranfield.io.annotations import read_annotation, read_truth
from cranfield.io.ontology import read_ontology
from cranfield.lab.material import Material, Names, Scored, Truth
from cranfield.lab.pipes import annotations_once, label_options_once, read_once
from cranfield.measures import Measure
from cranfield.measures.labels.blocks import Knowledge, LabelPlan
from cranfield.measures.labels.registry import parse_label_measures, without_needs
from cranfield.stats._resample import Floats
from cranfield.work.packing import remembered


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

    def read_truth(self) -> Truth:
        return self.read_labels()

    def read_labels(self) -> LabelMatrix:
        """The true concepts, read once in each worker."""
        return _tools(self).truth

    def read_run(self, source: Any, name: str) -> LabelMatrix:
        tools, given = _tools(self), dict(self.options)
        run = read_annotation(
            source, name, concepts=given.get("concepts"), threshold=given.get("threshold")
        )
        return prepared(run, tools.truth, tools.plans, tools.knowledge).run

    def score(self, run: Any, truth: Truth | None = None) -> Scored:
        tools = _tools(self)
        true = truth if isinstance(truth, LabelMatrix) else tools.truth
        found = score_run(tools.plans, true, run, tools.knowledge, 1)
        units = tuple(tools.plans[m].unit for m in found)
        overall = np.array([whole for _, whole in found.values()])
        values = tuple(_if_mean(tools.plans[m], v) for m, (v, _) in found.items())
        return Scored(overall, values, units)


def _if_mean(plan: LabelPlan, values: Floats) -> Floats | None:
    """The values per unit where the value of a run is declared to be their mean; else None."""
    pooled = getattr(plan, "total", None) is not None
    return None if pooled else np.asarray(values, dtype=np.float64)


def _listed(measures: str | Measure | Iterable[str | Measure]) -> Any:
    return measures if isinstance(measures, str | Measure) else list(measures)


@dataclass(frozen=True, eq=False)
class _Tools:
    """The truth, what is known beside it, and the plans of the measures."""

    truth: LabelMatrix
    knowledge: Knowledge
    plans: Mapping[Measure, LabelPlan]


@remembered(4)
def _tools(material: LabelMaterial) -> _Tools:
    given = dict(material.options)
    ontology = given.get("ontology")
    if isinstance(ontology, str | Path):
        ontology = read_ontology(ontology, rules=given.get("rules"))
    elif given.get("rules") is not None:
        raise UsageError("rules need an ontology of the concepts beside them (by ontology=)")
    truth = checked_truth(read_truth(material.truth, concepts=given.get("concepts")), ontology)
    costs = given.get("costmap")
    knowledge = gather(
        truth,
        ontology=ontology,
        costmap=dict(costs) if isinstance(costs, tuple) else costs,
        agreement=given.get("agreement"),
    )
    check_needs(material.measures, knowledge)
    return _Tools(truth, knowledge, {m: m.plan(m) for m in material.measures})
