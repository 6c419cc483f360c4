"""`cranfield truth aggregate`: many opinions to one truth."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, from_zero, outputs, positive
from cranfield.cli._inputs import log_options, with_folder
from cranfield.options import AGGREGATION_METHODS, VOTE_TIES

EPILOG = """
methods: majority and weighted-majority count votes; dawid-skene learns how each annotator
confuses answers, one-coin how often each is right, mace who knows and who spams,
dawid-skene+mace is the mean of the two; mean and median are for ratings; auto takes the
majority or dawid-skene+mace and says which and why.
"""


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.agreement.agreement import aggregate_log
    from cranfield.report.tables.agreement import annotator_table, confusion_table

    # Options that write a file beside the answer.
    beside = {"annotators": annotator_table, "confusion": confusion_table}
    arguments = with_folder("truth aggregate", arguments, "judgements")
    soft, confidences = arguments.pop("soft"), arguments.pop("confidences")
    files = {name: arguments.pop(name) for name in beside}
    with output.working("aggregating") as progress:
        answer = aggregate_log(progress=progress, **arguments)
        tables = {path: beside[name](answer) for name, path in files.items() if path}
    output.write_tables(tables)
    output.show(answer, shape="soft" if soft else "confidences" if confidences else "truth")
    return 0


def make_parser() -> Parser:
    parser = Parser.of("truth aggregate", "Many opinions to one truth.", EPILOG)
    log_options(parser, ("error", "first", "last", "all"))
    add(parser, "--method", "", AGGREGATION_METHODS, "majority")
    help_text = """units whose answers are tied: left undecided (default), the lowest answer (0
    before 1), the highest or a random one, or omitted; exclusive groups always have one answer"""
    add(parser, "--ties", help_text, VOTE_TIES, "undecided")
    add(parser, "--weights FILE", "CSV annotator,weight for weighted-majority")
    add(parser, "--gold FILE", "known answers that the models keep to")
    help_text = (
        "what an adjudicator decided, above votes and models: CSV item,concept,value[,reason]"
    )
    add(parser, "--decisions FILE", help_text)
    help_text = "one table of confusions per annotator for all concepts, not one per concept"
    add(parser, "--share", help_text, bool)
    help_text = """judgements for which the usual annotator counts in what a model learns of each
    (default: 4, of mace 6, of one-coin by how much they differ, up to 15; 0: the estimates of the
    papers); votes that every unit has before, spread evenly (default: 1)"""
    add(parser, "--prior X", help_text, from_zero)
    help_text = "instead of it: judgements added to each cell of a dawid-skene table"
    add(parser, "--smoothing X", help_text, from_zero)
    add(parser, "--iterations N", "of a model, at most", positive, 500)
    add(parser, "--tolerance X", "stop when no probability moves by more", from_zero, 0.0001)
    shape = parser.exclusive_group()
    add(shape, "--soft", "a row for every answer with its probability", bool)
    help_text = """item,concept,value with the probability that the concept is present, as
    `cranfield eval labels` reads it"""
    add(shape, "--confidences", help_text, bool)
    add(parser, "--annotators FILE", "also write annotator,judgements,reliability")
    add(parser, "--confusion FILE", "also write what each annotator answers by truth")
    common(parser, "seed")
    outputs(parser, "csv")
    return parser
