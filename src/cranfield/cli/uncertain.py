"""`cranfield uncertain`: precision and recall when people disagree about categories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from cranfield.cli._common import (
    Output,
    Parser,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    check_standard_input,
    positive,
    show,
    working,
)
from cranfield.evaluation.uncertain import evaluate_uncertain
from cranfield.io import read_run
from cranfield.io.forms import name_runs
from cranfield.io.opinions import (
    read_categories,
    read_category_votes,
    read_queries,
    read_soft_labels,
)


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    check_standard_input(args)
    output = Output.of(args)
    with working("evaluating", output) as progress:
        graph = read_categories(args.tree)
        answer = evaluate_uncertain(
            read_soft_labels(args.votes, graph)
            if args.soft
            else read_category_votes(args.votes, graph, skipped=args.skipped),
            {name: read_run(path, jobs=args.jobs) for name, path in name_runs(args.runs)},
            k=args.k,
            queries=read_queries(args.queries) if args.queries else None,
            mixing=args.mixing,
            unvoted=args.unvoted,
            query=args.query,
            bands=args.bands,
            rng=args.seed,
            progress=progress,
        )
    show(answer, output)
    return 0


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
        "-k",
        type=_depth,
        default=10,
        metavar="K",
        help="look at the first K items, or at `all` that a run has (default: 10)",
    )
    parser.add_argument(
        "--bands",
        type=_depths,
        default=(),
        metavar='"K K ..."',
        help="also the means at these depths, with bands",
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
    parser.add_argument(
        "--query",
        choices=("counts", "left out"),
        default="counts",
        help="a query that is an item: it counts as an item of its category, or is left out of "
        "rankings and categories (default: counts)",
    )
    add_seed_option(parser)
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def _depth(text: str) -> int | None:
    """An argparse type: a whole number from 1 on, or all."""
    return None if text == "all" else positive(text)


def _depths(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers from 1 on."""
    return tuple(positive(part) for part in text.replace(",", " ").split())
