"""`cranfield label`: runs that annotate items with concepts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cranfield._version import __version__
from cranfield.cli._common import Parser, Watch, add_jobs_option, add_output_options, emit
from cranfield.cli._label_inputs import (
    DEFAULT_MEASURES,
    add_label_options,
    check_names,
    chosen_measures,
    dropped_note,
    label_scores,
    read_maps,
    read_runs,
    read_truth,
)
from cranfield.cli._pieces import THREADS, add_executor_option, each_run, label_piece, unpack
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology
from cranfield.evaluation.explain_labels import Derivation, ItemExplanation, explain_item
from cranfield.evaluation.labels import (
    check_needs,
    gather,
    prepared,
)
from cranfield.evaluation.scores import Scores
from cranfield.measures.labels.registry import LABEL_SETS, parse_label_measures
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables.scores import leaderboard, per_unit


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield label",
        description="Evaluate runs that annotate items with concepts.",
        epilog="Files: ImageCLEF text (item, then a number per concept; 2010: 0/1 rows after the "
        "confidence rows), .csv or .tsv (wide, or item,concept,value), .parquet, .npz; each may "
        "be .gz or .zst.",
    )
    parser.add_argument("truth", metavar="TRUTH", help="the true concepts of the items")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "-m",
        "--measures",
        metavar="NAMES",
        help=f"measures or sets of them: {', '.join(LABEL_SETS)} (default: {DEFAULT_MEASURES}; "
        "OS with an ontology or cost map)",
    )
    add_label_options(parser)
    parser.add_argument("--per-item", action="store_true", help="also the values of each item")
    parser.add_argument(
        "--per-concept", action="store_true", help="also the values of each concept"
    )
    parser.add_argument(
        "--explain", metavar="ITEM", help="instead, how the scores of one item come about"
    )
    add_executor_option(parser, "each run is evaluated there")
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    check_names(args)
    done: list[str] = []
    fractions = [0.0]

    def fraction() -> float:
        return max(len(done) / len(args.runs), fractions[-1])

    with Watch("evaluating", fraction, quiet=args.quiet) as watch:
        if args.explain is not None:
            truth, ontology = read_truth(args)
            maps = read_maps(args)
            measures, dropped = chosen_measures(args, ontology, bool(maps))
            document = _explain(args, truth, ontology, maps, measures)
            left_out = dropped_note(dropped)
        elif args.executor != THREADS:
            answers = each_run(args, label_piece, fractions.append)
            scores = unpack([a["scores"] for a in answers], parse_label_measures)
            watch.messages += [text for a in answers for text in a["said"]]
            left_out = answers[0]["left_out"]
            document = _document(scores, args)
        else:
            keep = args.per_item or args.per_concept or args.format == "html"
            scores, left_out = label_scores(args, keep=keep, on_run=done.append)
            document = _document(scores, args)
    warnings = [*dict.fromkeys(watch.messages), *left_out]
    emit(replace(document, warnings=warnings), args)
    return 0


def _document(scores: Scores, args: argparse.Namespace) -> Document:
    per = [unit for unit in ("item", "concept") if getattr(args, f"per_{unit}")]
    more = [per_unit(scores, unit) for unit in per]
    tables = [_with_density(scores), *more]
    page = None
    if args.format == "html":
        from cranfield.cli._pages import label_page

        page = label_page(scores, args, tables=tables)
    return Document(scores.to_dict(per=per), tables, (), more[0] if more else None, page)


def _with_density(scores: Scores) -> Table:
    """The leaderboard with the label cardinality and density of every run and of the truth."""
    board = leaderboard(scores)
    true = scores.facts["truth"]
    asked = {str(m) for m in scores.measures}
    density = {
        "label_cardinality": Column("LabelCardinality", digits=2, heading="labels/item"),
        "label_density": Column("LabelDensity", digits=3, heading="density"),
    }
    # Those asked for as measures have a column already.
    keys = [key for key, column in density.items() if column.name not in asked]
    rows: list[list[Cell]] = [
        [*row, *(facts[k] for k in keys)]
        for row, facts in zip(board.rows, scores.run_facts, strict=True)
    ]
    own = {column.name: true[key] for key, column in density.items()}
    values: list[Cell] = [own.get(str(m)) for m in scores.measures]
    rows.append(["(truth)", *values, true["items"], *(true[k] for k in keys)])
    # The row of the truth does not compete: a run alone is not the best of anything.
    alone = len(scores.runs) == 1
    columns = [
        *(replace(c, best="") if alone else c for c in board.columns),
        *(density[key] for key in keys),
    ]
    return Table(columns, rows, board.title, board.notes)


def _explain(
    args: argparse.Namespace,
    truth: LabelMatrix,
    ontology: Ontology | None,
    maps: dict[str, str],
    names: str,
) -> Document:
    measures = parse_label_measures(names)
    knowledge = gather(truth, ontology=ontology, costmap=maps, agreement=args.agreement)
    check_needs(measures, knowledge)
    plans = {m: m.plan(m) for m in measures}
    found = []
    for run in read_runs(args):
        aligned = prepared(run, truth, plans, knowledge)
        found.append(explain_item(args.explain, truth, aligned.run, measures, knowledge))
    tables = [table for one in found for table in _explanation_tables(one)]
    payload = {
        "cranfield": __version__,
        "command": "label",
        "explain": [one.to_dict() for one in found],
    }
    return Document(payload, tables)


def _explanation_tables(one: ItemExplanation) -> Iterator[Table]:
    union = [*one.truth, *(c for c in one.predicted if c not in one.truth)]
    reasons = {c: "; ".join(v.rule for v in one.broken if v.concept == c) for c in union}
    rows: list[list[Cell]] = []
    for concept in union:
        true, predicted = concept in one.truth, concept in one.predicted
        verdict = "right" if true and predicted else "missed" if true else "wrong"
        confidence = None if one.confidences is None else one.confidences[concept]
        rows.append(
            [
                concept,
                "yes" if true else "",
                "yes" if predicted else "",
                confidence,
                verdict,
                reasons[concept],
            ]
        )
    columns = [
        Column(n, numeric=n == "confidence")
        for n in ("concept", "true", "predicted", "confidence", "verdict", "broken rule")
    ]
    yield Table(columns, rows, f"{one.item} in {one.run}")
    for derivation in one.derivations:
        yield _derivation_table(derivation)
    if one.values:
        values: list[list[Cell]] = [[name, value] for name, value in one.values.items()]
        yield Table(
            [Column("measure", numeric=False), Column("value")], values, "Values of this item"
        )


def _derivation_table(derivation: Derivation) -> Table:
    ranked = derivation.measure.name == "SRP"
    columns = [
        Column("label", numeric=False),
        Column("role", numeric=False),
        Column("assigned to" if ranked else "nearest", numeric=False),
        Column("cost"),
        *([] if ranked else [Column("agreement")]),
        Column("relatedness" if ranked else "pays"),
    ]
    rows: list[list[Cell]] = [
        [s.label, s.role, s.partner, s.cost, *([] if ranked else [s.agreement]), s.counts]
        for s in derivation.steps
    ]
    return Table(columns, rows, str(derivation.measure), [derivation.arithmetic])
