"""Annotations against a truth in which only some cells were judged (No 3.3.3: infAP per concept).

TRECVID judges a sample of a pool for every concept. Each concept is then a topic, whose items an
annotation ranks by confidence, and measures for incomplete judgements (infAP, Bpref) apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cranfield.data import Judgements
from cranfield.data.labels import LabelMatrix, concept_rankings
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import coerce_labels
from cranfield.io.labels import name_annotations
from cranfield.io.labels_other import read_pooled_cells
from cranfield.measures import POOLED, Measure, parse_measures
from cranfield.measures.labels.pooled import as_ranked
from cranfield.measures.parse import listed_measures
from cranfield.notes import Watcher, with_progress
from cranfield.validation import validate_params

MEASURES = "infAP.concept Bpref.concept"
Cells = Judgements | Mapping[str, Mapping[str, int]] | str | Path


@validate_params
@with_progress
def evaluate_pooled_labels(
    truth: Cells,
    runs: Any,
    measures: str | Iterable[str] = MEASURES,
    *,
    scores: str = "confidence",
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> Scores:
    """Score annotations on the cells of a truth that were judged, concept by concept.

    `truth` is a file (CSV item,concept,value, `?` for a cell of the sample without a judgement) or
    {concept: {item: 1, 0 or -1}}. Measures are `infAP.concept`, `xinfAP.concept`,
    `Bpref.concept`, and those of rankings under their own names.

    >>> cells = {"Sea": {"a": 1, "b": 0, "c": -1}}
    >>> run = {"a": {"Sea": 0.9}, "b": {"Sea": 0.2}, "c": {"Sea": 0.5}}
    >>> evaluate_pooled_labels(cells, {"mine": run}, "infAP.concept").mean()
    {'mine': {'infAP.concept': 1.0}}
    """
    judged = read_pooled_cells(truth) if isinstance(truth, str | Path) else truth
    cells = judged if isinstance(judged, Judgements) else Judgements.from_dict(dict(judged))
    parsed = dict.fromkeys(_named(name) for name in listed_measures(measures))
    named_runs = name_annotations(runs)
    matrices = [coerce_labels(source, name, scores=scores) for name, source in named_runs]
    for matrix in matrices:
        unknown = [c for c in cells.topics if matrix.named and c not in matrix.concepts]
        if unknown:
            raise UsageError(
                f"{matrix.where}: no concept {unknown[0]!r}.{suggest(unknown[0], matrix.concepts)}"
            )
    ranked = {run.name: run for run in concept_rankings(matrices)}
    computed = parse_measures([as_ranked(m) for m in parsed])
    topic_scores = evaluate(cells, ranked, computed, jobs=jobs, progress=progress)
    items = tuple(dict.fromkeys(item for _, item, _ in cells.rows()))
    return _by_concept(topic_scores, tuple(parsed), items, matrices)


def _named(measure: str | Measure) -> Measure:
    if isinstance(measure, Measure):
        return measure
    try:
        return POOLED.find(measure)
    except MeasureError:
        return parse_measures(measure)[0]


def _by_concept(
    scores: Scores, measures: tuple[Measure, ...], items: tuple[str, ...], runs: list[LabelMatrix]
) -> Scores:
    """Scores of rankings in the shape of annotation: topics are concepts."""
    concepts = scores.units["topic"]
    left_out = {m: tuple(scores.left_out(as_ranked(m))) for m in measures}
    counts = [
        {
            "evaluated": scores.evaluated[i],
            "missing": scores.missing[i],
            "left_out": {str(m): left_out[m][i] for m in measures},
        }
        for i in range(len(scores.runs))
    ]
    return replace(
        scores,
        task="labels",
        measures=measures,
        units={"item": items, "concept": concepts},
        unit_of=dict.fromkeys(measures, "concept"),
        values={m: scores.values[as_ranked(m)] for m in measures},
        overall={m: scores.overall[as_ranked(m)] for m in measures},
        missing=tuple(len(set(items).difference(run.items)) for run in runs),
        evaluated=(len(items),) * len(scores.runs),
        run_facts=tuple({"concepts": concept_counts} for concept_counts in counts),
        left=left_out,
    )
