"""`cranfield uncertain`: precision and recall when people disagree about categories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import (
    Parser,
    add_jobs_option,
    add_output_options,
    check_standard_input,
    emit,
    positive,
)
from cranfield.evaluation.uncertain import Distribution, Odds, UncertainScores, evaluate_uncertain
from cranfield.io import read_run
from cranfield.io.forms import coerce_run, name_runs
from cranfield.io.opinions import read_categories, read_queries, read_soft_labels, read_votes
from cranfield.report.document import Cell, Column, Document, Table

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield uncertain",
        description="Precision and recall as distributions: people vote for the category of each "
        "item, and a topic is an item (or a category) whose like is searched.",
        epilog="VOTES: subject,item,category. TREE: category,parent (the root's parent is "
        "empty; several rows of one category make an acyclic graph).",
    )
    parser.add_argument("votes", metavar="VOTES", help="CSV subject,item,category")
    parser.add_argument("tree", metavar="TREE", help="CSV category,parent")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="one or more runs")
    parser.add_argument(
        "--soft",
        action="store_true",
        help="VOTES is item,category,probability, as `cranfield aggregate --soft` writes it",
    )
    parser.add_argument(
        "-k", type=positive, default=10, metavar="K", help="look at the first K items (default: 10)"
    )
    parser.add_argument(
        "--queries",
        metavar="FILE",
        help="CSV topic,query: the item or category behind a topic of another name",
    )
    parser.add_argument(
        "--mixing",
        choices=("votes", "printed"),
        default="votes",
        help="a query is of each category with its share of votes, or as the paper prints it, "
        "where categories above count too (default: votes)",
    )
    parser.add_argument(
        "--skipped",
        choices=("error", "abstain"),
        default="error",
        help="a subject who did not vote on an item: an error, or one vote fewer (default: error)",
    )
    parser.add_argument(
        "--unvoted",
        choices=("error", "zero"),
        default="error",
        help="a retrieved item without votes: an error, or of no category (default: error)",
    )
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    check_standard_input(args)
    graph = read_categories(args.tree)
    categorisation = (
        read_soft_labels(args.votes, graph)
        if args.soft
        else read_votes(args.votes, graph, skipped=args.skipped)
    )
    runs = [coerce_run(read_run(path, jobs=args.jobs), name) for name, path in name_runs(args.runs)]
    scores = evaluate_uncertain(
        categorisation,
        runs,
        k=args.k,
        queries=read_queries(args.queries) if args.queries else None,
        mixing=args.mixing,
        unvoted=args.unvoted,
    )
    emit(Document(_payload(scores), _tables(scores), scores.notes), args)
    return 0


def _payload(scores: UncertainScores) -> dict[str, Any]:
    runs = []
    for name, topics in scores.runs.items():
        mean = {}
        for what in ("precision", "recall"):
            value, sd = scores.mean(name, what)
            mean[what] = {"mean": value, "sd": sd}
        rows = [
            {
                "topic": t.topic,
                "retrieved": t.retrieved,
                "precision": _distribution(t.precision, scores.k),
                "recall": _distribution(t.recall, scores.k),
            }
            for t in topics
        ]
        runs.append({"name": name, **mean, "topics": rows})
    pairs = [
        {
            "a": c.a,
            "b": c.b,
            **_odds(c.overall),
            "topics": [{"topic": t, **_odds(o)} for t, o in c.topics.items()],
        }
        for c in scores.comparisons
    ]
    return {
        "cranfield": __version__,
        "command": "uncertain",
        "k": scores.k,
        "runs": runs,
        "better": {"measure": f"UncertainP@{scores.k}", "pairs": pairs},
    }


def _distribution(d: Distribution | None, k: int) -> dict[str, Any] | None:
    if d is None:
        return None
    return {
        "k": k,
        "mean": d.mean,
        "sd": d.sd,
        "quantiles": {str(q): d.quantile(q) for q in QUANTILES},
        "values": d.values.tolist(),
        "mass": d.mass.tolist(),
    }


def _odds(odds: Odds) -> dict[str, float]:
    return {"better": odds.better, "equal": odds.equal, "worse": odds.worse}


def _tables(scores: UncertainScores) -> list[Table]:
    names = [f"{m}@{scores.k}" for m in ("P", "R")]
    heads = [Column("run", numeric=False), Column("topic", numeric=False)]
    heads += [Column(f"{n} {what}") for n in names for what in ("mean", "sd", "5 %", "95 %")]
    rows: list[list[Cell]] = []
    for name, topics in scores.runs.items():
        for t in topics:
            row: list[Cell] = [name, t.topic]
            for d in (t.precision, t.recall):
                row += (
                    [None] * 4 if d is None else [d.mean, d.sd, d.quantile(0.05), d.quantile(0.95)]
                )
            rows.append(row)
        p, r = scores.mean(name, "precision"), scores.mean(name, "recall")
        rows.append([name, "all", *p, None, None, *r, None, None])
    tables = [Table(heads, rows, f"Uncertain precision and recall of the first {scores.k} items")]
    if scores.comparisons:
        columns = [Column("a", numeric=False), Column("b", numeric=False)]
        columns += [Column("topic", numeric=False)]
        columns += [Column(c) for c in ("a better", "equal", "b better")]
        odds: list[list[Cell]] = []
        for c in scores.comparisons:
            for topic, o in [*c.topics.items(), ("all", c.overall)]:
                odds.append([c.a, c.b, topic, o.better, o.equal, o.worse])
        tables.append(Table(columns, odds, f"Probability that a run has the higher {names[0]}"))
    return tables
