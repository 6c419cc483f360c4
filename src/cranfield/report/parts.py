"""The parts of the report that need more than scores: the runs and the truth themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from cranfield.comparison.answer import Comparison
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix
from cranfield.evaluation.curves import RECALL_MEASURES
from cranfield.evaluation.explain_labels import explain_item
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.roc import roc_curves
from cranfield.evaluation.scores import Scores
from cranfield.io import read_run
from cranfield.measures.labels.blocks import Knowledge
from cranfield.report.charts.concepts import truth_frequency
from cranfield.report.charts.parts import best_first
from cranfield.report.document import Table
from cranfield.report.drilldown import add_explanations, add_rankings
from cranfield.report.methods import label_settings, ranked_settings
from cranfield.report.sections import Section, add_annotation, add_recall_curve, score_section

# Options of `evaluate` that say which part of a ranking counts, and in which order.
RANKING_OPTIONS = ("ties", "judged_only", "max_items")


def retrieval_section(
    scores: Scores,
    judgements: Judgements,
    runs: Sequence[Any],
    *,
    title: str,
    tables: Sequence[Table],
    options: dict[str, Any],
    comparison: Comparison | None = None,
    jobs: int = 1,
) -> Section:
    """Ranked runs: scores, precision against recall, and the rankings of every topic.

    `options` are those with which `evaluate` made the scores.
    """
    section = score_section(
        scores,
        title=title,
        tables=tables,
        comparison=comparison,
        settings=ranked_settings(options),
        jobs=jobs,
    )
    curve = evaluate(judgements, list(runs), RECALL_MEASURES, jobs=jobs, **options)
    order = [scores.runs[i] for i in best_first(scores, scores.measures[0])]
    add_recall_curve(section, curve, order)
    chosen = {k: v for k, v in options.items() if k in RANKING_OPTIONS}
    add_rankings(section, judgements, _each(runs, jobs), **chosen)
    return section


def _each(runs: Sequence[Any], jobs: int) -> Iterator[Run]:
    """One run at a time: many of them need not fit into memory together."""
    for run in runs:
        yield run if isinstance(run, Run) else read_run(run, jobs=jobs)


def annotation_section(
    scores: Scores,
    truth: LabelMatrix,
    runs: Iterable[LabelMatrix],
    knowledge: Knowledge,
    *,
    title: str,
    tables: Sequence[Table],
    comparison: Comparison | None = None,
    thresholds: Sequence[str] = (),
    jobs: int = 1,
) -> Section:
    """Annotation: scores, concepts, ROC, and the labels of every item.

    Runs are aligned to the truth; `thresholds` are those that were given, as text.
    """
    section = score_section(
        scores,
        title=title,
        tables=tables,
        comparison=comparison,
        settings=label_settings(truth, knowledge, thresholds),
        jobs=jobs,
    )
    aligned = list(runs)
    labels = truth.rows(0, len(truth.items))[0]
    mixed = labels is not None and labels.any() and not labels.all()
    confident = [run for run in aligned if not run.is_binary] if mixed else []
    curves = roc_curves(truth, confident) if confident else {}
    add_annotation(section, scores, truth_frequency(truth), curves)
    explain = [
        partial(explain_item, truth=truth, run=run, measures=scores.measures, knowledge=knowledge)
        for run in aligned
    ]
    add_explanations(section, truth.items, truth.concepts, explain)
    return section
