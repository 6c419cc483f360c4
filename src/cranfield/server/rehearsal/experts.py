"""The experts' round: people with accounts who annotate all items on the pages of the site."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import partial

from cranfield.campaign.annotation_task import make_sheet
from cranfield.server.rehearsal import people
from cranfield.server.rehearsal.client import Client
from cranfield.server.rehearsal.people import Crowd
from cranfield.server.rehearsal.stage import RehearsalError, Stage
from cranfield.server.rehearsal.working import mended
from cranfield.server.rehearsal.world import CROWD, NAME

SLUG = "experts"
# Of so many forms one is handed in without an answer that is needed, at first.
_INCOMPLETE = 25
_PASSWORD = re.compile(r"shown once: <code>([^<]+)</code>")


@dataclass
class ExpertOutcome:
    """What the experts did."""

    experts: int = 0
    forms: int = 0
    judgements: int = 0
    refused: int = 0
    missing: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)

    def summary(self) -> tuple[bool, str]:
        """Whether the round is whole, in words."""
        holds = not self.wrong and not self.missing and not self.doubled
        first = f" (first: {self.wrong[0]})" if self.wrong else ""
        figures = f"{self.experts} experts: {self.forms} forms, {self.judgements} judgements"
        return holds, f"{figures}, {self.refused} incomplete ones refused{first}"


def play(stage: Stage) -> ExpertOutcome:
    """All experts annotate all items, several at once, each by account and page."""
    outcome = ExpertOutcome(experts=stage.world.scale.experts)
    sheet = make_sheet(stage.folder / "collection", split=CROWD)
    items = [unit.name for unit in sheet.units]
    # The same seed: the experts and the crowd see the same pictures.
    crowd = Crowd(
        next(iter(sheet.forms.values())),
        items,
        people=outcome.experts,
        spammers=0,
        seed=stage.world.seed,
    )
    each = str(outcome.experts)
    fields = {"title": "The experts' round", "split": CROWD, "overlap": each}
    people.new_batch(stage, "labels", SLUG, fields)
    people.to_state(stage, SLUG, "running")
    # One after the other: the first to log in has the first number.
    browsers = [_account(stage, f"expert{n:02d}") for n in range(1, outcome.experts + 1)]
    turns = zip(crowd.people, browsers, strict=True)
    for forms, refused, wrong in stage.together(
        [partial(_annotate, crowd, person.name, browser) for person, browser in turns]
    ):
        outcome.forms += forms
        outcome.refused += refused
        outcome.wrong += wrong
    log = people.log_of(stage, SLUG)
    outcome.judgements = log.total()
    pairs = {(annotator, item) for annotator, item, _ in log}
    outcome.missing = outcome.experts * len(items) - len(pairs)
    outcome.doubled = log.total() - len(log)
    people.finish(stage, SLUG, "the truth of all items is there already")
    return outcome


def _account(stage: Stage, login: str) -> Client:
    """An account with the role of an assessor, and a browser that has logged in with it."""
    page = stage.organiser.fill_in(
        "/admin/people", {"login": login, "name": login.title()}, form="/admin"
    )
    password = _PASSWORD.search(page.text)
    if password is None:
        raise RehearsalError(f"{login} gets no account: {page.status}")
    board = f"/{NAME}/organise"
    role_fields = {"login": login, "role": "A", "do": "give"}
    if stage.organiser.fill_in(f"{board}/roles", role_fields, form=board, times=5).status != 303:
        raise RehearsalError(f"{login} does not become an assessor")
    browser = stage.client()
    browser.fill_in("/login", {"login": login, "password": html.unescape(password[1])}, times=5)
    if browser.get(f"/{NAME}/work").status != 200:
        raise RehearsalError(f"{login} does not get to work")
    stage.pseudonym("expert")
    return browser


def _annotate(crowd: Crowd, name: str, browser: Client) -> tuple[int, int, list[str]]:
    """One expert, item after item; gives forms, refused ones, and what went wrong."""
    forms = refused = 0
    needed = next(q.name for q in crowd.form.questions() if q.kind == "one")
    while (page := people.next_work(browser, SLUG)) is not None:
        answers, seconds = crowd.says(name, page.item, (), forms)
        valid_answers = mended(crowd.form, answers)
        if forms % _INCOMPLETE == 0:
            lacking = {key: value for key, value in valid_answers.items() if key != needed}
            if people.put(browser, page, lacking, seconds).status != 422:
                return forms, refused, [f"{name}: an incomplete form was taken"]
            refused += 1
        status = people.put(browser, page, valid_answers, seconds).status
        if status != 303:
            return forms, refused, [f"{name}, {page.item}: {status}"]
        forms += 1
    return forms, refused, []
