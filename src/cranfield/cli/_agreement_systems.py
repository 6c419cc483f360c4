"""The part of `cranfield agreement` that ranks systems by each annotator's truth."""

from __future__ import annotations

import argparse
import math
from typing import Any

from cranfield.agreement.majority import majority_agreement, vote
from cranfield.agreement.systems import Rankings, SystemsStudy, compare_rankings
from cranfield.cli._judgements import Progress
from cranfield.data.judgement_log import JudgementLog
from cranfield.errors import UsageError
from cranfield.io.files import run_name
from cranfield.io.judgement_log import read_annotator_groups
from cranfield.io.labels import read_labels
from cranfield.io.ontology import read_ontology
from cranfield.report.document import Cell, Column, Document, Table

# A matrix of more truths than this is too wide to read; the JSON answer has all pairs.
MATRIX_UP_TO = 15


def systems_part(log: JudgementLog, args: argparse.Namespace, progress: Progress) -> Document:
    """The runs ranked by every truth, and how alike the rankings are."""
    names = [run_name(path) for path in args.systems]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")
    runs = [read_labels(path).with_threshold(args.threshold) for path in args.systems]
    groups = read_annotator_groups(args.groups, log) if args.groups else None
    study = compare_rankings(
        log,
        runs,
        args.measures,
        groups=groups,
        coverage=args.coverage,
        ontology=read_ontology(args.ontology, rules=args.rules) if args.ontology else None,
        costmap=args.costmap,
        agreement=_agreement_map(log, args),
        progress=progress.part(0.9, 1.0),
    )
    tables = [table for ranking in study.rankings for table in _tables(ranking)]
    said = []
    if study.without_truth:
        said.append(
            f"{len(study.without_truth)} annotators judged too few items for a truth of their own "
            f"(--coverage {args.coverage:g}), such as {study.without_truth[0]!r}"
        )
    return Document({"systems": _payload(study)}, tables, said)


def _agreement_map(log: JudgementLog, args: argparse.Namespace) -> dict[str, float] | None:
    """The log's own agreement on each concept, which the Ontology Score weighs errors with."""
    if args.ontology is None or log.kind == "category":
        return None
    found = majority_agreement(log, vote(log)).concept_every
    return {
        name: float(found[i]) for i, name in enumerate(log.concepts) if not math.isnan(found[i])
    }


def _payload(study: SystemsStudy) -> dict[str, Any]:
    return {
        "without_truth": list(study.without_truth),
        "measures": [
            {
                "measure": r.measure,
                "mean_kendall": r.mean_kendall(),
                "truths": [
                    {
                        "truth": truth,
                        "mean_kendall": r.mean_kendall(truth),
                        "scores": dict(zip(r.runs, r.scores[i].tolist(), strict=True)),
                    }
                    for i, truth in enumerate(r.truths)
                ],
                "pairs": [
                    {
                        "a": p.a,
                        "b": p.b,
                        "systems": p.systems,
                        "kendall": p.kendall,
                        "kolmogorov_smirnov": p.distance,
                        "p": p.p,
                        "concordant": p.concordant,
                    }
                    for p in r.pairs
                ],
            }
            for r in study.rankings
        ],
    }


def _tables(ranking: Rankings) -> list[Table]:
    apart = [p for p in ranking.pairs if p.concordant is False]
    notes = [
        f"mean over pairs: {ranking.mean_kendall():.4f}; Kolmogorov-Smirnov finds "
        f"{len(apart)} of {len(ranking.pairs)} pairs discordant"
        + (": " + ", ".join(f"{p.a} - {p.b}" for p in apart[:10]) if apart else "")
        + (" ..." if len(apart) > 10 else "")
    ]
    title = f"Rankings of {len(ranking.runs)} systems under {ranking.measure}: Kendall's tau"
    if len(ranking.truths) > MATRIX_UP_TO:
        rows: list[list[Cell]] = [[t, ranking.mean_kendall(t)] for t in ranking.truths]
        columns = [Column("truth", numeric=False), Column("mean_kendall")]
        return [Table(columns, rows, title, notes)]
    place = {name: i for i, name in enumerate(ranking.truths)}
    table: list[list[Cell]] = [
        [name, *([None] * len(place)), ranking.mean_kendall(name)] for name in ranking.truths
    ]
    for p in ranking.pairs:
        table[place[p.a]][place[p.b] + 1] = p.kendall
        table[place[p.b]][place[p.a] + 1] = p.kendall
    columns = [Column("", numeric=False), *(Column(n, digits=3) for n in ranking.truths)]
    return [Table([*columns, Column("mean", digits=3)], table, title, notes)]
