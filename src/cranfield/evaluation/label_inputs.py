"""What a task of annotation knows beside its runs: the truth, the concepts, costs, thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cranfield.data.costmap import AgreementMap, CostMap
from cranfield.data.labels import LabelMatrix, Threshold, dense
from cranfield.data.ontology import DEFAULT_COST, TREE_COST, Knowledge, Ontology, RuleBook
from cranfield.errors import InputError, NeedsError, UsageError, suggest
from cranfield.io.coerce import LabelsForm, coerce_labels, is_file
from cranfield.io.costmap import read_agreement, read_costmap
from cranfield.io.files import run_name
from cranfield.io.labels import read_concepts, read_threshold
from cranfield.io.ontology import read_ontology, read_rules
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import item_blocks
from cranfield.measures.labels.registry import LABEL_SETS, OFFICIAL_COSTS, without_needs
from cranfield.measures.parse import listed_measures
from cranfield.options import DEFAULT_MEASURES, DEFAULT_WITH_COSTS
from cranfield.validation import describe_value

if TYPE_CHECKING:
    from cranfield.notes import Notes

CostSource: TypeAlias = CostMap | str | Path
CostSources: TypeAlias = "CostSource | Mapping[str, CostSource]"
OntologySource: TypeAlias = Ontology | str | Path
AgreementSource: TypeAlias = AgreementMap | Mapping[str, float] | str | Path
ConceptSource: TypeAlias = Sequence[str] | str | Path
# A number, one per concept, {concept: number}, or a file of them.
ThresholdSource: TypeAlias = "Threshold | str | Path"

# The grade from which a concept counts as true where a measure uses no grades.
LEAST_GRADE = 1.0
# Items of the truth that are held against the rules at a time.
ROWS_AT_ONCE = 8192


def coerce_ontology(source: OntologySource | None) -> Ontology | None:
    if source is not None and not isinstance(source, str | Path | Ontology):
        raise UsageError(f"ontology= is a file, a name or an Ontology, not {type(source).__name__}")
    return read_ontology(source) if isinstance(source, str | Path) else source


def coerce_concepts(source: ConceptSource | None) -> tuple[str, ...] | None:
    """Names of concepts, given as a list or in a file."""
    if source is None:
        return None
    if isinstance(source, str | Path):
        return read_concepts(source)
    names = tuple(source) if isinstance(source, Iterable) else (source,)
    wrong_type = next((name for name in names if not isinstance(name, str)), None)
    if wrong_type is not None:
        raise UsageError(f"concepts= are names or a file of them, not {type(wrong_type).__name__}")
    return names


def coerce_threshold(source: ThresholdSource) -> Threshold:
    return read_threshold(str(source)) if isinstance(source, str | Path) else source


def read_truth(source: LabelsForm) -> LabelMatrix:
    """The truth of a file or of plain objects, with its grades where values go beyond 0 and 1.

    A concept that an item has with a grade of 1 or more counts as true.
    """
    try:
        return coerce_labels(source, "truth", unjudged=True)
    except InputError as refusal:
        # A stream cannot be read again.
        if is_file(source) and not isinstance(source, str | Path):
            raise
        try:
            scored = coerce_labels(source, "truth", scores="any", unjudged=True)
        except InputError:
            raise refusal from None
        if scored.confidences is None:
            raise
        grades = np.asarray(dense(scored.confidences), dtype=np.float64)
        grades = np.where(np.isneginf(grades), 0.0, grades)  # cells that a long file does not list
        if not np.isfinite(grades).all() or (grades < 0).any() or grades.max() <= 1:
            raise
    return replace(
        scored, labels=grades >= LEAST_GRADE, confidences=None, grades=grades, unbounded=False
    )


def with_fractions(truth: LabelMatrix, measures: Sequence[Measure]) -> LabelMatrix:
    """A truth of shares between 0 and 1 with these as grades, where every measure uses grades."""
    if truth.labels is not None or not all("grades" in m.needs for m in measures):
        return truth
    grades = np.asarray(dense(truth.confidences), dtype=np.float64)
    return replace(truth, labels=grades > 0, confidences=None, grades=grades)


def note_grades(truth: LabelMatrix, measures: Sequence[Measure], notes: Notes) -> None:
    """A note which measures see no more of a graded truth than what is true."""
    binary = [str(m) for m in measures if "grades" not in m.needs]
    if truth.grades is None or not binary:
        return
    notes.add(
        f"{truth.name} has grades up to {truth.grades.max():g}; a concept counts as true from "
        f"grade {LEAST_GRADE:g} on in {', '.join(binary[:5])}"
    )


def coerce_truth(
    source: LabelsForm, concepts: tuple[str, ...] | None
) -> tuple[LabelMatrix, frozenset[str]]:
    """The truth over its vocabulary, and the concepts it has that shall not count.

    `concepts` names the columns of a truth without names, adds concepts that no item has to
    one that has them, or chooses some of its concepts.
    """
    truth = read_truth(source)
    if concepts is None:
        return truth, frozenset()
    truth_concepts = set(truth.concepts)
    if truth.named and not truth_concepts <= set(concepts):
        unknown = [c for c in concepts if c not in truth_concepts]
        if unknown:
            unlisted = next(c for c in truth.concepts if c not in set(concepts))
            raise InputError.single(
                truth.where,
                f"has a concept {unlisted!r} that concepts=... does not list, and lacks "
                f"{unknown[0]!r}, which it does.{suggest(unknown[0], truth.concepts)} List all "
                "concepts, or some of those of the truth",
            )
        return truth.only(concepts), frozenset(truth_concepts - set(concepts))
    return truth.with_vocabulary(concepts), frozenset()


def full_ontology(
    ontology: OntologySource | None, rules: str | Path | None, truth: LabelMatrix
) -> Ontology | None:
    """The ontology with further rules; rules alone make one in which every concept is a root."""
    coerced = coerce_ontology(ontology)
    if rules is None:
        return coerced
    extra_rules = read_rules(rules)
    if coerced is None:
        flat = ((c, c.replace(".", "_")) for c in truth.concepts)
        return Ontology.from_paths(flat, rules=extra_rules, name=str(rules))
    return Ontology(
        coerced.nodes,
        coerced.parents,
        coerced.concept_nodes,
        coerced.rules + extra_rules,
        coerced.name,
    ).checked()


def select_measures(
    measures: str | Measure | Iterable[str | Measure] | None, knowledge: Knowledge
) -> tuple[str | Measure | Iterable[str | Measure], tuple[str, ...]]:
    """The measures asked for (or the usual ones), and those of a set that lack what they need."""
    lacking = set() if knowledge.ontology is not None else {"hierarchy"}
    if knowledge.ontology is None and not knowledge.costmaps:
        lacking.add("costs")
    if measures is None:
        measures = DEFAULT_MEASURES if "costs" in lacking else DEFAULT_WITH_COSTS
    if not isinstance(measures, str):
        return measures, ()
    return without_needs(measures, frozenset(lacking))


def apply_official_costs(
    measures: str | Measure | Iterable[str | Measure] | None, knowledge: Knowledge, notes: Notes
) -> str | Measure | Iterable[str | Measure] | None:
    """The measures of a campaign with the costs that it had, or a note that they are others."""
    requested = [] if measures is None else listed_measures(measures)
    if not any(isinstance(entry, str) and entry in OFFICIAL_COSTS for entry in requested):
        return measures
    map_names = {name.lower(): name for name in knowledge.costmaps}
    expanded: list[str | Measure] = []
    for entry in requested:
        if not isinstance(entry, str) or entry not in OFFICIAL_COSTS:
            expanded.append(entry)
            continue
        measure, cost = OFFICIAL_COSTS[entry]
        with_cost = f"{measure}(cost={map_names[cost]!r})" if cost in map_names else measure
        expanded += [with_cost if name == measure else name for name in LABEL_SETS[entry]]
        if cost not in map_names:
            default_cost = knowledge.cost_name(DEFAULT_COST)
            words = {"": "of the cost map given", TREE_COST: "of the ontology's tree", "0/1": "0/1"}
            notes.add(
                f"{entry}: {measure} has the costs "
                f"{words.get(default_cost, f'of {default_cost!r}')}; the campaign's "
                f"had those of {cost.upper()}: give them with costmap=... under the name {cost!r}"
            )
    return " ".join(map(str, expanded)) if isinstance(measures, str) else expanded


def checked_truth(truth: LabelMatrix, ontology: Ontology | None) -> LabelMatrix:
    """The truth with named concepts, or an InputError when it cannot be a truth."""
    if truth.labels is None:
        raise InputError.single(
            truth.where,
            f"the truth has values between 0 and 1{_not_binary(truth)}; expected 0 or 1 "
            "(the truth comes first, then the runs; shares are grades for measures such as "
            "nDCG.example, and probabilities with soft=True)",
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
            f"{len(ontology.concepts)} concepts; name them with concepts=...",
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
    full = coerce_ontology(ontology)
    maps = costmap if isinstance(costmap, Mapping) else {DEFAULT_COST: costmap}
    factors = agreement
    if isinstance(factors, str | Path):
        factors = read_agreement(factors)
    elif isinstance(factors, Mapping):
        factors = AgreementMap(dict(factors))
    elif not isinstance(factors, AgreementMap | None):
        raise UsageError(
            f"agreement={describe_value(factors)} is neither a file nor {{concept: agreement}}"
        )
    return Knowledge(
        truth.concepts,
        None if full is None else full.restricted_to(truth.concepts).checked(),
        full.concepts if full and set(full.concepts) == set(truth.concepts) else None,
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
        map_name = run_name(maps[DEFAULT_COST].name)
        if map_name != TREE_COST:
            maps.setdefault(map_name, maps[DEFAULT_COST])
    return maps


def check_needs(measures: Sequence[Measure], knowledge: Knowledge, notes: Notes) -> None:
    """A NeedsError for a measure that lacks what it reads; a note where costs are absent."""
    without_costs = []
    for measure in measures:
        if "hierarchy" in measure.needs and knowledge.ontology is None:
            raise NeedsError(f"{measure} needs a hierarchy of concepts: give one with ontology=...")
        if "costs" in measure.needs:
            name = str(measure.value_of("cost"))
            if knowledge.cost_name(name) == "0/1":
                without_costs.append(str(measure))
            else:
                knowledge.costs(name)
    if without_costs:
        notes.add(
            f"{', '.join(without_costs)}: without ontology=... or costmap=... every "
            "confusion of two "
            "concepts costs 1"
        )


def note_broken_truth(truth: LabelMatrix, ontology: Ontology, notes: Notes) -> None:
    """A note when items of the truth break a rule, also one that wants exactly one of several."""
    book = RuleBook.of(ontology, truth.concepts)
    count, example = 0, ""
    for start in range(0, len(truth.items), ROWS_AT_ONCE):
        labels, _ = truth.rows(start, start + ROWS_AT_ONCE)
        if labels is None:
            return
        broken = np.zeros(len(labels), dtype=bool)
        for words, rows in book.broken_rows(labels, truth.concepts):
            broken |= rows
            if not example and rows.any():
                example = f"{truth.items[start + int(np.argmax(rows))]!r}: {words}"
        count += int(broken.sum())
    if count:
        notes.add(
            f"{truth.name}: {count} of {len(truth.items)} items break a rule themselves, such as "
            f"{example}"
        )


def note_broken_rules(truth: LabelMatrix, knowledge: Knowledge, notes: Notes) -> None:
    """A note when items of the truth break a rule of the ontology themselves."""
    blocks = item_blocks(truth, truth, knowledge, 1)
    count = sum(int(block.broken.any(axis=1).sum()) for block in blocks)
    if count:
        notes.add(
            f"{truth.name}: {count} of {len(truth.items)} items break a rule of the ontology "
            "themselves; there OS stays below 1 even for a perfect run"
        )
