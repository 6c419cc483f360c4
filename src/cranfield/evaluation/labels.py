"""Scores of runs that annotate items with concepts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cranfield.data.alignment import Alignment, align
from cranfield.data.costmap import AgreementMap, CostMap
from cranfield.data.labels import Floats, LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.errors import (
    CranfieldWarning,
    InputError,
    NeedsError,
    UsageError,
    check_counts,
)
from cranfield.evaluation.scores import Scores, aggregate
from cranfield.io.costmap import read_agreement, read_costmap
from cranfield.io.files import run_name
from cranfield.io.forms import coerce_labels
from cranfield.io.ontology import read_ontology
from cranfield.measures._spec import Measure
from cranfield.measures.labels.blocks import (
    DEFAULT_COST,
    TREE_COST,
    Knowledge,
    LabelPlan,
    PerConcept,
    PerItem,
    PerRankedConcept,
    concept_blocks,
    item_blocks,
)
from cranfield.measures.labels.registry import parse_label_measures

CostSource: TypeAlias = CostMap | str | Path
OntologySource: TypeAlias = Ontology | str | Path
AgreementSource: TypeAlias = AgreementMap | Mapping[str, float] | str | Path


def evaluate_labels(
    truth: Any,
    runs: Iterable[Any] | Mapping[str, Any],
    measures: str | Sequence[str | Measure],
    *,
    ontology: OntologySource | None = None,
    costmap: CostSource | Mapping[str, CostSource] | None = None,
    agreement: AgreementSource | None = None,
    keep: bool = True,
    jobs: int | None = None,
    on_run: Callable[[str], None] | None = None,
) -> Scores:
    """Score runs against the truth.

    `truth` and each run are a LabelMatrix, a file, or what `LabelMatrix.of` takes; `runs` may
    also be {name: run}, or a generator: each run is scored and dropped before the next is asked
    for.
    `costmap` is the default map, or {name: map} for measures such as `OS(cost='fts')`. With
    `keep=False` only the value of each run is kept, not its values per item and concept.

    >>> truth = {"a": {"Sky", "Sea"}, "b": {"Sky"}}
    >>> evaluate_labels(truth, {"mine": {"a": {"Sky"}, "b": {"Sky"}}}, "F.example").mean()
    {'mine': {'F.example': 0.8333333333333333}}
    """
    chosen = parse_label_measures(measures)
    check_counts(jobs=jobs)
    true = checked_truth(coerce_labels(truth, "truth"), _ontology(ontology))
    knowledge = gather(true, ontology=ontology, costmap=costmap, agreement=agreement)
    check_needs(chosen, knowledge)
    if any(m.name == "OS" for m in chosen):
        _warn_of_broken_truth(true, knowledge)
    plans: dict[Measure, LabelPlan] = {m: m.plan(m) for m in chosen}
    collected = _Collected(true, knowledge, plans, keep)
    for run in _named_runs(runs, true):
        collected.add(run, jobs or os.cpu_count() or 1)
        if on_run is not None:
            on_run(run.name)
    return collected.scores()


def checked_truth(truth: LabelMatrix, ontology: Ontology | None) -> LabelMatrix:
    """The truth with named concepts, or an InputError when it cannot be a truth."""
    if truth.labels is None:
        raise InputError.single(
            truth.where,
            f"the truth has values between 0 and 1{_not_binary(truth)}; expected 0 or 1",
        )
    if truth.source and truth.confidences is not None:
        raise InputError.single(
            truth.where,
            f"has two rows for each item, such as {truth.items[0]!r}; a truth has one of 0 and 1 "
            "(confidences followed by decisions are for submissions)",
        )
    if truth.named or ontology is None:
        return truth
    if len(ontology.concepts) != len(truth.concepts):
        raise InputError.single(
            truth.name,
            f"{len(truth.concepts)} values per item without names, but {ontology.name} has "
            f"{len(ontology.concepts)} concepts; name them (--concepts)",
        )
    return truth.renamed(ontology.concepts)


def _not_binary(truth: LabelMatrix) -> str:
    """The first value of a truth that is neither 0 nor 1, as part of a sentence."""
    for row, item in enumerate(truth.items):
        values = truth.rows(row, row + 1)[1]
        if values is None:
            break
        between = np.flatnonzero((values[0] != 0) & (values[0] != 1))
        if between.size:
            at = int(between[0])
            return f", such as {values[0, at]:g} of item {item!r} for {truth.concepts[at]!r}"
    return ""


def gather(
    truth: LabelMatrix,
    *,
    ontology: OntologySource | None = None,
    costmap: CostSource | Mapping[str, CostSource] | None = None,
    agreement: AgreementSource | None = None,
) -> Knowledge:
    """Everything beside truth and runs, read where it is a file, in the truth's vocabulary."""
    known = _ontology(ontology)
    maps = costmap if isinstance(costmap, Mapping) else {DEFAULT_COST: costmap}
    factors = agreement
    if isinstance(factors, str | Path):
        factors = read_agreement(factors)
    elif isinstance(factors, Mapping):
        factors = AgreementMap(dict(factors))
    return Knowledge(
        truth.concepts,
        None if known is None else known.restricted_to(truth.concepts).checked(),
        known.concepts if known and set(known.concepts) == set(truth.concepts) else None,
        _cost_maps(maps),
        None if factors is None else factors.aligned(truth.concepts),
    )


def _cost_maps(sources: Mapping[str, CostSource | None]) -> dict[str, CostMap]:
    maps: dict[str, CostMap] = {}
    for name, source in sources.items():
        if isinstance(source, str | Path):
            maps[name] = read_costmap(source)
        elif isinstance(source, CostMap):
            maps[name] = source
        elif source is not None:
            raise UsageError(
                f"a cost map is a CostMap or a file, not {type(source).__name__}; make one with "
                "CostMap.of(concepts, costs)"
            )
    if DEFAULT_COST in maps:
        # The map given without a name is the default, and fts.csv may also be called 'fts'.
        own = run_name(maps[DEFAULT_COST].name)
        if own != TREE_COST:
            maps.setdefault(own, maps[DEFAULT_COST])
    return maps


def _ontology(source: OntologySource | None) -> Ontology | None:
    return read_ontology(source) if isinstance(source, str | Path) else source


def check_needs(measures: Sequence[Measure], knowledge: Knowledge) -> None:
    """A NeedsError for a measure that lacks what it reads; a warning where costs are absent."""
    free = []
    for measure in measures:
        if "hierarchy" in measure.needs and knowledge.ontology is None:
            raise NeedsError(
                f"{measure} needs a hierarchy of concepts: give one with --ontology "
                "(in Python: ontology=)"
            )
        if "costs" in measure.needs:
            name = str(measure.value_of("cost"))
            if knowledge.cost_name(name) == "0/1":
                free.append(str(measure))
            else:
                knowledge.costs(name)
    if free:
        _warn(
            f"{', '.join(free)}: without --ontology or --costmap every confusion of two concepts "
            "costs 1"
        )


def _warn_of_broken_truth(truth: LabelMatrix, knowledge: Knowledge) -> None:
    blocks = item_blocks(truth, truth, knowledge, 1)
    count = sum(int(block.broken.any(axis=1).sum()) for block in blocks)
    if count:
        _warn(
            f"{truth.name}: {count} of {len(truth.items)} items break a rule of the ontology "
            "themselves; there OS stays below 1 even for a perfect run"
        )


def _named_runs(
    runs: Iterable[Any] | Mapping[str, Any], truth: LabelMatrix
) -> Iterable[LabelMatrix]:
    pairs: Iterable[tuple[str | None, Any]]
    if _is_one_run(runs):
        raise UsageError("runs are given as a list: evaluate_labels(truth, [run], ...)")
    pairs = runs.items() if isinstance(runs, Mapping) else ((None, run) for run in runs)
    names: set[str] = set()
    for number, (name, run) in enumerate(pairs, 1):
        bare = not isinstance(run, LabelMatrix | Mapping | str | Path) and not hasattr(
            run, "columns"
        )
        found = coerce_labels(
            run,
            name or f"run{number}",
            items=truth.items if bare else None,
            concepts=truth.concepts if bare or isinstance(run, Mapping) else None,
        )
        if name and found.name != name:
            found = replace(found, name=name)
        if found.name in names:
            raise UsageError(f"two runs are named {found.name!r}")
        names.add(found.name)
        yield found


def _is_one_run(runs: Any) -> bool:
    """Whether this is a run itself, not a list of runs or {name: run}."""
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
        return isinstance(first, set | frozenset) or isinstance(inner, Real)
    shape = getattr(runs, "shape", ())
    return isinstance(runs, LabelMatrix | str | Path) or len(shape) == 2 or runs is None


@dataclass
class _Collected:
    """The scores of the runs so far; the runs themselves are not kept."""

    truth: LabelMatrix
    knowledge: Knowledge
    plans: Mapping[Measure, LabelPlan]
    keep: bool

    def __post_init__(self) -> None:
        self.names: list[str] = []
        self.overall: dict[Measure, list[float]] = {m: [] for m in self.plans}
        self.left: dict[Measure, list[int]] = {m: [] for m in self.plans}
        self.values: dict[Measure, list[Floats]] = {m: [] for m in self.plans}
        self.missing: list[int] = []
        self.run_facts: list[dict[str, Any]] = []

    def add(self, run: LabelMatrix, jobs: int) -> None:
        aligned = prepared(run, self.truth, self.plans, self.knowledge)
        ready = aligned.run
        found = score_run(self.plans, self.truth, ready, self.knowledge, jobs)
        for measure, (values, overall) in found.items():
            self.overall[measure].append(overall)
            self.left[measure].append(int(np.isnan(values).sum()))
            if self.keep:
                self.values[measure].append(values)
        self.names.append(run.name)
        self.missing.append(aligned.missing_items)
        per_concept = [m for m, plan in self.plans.items() if plan.unit == "concept"]
        self.run_facts.append(
            {
                "concepts": {
                    "evaluated": len(self.truth.concepts),
                    "missing": aligned.missing_concepts,
                    "left_out": {str(m): self.left[m][-1] for m in per_concept},
                },
                "label_cardinality": ready.cardinality,
                "label_density": ready.density,
            }
        )

    def scores(self) -> Scores:
        if not self.names:
            raise UsageError("no run is given")
        truth = self.truth
        return Scores(
            task="labels",
            runs=tuple(self.names),
            measures=tuple(self.plans),
            units={"item": truth.items, "concept": truth.concepts},
            unit_of={m: plan.unit for m, plan in self.plans.items()},
            values={m: np.array(rows) for m, rows in self.values.items() if rows},
            overall={m: np.array(values) for m, values in self.overall.items()},
            missing=tuple(self.missing),
            evaluated=(len(truth.items),) * len(self.names),
            facts={
                "truth": {
                    "name": truth.name,
                    "items": len(truth.items),
                    "concepts": len(truth.concepts),
                    "label_cardinality": truth.cardinality,
                    "label_density": truth.density,
                }
            },
            run_facts=tuple(self.run_facts),
            left={m: tuple(counts) for m, counts in self.left.items()},
        )


def prepared(
    run: LabelMatrix,
    truth: LabelMatrix,
    plans: Mapping[Measure, LabelPlan],
    knowledge: Knowledge,
) -> Alignment:
    """A run in the truth's order; warns of all that a reader of its scores should know."""
    if not run.named and truth.named:
        _check_positions(run, truth, knowledge)
    ranked = [str(m) for m, plan in plans.items() if plan.ranked]
    if run.is_binary and ranked:
        _warn(
            f"{run.name}: has labels without confidences, so nearly all of its ranks are ties; "
            f"do not compare its {', '.join(ranked[:5])} with runs that have confidences"
        )
    aligned = align(run, truth)
    for note in aligned.notes:
        _warn(note)
    return aligned


def _check_positions(run: LabelMatrix, truth: LabelMatrix, knowledge: Knowledge) -> None:
    """Columns without names are those of the truth, unless the truth has an order of its own."""
    if knowledge.numbering is None:
        _warn(
            f"{run.name}: has no names of concepts; its columns are taken in the order of the "
            "truth's (--concepts names them)"
        )
    elif knowledge.numbering != truth.concepts:
        raise InputError.single(
            run.where,
            "has no names of concepts, and the truth has them in another order than the "
            "ontology: which of the two do the columns follow? Name them with --concepts",
        )


def score_run(
    plans: Mapping[Measure, LabelPlan],
    truth: LabelMatrix,
    run: LabelMatrix,
    knowledge: Knowledge,
    jobs: int,
) -> dict[Measure, tuple[Floats, float]]:
    """(values per unit, value of the run) of every measure for an aligned run."""
    parts: dict[Measure, list[Floats]] = {m: [] for m in plans}
    sums: dict[Measure, Floats | float] = dict.fromkeys(plans, 0.0)
    if any(not isinstance(plan, PerRankedConcept) for plan in plans.values()):
        for items in item_blocks(truth, run, knowledge, jobs):
            for measure, plan in plans.items():
                if isinstance(plan, PerItem):
                    parts[measure].append(plan.values(items))
                if not isinstance(plan, PerRankedConcept) and plan.sums is not None:
                    sums[measure] = sums[measure] + plan.sums(items)
    cutoffs = tuple(
        sorted({int(m.at) for m, p in plans.items() if isinstance(p, PerRankedConcept) and m.at})
    )
    if any(isinstance(plan, PerRankedConcept) for plan in plans.values()):
        for concepts in concept_blocks(truth, run, cutoffs, jobs):
            for measure, plan in plans.items():
                if isinstance(plan, PerRankedConcept):
                    parts[measure].append(plan.values(concepts))
    found = {}
    for measure, plan in plans.items():
        if isinstance(plan, PerConcept):
            values = plan.finish(np.asarray(sums[measure]), len(truth.items))
        else:
            values = np.concatenate(parts[measure])
        total = None if isinstance(plan, PerRankedConcept) else plan.total
        whole = aggregate(measure, values) if total is None else total(np.asarray(sums[measure]))
        found[measure] = (values, whole)
    return found


def _warn(message: str) -> None:
    warnings.warn(message, CranfieldWarning, stacklevel=4)
