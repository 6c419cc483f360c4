"""`cranfield truth agreement`, `regions` and `judges`: how far annotators agree."""

from __future__ import annotations

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    measures,
    outputs,
    positive,
    share,
)
from cranfield.cli._inputs import log_options, with_folder
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Task

LOG_EPILOG = """
coefficients: accuracy fleiss free_marginal krippendorff krippendorff_ordinal
krippendorff_interval gwet_ac1 gwet_ac2 gwet_ac2_linear gwet_ac2_ordinal; `standard` are the
nominal ones, `all` every one that the answers allow. Cohen and Scott come with --pairs.
A coefficient that does not exist (no unit has two annotators, or all answers are the same) is null.
"""


REGIONS_DESCRIPTION = """How far people agree who drew boxes on the same items: boxes match by
concept and overlap. With --consensus, what most of them drew becomes one truth."""


def log_parser() -> Parser:
    parser = Parser.of(
        "truth agreement", "How far annotators agree, and who should not count.", LOG_EPILOG
    )
    log_options(parser, ("error", "first", "last"))
    add(parser, "--coefficients", "of those below", default="standard", metavar='"A B"')
    add(parser, "--intervals", "intervals of all values, over items like these", bool)
    help_text = "samples behind the intervals of very large logs"
    add(parser, "--resamples N", help_text, positive, 1000)
    add(parser, "--confidence X", "how often an interval holds its value", share, 0.95)
    common(parser, "design", "seed")
    table_options = parser.group("more tables")
    add(table_options, "--pairs", "every pair of annotators", bool)
    add(table_options, "--per-item", "agreement on each item", bool)
    help_text = "agreement with the majority, counting selected or all concepts"
    add(table_options, "--majority", help_text, bool)
    add(table_options, "--groups FILE", "CSV annotator,group: each group, and merged groups")
    add(table_options, "--map FILE", "write concept,agreement for the measure OS")
    help_text = "units of the map: all (default), or those where an annotator selected the concept"
    add(table_options, "--map-counting", help_text, ("all", "selected"), "all")
    quality = parser.group("quality control")
    add(quality, "--quality", "who should not count, and why", bool)
    add(quality, "--gold FILE", "known answers (item,concept,value)")
    add(quality, "--gold-minimum X", "share of gold answers to get right", share, 0.7)
    help_text = "too fast is below this part of the typical time (default: 1/3)"
    add(quality, "--fast X", help_text, share, 1 / 3)
    add(quality, "--strict", "reject also annotators who are to be looked at", bool)
    add(quality, "--reward X", "pay for one form", float)
    add(quality, "--pay-rejected", "forms that break a rule are paid, too", bool)
    add(quality, "--clean FILE", "write the log without the rejected")
    systems = parser.group("whether it matters")
    help_text = "rank annotation runs by each annotator's truth and correlate the rankings"
    add(systems, "--systems RUN", help_text, nargs="+")
    measures(systems, "measures of annotation", "EER AUC")
    add(systems, "--costmap FILE", "costs of confusing concepts, for measures such as OS")
    help_text = "CSV concept,agreement for OS (default: the log's own, where an ontology is given)"
    add(systems, "--agreement FILE", help_text)
    add(systems, "--threshold X", "confidence from which a run predicts a concept", float, 0.5)
    help_text = "share of the items that an annotator must have judged to have a truth of its own"
    add(systems, "--coverage X", help_text, share, 0.5)
    outputs(parser)
    return parser


def log(arguments: Arguments, output: Output) -> int:
    from cranfield.agreement.agreement import assess_log
    from cranfield.report.tables.agreement import log_table, map_table

    arguments = with_folder("truth agreement", arguments, "judgements")
    map_file, counting, clean = (arguments.pop(n) for n in ("map", "map_counting", "clean"))
    if clean and not arguments["quality"]:
        raise UsageError("--clean belongs to --quality")
    with output.working("agreement") as progress:
        assessment = assess_log(progress=progress, **arguments)
    tables = {}
    if map_file:
        shares, absent = assessment.map(counting)
        note = f"{map_file}: {absent} concepts that no annotator selected are not in the map"
        output.warn([note] if absent else [])
        tables[map_file] = map_table(shares.agreement)
    if clean:
        tables[clean] = log_table(assessment.clean())
    output.write_tables(tables)
    output.show(assessment.answer)
    return 0


def regions_parser() -> Parser:
    parser = Parser.of("truth regions", REGIONS_DESCRIPTION)
    add(parser, "files EXPORT+", "answers to forms with boxes (JSON), or JSON of Label Studio")
    add(parser, "--iou X", "the overlap from which two boxes match", share, 0.5)
    help_text = "write what more than half drew: .json (COCO), .csv, or a folder with / at its end"
    add(parser, "--consensus FILE", help_text)
    add(parser, "--resamples N", "samples of items behind an interval", positive, 1000)
    common(parser, "seed")
    outputs(parser)
    return parser


def regions(arguments: Arguments, output: Output) -> int:
    from cranfield.agreement.regions import consensus_regions, region_agreement
    from cranfield.io.regions import read_all_drawn_regions, write_regions

    drawn, iou = read_all_drawn_regions(arguments["files"]), arguments["iou"]
    agreement = region_agreement(
        drawn, iou=iou, resamples=arguments["resamples"], rng=arguments["rng"]
    )
    if arguments["consensus"]:
        output.warn(write_regions(consensus_regions(drawn, iou=iou), arguments["consensus"]))
    output.show(agreement)
    return 0


JUDGES_DESCRIPTION = """\
Compare judges (a program, a crowd, other people) with the gold: agreement with
intervals, confusion of grades, and with --runs what each does to the means and the ranking of runs,
and whether it favours some of them."""


JUDGES_EXAMPLES = """examples:
  cranfield truth judges people.qrels model-a.qrels model-b.qrels
  cranfield truth judges people.qrels model.qrels --runs *.run -m "nDCG@10 AP"
  cranfield truth judges truth.csv crowd.csv --annotation --runs a.csv b.csv -m F.example
"""


def judges_parser() -> Parser:
    parser = Parser.of("truth judges", JUDGES_DESCRIPTION, JUDGES_EXAMPLES, raw=True)
    add(parser, "gold GOLD", "what people judged")
    add(parser, "judges SILVER+", "what each judge says of the same")
    add(parser, "--runs RUN", "runs to score under the gold and each judge", nargs="+", default=())
    measures(parser, "measures (default: those of eval or label)")
    add(parser, "--annotation", "truths and runs are concepts of items, not rankings", bool)
    add(parser, "--families FILE", "CSV run,family: does a judge favour a family of runs?")
    add(parser, "--alpha X", "1 - the confidence of intervals, and the level of tests", share, 0.05)
    add(parser, "--resamples N", "random draws for intervals", positive, 10_000)
    common(parser, "jobs", "seed")
    outputs(parser)
    return parser


def judges(arguments: Arguments, output: Output) -> int:
    from cranfield.comparison.judges import assess_judges

    task: Task = "labels" if arguments.pop("annotation") else "ranked"
    with output.working("judging") as progress:
        answer = assess_judges(task=task, progress=progress, **arguments)
    output.show(answer)
    return 0


COMMANDS = {
    "agreement": (log_parser, log),
    "regions": (regions_parser, regions),
    "judges": (judges_parser, judges),
}
