"""`cranfield survey`: ask people, and count what they answered."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.surveys.kinds import KINDS
from cranfield.cli._common import Parser, add, common, measures, outputs, positive

DESCRIPTION = "Surveys as one file that works from disk, and the answers of people counted."


def make_parser() -> Parser:
    parser = Parser.of("survey", DESCRIPTION)
    step = parser.steps("step", "STEP")
    made = {kind: step(kind, what) for kind, what in KINDS.items()}
    lists = made["measures"]
    measures(lists, "the measures to choose between (default: AP NMRR MNRO)")
    for name, what in (("lists", "in each question"), ("relevant", "items"), ("size", "in all")):
        add(lists, f"--{name} N", what, positive)
    sets = made["preference"]
    add(sets, "truth TRUTH", "the true concepts")
    sets.add_argument("runs", nargs=2, metavar="RUN", help="the two annotations")
    measures(sets, "the measures beside the votes")
    add(sets, "--alike NAMES", "measures that must score both sets alike, such as Rprec.example")
    common(sets, "ontology", "rules")
    add(sets, "--costmap FILE", "costs of confusing concepts, square CSV")
    add(sets, "--threshold X", "confidence from which a concept counts as predicted", float)
    for one in (lists, sets):
        add(one, "--questions N", "how many", positive, 10)
    add(made["relatedness"], "pairs PAIRS", "CSV word1,word2")
    add(made["relatedness"], "--attention N", "words paired with themselves", positive)
    add(made["categories"], "categories_file CATEGORIES", "CSV category,parent")
    add(made["categories"], "--items FILE", "the items to ask about")
    add(made["rankings"], "runs RUN+", "whose first items are rated")
    add(made["rankings"], "--depth K", "how many of each", positive)
    add(made["association"], "vectors VECTORS", "an index: .npz, .npy or Parquet")
    add(made["association"], "--pairs N", "near pairs, and as many drawn blindly", positive)
    add(made["association"], "--near K", "neighbours to draw from", positive)
    for kind in ("relatedness", "rankings", "association"):
        add(made[kind], "--top N", "the scale is from 0 to N (default: 4)", positive)
    for kind in ("categories", "rankings", "association"):
        add(made[kind], "--collection DIR", "texts and pictures of the items")
        add(made[kind], "--pictures DIR", "pictures of the items")
    for one in made.values():
        add(one, "-o --output DIR", "where survey.html and key.json go", required=True, dest="to")
        add(one, "--seed N", "seed of all random draws", int, 0)
        common(one, "quiet")
    count = step("count", "count answers; CSV is what other commands read")
    add(count, "key KEY.json", "the key of the survey")
    add(count, "answers ANSWERS.json+", "saved answers")
    outputs(count)
    return parser


def main(argv: Sequence[str]) -> int:
    given, output = make_parser().read(argv)
    kind = given.pop("step")
    if kind == "count":
        from cranfield.campaign.surveys.counting import count_survey

        output.show(count_survey(**given))
        return 0
    from cranfield.campaign.surveys.making import make_survey
    from cranfield.site.work_pages import sheet_page

    folder = given.pop("to")
    survey = make_survey(kind, **given)
    output.show(survey.write(folder, sheet_page(survey.sheet)))
    return 0
