"""`cranfield runs feedback`: queries bettered by what was relevant among the first items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, add, common, from_zero, measures, positive, run_target

DESCRIPTION = """Relevance feedback by Rocchio's formula: search, take what is relevant among the
first items of each topic, move the query there and search again. VECTORS may be of pictures or of
tags, as runs extract writes them."""
EPILOG = """residual: the items seen are taken out of both rankings and of the judgements; frozen:
they keep their ranks; whole: the new ranking as it is, in which items seen count as found again.
--format table shows the scores before and after with the gain and its interval."""


def make_parser() -> Parser:
    parser = Parser.of("runs feedback", DESCRIPTION, EPILOG)
    add(parser, "collection VECTORS", ".npz of extract, or .npz, .npy, .parquet")
    add(parser, "--qrels FILE", "what is relevant", dest="judgements")
    help_text = "a folder of pictures, a file of vectors, or CSV topic,item (default: every item)"
    add(parser, "--queries Q", help_text)
    add(parser, "--items FILE", "ids for .npy, one a line")
    measures(parser, "measures of the gain", "AP")
    add(parser, "--alpha X", "the weight of the query", from_zero, 1.0)
    add(parser, "--beta X", "the weight of the relevant items' mean", from_zero, 0.75)
    add(
        parser,
        "--gamma X",
        "the weight of the other items' mean, which is taken off",
        from_zero,
        0.15,
    )
    add(parser, "--depth N", "how many items are looked at", positive, 10)
    help_text = "take all items looked at for relevant; needs no --qrels"
    add(parser, "--pseudo", help_text, bool)
    help_text = "what counts (default: residual; whole with --pseudo)"
    add(parser, "--counted", help_text, ("residual", "frozen", "whole"))
    add(parser, "--rel G", "the grade from which items are relevant", float, 1.0)
    add(parser, "--distance NAME", "default: that of the descriptor, L2 for others")
    add(parser, "-k N", "items for each topic", positive, 1000)
    add(parser, "--before FILE", "write the run before feedback here, as it counts")
    help_text = "write the judgements that belong to both runs here"
    add(parser, "--remaining FILE", help_text)
    common(parser, "jobs", "seed")
    run_target(parser, "the run after feedback", "scores before and after")
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.feedback import apply_feedback
    from cranfield.io.convert import encode_table
    from cranfield.io.files import write_atomic

    files = {name: arguments.pop(name) for name in ("before", "remaining")}
    weights = tuple(arguments.pop(name) for name in ("alpha", "beta", "gamma"))
    with output.working("searching") as progress:
        answer = apply_feedback(
            weights=weights, name=output.name("feedback"), progress=progress, **arguments
        )
    tables = {files["before"]: answer.before, files["remaining"]: answer.judgements}
    for path, table in tables.items():
        if path is not None and table is not None:
            write_atomic(Path(path), encode_table(table, path))
            output.wrote(path)
    output.show_run(answer, answer.run)
    return 0
