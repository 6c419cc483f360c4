"""`cranfield truth aggregate` and `weak-labels`: many opinions, or tags, to one truth."""

from __future__ import annotations

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    from_zero,
    outputs,
    positive,
)
from cranfield.cli._inputs import log_options, with_folder
from cranfield.options import AGGREGATION_METHODS, TAG_FILTERS, VOTE_TIES

AGGREGATE_EPILOG = """
methods: majority and weighted-majority count votes; dawid-skene learns how each annotator
confuses answers, one-coin how often each is right, mace who knows and who spams,
dawid-skene+mace is the mean of the two; mean and median are for ratings; auto takes the
majority or dawid-skene+mace and says which and why.
"""


def aggregate_parser() -> Parser:
    parser = Parser.of("truth aggregate", "Many opinions to one truth.", AGGREGATE_EPILOG)
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


def aggregate(arguments: Arguments, output: Output) -> int:
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


WEAK_LABELS_EPILOG = """svm: a one-class support vector machine, which follows any shape but takes
near-duplicates for typical; median: the nearest to the median of the tag, which near-duplicates
that are fewer than half cannot move."""


def weak_labels_parser() -> Parser:
    parser = Parser.of(
        "truth weak-labels", "Keep the items whose features fit their tag.", WEAK_LABELS_EPILOG
    )
    add(
        parser,
        "features FEATURES",
        "CSV item,number,... or .npz; a folder of pictures, or a collection's",
    )
    add(parser, "tags TAGS", "CSV item,tag")
    help_text = "of a folder of pictures: colour, edges and texture"
    add(parser, "-d --descriptors NAMES", help_text, default="CEDD EHD Tamura")
    add(parser, "--truth FILE", "CSV item,tag: what is truly shown")
    add(parser, "--method", "", TAG_FILTERS, "svm")
    add(parser, "--outliers X", "share of items expected not to fit their tag", float, 0.3)
    add(parser, "--gamma X", "width of the kernel of the SVM (default: 1 / features)", float)
    add(parser, "--kept FILE", "write item,tag,fit of the items kept")
    outputs(parser)
    return parser


def weak_labels(arguments: Arguments, output: Output) -> int:
    from cranfield.agreement.weak_labels import filter_weak_files
    from cranfield.report.tables.agreement import kept_items_table

    arguments = with_folder("truth weak-labels", arguments, "features")
    kept_file = arguments.pop("kept")
    with output.working("fitting") as progress:
        answer = filter_weak_files(progress=progress, **arguments)
    output.write_tables({kept_file: kept_items_table(answer)} if kept_file else {})
    output.show(answer)
    return 0


COMMANDS = {
    "aggregate": (aggregate_parser, aggregate),
    "weak-labels": (weak_labels_parser, weak_labels),
}
