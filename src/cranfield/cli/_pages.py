"""The interactive report of a command: what `--format html` writes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield.cli._label_inputs import read_maps, read_runs, read_truth
from cranfield.comparison.answer import Comparison
from cranfield.evaluation.labels import gather, prepared
from cranfield.evaluation.scores import COMMANDS, Scores
from cranfield.io import read_qrels
from cranfield.io.files import can_be_read_again
from cranfield.report.document import Table
from cranfield.report.methods import ranked_settings
from cranfield.report.page import report_page
from cranfield.report.parts import annotation_section, retrieval_section
from cranfield.report.sections import Section, score_section, table_section

ONCE = (
    "Curves and what stands behind the numbers: an input could be read only once "
    "(standard input or a pipe)."
)
TITLES = {"eval": "Retrieval", "label": "Annotation"}


def ranked_page(
    scores: Scores,
    qrels: str,
    runs: Sequence[str],
    options: dict[str, Any],
    *,
    tables: Sequence[Table],
    more: Sequence[Table] = (),
    comparison: Comparison | None = None,
    jobs: int = 1,
) -> str:
    """The report of `eval`, or of `compare` for ranked runs.

    `tables` are for readers without a script; `more` tables stand at the end as they are.
    """
    shared: dict[str, Any] = {
        "title": TITLES["eval"],
        "tables": tables,
        "comparison": comparison,
        "jobs": jobs,
    }
    if all(map(can_be_read_again, (qrels, *runs))):
        judgements = read_qrels(qrels, jobs=jobs)
        section = retrieval_section(scores, judgements, runs, options=options, **shared)
    else:
        section = _numbers_only(scores, {**shared, "settings": ranked_settings(options)})
    return report_page(_title(comparison, scores), [section, *_further(more)])


def label_page(
    scores: Scores,
    args: argparse.Namespace,
    *,
    tables: Sequence[Table],
    more: Sequence[Table] = (),
    comparison: Comparison | None = None,
) -> str:
    """The report of `label`, or of `compare` for annotation."""
    shared: dict[str, Any] = {
        "title": TITLES["label"],
        "tables": tables,
        "comparison": comparison,
        "jobs": args.jobs,
    }
    if all(map(can_be_read_again, (args.truth, *args.runs))):
        truth, ontology = read_truth(args)
        knowledge = gather(
            truth, ontology=ontology, costmap=read_maps(args), agreement=args.agreement
        )
        plans = {m: m.plan(m) for m in scores.measures}
        aligned = (prepared(run, truth, plans, knowledge).run for run in read_runs(args))
        section = annotation_section(
            scores, truth, aligned, knowledge, thresholds=args.threshold, **shared
        )
    else:
        section = _numbers_only(scores, shared)
    return report_page(_title(comparison, scores), [section, *_further(more)])


def _further(tables: Sequence[Table]) -> list[Section]:
    return [table_section("Further tables", tables)] if tables else []


def _numbers_only(scores: Scores, shared: dict[str, Any]) -> Section:
    section = score_section(scores, **shared)
    section.left_out.append(ONCE)
    return section


def _title(comparison: Comparison | None, scores: Scores) -> str:
    what = "comparison" if comparison is not None else TITLES[COMMANDS[scores.task]].lower()
    count = len(scores.runs)
    return f"Cranfield: {what} of {count} {'run' if count == 1 else 'runs'}"
