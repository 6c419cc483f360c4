"""The work on batches: a crowd that annotates by links, experts by accounts, judges of a pool.

Batches, links, answers and logs are the same for all of them.
"""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cranfield.campaign.annotation_task import make_sheet
from cranfield.campaign.forms import Form
from cranfield.client import TOKEN
from cranfield.rehearsal.crowd import Crowd, Persona, PersonAnswers
from cranfield.rehearsal.stage import (
    HOST,
    Client,
    RehearsalError,
    Reply,
    Stage,
    command,
    encoded,
    words,
)
from cranfield.rehearsal.world import CROWD, NAME, World

Answering: TypeAlias = Callable[[str], Mapping[str, Sequence[str]]]
HOME = f"/{NAME}/organise/batches"
_LINK = re.compile(r"<li><code>([^<]+)</code></li>")
_FORM = re.compile(r'<form method="post" action="([^"]+)" data-form=')
_ITEM = re.compile(r'<h2 tabindex="-1">([^<]+)</h2>')
_TOPIC = re.compile(r'<p class="topic">([^<]+)</p>')
_HIDDEN = re.compile(r'<input type="hidden" name="(csrf|client_key)" value="([^"]+)"')


@dataclass(frozen=True)
class WorkPage:
    """A form on its page: where it goes, what it asks about, and its hidden fields."""

    address: str
    item: str
    topic: str
    hidden: Mapping[str, str]


def new_batch(
    stage: Stage,
    kind: str,
    slug: str,
    fields: Mapping[str, str],
    file: tuple[str, bytes] | None = None,
) -> None:
    """A draft of a batch, filled in on its page."""
    sent = None if file is None else ("file", *file)
    reply = stage.organiser.fill_in(HOME, {"kind": kind, "slug": slug, **fields}, file=sent)
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} was not made: {words(reply)}")


def to_state(stage: Stage, slug: str, state: str, **extra_fields: str) -> None:
    """Take a batch to a state; `extra_fields` has a reason or a method."""
    batch_page = f"{HOME}/{slug}"
    reply = stage.organiser.fill_in(
        f"{batch_page}/state", {"to": state, **extra_fields}, form=batch_page, times=5
    )
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} does not become {state}: {words(reply)}")


def finish(stage: Stage, slug: str, why: str) -> None:
    """A batch that gives no truth."""
    to_state(stage, slug, "closed")
    to_state(stage, slug, "skipped", reason=why)


def invitations(stage: Stage, slug: str, kind: str, count: int = 1) -> list[tuple[str, str]]:
    """Pseudonyms and the secrets of their links, in the order in which they were made."""
    batch_page = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(
        f"{batch_page}/people", {"kind": kind, "count": str(count)}, form=batch_page
    )
    secrets = [html.unescape(link).rsplit("/", 1)[-1] for link in _LINK.findall(page.text)]
    if len(secrets) != count:
        raise RehearsalError(f"{len(secrets)} links to {slug} for {count} people")
    return [(stage.pseudonym(kind), secret) for secret in secrets]


def survey_link(stage: Stage, slug: str) -> str:
    """The public address to answer a survey."""
    batch_page = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(f"{batch_page}/people", {"kind": "survey"}, form=batch_page)
    match = _LINK.search(page.text)
    if match is None:
        raise RehearsalError(f"there is no link to the survey {slug}")
    return f"/{NAME}/survey/{html.unescape(match[1]).rsplit('/', 1)[-1]}"


def respond(
    stage: Stage,
    slug: str,
    link: str,
    about: Mapping[str, str],
    answer: Answering,
    seconds: float,
) -> None:
    """One person answers all questions of a survey; `answer` gives what is said to each."""
    browser = stage.client()
    start = browser.fill_in(link, about)
    if start.status != 303:
        raise RehearsalError(f"the survey does not begin ({start.status})")
    while (page := next_work(browser, slug)) is not None:
        question = page.item.removeprefix("Question ")
        reply = put(browser, page, answer(question), seconds)
        if reply.status != 303:
            raise RehearsalError(f"an answer to the survey was not taken ({reply.status})")


def counted(stage: Stage, slug: str) -> dict[str, Any]:
    """What the site counts, as data."""
    path, headers = f"{HOME}/{slug}/survey", {"Accept": "application/json"}
    organiser = stage.organiser
    counts: dict[str, Any] = organiser.again(
        lambda: organiser.send("GET", path, None, headers)
    ).json()
    return counts


def enter(stage: Stage, link: str) -> Client:
    """The browser of a worker who has opened a link."""
    browser = stage.client()
    if browser.get(f"/{NAME}/enter/{link}").status != 200:
        raise RehearsalError("a link does not lead to work")
    return browser


def let_in(stage: Stage, slug: str, other_slug: str) -> None:
    """Those who work on another batch by their links work on this one, too."""
    batch_page = f"{HOME}/{slug}"
    reply = stage.organiser.fill_in(
        f"{batch_page}/people", {"kind": "same", "from": other_slug}, form=batch_page
    )
    if reply.status != 200:
        raise RehearsalError(f"no worker is let into {slug}: {words(reply)}")


def put(
    browser: Client,
    page: WorkPage,
    answers: Mapping[str, Sequence[str]],
    seconds: float,
    key: str = "",
) -> Reply:
    """Save an answer until a reply comes; under its key (or the page's) it counts once."""
    fields: dict[str, str | Sequence[str]] = {**answers, **page.hidden}
    fields |= {"active_ms": str(round(1000 * seconds)), "state": "done"}
    if key:
        fields["client_key"] = key
    body, kind = encoded(fields, None)
    send = partial(browser.send, "POST", page.address, body, {"Content-Type": kind})
    return browser.again(send)


def next_work(browser: Client, slug: str) -> WorkPage | None:
    """The page of the next assignment; None when there is nothing left."""
    page = browser.get(f"/{NAME}/work/{slug}").text
    form, item, topic = _FORM.search(page), _ITEM.search(page), _TOPIC.search(page)
    if form is None or item is None:
        return None
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(page)}
    topic_text = html.unescape(topic[1]) if topic else ""
    return WorkPage(form[1], html.unescape(item[1]), topic_text, hidden)


def log_of(stage: Stage, slug: str) -> Counter[tuple[str, str, str]]:
    """How often the log of a batch has each annotator, item and concept."""
    text = stage.organiser.get(f"{HOME}/{slug}/log.csv").text
    rows = csv.DictReader(io.StringIO(text))
    return Counter((r["annotator"], r["item"], r["concept"]) for r in rows)


def lost_and_doubled(
    log: Counter[tuple[str, str, str]], acknowledged: set[tuple[str, str]]
) -> tuple[int, int]:
    """Acknowledged (annotator, item) that a log has not, and rows that it has too often."""
    logged = {(annotator, item) for annotator, item, _ in log}
    doubled = sum(count - 1 for count in log.values()) + len(logged - acknowledged)
    return len(acknowledged - logged), doubled


# People per item in the two batches, as the thesis had them.
OVERLAPS = (5, 4)
GUIDELINES = (
    "Tick what the picture shows.",
    "Tick what the picture shows. Time of day: sunny and sunset come beside day or night.",
)
# Of so many forms one is handed in without an answer that is needed, at first.
_CROWD_INCOMPLETE = 10
_ROW = re.compile(r"<tr>\s*<td>((?:crowd|expert|model)-\d+)</td>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_SIGNS = 4  # the cell with the signs of nuisance, counted behind the name


@dataclass
class CrowdOutcome:
    """What the crowd did, and what the board says of it."""

    forms: int = 0
    refused: int = 0
    twice: int = 0
    missing: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    accepted: list[int] = field(default_factory=list)
    flagged: set[str] = field(default_factory=set)

    @property
    def spammers(self) -> set[str]:
        return {name for name, kind in self.kinds.items() if kind and kind != "copier"}

    @property
    def copiers(self) -> set[str]:
        return {name for name, kind in self.kinds.items() if kind == "copier"}

    @property
    def honest(self) -> set[str]:
        return {name for name, kind in self.kinds.items() if not kind}


class _CrowdBrowsers:
    """The crowd at the doors of the site: who has which link, and who did what."""

    def __init__(self, stage: Stage, outcome: CrowdOutcome) -> None:
        self.stage, self.found = stage, outcome
        sheet = make_sheet(stage.folder / "collection", split=CROWD)
        form = next(iter(sheet.forms.values()))
        world, scale = stage.world, stage.world.scale
        self.crowd = Crowd(
            form,
            [unit.name for unit in sheet.units],
            people=scale.workers,
            spammers=scale.spammers,
            seed=world.seed,
        )
        self.draw = world.draw(7)
        self.eager = self.draw.lognormal(0.0, 0.5, scale.workers)
        self.clients: dict[str, Client] = {}
        self.names: dict[str, str] = {}
        self.done: Counter[str] = Counter()
        self.before: dict[str, list[PersonAnswers]] = {}
        self.acknowledged: dict[tuple[str, str, str], str] = {}

    def invite(self, batch: str) -> None:
        """A link for each; links that are made in one go keep their order."""
        links = invitations(self.stage, batch, "crowd", len(self.crowd.people))
        for person, (called, link) in zip(self.crowd.people, links, strict=True):
            self.clients[person.name] = enter(self.stage, link)
            self.names[person.name] = called
            self.found.kinds[called] = person.kind

    def work(self, batch: str, forms: int) -> None:
        """People come in a random order, some more often, until no work is left."""
        idle: set[int] = set()
        crowd = self.crowd.people
        sent = 0
        while len(idle) < len(crowd):
            chance = self.eager.copy()
            chance[list(idle)] = 0.0
            k = int(self.draw.choice(len(crowd), p=chance / chance.sum()))
            if not self._one(batch, crowd[k]):
                idle.add(k)
                continue
            sent += 1
            if sent == forms // 2:
                self.stage.restart()

    def _one(self, batch: str, person: Persona) -> bool:
        """The next form of a person; False when there is none."""
        client = self.clients[person.name]
        page = next_work(client, batch)
        if page is None:
            return False
        item = page.item
        earlier = self.before.setdefault(item, [])
        answers, seconds = self.crowd.says(person.name, item, earlier, self.done[person.name])
        if int(self.draw.integers(_CROWD_INCOMPLETE)) == 0:
            self._incomplete(client, page, answers, seconds)
        key = f"{person.name}-{batch}-{item}"
        reply = put(client, page, answers, seconds, key)
        if reply.status == 422:  # two ticks that do not go together: people take one back
            self.found.refused += 1
            answers = mended(self.crowd.form, answers)
            reply = put(client, page, answers, seconds, key)
        if reply.status != 303:
            self.found.wrong.append(f"{key}: {reply.status} {reply.text[:200]}")
            return False  # the same form would be given again and again
        if int(self.draw.integers(_CROWD_INCOMPLETE)) == 0:
            # As after a lost answer: it is the same form.
            put(client, page, answers, seconds, key)
        self.found.forms += 1
        self.done[person.name] += 1
        earlier.append(PersonAnswers(person.name, answers))
        self.acknowledged[batch, self.names[person.name], item] = key
        return True

    def _incomplete(
        self,
        client: Client,
        page: WorkPage,
        answers: dict[str, list[str]],
        seconds: float,
    ) -> None:
        """A form with a group left empty is refused, and nothing of it is stored."""
        needed = [q.name for q in self.crowd.form.questions() if q.kind == "one"]
        lacking = {name: value for name, value in answers.items() if name != needed[0]}
        reply = put(client, page, lacking, seconds, "incomplete")
        if reply.status == 422:
            self.found.refused += 1
        else:
            self.found.wrong.append(f"an incomplete form was answered {reply.status}")


def mended(form: Form, answers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The same answers without the ticks that a form complains of."""
    repaired = {name: list(values) for name, values in answers.items()}
    for problem in form.check(repaired):
        for value in list(repaired.get(problem.question, ())):
            remaining = [v for v in repaired[problem.question] if v != value]
            trial = {**repaired, problem.question: remaining}
            if len(form.check(trial)) < len(form.check(repaired)):
                repaired = trial
                break
    return repaired


def play_crowd(stage: Stage) -> CrowdOutcome:
    """Two batches, the second with other guidelines; no person gets an item in both."""
    outcome = CrowdOutcome()
    crowd = _CrowdBrowsers(stage, outcome)
    for number, (overlap, guidelines) in enumerate(zip(OVERLAPS, GUIDELINES, strict=True), 1):
        batch, seed = f"crowd-{number}", str(stage.world.seed)
        title, each = f"What is in the pictures, {batch}", str(overlap)
        fields = {"title": title, "split": CROWD, "overlap": each, "guidelines": guidelines}
        new_batch(stage, "labels", batch, fields | {"seed": seed})
        if number == 1:
            crowd.invite(batch)
        else:
            let_in(stage, batch, "crowd-1")
        to_state(stage, batch, "running")
        crowd.work(batch, overlap * stage.world.scale.annotated)
        outcome.flagged = _flagged(stage, batch) & set(outcome.kinds)
        outcome.accepted.append(len({key for key in crowd.acknowledged if key[0] == batch}))
        finish(stage, batch, "the truth of all items is there already")
    _compare_logs(stage, crowd, outcome)
    return outcome


def _flagged(stage: Stage, batch: str) -> set[str]:
    """Whom the board has signs against."""
    page = stage.organiser.get(f"/{NAME}/organise/batches/{batch}").text
    flagged = set()
    for name, rest in _ROW.findall(page):
        cells = _CELL.findall(rest)
        if len(cells) > _SIGNS and html.unescape(re.sub(r"<[^>]+>", "", cells[_SIGNS])).strip():
            flagged.add(name)
    return flagged


def _compare_logs(stage: Stage, crowd: _CrowdBrowsers, outcome: CrowdOutcome) -> None:
    """What was acknowledged is in the logs once, and no person judged an item twice."""
    for number in range(1, len(OVERLAPS) + 1):
        batch = f"crowd-{number}"
        expected = {(annotator, item) for b, annotator, item in crowd.acknowledged if b == batch}
        missing, doubled = lost_and_doubled(log_of(stage, batch), expected)
        outcome.missing += missing
        outcome.doubled += doubled
    pairs = Counter((annotator, item) for _, annotator, item in crowd.acknowledged)
    outcome.twice = sum(count - 1 for count in pairs.values())


EXPERTS = "experts"
# Of so many forms one is handed in without an answer that is needed, at first.
_EXPERTS_INCOMPLETE = 25
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


def play_experts(stage: Stage) -> ExpertOutcome:
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
    new_batch(stage, "labels", EXPERTS, fields)
    to_state(stage, EXPERTS, "running")
    # One after the other: the first to log in has the first number.
    browsers = [_account(stage, f"expert{n:02d}") for n in range(1, outcome.experts + 1)]
    turns = zip(crowd.people, browsers, strict=True)
    for forms, refused, wrong in stage.together(
        [partial(_annotate, crowd, person.name, browser) for person, browser in turns]
    ):
        outcome.forms += forms
        outcome.refused += refused
        outcome.wrong += wrong
    log = log_of(stage, EXPERTS)
    outcome.judgements = log.total()
    pairs = {(annotator, item) for annotator, item, _ in log}
    outcome.missing = outcome.experts * len(items) - len(pairs)
    outcome.doubled = log.total() - len(log)
    finish(stage, EXPERTS, "the truth of all items is there already")
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
    while (page := next_work(browser, EXPERTS)) is not None:
        answers, seconds = crowd.says(name, page.item, (), forms)
        valid_answers = mended(crowd.form, answers)
        if forms % _EXPERTS_INCOMPLETE == 0:
            lacking = {key: value for key, value in valid_answers.items() if key != needed}
            if put(browser, page, lacking, seconds).status != 422:
                return forms, refused, [f"{name}: an incomplete form was taken"]
            refused += 1
        status = put(browser, page, valid_answers, seconds).status
        if status != 303:
            return forms, refused, [f"{name}, {page.item}: {status}"]
        forms += 1
    return forms, refused, []


POOL = "pool"
# Of so many judgements one is a grade beside the truth.
_SLIPS = 20
# A program that knows grades from a file, as `cranfield site judge` speaks with one.
_PROGRAM = """\
import json, sys
grades = json.load(open(sys.argv[1]))
for line in sys.stdin:
    asked = json.loads(line)
    grade = grades[asked["topic"] + " " + asked["item"]]
    print(json.dumps({"answers": {"grade": [str(grade)]}, "seconds": 1}), flush=True)
"""


@dataclass
class PoolOutcome:
    """What became of the pool."""

    people: int = 0
    units: int = 0
    by_program: int = 0
    grown: int = 0
    missing: int = 0
    doubled: int = 0
    acknowledged: set[tuple[str, str]] = field(default_factory=set)

    def summary(self) -> tuple[bool, str]:
        """Whether all of the pool was judged, in words."""
        judged_count = len(self.acknowledged) + self.by_program
        return (
            judged_count == self.units > 0 and not self.missing and not self.doubled,
            f"pool judged {judged_count} of {self.units} by {self.people} people and a program "
            f"({self.by_program}), {self.grown} units added by value",
        )


def play_pool(stage: Stage) -> PoolOutcome:
    """Pool, judge, and make the truth of the rankings from it."""
    scale, outcome = stage.world.scale, PoolOutcome(people=stage.world.scale.judges)
    stage.move("pooling")
    fields = {"depth": str(scale.pool_depth), "per_team": "1", "seed": str(stage.world.seed)}
    new_batch(stage, "relevance", POOL, fields)
    stage.move("assessment")
    to_state(stage, POOL, "running")
    before = _units(stage)
    outcome.grown = _grow(stage, 2 * scale.pool_depth, before)
    outcome.units = before + outcome.grown
    links = invitations(stage, POOL, "crowd", outcome.people)
    ((_, program),) = invitations(stage, POOL, "model")
    grades = _grades(stage.world)
    outcome.by_program = _program(stage, program, grades, outcome.units // (outcome.people + 1))
    _people(stage, links, grades, outcome)
    log = log_of(stage, POOL)
    judged = {(annotator, item) for annotator, item, _ in log if not annotator.startswith("model")}
    outcome.missing = len(outcome.acknowledged - judged) + outcome.units - len(log)
    outcome.doubled = log.total() - len(log) + len(judged - outcome.acknowledged)
    to_state(stage, POOL, "closed")
    stage.confirm()
    to_state(stage, POOL, "merged", method="majority", sure="replace")
    return outcome


def _units(stage: Stage) -> int:
    """How many units the batch has, from its list."""
    reply = stage.organiser.get(f"/api/v1/campaigns/{NAME}/batches/{POOL}/agreement")
    return int(reply.json()["wanted"])


def _grow(stage: Stage, depth: int, before: int) -> int:
    """The pool goes deeper where judging pays most; gives how many units that adds."""
    batch_page = f"{HOME}/{POOL}"
    fields = {"count": str(depth), "depth": str(depth)}
    if stage.organiser.fill_in(f"{batch_page}/grow", fields, form=batch_page).status != 303:
        raise RehearsalError("the pool does not grow")
    return _units(stage) - before


def _grades(world: World) -> dict[str, int]:
    """The answer about each pair, the same for every judge: mostly the truth."""
    true = np.maximum(world.grades, 0)
    draw = world.draw(9)
    slips = draw.integers(_SLIPS, size=true.shape) == 0
    grades = np.where(slips, draw.integers(0, 4, size=true.shape), true)
    return {
        f"{topic} {item}": int(grades[t, i])
        for t, topic in enumerate(world.topics)
        for i, item in enumerate(world.items)
    }


def _program(stage: Stage, token: str, grades: dict[str, int], limit: int) -> int:
    """`cranfield site judge` with a program of ours; gives how many units it judged."""
    folder = Path(stage.folder)
    (folder / "judge.py").write_text(_PROGRAM, encoding="utf-8")
    (folder / "grades.json").write_text(json.dumps(grades), encoding="utf-8")
    judge_command = f"'{sys.executable}' '{folder / 'judge.py'}' '{folder / 'grades.json'}'"
    words = [
        "judge",
        "--to",
        f"http://{HOST}:{stage.server.port}/{NAME}",
        "--command",
        judge_command,
    ]
    result = subprocess.run(
        command(*words, "--most", str(limit), "--format", "json"),
        env={**os.environ, TOKEN: token},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RehearsalError(f"the program does not judge: {result.stderr.strip()[-300:]}")
    return int(json.loads(result.stdout)["judged"])


def _people(
    stage: Stage, links: list[tuple[str, str]], grades: dict[str, int], outcome: PoolOutcome
) -> None:
    """Turn by turn, so that the same people judge the same units whenever it is played again."""
    clients = [(annotator, enter(stage, link)) for annotator, link in links]
    half = (outcome.units - outcome.by_program) // 2
    while clients:
        for annotator, client in list(clients):
            page = next_work(client, POOL)
            if page is None:
                clients.remove((annotator, client))
                continue
            # The text of a topic ends in its number.
            unit = f"{page.topic.rsplit(' ', 1)[-1]} {page.item}"
            key = f"{annotator}-{unit}"
            answers = {"grade": [str(grades[unit])]}
            reply = put(client, page, answers, 5.0, key)
            if reply.status != 303:
                raise RehearsalError(f"a judgement was not taken: {reply.status}")
            outcome.acknowledged.add((annotator, unit))
            if len(outcome.acknowledged) == half:
                stage.restart()
