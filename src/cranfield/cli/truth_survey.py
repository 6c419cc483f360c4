"""`cranfield truth survey`: ask people, and count what they answered."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.campaign.surveys import KINDS
from cranfield.cli._common import Parser, add, common, measures, outputs, positive

DESCRIPTION = "Surveys as one file that works from disk, and the answers of people counted."


def make_parser() -> Parser:
    parser = Parser.of("truth survey", DESCRIPTION)
    step = parser.steps("step", "STEP")
    subparsers = {kind: step(kind, help_text) for kind, help_text in KINDS.items()}
    lists = subparsers["measures"]
    measures(lists, "the measures to choose between (default: AP NMRR MNRO)")
    for name, help_text in (
        ("lists", "in each question"),
        ("relevant", "items"),
        ("size", "in all"),
    ):
        add(lists, f"--{name} N", help_text, positive)
    sets = subparsers["preference"]
    add(sets, "truth TRUTH", "the true concepts")
    sets.add_argument("runs", nargs=2, metavar="RUN", help="the two annotations")
    measures(sets, "the measures beside the votes")
    add(sets, "--alike NAMES", "measures that must score both sets alike, such as Rprec.example")
    common(sets, "ontology", "rules")
    add(sets, "--costmap FILE", "costs of confusing concepts, square CSV")
    add(sets, "--threshold X", "confidence from which a concept counts as predicted", float)
    for subparser in (lists, sets):
        add(subparser, "--questions N", "how many", positive, 10)
    add(subparsers["relatedness"], "pairs PAIRS", "CSV word1,word2")
    add(subparsers["relatedness"], "--attention N", "words paired with themselves", positive)
    add(subparsers["categories"], "categories_file CATEGORIES", "CSV category,parent")
    add(subparsers["categories"], "--items FILE", "the items to ask about")
    add(subparsers["rankings"], "runs RUN+", "whose first items are rated")
    add(subparsers["rankings"], "--depth K", "how many of each", positive)
    add(subparsers["association"], "vectors VECTORS", "an index: .npz, .npy or Parquet")
    add(subparsers["association"], "--pairs N", "near pairs, and as many drawn blindly", positive)
    add(subparsers["association"], "--near K", "neighbours to draw from", positive)
    for kind in ("relatedness", "rankings", "association"):
        add(subparsers[kind], "--top N", "the scale is from 0 to N (default: 4)", positive)
    for kind in ("grouping", "tagging"):
        add(subparsers[kind], "--items FILE", "the items to ask about")
    add(subparsers["hierarchy"], "vocabulary VOCABULARY", "an ontology, or a list of concepts")
    add(subparsers["search"], "run RUN", "annotations whose confidences are searched")
    add(subparsers["search"], "tasks TASKS", "CSV task,text[,items]: what to look for")
    for kind in ("grouping", "tagging", "hierarchy", "search"):
        add(subparsers[kind], "--first N", "ask about N of them only", positive)
    for kind in (
        "preference",
        "categories",
        "rankings",
        "association",
        "grouping",
        "tagging",
        "search",
    ):
        add(subparsers[kind], "--collection DIR", "texts and pictures of the items")
        add(subparsers[kind], "--pictures DIR", "pictures of the items")
    for subparser in subparsers.values():
        add(
            subparser,
            "-o --output DIR",
            "where survey.html and key.json go",
            required=True,
            dest="to",
        )
        add(subparser, "--seed N", "seed of all random draws", int, 0)
        common(subparser, "quiet")
    count = step("count", "count answers; CSV is what other commands read")
    add(count, "key KEY.json", "the key of the survey")
    add(count, "answers ANSWERS.json+", "saved answers")
    add(count, "--each", "every answer of every person, with what was hidden from them", bool)
    outputs(count)
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    kind = arguments.pop("step")
    if kind == "count":
        from cranfield.campaign.surveys.making import count_survey, unblind_survey

        count = unblind_survey if arguments.pop("each") else count_survey
        output.show(count(**arguments))
        return 0
    from cranfield.campaign.surveys.making import make_survey
    from cranfield.site.work_pages import write_survey

    folder = arguments.pop("to")
    output.show(write_survey(make_survey(kind, **arguments), folder))
    return 0
