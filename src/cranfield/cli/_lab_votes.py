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
    what = "question,MEASURE,... with votes; or question,votes_a,votes_b,votes_both,M_a,M_b,..."
    add(count, "votes VOTES.csv", what)
    make = step("make", "make a blind questionnaire")
    add(make, "folder DIR", "where questions.html, .json and key.json go")
    what = "ask about concept sets of two runs, not about made-up ranked lists"
    add(make, "--truth FILE", what)
    what = "with --truth: the two annotations to choose between"
    add(make, "--between RUN", what, default=(), nargs=2)
    what = f"""the measures to choose between (default: {OF_RANKINGS}; with --truth: {WITH_COSTS},
    or without costs {WITHOUT_COSTS})"""
    measures(make, what)
    what = "with --truth: measures that must score both sets alike, such as Rprec.example"
    make.add_argument("--alike", metavar="NAMES", default="", help=what)
    label_options(make)
    add(make, "--questions N", "questions", positive, 10)
    for name, (value, what) in OF_LISTS.items():
        add(make, f"--{name} N", f"ranked lists: {what} (default: {value})", positive)
    common(make, "seed")
    tally = step("tally", "count the answers to a questionnaire")
    add(tally, "key KEY.json", "the key.json of the questionnaire")
    add(tally, "answers ANSWERS.json+", "saved answers")
    for one in (count, make, tally):
        outputs(one)


def answer_votes(given: dict[str, Any]) -> Answer:
    """What a step answers."""
    step = given.pop("step")
    if step == "count":
        return lab.count_votes(given["votes"])
    if step == "tally":
        return lab.tally(given["key"], given["answers"])
    from cranfield.lab.api import ask_people
    from cranfield.site.work_pages import write_questionnaire

    return write_questionnaire(folder=given.pop("folder"), questionnaire=ask_people(**given))
