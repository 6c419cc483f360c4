"""The second half of the play: a crowd that annotates by links, careful people and nuisances."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cranfield.campaign.annotation_task import make_sheet
from cranfield.campaign.forms import Form
from cranfield.server.rehearsal import people
from cranfield.server.rehearsal.client import Client
from cranfield.server.rehearsal.people import Crowd, Persona, PersonAnswers
from cranfield.server.rehearsal.stage import Stage
from cranfield.server.rehearsal.world import CROWD, NAME

# People per item in the two batches, as the thesis had them.
OVERLAPS = (5, 4)
GUIDELINES = (
    "Tick what the picture shows.",
    "Tick what the picture shows. Time of day: sunny and sunset come beside day or night.",
)
# Of so many forms one is handed in without an answer that is needed, at first.
_INCOMPLETE = 10
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
        links = people.invitations(self.stage, batch, "crowd", len(self.crowd.people))
        for person, (called, link) in zip(self.crowd.people, links, strict=True):
            self.clients[person.name] = people.enter(self.stage, link)
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
        page = people.next_work(client, batch)
        if page is None:
            return False
        item = page.item
        earlier = self.before.setdefault(item, [])
        answers, seconds = self.crowd.says(person.name, item, earlier, self.done[person.name])
        if int(self.draw.integers(_INCOMPLETE)) == 0:
            self._incomplete(client, page, answers, seconds)
        key = f"{person.name}-{batch}-{item}"
        reply = people.put(client, page, answers, seconds, key)
        if reply.status == 422:  # two ticks that do not go together: people take one back
            self.found.refused += 1
            answers = mended(self.crowd.form, answers)
            reply = people.put(client, page, answers, seconds, key)
        if reply.status != 303:
            self.found.wrong.append(f"{key}: {reply.status} {reply.text[:200]}")
            return False  # the same form would be given again and again
        if int(self.draw.integers(_INCOMPLETE)) == 0:
            # As after a lost answer: it is the same form.
            people.put(client, page, answers, seconds, key)
        self.found.forms += 1
        self.done[person.name] += 1
        earlier.append(PersonAnswers(person.name, answers))
        self.acknowledged[batch, self.names[person.name], item] = key
        return True

    def _incomplete(
        self,
        client: Client,
        page: people.WorkPage,
        answers: dict[str, list[str]],
        seconds: float,
    ) -> None:
        """A form with a group left empty is refused, and nothing of it is stored."""
        needed = [q.name for q in self.crowd.form.questions() if q.kind == "one"]
        lacking = {name: value for name, value in answers.items() if name != needed[0]}
        reply = people.put(client, page, lacking, seconds, "incomplete")
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


def play(stage: Stage) -> CrowdOutcome:
    """Two batches, the second with other guidelines; no person gets an item in both."""
    outcome = CrowdOutcome()
    crowd = _CrowdBrowsers(stage, outcome)
    for number, (overlap, guidelines) in enumerate(zip(OVERLAPS, GUIDELINES, strict=True), 1):
        batch, seed = f"crowd-{number}", str(stage.world.seed)
        title, each = f"What is in the pictures, {batch}", str(overlap)
        fields = {"title": title, "split": CROWD, "overlap": each, "guidelines": guidelines}
        people.new_batch(stage, "labels", batch, fields | {"seed": seed})
        if number == 1:
            crowd.invite(batch)
        else:
            people.let_in(stage, batch, "crowd-1")
        people.to_state(stage, batch, "running")
        crowd.work(batch, overlap * stage.world.scale.annotated)
        outcome.flagged = _flagged(stage, batch) & set(outcome.kinds)
        outcome.accepted.append(len({key for key in crowd.acknowledged if key[0] == batch}))
        people.finish(stage, batch, "the truth of all items is there already")
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
        missing, doubled = people.lost_and_doubled(people.log_of(stage, batch), expected)
        outcome.missing += missing
        outcome.doubled += doubled
    pairs = Counter((annotator, item) for _, annotator, item in crowd.acknowledged)
    outcome.twice = sum(count - 1 for count in pairs.values())
