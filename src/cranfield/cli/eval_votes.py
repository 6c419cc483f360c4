"""`cranfield eval votes`: precision and recall when people disagree about categories."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, outputs, positive
from cranfield.cli._inputs import with_folder

DESCRIPTION = """Precision and recall as distributions: people vote for the category of each
item, and a topic is an item (or a category) whose like is searched."""
FILES = """VOTES: subject,item,category. TREE: category,parent (the root's parent is empty;
several rows of one category make an acyclic graph)."""


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.category_votes import evaluate_opinions

    arguments = with_folder("eval votes", arguments, "votes", "runs")
    with output.working("evaluating") as progress:
        answer = evaluate_opinions(progress=progress, **arguments)
    output.show(answer)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("eval votes", DESCRIPTION, FILES)
    add(parser, "votes VOTES|DIR", "CSV subject,item,category, or a collection's folder")
    add(parser, "tree TREE?", "CSV category,parent; not with a folder")
    add(parser, "runs RUN*", "one or more runs")
    help_text = (
        "VOTES is item,category,probability, as `cranfield truth aggregate --soft` writes it"
    )
    add(parser, "--soft", help_text, bool)
    add(parser, "-k K", "look at the first K items, or at `all` that a run has", _depth, 10)
    help_text = "also the means at these depths, with bands"
    add(parser, "--bands", help_text, _depths, (), metavar='"K K ..."')
    help_text = "CSV topic,query: the item or category behind a topic of another name"
    add(parser, "--queries FILE", help_text)
    help_text = """a query is of each category with its share of votes, or as the paper prints it,
    where categories above count too"""
    add(parser, "--mixing", help_text, ("votes", "printed"), "votes")
    help_text = "a subject who did not vote on an item: an error, or one vote fewer"
    add(parser, "--skipped", help_text, ("error", "abstain"), "error")
    help_text = "a retrieved item without votes: an error, or of no category"
    add(parser, "--unvoted", help_text, ("error", "zero"), "error")
    help_text = """a query that is an item: it counts as an item of its category, or is left out of
    rankings and categories"""
    add(parser, "--query", help_text, ("counts", "left out"), "counts")
    common(parser, "seed", "jobs")
    outputs(parser)
    return parser


def _depth(text: str) -> int | None:
    """An argparse type: a whole number from 1 on, or all."""
    return None if text == "all" else positive(text)


def _depths(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers from 1 on."""
    return tuple(positive(part) for part in text.replace(",", " ").split())
