"""Scores of runs that annotate items with concepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield._system import usable_cpus
from cranfield.data.labels import Alignment, Floats, LabelMatrix, Threshold, align
from cranfield.data.ontology import Knowledge
from cranfield.errors import InputError, NeedsError, UsageError, check_counts
from cranfield.evaluation.item_influence import item_influence
from cranfield.evaluation.label_inputs import (
    AgreementSource,
    ConceptSource,
    CostSources,
    OntologySource,
    ThresholdSource,
    apply_official_costs,
    check_needs,
    checked_truth,
    coerce_concepts,
    coerce_threshold,
    coerce_truth,
    full_ontology,
    gather,
    note_broken_rules,
    note_broken_truth,
    note_grades,
    select_measures,
    with_fractions,
)
from cranfield.evaluation.partly_judged import check_estimable, score_imputed_labels
from cranfield.evaluation.probabilistic_truth import (
    LABEL_DRAWS,
    SoftLabels,
    score_sampled_labels,
    soft_file,
)
from cranfield.evaluation.scores import THREADS, Executor, Scores, aggregate
from cranfield.io.coerce import LabelRunsForm, LabelsForm, coerce_labels, is_file
from cranfield.io.files import run_name
from cranfield.io.labels import resolve_unlisted
from cranfield.measures.base import Measure
from cranfield.measures.labels.blocks import (
    ConceptBlock,
    LabelPlan,
    PerConcept,
    PerItem,
    PerRankedConcept,
    SortedRun,
    concept_blocks,
    item_blocks,
)
from cranfield.measures.labels.concept import weighted_mean
from cranfield.measures.labels.registry import parse_label_measures
from cranfield.notes import Notes, Progress, with_progress
from cranfield.validation import Seed, validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

# The share of the work before the draws of a truth with probabilities.
FIRST_SCORED = 0.1


class LabelTask:
    """A truth joined with what measures of annotation need, ready for runs, from any thread.

    The options are those of `evaluate_labels`; files are read once, when the task is made.

    >>> task = LabelTask({"a": {"Sky", "Sea"}, "b": {"Sky"}}, "F.example")
    >>> task.evaluate({"mine": {"a": {"Sky"}, "b": {"Sky"}}}).mean()
    {'mine': {'F.example': 0.8333333333333333}}
    """

    def __init__(
        self,
        truth: LabelsForm,
        measures: str | Measure | Iterable[str | Measure] | None = None,
        *,
        ontology: OntologySource | None = None,
        rules: str | Path | None = None,
        costmap: CostSources | None = None,
        agreement: AgreementSource | None = None,
        concepts: ConceptSource | None = None,
        threshold: ThresholdSource | None = None,
        thresholds: Mapping[str, ThresholdSource] | None = None,
        scores: str = "confidence",
        unlisted: str | None = None,
        soft: bool = False,
        draws: int | None = None,
        rng: Seed | np.random.Generator = 0,
    ) -> None:
        check_counts(draws=draws)
        notes = Notes()
        self._scores = scores
        concept_names = coerce_concepts(concepts)
        self._draws, self._rng = draws, rng
        self._truth_source = truth
        truth, exclusive = soft_file(truth)
        matrix, self._left_out = coerce_truth(truth, concept_names)
        matrix = resolve_unlisted(matrix, unlisted)
        if not soft and exclusive is None and matrix.labels is None:
            matrix = self._with_fractions(matrix, measures)
        self.chances: SoftLabels | None = None
        if soft or exclusive is not None:
            self.chances = SoftLabels(matrix, bool(exclusive))
            matrix = self.chances.likely()
        notes.extend(matrix.notes)
        # Who names all columns of the truth names those of runs without names as well.
        self._columns = concept_names if concept_names and not self._left_out else None
        full = full_ontology(ontology, rules, matrix)
        self.truth = checked_truth(matrix, full)
        if self.chances is not None:
            self.chances = self.chances.of(self.truth)
        self.knowledge = gather(self.truth, ontology=full, costmap=costmap, agreement=agreement)
        official = apply_official_costs(measures, self.knowledge, notes)
        selected, dropped = select_measures(official, self.knowledge)
        if dropped:
            notes.add(
                "left out of 'all', for want of ontology=... or costmap=...: " + ", ".join(dropped)
            )
        self.measures = parse_label_measures(selected)
        self.partly_judged = self.truth.judged is not None and not self.truth.judged.all()
        if self.partly_judged:
            if self.chances is not None:
                raise UsageError(
                    f"{self.truth.where}: cells that were not judged in a truth of probabilities: "
                    "give them a probability as well"
                )
            check_estimable(self.truth, self.measures)
        check_needs(self.measures, self.knowledge, notes)
        note_grades(self.truth, self.measures, notes)
        if rules is not None and full is not None:
            note_broken_truth(self.truth, full, notes)
        elif any(m.name == "OS" and m.value_of("rules") for m in self.measures):
            note_broken_rules(self.truth, self.knowledge, notes)
        self.plans: dict[Measure, LabelPlan] = {m: m.plan(m) for m in self.measures}
        self._threshold = None if threshold is None else coerce_threshold(threshold)
        self._thresholds = {n: coerce_threshold(t) for n, t in (thresholds or {}).items()}
        self.notes = notes.lines()

    @staticmethod
    def _with_fractions(
        matrix: LabelMatrix, measures: str | Measure | Iterable[str | Measure] | None
    ) -> LabelMatrix:
        """Shares as grades, where that is what all measures read."""
        if measures is None:
            return matrix
        return with_fractions(matrix, parse_label_measures(measures))

    def check_complete(self, purpose: str) -> None:
        """A UsageError where a purpose needs all cells, and some were not judged."""
        if self.partly_judged:
            raise UsageError(
                f"{self.truth.where}: {purpose} needs every cell judged; scores are estimated from "
                "those that are"
            )

    def evaluate(
        self,
        runs: LabelRunsForm,
        *,
        keep: bool = True,
        jobs: int | None = None,
        progress: Watcher | None = None,
    ) -> Scores:
        """The scores of runs; each is scored and dropped before the next is asked for."""
        check_counts(jobs=jobs)
        report_progress = Progress.of(progress)
        notes = Notes()
        notes.extend(self.notes)
        uncertain = self.partly_judged or self.chances is not None
        collected = _ScoreTables(self, keep or uncertain)
        aligned_runs: list[LabelMatrix] = []
        first = report_progress.part(0.0, FIRST_SCORED) if uncertain else report_progress
        count = len(runs) if isinstance(runs, Sequence | Mapping) else 0
        for k, run in enumerate(self.runs(runs)):
            report_progress.check()
            aligned = self.aligned(run, notes)
            # How many runs a generator still has is unknown.
            part = first.part(k / count, (k + 1) / count) if count else first.part(0.0, 0.0)
            collected.add(run.name, aligned, jobs or usable_cpus(), part)
            if uncertain:
                aligned_runs.append(aligned.run)
        scores = collected.scores(notes.lines())
        if not uncertain:
            report_progress.finish()
            return scores
        from cranfield.stats._resample import seed_of

        estimate = score_sampled_labels if self.chances is not None else score_imputed_labels
        return estimate(
            self,
            aligned_runs,
            scores,
            draws=self._draws or LABEL_DRAWS,
            seed=seed_of(self._rng),
            jobs=jobs or usable_cpus(),
            progress=report_progress.part(FIRST_SCORED, 1.0),
        )

    def runs(self, runs: LabelRunsForm) -> Iterator[LabelMatrix]:
        """The runs with their names and thresholds, each read when it is its turn."""
        several = _several(runs, self._truth_source)
        pairs: Iterable[tuple[str | None, Any]]
        pairs = (
            several.items() if isinstance(several, Mapping) else ((None, run) for run in several)
        )
        if isinstance(several, Sequence | Mapping):
            pairs = list(pairs)
            _check_names([name or _given_name(run) for name, run in pairs], self._thresholds)
        names: set[str] = set()
        for number, (name, run) in enumerate(pairs, 1):
            matrix = self._coerced(run, name or f"run{number}")
            if name and matrix.name != name:
                matrix = replace(matrix, name=name)
            if matrix.name in names:
                raise UsageError(f"two runs are named {matrix.name!r}; a run is named by its file")
            names.add(matrix.name)
            yield self._with_threshold(matrix)

    def _coerced(self, run: LabelsForm, name: str) -> LabelMatrix:
        is_unlabelled = not isinstance(run, LabelMatrix | Mapping) and not hasattr(run, "columns")
        truth = self.truth
        matrix = coerce_labels(
            run,
            name,
            items=truth.items if is_unlabelled and not is_file(run) else None,
            concepts=truth.concepts if is_unlabelled or isinstance(run, Mapping) else None,
            scores=self._scores,
        )
        if self._columns is not None and not matrix.named:
            return matrix.renamed(self._columns)
        if not matrix.named and set(matrix.concepts) == set(truth.concepts):
            # Numbers are names where the truth has no others, such as categories 0 and 1.
            return replace(matrix, named=True)
        return matrix

    def _with_threshold(self, run: LabelMatrix) -> LabelMatrix:
        threshold: Threshold | None = self._thresholds.get(run.name, self._threshold)
        if threshold is None:
            return run
        if not run.named and isinstance(threshold, Mapping):
            raise UsageError(
                f"{run.name}: thresholds by name for a run without names of concepts; name them "
                "with concepts=..."
            )
        return run.with_threshold(threshold)

    def aligned(self, run: LabelMatrix, notes: Notes) -> Alignment:
        """A run in the truth's order; notes all that a reader of its scores should know."""
        if self._left_out and run.named:
            run = run.only([c for c in run.concepts if c not in self._left_out])
        truth = self.truth
        if not run.named and truth.named:
            self._check_positions(run, notes)
        ranked = [str(m) for m, plan in self.plans.items() if plan.ranked]
        if run.is_binary and ranked:
            notes.add(
                "has labels without confidences, so nearly all of its ranks are ties; do not "
                f"compare its {', '.join(ranked[:5])} with runs that have confidences",
                about=run.name,
            )
        shares = [str(m) for m in self.measures if str(m) == "F.example"]
        if shares and labels_form(self._truth_source).endswith("class of each item"):
            notes.add(
                "of one class per item F.example is the share of right classes; the F1 of a class "
                "is F.concept with concepts=['that class'], their mean F.concept",
                about=run.name,
            )
        probabilities = [str(m) for m in self.measures if "probabilities" in m.needs]
        if run.unbounded and probabilities:
            raise NeedsError(
                f"{run.where}: scores of any size are no probabilities, which "
                f"{', '.join(probabilities)} needs: give confidences in [0, 1], or "
                "scores='logistic'"
            )
        decided = [str(m) for m, plan in self.plans.items() if not plan.ranked]
        if run.unbounded and run.labels is None and decided:
            raise NeedsError(
                f"{run.where}: scores of any size have an order but no labels, which "
                f"{', '.join(decided[:5])} needs: give threshold=X in their own unit, or "
                "scores='logistic'"
            )
        aligned = align(run, truth)
        for note in aligned.notes:
            notes.add(note, about=run.name)
        return aligned

    def _check_positions(self, run: LabelMatrix, notes: Notes) -> None:
        """Columns without names are the truth's, unless the truth has an order of its own."""
        numbering = self.knowledge.numbering
        if numbering is None:
            notes.add(
                "has no names of concepts; its columns are taken in the order of the truth's "
                "(concepts=... names them)",
                about=run.name,
            )
        elif numbering != self.truth.concepts:
            raise InputError.single(
                run.where,
                "has no names of concepts, and the truth has them in another order than the "
                "ontology: which of the two do the columns follow? Name them with concepts=...",
            )


@validate_params(skip=("measures", "runs", "concepts", "jobs"))
@with_progress
def evaluate_labels(
    truth: LabelsForm,
    runs: LabelRunsForm,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    ontology: OntologySource | None = None,
    rules: str | Path | None = None,
    costmap: CostSources | None = None,
    agreement: AgreementSource | None = None,
    concepts: ConceptSource | None = None,
    threshold: ThresholdSource | None = None,
    thresholds: Mapping[str, ThresholdSource] | None = None,
    scores: str = "confidence",
    unlisted: str | None = None,
    soft: bool = False,
    draws: int | None = None,
    rng: Seed | np.random.Generator = 0,
    keep: bool = True,
    jobs: int | None = None,
    executor: Executor = THREADS,
    progress: Watcher | None = None,
) -> Scores:
    """Score runs against the truth.

    `truth` and each run are a LabelMatrix, a file, or what `LabelMatrix.of` takes: a matrix, a
    class or a list of labels of each item, a data frame. `runs` is one run, a list of them,
    {name: run}, or a generator: each run is scored and dropped before the next is asked for.
    Without `measures` the usual ones are taken for which all that they need is given.
    `rules` is a TOML file with more rules than the ontology's. `costmap` is the default map, or
    {name: map} for measures such as `OS(cost='fts')`. `concepts` names the columns of files
    without names, adds concepts that no item has, or chooses some of the truth's concepts.
    `threshold` is the confidence from which a concept counts as predicted: a number, one for
    each concept, or a file; `thresholds` has those of single runs. `scores` says what the numbers
    of runs are: "confidence" (in [0, 1]), "any" (of any size, for measures of order, or with a
    threshold in their own unit) or "logistic" (brought to [0, 1] by that function). With
    `keep=False` only the value of each run is kept, not its values per item and concept.
    `unlisted` says what the cells are that a long truth does not list although it lists others as
    absent: "absent" or "unjudged". Where some cells were not judged (also `?` in a file, or
    `LabelMatrix.judged`), scores are expected values over truths that agree with the judged cells,
    drawn from a model of the others given what all runs say of them, and `scores.doubt` says how
    far they are sure.
    With `soft` the values of the
    truth are probabilities (a file with a column `probability` says so itself): the scores are
    expected values then, and `scores.doubt` says how far they are sure, from `draws` of the whole
    truth by the seed `rng` (200 unless told otherwise; the same for all runs).

    >>> truth = {"a": {"Sky", "Sea"}, "b": {"Sky"}}
    >>> evaluate_labels(truth, {"mine": {"a": {"Sky"}, "b": {"Sky"}}}, "F.example").mean()
    {'mine': {'F.example': 0.8333333333333333}}
    """
    options: dict[str, Any] = {
        "truth": truth,
        "measures": measures,
        "ontology": ontology,
        "rules": rules,
        "costmap": costmap,
        "agreement": agreement,
        "concepts": concepts,
        "threshold": threshold,
        "thresholds": thresholds,
        "scores": scores,
        "unlisted": unlisted,
        "soft": soft,
        "draws": draws,
        "rng": rng,
    }
    if executor == THREADS:
        return LabelTask(**options).evaluate(runs, keep=keep, jobs=jobs, progress=progress)
    if LabelTask(**options).partly_judged:
        raise UsageError(
            "cells that were not judged are estimated from all runs together: executor='threads'"
        )
    several = _several(runs, truth)
    pairs = (
        several.items()
        if isinstance(several, Mapping)
        else [(_given_name(run), run) for run in several]
    )
    named_runs = [(name or f"run{i}", run) for i, (name, run) in enumerate(pairs, 1)]
    run_thresholds = thresholds or {}
    _check_names([name for name, _ in named_runs], run_thresholds)
    pieces = [
        (
            {
                **options,
                "keep": keep,
                "thresholds": {n: t for n, t in run_thresholds.items() if n == name},
            },
            pair,
        )
        for pair in named_runs
        for name in pair[:1]
    ]
    from cranfield.evaluation.scores import score_distributed

    return score_distributed(_score_piece, pieces, executor, jobs, progress)


def _score_piece(work_item: tuple[dict[str, Any], tuple[str, Any]]) -> Scores:
    """One run scored by a worker."""
    options, (name, run) = work_item
    keep = options["keep"]
    task = LabelTask(**{k: v for k, v in options.items() if k != "keep"})
    return task.evaluate({name: run}, keep=keep, jobs=1)


def _check_names(names: Sequence[str | None], thresholds: Mapping[str, Any]) -> None:
    """A UsageError for two runs of a name, or a threshold of a run that is not there."""
    run_names = [name for name in names if name]
    for name in run_names:
        if run_names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")
    unknown = thresholds.keys() - set(run_names)
    if unknown and len(run_names) == len(names):
        raise UsageError(f"a threshold is for {sorted(unknown)[0]!r}, which is not a run")


def _given_name(run: Any) -> str | None:
    """The name that a run has before it is read, if it has one."""
    if is_file(run):
        return run_name(run)
    return run.name if isinstance(run, LabelMatrix) else None


def _several(runs: LabelRunsForm, truth: LabelsForm) -> Iterable[Any] | Mapping[str, Any]:
    """A list of runs or {name: run}, also where one run is alone."""
    if _is_one_run(runs, truth):
        return [runs] if is_file(runs) or isinstance(runs, LabelMatrix) else {"run": runs}
    if not isinstance(runs, Iterable):
        raise UsageError("runs are one run, a list of runs, or {name: run}")
    return runs


def _is_one_run(runs: Any, truth: Any) -> bool:
    """Whether this is a run itself, not a list of runs or {name: run}."""
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        if isinstance(first, Mapping) and shares_keys(first, truth) > shares_keys(runs, truth):
            return False  # {name: {item: class}}
        inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
        if isinstance(first, set | frozenset) or isinstance(inner, Real):
            return True
    shape = getattr(runs, "shape", ())
    if isinstance(runs, LabelMatrix) or is_file(runs) or len(shape) in (1, 2):
        return True
    if is_list_of_files(runs) or (isinstance(runs, Mapping) and not shares_keys(runs, truth)):
        return False
    # Lists and dicts of lists may be a run or several: in the form of the truth they are one.
    return (form := labels_form(runs)) != "" and form == labels_form(truth)


def is_list_of_files(runs: Any) -> bool:
    """Whether these are names of files that are there, which could be names of classes."""
    return isinstance(runs, list | tuple) and all(
        is_file(run) and (not isinstance(run, str) or Path(run).is_file()) for run in runs
    )


def shares_keys(runs: Mapping[Any, Any], truth: Any) -> bool:
    """Whether some item of the truth is a key here."""
    return isinstance(truth, Mapping) and any(item in truth for item in runs)


def labels_form(source: Any) -> str:
    """Which of the forms with a value or a list for each item this is; "" for any other.

    >>> labels_form([0, 2, 1]), labels_form([["sky"], ["sea", "sky"]]), labels_form("truth.csv")
    ('class of each item', 'row of each item', '')
    """
    if isinstance(source, Mapping):
        values, prefix = list(source.values()), "named "
    elif isinstance(source, list | tuple):
        values, prefix = list(source), ""
    elif len(shape := getattr(source, "shape", ())) in (1, 2) and not hasattr(source, "columns"):
        return "class of each item" if len(shape) == 1 else "row of each item"
    else:
        return ""
    if values and all(isinstance(value, str | Real) for value in values):
        return f"{prefix}class of each item"
    rows = (isinstance(v, list | tuple | set | frozenset) for v in values)
    if values and all(rows) and all(isinstance(c, str | Real) for v in values for c in v):
        return f"{prefix}row of each item"
    return ""


@dataclass
class _ScoreTables:
    """The scores of the runs so far; the runs themselves are not kept."""

    task: LabelTask
    keep: bool

    def __post_init__(self) -> None:
        plans = self.task.plans
        self.names: list[str] = []
        self.overall: dict[Measure, list[float]] = {m: [] for m in plans}
        self.left: dict[Measure, list[int]] = {m: [] for m in plans}
        self.values: dict[Measure, list[Floats]] = {m: [] for m in plans}
        self.influence: dict[Measure, list[Floats]] = {m: [] for m in plans}
        self.missing: list[int] = []
        self.run_facts: list[dict[str, Any]] = []

    def add(self, name: str, aligned: Alignment, jobs: int, progress: Progress) -> None:
        truth, plans = self.task.truth, self.task.plans
        run = aligned.run
        results = score_run(plans, truth, run, self.task.knowledge, jobs, progress=progress)
        progress.finish()
        for measure, (values, overall) in results.items():
            self.overall[measure].append(overall)
            self.left[measure].append(int(np.isnan(values).sum()))
            if self.keep:
                self.values[measure].append(values)
        # Where cells were not judged, what an item adds depends on what they are.
        if self.keep and not self.task.partly_judged:
            by_unit = {m: values for m, (values, _) in results.items()}
            parts = item_influence(plans, truth, run, self.task.knowledge, by_unit, jobs)
            for measure, by_item in parts.items():
                self.influence[measure].append(by_item)
        self.names.append(name)
        self.missing.append(aligned.missing_items)
        per_concept = [m for m, plan in plans.items() if plan.unit == "concept"]
        self.run_facts.append(
            {
                "concepts": {
                    "evaluated": len(truth.concepts),
                    "missing": aligned.missing_concepts,
                    "left_out": {str(m): self.left[m][-1] for m in per_concept},
                },
                "label_cardinality": run.cardinality,
                "label_density": run.density,
            }
        )

    def scores(self, notes: tuple[str, ...]) -> Scores:
        if not self.names:
            raise UsageError("no run is given")
        truth, plans = self.task.truth, self.task.plans
        return Scores(
            task="labels",
            runs=tuple(self.names),
            measures=tuple(plans),
            units={"item": truth.items, "concept": truth.concepts},
            unit_of={m: plan.unit for m, plan in plans.items()},
            values={m: np.array(rows) for m, rows in self.values.items() if rows},
            influence={m: np.array(rows) for m, rows in self.influence.items() if rows},
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
            notes=notes,
            run_facts=tuple(self.run_facts),
            left={m: tuple(counts) for m, counts in self.left.items()},
        )


def score_run(
    plans: Mapping[Measure, LabelPlan],
    truth: LabelMatrix,
    run: LabelMatrix,
    knowledge: Knowledge,
    jobs: int,
    presorted: SortedRun | None = None,
    progress: Progress | None = None,
) -> dict[Measure, tuple[Floats, float]]:
    """(values per unit, value of the run) of every measure for an aligned run.

    `presorted` is what was sorted of the run, which saves doing it for each of many truths.
    """
    progress = progress or Progress()
    rows = 0
    parts: dict[Measure, list[Floats]] = {m: [] for m in plans}
    sums: dict[Measure, Floats | float] = dict.fromkeys(plans, 0.0)
    if any(not isinstance(plan, PerRankedConcept) for plan in plans.values()):
        for items in item_blocks(truth, run, knowledge, jobs):
            for measure, plan in plans.items():
                if isinstance(plan, PerItem):
                    parts[measure].append(plan.values(items))
                    if plan.counts is not None:
                        sums[measure] = sums[measure] + plan.counts(items).sum(axis=1)
                elif isinstance(plan, PerConcept):
                    sums[measure] = sums[measure] + plan.sums(items)
            rows += len(items.truth)
            progress(rows / len(truth.items))
    cutoffs = tuple(
        sorted({int(m.at) for m, p in plans.items() if isinstance(p, PerRankedConcept) and m.at})
    )
    averages = {p.average for p in plans.values() if isinstance(p, PerRankedConcept)}
    together: list[ConceptBlock] = []
    weights: list[Floats] = []
    if averages:
        for concepts in concept_blocks(truth, run, cutoffs, jobs, presorted):
            progress.check()
            if "micro" in averages:
                together.append(concepts)
            if "weighted" in averages:
                weights.append(concepts.truth.sum(axis=0, dtype=np.float64))
            for measure, plan in plans.items():
                if isinstance(plan, PerRankedConcept):
                    parts[measure].append(plan.values(concepts))
    results = {}
    for measure, plan in plans.items():
        if isinstance(plan, PerConcept):
            values = plan.finish(np.asarray(sums[measure]), len(truth.items))
        else:
            values = np.concatenate(parts[measure])
        if isinstance(plan, PerRankedConcept):
            overall = _averaged_concepts(measure, plan, values, together, weights)
        elif plan.total is None:
            overall = aggregate(measure, values)
        else:
            overall = plan.total(np.asarray(sums[measure]))
        results[measure] = (values, overall)
    return results


def _averaged_concepts(
    measure: Measure,
    plan: PerRankedConcept,
    values: Floats,
    blocks: Sequence[ConceptBlock],
    weights: Sequence[Floats],
) -> float:
    """The value of a run as the measure averages over concepts."""
    if plan.average == "micro":
        return float(plan.values(ConceptBlock.joined(blocks).pooled())[0])
    if plan.average == "weighted":
        return weighted_mean(values, np.concatenate(weights))
    return aggregate(measure, values)
