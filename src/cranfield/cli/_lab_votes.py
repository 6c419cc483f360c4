"""`cranfield lab votes`: questionnaires, their answers, and tables of votes."""

from __future__ import annotations

from typing import Any

from cranfield import lab
from cranfield.answers import Answer
from cranfield.campaign.surveys.kinds import OF_RANKINGS, WITH_COSTS, WITHOUT_COSTS
from cranfield.cli._common import Parser, add, common, measures, outputs, positive
from cranfield.cli._inputs import label_options
from cranfield.lab.choices import OF_LISTS


def votes_parser(parser: Parser) -> None:
    step = parser.steps("step", "STEP")
    count = step("count", "count the votes of a table")
    help_text = (
        "question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,..."
    )
    add(count, "votes VOTES.csv", help_text)
    make = step("make", "make a blind questionnaire")
    add(make, "folder DIR", "where questions.html, .json and key.json go")
    help_text = "ask about concept sets of two runs, not about made-up ranked lists"
    add(make, "--truth FILE", help_text)
    help_text = "with --truth: the two annotations to choose between"
    add(make, "--between RUN", help_text, default=(), nargs=2)
    help_text = f"""the measures to choose between (default: {OF_RANKINGS}; with --truth:
    {WITH_COSTS}, or without costs {WITHOUT_COSTS})"""
    measures(make, help_text)
    help_text = "with --truth: measures that must score both sets alike, such as Rprec.example"
    make.add_argument("--alike", metavar="NAMES", default="", help=help_text)
    label_options(make)
    add(make, "--questions N", "questions", positive, 10)
    for name, (value, help_text) in OF_LISTS.items():
        add(make, f"--{name} N", f"ranked lists: {help_text} (default: {value})", positive)
    common(make, "seed")
    tally = step("tally", "count the answers to a questionnaire")
    add(tally, "key KEY.json", "the key.json of the questionnaire")
    add(tally, "answers ANSWERS.json+", "saved answers")
    for subparser in (count, make, tally):
        outputs(subparser)


def answer_votes(arguments: dict[str, Any]) -> Answer:
    """What a step answers."""
    step = arguments.pop("step")
    if step == "count":
        return lab.count_votes(arguments["votes"])
    if step == "tally":
        return lab.tally(arguments["key"], arguments["answers"])
    from cranfield.lab.api import ask_people
    from cranfield.site.work_pages import write_questionnaire

    return write_questionnaire(
        folder=arguments.pop("folder"), questionnaire=ask_people(**arguments)
    )
