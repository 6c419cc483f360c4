"""`cranfield agreement`: how far annotators agree, and who should not count."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs, positive, share
from cranfield.cli._inputs import with_folder
from cranfield.cli._judgements import log_options
from cranfield.errors import UsageError

EPILOG = """
coefficients: accuracy fleiss free_marginal krippendorff krippendorff_ordinal
krippendorff_interval gwet_ac1 gwet_ac2 gwet_ac2_linear gwet_ac2_ordinal; `standard` are the
nominal ones, `all` every one that the answers allow. Cohen and Scott come with --pairs.
A coefficient that does not exist (nobody shares a unit, or all answers are the same) is null.
"""


def main(argv: Sequence[str]) -> int:
    given, output = make_parser().read(argv)
    from cranfield.agreement.files import assess_log
    from cranfield.report.tables.agreement import log_table, map_table

    given = with_folder("agreement", given, "judgements")
    map_file, counting, clean = (given.pop(n) for n in ("map", "map_counting", "clean"))
    if clean and not given["quality"]:
        raise UsageError("--clean belongs to --quality")
    with output.working("agreement") as progress:
        found = assess_log(progress=progress, **given)
    tables = {}
    if map_file:
        shares, absent = found.map(counting)
        said = f"{map_file}: {absent} concepts that nobody selected are not in the map"
        output.warn([said] if absent else [])
        tables[map_file] = map_table(shares.agreement)
    if clean:
        tables[clean] = log_table(found.clean())
    output.write_tables(tables)
    output.show(found.answer)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("agreement", "How far annotators agree, and who should not count.", EPILOG)
    log_options(parser, ("error", "first", "last"))
    add(parser, "--coefficients", "of those below", default="standard", metavar='"A B"')
    what = "intervals of all values: items are drawn again and again"
    add(parser, "--intervals", what, bool)
    add(parser, "--resamples N", "samples behind an interval", positive, 1000)
    add(parser, "--confidence X", "share of the samples inside an interval", share, 0.95)
    common(parser, "seed")
    more = parser.add_argument_group("more tables")
    add(more, "--pairs", "every pair of annotators", bool)
    add(more, "--per-item", "agreement on each item", bool)
    what = "agreement with the majority, counting selected or all concepts"
    add(more, "--majority", what, bool)
    add(more, "--groups FILE", "CSV annotator,group: each group, and merged groups")
    add(more, "--map FILE", "write concept,agreement for the measure OS")
    what = "units of the map: all (default), or those where somebody selected the concept"
    add(more, "--map-counting", what, ("all", "selected"), "all")
    quality = parser.add_argument_group("quality control")
    add(quality, "--quality", "who should not count, and why", bool)
    add(quality, "--gold FILE", "known answers (item,concept,value)")
    add(quality, "--gold-minimum X", "share of gold answers to get right", share, 0.7)
    what = "too fast is below this part of the typical time (default: 1/3)"
    add(quality, "--fast X", what, share, 1 / 3)
    add(quality, "--strict", "reject also annotators who are to be looked at", bool)
    add(quality, "--reward X", "pay for one form", float)
    add(quality, "--pay-rejected", "forms that break a rule are paid, too", bool)
    add(quality, "--clean FILE", "write the log without the rejected")
    systems = parser.add_argument_group("whether it matters")
    what = "rank annotation runs by each annotator's truth and correlate the rankings"
    add(systems, "--systems RUN", what, nargs="+")
    measures(systems, "measures of annotation", "EER AUC")
    add(systems, "--costmap FILE", "costs of confusing concepts, for measures such as OS")
    what = "CSV concept,agreement for OS (default: the log's own, where an ontology is given)"
    add(systems, "--agreement FILE", what)
    add(systems, "--threshold X", "confidence from which a run predicts a concept", float, 0.5)
    what = "share of the items that an annotator must have judged to have a truth of its own"
    add(systems, "--coverage X", what, share, 0.5)
    outputs(parser)
    return parser
